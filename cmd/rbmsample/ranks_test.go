package main

import (
	"context"
	"regexp"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

var seconds = regexp.MustCompile(`[0-9.]+ m?s\b|"seconds": [0-9.e-]+`)

// Any number of ranks draws the samples of one process: with Gibbs chains, with a tuned ladder, with
// walks and with -clamp.
func TestRanks(t *testing.T) {
	isolate(t)
	for _, args := range [][]string{
		{"-model", "m.npz", "-class", "01", "-out", "out.npz"},
		{"-model", "m.npz", "-class", "any", "-negphase", "pt:chains=3:tau=auto", "-rounds", "300", "-out", "out.csv"},
		{"-model", "plain.npz", "-negphase", "walk:exchange", "-rounds", "64", "-n", "7", "-out", "out.png"},
		{"-model", "plain.npz", "-clamp", "holes.csv", "-start", "random", "-out", "out.csv"},
	} {
		clitest.EqualInRanks(t, "rbmsample", runRanks, func(text string) string { return seconds.ReplaceAllString(text, "TIME") }, args...)
	}
}

// Only rank 0 prints the error, and no file is written.
func TestRanksFail(t *testing.T) {
	isolate(t)
	before := clitest.Tree(t, ".")
	for _, c := range []struct {
		args   func(rank int) []string
		status int
		words  []string
	}{
		{clitest.Same("-model", "m.npz"), cli.Usage, []string{"-out is missing"}},
		{clitest.Same("-model", "none.npz", "-out", "out.csv"), cli.Failed, []string{"none.npz"}},
		{func(rank int) []string {
			return []string{"-model", "m.npz", "-out", "out.csv", "-seed", []string{"1", "1", "2"}[rank]}
		}, cli.Failed, []string{"rank 2 on ", "another command line"}},
	} {
		r := clitest.InRanks(t, context.Background(), "rbmsample", runRanks, 3, c.args)
		if r.Status != c.status || r.Stdout != "" {
			t.Errorf("exits with %d, and prints %q, want %d and nothing", r.Status, r.Stdout, c.status)
		}
		rbmsample.OneLine(t, r.Stderr, c.words...)
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("files have changed.\nbefore:\n%safter:\n%s", before, after)
	}
}
