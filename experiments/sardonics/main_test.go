package main

import (
	"strings"
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
)

func TestQuick(t *testing.T) {
	verdicts := claimstest.Quick(t, experiment(newPrograms()), run)
	for claim := range verdicts {
		if strings.HasPrefix(claim, "II: RBM") {
			t.Errorf("a verdict without a model: %s", claim)
		}
	}
}

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(newPrograms())) }
