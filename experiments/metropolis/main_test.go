package main

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/negphase/mcmc"
)

// Claims that are proven, by the paper or by hand, must pass in the quick size too.
func TestQuick(t *testing.T) {
	passed := figurestest.Quick(t, experiment, run)
	for _, claim := range []string{
		"2: periodic: the gap of Metropolis is 0 at every J, in both orders",
		"2: modified Metropolis, periodic: it converges at every J",
		"A.3: after half a sweep the stripes are vertical",
		"A.3: Metropolis alternates between the horizontal stripes and the complement for ever",
		"A.4: Metropolis alternates between the triangle and the complement for ever",
		"A.4: the modified operator leaves the pattern",
	} {
		if !passed[claim] {
			t.Errorf("%s: it fails, and must pass", claim)
		}
	}
}

func TestCommitted(t *testing.T) {
	figurestest.Committed(t, experiment)
}

// A sweep that updates each site once in random order is the mean over all orders.
func TestShuffled(t *testing.T) {
	g, err := mcmc.NewGraph([]float64{0.3, -0.2, 0}, []mcmc.Edge{{I: 0, J: 1, Coupling: 0.7}, {I: 1, J: 2, Coupling: -1.1}})
	if err != nil {
		t.Fatal(err)
	}
	orders := [][]int32{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for x := range 8 {
		want, got := make([]float64, 8), make([]float64, 8)
		got[x] = 1
		for _, order := range orders {
			o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), mcmc.Metropolis{}, 1, order)
			if err != nil {
				t.Fatal(err)
			}
			after := slices.Clone(got)
			o.Step(after)
			floats.AddScaled(want, 1.0/6, after)
		}
		o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), mcmc.Metropolis{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		newShuffled(o, 3).Step(got)
		if !floats.EqualApprox(got, want, 1e-14) {
			t.Errorf("from state %d the distribution is %v, want %v", x, got, want)
		}
	}
}
