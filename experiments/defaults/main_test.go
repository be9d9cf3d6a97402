package main

import (
	"testing"

	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/experiments/internal/training"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment(&training.Commands{}), run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(&training.Commands{})) }

// Pictures have the mean time of the runs of a method and length in place of their steps, also
// where the errors or likelihoods of some are not known.
func TestByTime(t *testing.T) {
	table := byTime(figures.TableOf(
		figures.Point{Panel: secondsPanel, Curve: ins, Repeat: 1, X: 100, Y: 4}, figures.Point{Panel: secondsPanel, Curve: ins, Repeat: 2, X: 100, Y: 6},
		figures.Point{Panel: likelihoodPanel, Curve: ins, Repeat: 2, X: 100, Y: -70}, figures.Point{Panel: errorPanel, Curve: ins, Repeat: 1, X: 100, Y: 3}))
	if l, e := table.At(likelihoodPanel, ins, 5), table.At(errorPanel, ins, 5); len(l) != 1 || l[2] != -70 || e[1] != 3 {
		t.Errorf("got %v and %v at 5 s", l, e)
	}
}
