package train

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// BenchmarkUpdate is a whole training step on 784 binary inputs, as many
// chains as rows in a batch, five temperatures where there are any, on one
// processor and on two. Compare
// the kernels with plain Go by -tags noasm and benchstat.
func BenchmarkUpdate(b *testing.B) {
	set, _, err := data.Load(context.Background(), "fontdigits:2000", data.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{"cd", "pcd", "jar", "ptt", "ptt:weights=ins", "pt", "ins"} {
		for _, size := range []struct{ hidden, batch, workers int }{{500, 10, 1}, {500, 10, 2}, {500, 100, 1}, {500, 100, 2}, {4096, 10, 1}, {4096, 10, 2}} {
			b.Run(fmt.Sprintf("negphase=%s/hidden=%d/batch=%d/workers=%d", kind, size.hidden, size.batch, size.workers), func(b *testing.B) {
				if size.workers > runtime.NumCPU() {
					b.Skip("fewer processors")
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(size.workers))
				s := settingsOf(b, kind)
				s.Batch, s.Rate = size.batch, 0.001 // at which jar rejects no update
				s.Negative.Set("chains", size.batch)
				tr, err := New(s, set, NewModel(set, size.hidden, false, rbm.Softmax, 1))
				if err != nil {
					b.Fatal(err)
				}
				for range 20 { // units find their usual densities
					if _, err := tr.Step(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := tr.Step(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
			})
		}
	}
}
