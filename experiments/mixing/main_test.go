package main

import (
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/experiments/internal/race"
	"gorbm/rbm"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(&race.Places{}), run) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(&race.Places{})) }

// Rows of the prototypes are in eight clusters: within one they differ in 4 bits on
// average, and otherwise in leastDistance at least, less what is flipped.
func TestPrototypes(t *testing.T) {
	set := prototypes()
	near, far := 0, 0
	for r := range 200 {
		switch d := rbm.Hamming(set.X.Row(0), set.X.Row(r)); {
		case d < 15:
			near++
		case d > leastDistance-12:
			far++
		default:
			t.Errorf("rows 0 and %d differ in %d bits", r, d)
		}
	}
	if near < 2 || far < 100 {
		t.Errorf("%d rows are near to the first and %d far", near, far)
	}
}
