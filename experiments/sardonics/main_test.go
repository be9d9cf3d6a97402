package main

import (
	"strings"
	"testing"

	"gorbm/experiments/internal/figures/figurestest"
)

func TestQuick(t *testing.T) {
	passed := figurestest.Quick(t, experiment(&programs{}), run)
	for claim := range passed {
		if strings.HasPrefix(claim, "II: RBM") {
			t.Errorf("a verdict without a model: %s", claim)
		}
	}
}

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(&programs{})) }
