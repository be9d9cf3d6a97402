package vec

import (
	"flag"
	"runtime"
	"runtime/metrics"
	"testing"
)

// The garbage collector waits until every goroutine can be stopped, and assembly cannot be stopped.
// Calls that would take milliseconds are divided, so that it does not wait for one. Without the
// division nearly every wait is longer. On a busy machine the operating system causes many long
// waits too. Therefore an eighth of the waits must be short, in the best of five rounds.
var long = flag.Bool("long", false, "measure the pauses of kernels too")

func TestPauses(t *testing.T) {
	if !*long {
		t.Skip("measures pauses for some seconds, with -long")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // on one processor the collector waits for its turn
	const n = 1 << 14
	s := newSource(1, false)
	base := s.fill(make([]float32, 256*Block))
	acc := make([]float32, n*Block)
	lists, cuts := make([]uint32, n*128), make([]uint32, n+1)
	for i := range lists {
		lists[i] = uint32(s.IntN(256)) * Block
	}
	for i := range cuts {
		cuts[i] = uint32(i * 128)
	}
	words, out := s.words(make([]uint64, n), 0.1), make([]uint32, n*Block+ListSlack)
	coef := s.fill(make([]float32, n))
	stream := Stream{1, 2, 3, 4}
	ends := make([]uint32, n+1)
	wide := make([]float64, n*Block)
	table := make([]float64, n)
	values := s.fill(make([]float32, len(lists)))
	var shift [Block]float64
	var m [4 * quad]float64
	var e [4 * quad]int64
	var offsets [4 * quad]uint32
	four, powers := [4]float64{1, 1, 1, 1}, [4]int64{}
	for i := range m {
		m[i] = 1
	}
	for i := range table {
		table[i] = 1
	}
	for name, f := range map[string]func(){
		"RowSums":        func() { RowSums(acc, base, words, 1, 1, n, nil) },
		"Sigmoids":       func() { Sigmoids(acc, Block, acc, n, Block) },
		"SigmoidsOfSums": func() { SigmoidsOfSums(acc, acc, base, n, 1) },
		"Draws":          func() { stream.Draws(words, 1, acc, nil, 0, 0, n, Block) },
		"DrawMeans":      func() { stream.DrawMeans(words, 1, acc, Block, 0, 0, n, Block) },
		"Scale":          func() { Scale(acc, acc, Block, acc[:n], Block) },
		"Lists":          func() { Lists(out, ends, words, 1, 0, n, 1, 0) },
		"RowSums64":      func() { RowSums64(wide, 0, base, lists, nil, cuts) },
		"Odds":           func() { Odds(wide, wide[n*8:], wide[n*16:n*32]) },
		"Exps":           func() { Exps(wide, wide) },
		"Widen":          func() { Widen(wide, acc) },
		"CentralNormals": func() { CentralNormals(wide, wide) },
		"ScaledErfcs":    func() { ScaledErfcs(wide, wide) },
		"Nonzero":        func() { Nonzero(out, acc, acc[:n*Block-ListSlack]) },
		"AddTimes":       func() { AddTimes(acc, Block, base, 0, 1, n, Block) },
		"Products": func() {
			for range 50 {
				Products(m[:], e[:], table, table, table, offsets[:], Span(1))
			}
		},
		"QuadProducts": func() {
			for range 50 {
				QuadProducts(&four, &powers, table, table, table, table, table, Span(1))
			}
		},
		"QuadMeans": func() {
			for range 20 {
				QuadMeans(wide, wide, wide, wide, wide, wide, wide, wide, &four)
			}
		},
		"AddWhere":     func() { AddWhere((*[Block]float64)(wide), words, coef) },
		"AddSumsTimes": func() { AddSumsTimes(acc, base, lists, values, cuts, 0) },
		"AddWide":      func() { AddWide(wide, acc[:len(wide)]) },
		"AddNarrow":    func() { AddNarrow(acc[:len(wide)], wide) },
		"Decay":        func() { Decay(acc, acc, 0, 0) },
		"RowSumsTimes": func() { RowSumsTimes(acc, base, lists, values, cuts, 0) },
		"SoftplusSum":  func() { SoftplusSum(wide) },
		"Blend":        func() { Blend(acc, acc, coef, (*[Block]float32)(base), n) },
		"Rises":        func() { Rises(wide, wide[n:], acc, 0, 1, &shift, &shift, n) },
	} {
		t.Run(name, func(t *testing.T) {
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						f()
					}
				}
			}()
			sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
			read := func() *metrics.Float64Histogram {
				metrics.Read(sample)
				h := sample[0].Value.Float64Histogram()
				return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
			}
			var short, long uint64
			for range 5 {
				before := read()
				for range 20 {
					runtime.GC()
				}
				after := read()
				short, long = 0, 0
				for i, c := range after.Counts {
					c -= before.Counts[i]
					if after.Buckets[i+1] <= 1e-3 {
						short += c
					} else {
						long += c
					}
				}
				if short*8 >= short+long {
					break
				}
			}
			close(stop)
			<-stopped
			if short*8 < short+long {
				t.Errorf("%d waits up to a millisecond, %d longer", short, long)
			}
		})
	}
}
