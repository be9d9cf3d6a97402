package main

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

var times = regexp.MustCompile(`"seconds(_per_step)?":[^,}]*`)

// Any number of ranks gives the results of one process, except for times: with enumeration, with a
// reference run and with -run.
func TestRanks(t *testing.T) {
	isolate(t)
	mask := func(text string) string { return times.ReplaceAllString(text, "TIME") }
	for _, args := range [][]string{
		small("-model", "softmax.safetensors", "-data", clitest.Toy, "-negphase", everyKind),
		small("-model", "plain.npz", "-negphase", "pcd,pt:tau=auto", "-reference", "pt:chains=3:tau=auto", "-reference-steps", "50"),
		small("-run", "run", "-negphase", "pcd"),
	} {
		clitest.EqualInRanks(t, "rbmcompare", runRanks, mask, append(args, "-json", "-workers", "0")...)
	}
}

// Only rank 0 writes files and prints the error.
func TestRanksFail(t *testing.T) {
	isolate(t)
	var r jsonResult
	out := clitest.InRanks(t, context.Background(), "rbmcompare", runRanks, 3, clitest.Same(small("-model", "plain.npz", "-json", "-workers", "0", "-out", "out")...))
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil || out.Status != cli.OK || clitest.Read(t, "out/compare.json") == "" {
		t.Errorf("%v: %s", err, out.Stderr)
	}
	before := clitest.Tree(t, ".")
	for _, c := range []struct {
		args   []string
		status int
		words  []string
	}{
		{[]string{"-negphase", "pcd"}, cli.Usage, []string{"-model and -run are missing"}},
		{[]string{"-model", "none.npz"}, cli.Failed, []string{"none.npz"}},
		{[]string{"-runs", "none*"}, cli.Failed, []string{"no folder of a run"}},
	} {
		r := clitest.InRanks(t, context.Background(), "rbmcompare", runRanks, 3, clitest.Same(c.args...))
		if r.Status != c.status || r.Stdout != "" {
			t.Errorf("exits with %d, and prints %q, want %d and nothing", r.Status, r.Stdout, c.status)
		}
		rbmcompare.OneLine(t, r.Stderr, c.words...)
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("files have changed.\nbefore:\n%safter:\n%s", before, after)
	}
}
