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
		if strings.HasPrefix(claim, "II: RBM") {
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
		says string
	}{
		// Differences of -0.1, 0.1 and 0: the standard error is 0.1/√3, and
		// exp(0.3/√3) = 1.19.
		{"alike", claims.Repeats{1: 1.1, 2: 1.9, 3: 3}, claims.Pass, "a factor of 1.2 is excluded"},
		{"smaller", claims.Repeats{1: 0, 2: 0.9, 3: 2.1}, claims.Pass, "a factor of 1 is excluded"},
		{"larger", claims.Repeats{1: 2, 2: 3.1, 3: 3.9}, claims.Fail, "below -3 is a loss"},
		{"too few", claims.Repeats{1: 2, 2: 3.1}, claims.Open, "over 2 repetitions"},
	} {
		if got := notLess("", a, c.b); got.Verdict != c.want || !strings.Contains(got.Statistic, c.says) {
			t.Errorf("%s: %+v, want %s and %q", c.name, got, c.want, c.says)
		}
	}
}
