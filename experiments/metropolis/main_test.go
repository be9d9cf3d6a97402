package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
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
