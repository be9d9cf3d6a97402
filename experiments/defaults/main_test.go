package main

import (
	"testing"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/experiments/internal/program"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(&program.Runs{}), run) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(&program.Runs{})) }

// Pictures have the mean time of the runs of a method and length in place of their steps, also
// where the errors or likelihoods of some are not known.
func TestByTime(t *testing.T) {
	table := byTime(claims.TableOf(
		claims.Point{Panel: secondsPanel, Curve: ins, Repeat: 1, X: 100, Y: 4}, claims.Point{Panel: secondsPanel, Curve: ins, Repeat: 2, X: 100, Y: 6},
		claims.Point{Panel: likelihoodPanel, Curve: ins, Repeat: 2, X: 100, Y: -70}, claims.Point{Panel: errorPanel, Curve: ins, Repeat: 1, X: 100, Y: 3}))
	if l, e := table.At(likelihoodPanel, ins, 5), table.At(errorPanel, ins, 5); len(l) != 1 || l[2] != -70 || e[1] != 3 {
		t.Errorf("got %v and %v at 5 s", l, e)
	}
}
