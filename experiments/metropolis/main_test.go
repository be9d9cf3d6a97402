package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/negphase/mcmc"
)

// What is proven, by the paper or by hand, must pass in the quick size too.
func TestQuick(t *testing.T) {
	verdicts := claimstest.Quick(t, experiment(&named{list: defaultGraphs}), run)
	for _, claim := range []string{
		"2: periodic: the gap of Metropolis is 0 at every J, in both orders",
		"2: modified Metropolis, periodic: it converges at every J",
		"A.3: after half a sweep the stripes are vertical",
		"A.3: Metropolis alternates between the horizontal stripes and the complement for ever",
		"A.4: Metropolis alternates between the triangle and the complement for ever",
		"A.4: the modified operator leaves the pattern",
		"minimal: Metropolis is reducible",
		"minimal: the modified operator is irreducible and aperiodic",
		"layers: equal weights, layers of four units: Metropolis layer by layer never converges",
		"layers: random weights: no flip costs exactly nothing, so Metropolis and flip-the-state are one (Corollary 1)",
	} {
		if verdicts[claim] != claims.Pass {
			t.Errorf("%s: %q", claim, verdicts[claim])
		}
	}
}

func TestCommitted(t *testing.T) {
	claimstest.Committed(t, experiment(&named{list: defaultGraphs}))
}

// A file of couplings is a graph like another. On three spins in a triangle no flip
// costs nothing, and with an even number of neighbours some do.
func TestNamedGraph(t *testing.T) {
	dir := clitest.Isolate(t)
	clitest.Write(t, "triangle.txt", "0 1 1\n1 2 1\n0 2 2\n")
	out := filepath.Join(dir, "out")
	command := clitest.Command{Name: "metropolis", Run: run}
	text := command.OK(t, "-quick", "-figure", "graphs", "-graph", "triangle.txt,5", "-out", out)
	if !strings.Contains(text, "triangle.txt: the modified operator converges at every J") || !strings.Contains(text, "5, periodic: the modified operator converges at every J") {
		t.Error(text)
	}
	command.Fails(t, cli.Usage, []string{"-graph", "4x4", "-out", out}, "16 spins", "at most 12")
	command.Fails(t, cli.Usage, []string{"-graph", "none.txt", "-out", out}, "none.txt")
	command.Fails(t, cli.Usage, []string{"-graph", "5"}, "-out")
}

// A sweep that takes each site once in random order is the mean over all orders.
func TestShuffled(t *testing.T) {
	g, err := mcmc.NewGraph([]float64{0.3, -0.2, 0}, []mcmc.Edge{{I: 0, J: 1, Coupling: 0.7}, {I: 1, J: 2, Coupling: -1.1}})
	if err != nil {
		t.Fatal(err)
	}
	orders := [][]int32{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for x := range 8 {
		want, law := make([]float64, 8), make([]float64, 8)
		law[x] = 1
		for _, order := range orders {
			o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), mcmc.Metropolis{}, 1, order)
			if err != nil {
				t.Fatal(err)
			}
			after := slices.Clone(law)
			o.Step(after)
			floats.AddScaled(want, 1.0/6, after)
		}
		o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), mcmc.Metropolis{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		newShuffled(o, 3).Step(law)
		if !floats.EqualApprox(law, want, 1e-14) {
			t.Errorf("from state %d the law is %v, want %v", x, law, want)
		}
	}
}
