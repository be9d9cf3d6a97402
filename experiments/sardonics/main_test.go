package main

import (
	"strings"
	"testing"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
)

func TestQuick(t *testing.T) {
	verdicts := claimstest.Quick(t, experiment(&programs{}), run)
	for claim := range verdicts {
		if strings.Contains(claim, "RBM") {
			t.Errorf("a verdict without a model: %s", claim)
		}
	}
}

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(&programs{})) }

// Not to be smaller passes unless the other is larger by three standard errors.
func TestNotLess(t *testing.T) {
	a := claims.Repeats{1: 1, 2: 2, 3: 3}
	for _, c := range []struct {
		name string
		b    claims.Repeats
		want claims.Verdict
	}{
		{"alike", claims.Repeats{1: 1.1, 2: 1.9, 3: 3}, claims.Pass},
		{"smaller", claims.Repeats{1: 0, 2: 0.9, 3: 2.1}, claims.Pass},
		{"larger", claims.Repeats{1: 2, 2: 3.1, 3: 3.9}, claims.Fail},
		{"too few", claims.Repeats{1: 2, 2: 3.1}, claims.Open},
	} {
		if got := notLess("", a, c.b).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
