package train

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"gorbm/data"
	"gorbm/rbm"
)

// BenchmarkUpdate measures a whole training step on 784 binary inputs, with as many chains as rows in a
// batch and five temperatures where there is a ladder, on one processor and on two. To compare the kernels
// with plain Go, use -tags noasm and benchstat.
func BenchmarkUpdate(b *testing.B) {
	set, _, err := data.Load(context.Background(), "fontdigits:2000", data.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{"cd", "pcd", "ptt", "pt", "ins"} {
		for _, size := range []struct{ hidden, batch, workers int }{{500, 10, 1}, {500, 10, 2}, {500, 100, 1}, {500, 100, 2}, {4096, 10, 1}, {4096, 10, 2}} {
			b.Run(fmt.Sprintf("negphase=%s/hidden=%d/batch=%d/workers=%d", kind, size.hidden, size.batch, size.workers), func(b *testing.B) {
				if size.workers > runtime.NumCPU() {
					b.Skip("fewer processors")
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(size.workers))
				s := settingsOf(b, kind)
				s.Batch, s.Rate = size.batch, 0.001 // at which ptt rejects no update
				s.Negative.Set("chains", size.batch)
				tr, err := New(s, set, NewModel(set, size.hidden, false, rbm.Softmax, 1))
				if err != nil {
					b.Fatal(err)
				}
				for range 20 { // the densities of units settle
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

// BenchmarkGroups measures a step of pcd on rows of 100 softmax groups of 21 units, like those of protein
// families, with 200 hidden units and 500 chains.
func BenchmarkGroups(b *testing.B) {
	set := &data.Set{Name: "groups", X: rbm.NewBits(2000, 2100), Binarize: data.Binary}
	r := rbm.NewKey(1).Rand()
	for range 100 {
		set.Groups = append(set.Groups, rbm.Group{Kind: rbm.Softmax, Units: 21})
	}
	for row := range 2000 {
		for site := range 100 {
			set.X.Set(row, 21*site+int(math.Sqrt(float64(r.IntN(441)))), true)
		}
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			s := settingsOf(b, "pcd")
			s.Batch, s.Rate = 500, 0.001
			s.Negative.Set("chains", 500)
			tr, err := New(s, set, NewModel(set, 200, false, rbm.Softmax, 1))
			if err != nil {
				b.Fatal(err)
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

// BenchmarkOptimizer measures a training step of pcd at 784 × 500 units, like BenchmarkUpdate, with options
// of the optimizer.
func BenchmarkOptimizer(b *testing.B) {
	set, _, err := data.Load(context.Background(), "fontdigits:2000", data.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, batch := range []int{10, 100} {
		for _, c := range []struct {
			name string
			with func(s *Settings)
		}{
			{"plain", func(s *Settings) {}},
			{"center", func(s *Settings) { s.Center = 0.01 }},
			{"momentum", func(s *Settings) { s.Momentum = 0.9 }},
			{"l2", func(s *Settings) { s.L2 = 0.001 }},
			{"average", func(s *Settings) { s.Average = 0.999 }},
			{"momentum+l2+average", func(s *Settings) { s.Momentum, s.L2, s.Average = 0.9, 0.001, 0.999 }},
			{"all", func(s *Settings) { s.Center, s.Momentum, s.L2, s.Average = 0.01, 0.9, 0.001, 0.999 }},
			{"rest", func(s *Settings) { s.Rate = 0.0001 }},
		} {
			b.Run(fmt.Sprintf("batch=%d/%s", batch, c.name), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				s := settingsOf(b, "pcd")
				s.Batch, s.Rate, s.Schedule = batch, 0.02, "constant"
				s.Negative.Set("chains", batch)
				c.with(&s)
				tr, err := New(s, set, NewModel(set, 500, false, rbm.Softmax, 1))
				if err != nil {
					b.Fatal(err)
				}
				for range 20 { // the densities of units settle
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
			})
		}
	}
}

// BenchmarkMixing measures a run in which the metric mixing is measured as often as its budget allows. It
// reports the time of the metric as a fraction of that of the steps.
func BenchmarkMixing(b *testing.B) {
	for _, c := range []struct {
		data, negative string
		hidden, batch  int
	}{
		{"bars:8", "pcd:chains=10", 50, 10}, {"bars:8", "pt:chains=10:tau=1/2/3/4/inf", 50, 10},
		{"fontdigits:2000", "pcd:chains=50", 500, 20}, {"fontdigits:2000", "ins:chains=10:tau=1/2/3/4/5", 500, 20},
		{"bars:8", "ptt:chains=10", 50, 10}, {"bars:4", "ptt:chains=20", 12, 20},
		{"fontdigits:2000", "ptt:chains=20", 500, 20},
	} {
		b.Run(fmt.Sprintf("data=%s/negphase=%s", c.data, c.negative), func(b *testing.B) {
			s := settingsOf(b, c.negative)
			s.Batch, s.Rate = c.batch, 0.01
			set := toy(b, c.data)
			tr := newTrainer(b, s, set, c.hidden, false, rbm.Softmax)
			metrics, err := NewRunMetrics([]string{"mixing"}, tr.Model(), Sets{Train: set}, s)
			if err != nil {
				b.Fatal(err)
			}
			metrics[0].Watch(tr)
			var spent time.Duration
			for b.Loop() {
				run(b, tr, tr.Steps()+mixingShare*leastContinued)
				start := time.Now()
				if _, err := metrics[0].Measure(context.Background(), tr.Model(), false); err != nil {
					b.Fatal(err)
				}
				spent += time.Since(start)
			}
			b.ReportMetric(100*spent.Seconds()/tr.Elapsed().Seconds(), "%metric")
		})
	}
}
