package main

import (
	"context"
	"os"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
)

// Any number of ranks gives the output and files of one process, for a model and with -run.
func TestRanks(t *testing.T) {
	isolate(t)
	if err := os.MkdirAll("run/models", 0o755); err != nil {
		t.Fatal(err)
	}
	for i, step := range []string{"0000001", "0000010"} {
		m := rbm.New(12, 5, 4, rbm.Softmax)
		m.Randomize(0.5*float64(i), rbm.NewKey(5))
		clitest.Save(t, "run/models/"+step+".safetensors", m, toy)
	}
	same := func(text string) string { return text }
	for _, args := range [][]string{
		{"-model", "softmax.safetensors", "-ais", "-reverse-ais", "-bennett", "-exact", "-classify", "-ais-temperatures", "100", "-ladder-rounds", "600", "-ladder", "out.png", "-rows", "out.csv", "-features", "out.npz"},
		{"-model", "plain.npz", "-ais", "-ais-chains", "3", "-ais-temperatures", "50", "-json"},
		{"-model", "softmax.safetensors"},
		{"-run", "run", "-bennett", "-ladder-rounds", "300", "-out", "out"},
	} {
		clitest.EqualInRanks(t, "rbmeval", runRanks, same, args...)
	}
}

// Only rank 0 prints the error, and no file is written.
func TestRanksFail(t *testing.T) {
	isolate(t)
	before := clitest.Tree(t, ".")
	for _, c := range []struct {
		args   []string
		status int
		words  []string
	}{
		{[]string{"-model", "plain.npz", "-out", "out"}, cli.Usage, []string{"-out is for"}},
		{[]string{"-model", "none.npz"}, cli.Failed, []string{"none.npz"}},
		{[]string{"-run", "none"}, cli.Failed, []string{"none"}},
	} {
		r := clitest.InRanks(t, context.Background(), "rbmeval", runRanks, 3, clitest.Same(c.args...))
		if r.Status != c.status || r.Stdout != "" {
			t.Errorf("exits with %d, and prints %q, want %d and nothing", r.Status, r.Stdout, c.status)
		}
		rbmeval.OneLine(t, r.Stderr, c.words...)
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("files have changed.\nbefore:\n%safter:\n%s", before, after)
	}
}
