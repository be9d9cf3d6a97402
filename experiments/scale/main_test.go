package main

import (
	"context"
	"io"
	"os"
	"testing"
)

// With prices of which one outweighs the rest, that one is the limit, and the time is what
// it says.
func TestStep(t *testing.T) {
	c := workload{visible: 784, hidden: 500, rows: 4000, weighted: 800, gathers: 4}
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
		{prices{ascent: 1}, 100, 900. / 8, "the ascent"}, // 500 hidden units are 8 panels
		{prices{swaps: 7}, 100, 7, "the swaps, which each rank draws"},
		{prices{}, 1 << 14, 4.2e6 / 12.5e9, "the bandwidth of the network"},
	} {
		seconds, limit := c.step(x.p, x.n)
		if limit != x.limit || seconds < 0.9*x.seconds || seconds > 1.1*x.seconds+2e-4 {
			t.Errorf("%+v with %d ranks: %v s, limit %s; not %v, %s", x.p, x.n, seconds, limit, x.seconds, x.limit)
		}
	}
}

func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures for some seconds")
	}
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
