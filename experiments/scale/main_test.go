package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
)

// With prices of which one outweighs the rest, that one is the limit, and the time is what
// it says.
func TestStep(t *testing.T) {
	c := workload{visible: 784, hidden: 500, rows: 4000, weighted: 800, groups: 100, gathers: 8}
	for _, x := range []struct {
		p       prices
		n       int
		seconds float64 // but for a tenth
		limit   string
	}{
		{prices{one: 1, many: 64}, 1, 4000 + 50, "the passes over rows"},
		{prices{one: 1, many: 64}, 100, 40.5, "the passes over rows"},
		{prices{one: 100, many: 100}, 4, 100, "reading the weights once"},
		{prices{ascent: 1}, 4, 900. / 4, "the ascent"},
		{prices{ascent: 104, part: 1}, 100, 1800, "the ascent"}, // of 8 × 13 parts a rank has one or two
		{prices{ascent: 104, part: 1}, 1000, 900, "the ascent"},
		{prices{swaps: 7}, 50, 7. / 50, "the permutations"},
		{prices{swaps: 7}, 1000, 0.07, "the permutations"}, // there are 100 groups
		{prices{books: 7}, 1000, 7, "the records of the ladder, which each rank keeps"},
		{prices{}, 1 << 14, 3.95e6 / 12.5e9, "the bandwidth of the network"},
	} {
		seconds, limit := c.step(x.p, x.n)
		if limit != x.limit || seconds < 0.9*x.seconds || seconds > 1.1*x.seconds+2e-4 {
			t.Errorf("%+v with %d ranks: %v s, limit %s; not %v, %s", x.p, x.n, seconds, limit, x.seconds, x.limit)
		}
	}
}

// Runs take turns, and the best of each count.
func TestPair(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mpirun":   "#!/bin/sh\nwhile test \"${1%rbmtrain}\" = \"$1\"; do shift; done\nRANKS=2 \"$@\"\n",
		"rbmtrain": "#!/bin/sh\necho \"${RANKS-1} $*\" >> ../said\nn=$(wc -l < ../said)\necho '{\"steps_per_second\": '$((RANKS == 2 ? 80 + n : 100))'}'\n",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", dir)
	var out bytes.Buffer
	if err := run(context.Background(), nil, []string{"-pair", dir + "/rbmtrain", "-runs", "2"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "FAIL: of 2 runs each, the best have a ratio of 0.840, and the median is 0.840") {
		t.Error(text)
	}
	said, _ := os.ReadFile(dir + "/said")
	for i, line := range strings.Split(strings.TrimSpace(string(said)), "\n") {
		ranks, workers := fmt.Sprintf("%d ", 1+i%2), fmt.Sprintf("-workers %d", 2-i%2)
		if !strings.HasPrefix(line, ranks) || !strings.Contains(line, "-negphase pins -temperatures auto") || !strings.HasSuffix(line, workers) {
			t.Errorf("run %d is %s", i, line)
		}
	}
}

func TestQuick(t *testing.T) {
	claimstest.Long(t)
	dir := t.TempDir()
	if err := run(context.Background(), nil, []string{"-quick", "-out", dir}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"scale.csv", "scale.png"} {
		if info, err := os.Stat(dir + "/" + name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
