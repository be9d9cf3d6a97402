package vec

import (
	"fmt"
	"math/bits"
	"testing"
)

// forBench runs a benchmark at every level. An iteration has count operations; it reports them per
// second.
func forBench(b *testing.B, name string, count float64, unit string, f func()) {
	for l := Go; l <= Best(); l++ {
		b.Run(fmt.Sprintf("level=%v/%s", l, name), func(b *testing.B) {
			defer SetLevel(l)()
			for b.Loop() {
				f()
			}
			b.ReportMetric(count*float64(b.N)/b.Elapsed().Seconds()/1e9, "G"+unit+"/s")
		})
	}
}

// Row sums of 784 × 500 units in the order of an up pass: for each panel, all chains for each two
// words of visible units.
func BenchmarkRowSums(b *testing.B) {
	const n, panels = 784, 8
	s := newSource(1, false)
	rows := PanelRows(n)
	w := s.fill(make([]float32, panels*rows*Block))
	for _, batch := range []int{10, 50, 100} {
		words := s.words(make([]uint64, batch*Blocks(n)), 0.19)
		for r := range batch {
			words[(r+1)*Blocks(n)-1] &= WordMask(n % Block)
		}
		acc := make([]float32, batch*panels*Block)
		ones := 0
		for _, w := range words {
			ones += bits.OnesCount64(w)
		}
		forBench(b, fmt.Sprintf("batch=%d", batch), float64(ones*panels*Block*4), "B", func() {
			for p := range panels {
				for k := 0; k < Blocks(n); k += RowSumsWords {
					RowSums(acc[p*batch*Block:], w[(p*rows+k*Block)*Block:], words[k:], Blocks(n), min(RowSumsWords, Blocks(n)-k), batch, nil)
				}
			}
		})
	}
}

// Transposition of the weights of 784 × 500 units in the order of a down pass.
func BenchmarkTurn(b *testing.B) {
	const n, panels = 784, 8
	w := newSource(1, false).fill(make([]float32, panels*n*Block))
	dst := make([]float32, Block*Block)
	forBench(b, "visible=784/hidden=500", float64(4*len(w)), "B", func() {
		for k := 0; k < n; k += Block {
			for p := range panels {
				TransposePanel(dst, w[(p*n+k)*Block:], n-k, Block)
			}
		}
	})
}

func BenchmarkDraws(b *testing.B) {
	const n = 100
	s := newSource(1, false)
	x, words := s.fill(make([]float32, n*Block)), make([]uint64, n)
	means := make([]float32, n*Block)
	Sigmoids(means, Block, x, n, Block)
	stream := Stream{1, 2, 3, 4}
	forBench(b, "kind=tempered", n*Block, "draw", func() { stream.Draws(words, 1, x, nil, 0, 0, n, Block) })
	forBench(b, "kind=means", n*Block, "draw", func() { stream.DrawMeans(words, 1, means, Block, 0, 0, n, Block) })
}

func BenchmarkUniforms(b *testing.B) {
	var u [Block]float32
	stream := Stream{1, 2, 3, 4}
	forBench(b, "block=64", Block, "word", func() { stream.Uniforms(&u, 1, 2) })
}

func BenchmarkSigmoids(b *testing.B) {
	const n = 100
	x := newSource(1, false).fill(make([]float32, n*Block))
	dst := make([]float32, n*Block)
	for _, width := range []int{20, 64} {
		forBench(b, fmt.Sprintf("width=%d", width), float64(n*width), "mean", func() { Sigmoids(dst, Block, x, n, width) })
	}
}

func BenchmarkLists(b *testing.B) {
	const n = 100
	words := newSource(1, false).words(make([]uint64, n), 0.2)
	list, cuts := make([]uint32, n*Block+ListSlack), make([]uint32, n+1)
	forBench(b, "density=0.2", n*Block, "bit", func() { Lists(list, cuts, words, 1, 0, n, 1, 0) })
}

func BenchmarkTranspose(b *testing.B) {
	m := (*[Block]uint64)(newSource(1, false).words(make([]uint64, Block), 0.2))
	forBench(b, "bits=4096", Block*Block, "bit", func() { Transpose(m) })
}

func BenchmarkScale(b *testing.B) {
	const n = 20
	s := newSource(1, false)
	x, a := s.fill(make([]float32, n*500)), s.fill(make([]float32, n))
	dst := make([]float32, n*Block)
	for _, width := range []int{52, 64} {
		forBench(b, fmt.Sprintf("rows=%d/width=%d", n, width), float64(4*n*width), "B", func() { Scale(dst, x, 500, a, width) })
	}
}

func BenchmarkAddWhere(b *testing.B) {
	s := newSource(1, false)
	words, coef := s.words(make([]uint64, 200), 0.2), s.fill(make([]float32, 200))
	var acc [Block]float64
	forBench(b, "slots=200", 200*Block, "add", func() { AddWhere(&acc, words, coef) })
}

func BenchmarkDrawOne(b *testing.B) {
	x := newSource(1, false).fill(make([]float32, 10))
	y := make([]float32, 10)
	forBench(b, "classes=10", 1, "draw", func() { copy(y, x); DrawOne(y, 12345, 1) })
}

func BenchmarkSoftplusSum(b *testing.B) {
	s := newSource(1, false)
	x := make([]float64, 500)
	for i := range x {
		x[i] = s.NormFloat64() * 3
	}
	forBench(b, "len=500", 500, "term", func() { SoftplusSum(x) })
}

func BenchmarkRises(b *testing.B) {
	const n = 100
	x := newSource(1, false).fill(make([]float32, n*Block))
	factor, part := make([]float64, n), make([]float64, n)
	var shift [Block]float64
	forBench(b, "rows=100", n*Block, "unit", func() { Rises(factor, part, x, 0.5, 0.501, &shift, &shift, n) })
}

func BenchmarkBlend(b *testing.B) {
	const n = 100
	s := newSource(1, false)
	x, beta := s.fill(make([]float32, n*Block)), s.fill(make([]float32, n))
	var base [Block]float32
	forBench(b, "rows=100", n*Block, "unit", func() { Blend(x, x, beta, &base, n) })
}

func BenchmarkOdds(b *testing.B) {
	s := newSource(1, false)
	x, on, off := make([]float64, 504), make([]float64, 504), make([]float64, 504)
	for i := range x {
		x[i] = s.NormFloat64() * 3
	}
	forBench(b, "len=504", 504, "unit", func() { Odds(on, off, x) })
}

func BenchmarkProducts(b *testing.B) {
	const n, tables = 504, 12
	on, off, table := make([]float64, n), make([]float64, n), make([]float64, n*tables)
	var m [tables]float64
	var e [tables]int64
	var offsets [tables]uint32
	for i := range on {
		on[i], off[i] = 0.25, 0.75
	}
	for i := range table {
		table[i] = 1.25
	}
	for y := range m {
		m[y], offsets[y] = 1, uint32(y*n)
	}
	forBench(b, "len=504/tables=12", n*tables, "factor", func() { Products(m[:], e[:], on, off, table, offsets[:], 504) })
}

func BenchmarkQuads(b *testing.B) {
	const n = 784
	x := make([]float64, 8*n)
	for i := range x {
		x[i] = 0.5
	}
	row := func(k int) []float64 { return x[k*n : (k+1)*n] }
	m, e := [4]float64{1, 1, 1, 1}, [4]int64{}
	forBench(b, "what=products/len=784", 4*n, "factor", func() { QuadProducts(&m, &e, row(0), row(1), row(2), row(3), row(4), n) })
	weight := [4]float64{1e-9, 1e-9, 1e-9, 1e-9}
	forBench(b, "what=means/len=784", 4*n, "mean", func() {
		QuadMeans(row(5), row(6), row(7), row(0), row(1), row(2), row(3), row(4), &weight)
	})
}

// One word of visible units in all examples, at the density of MNIST.
func BenchmarkRowSums64(b *testing.B) {
	const batch = 64
	s := newSource(1, false)
	base, acc := s.fill(make([]float32, Block*Block)), make([]float64, batch*Block)
	words := s.words(make([]uint64, batch), 0.19)
	lists, cuts := make([]uint32, batch*Block+ListSlack), make([]uint32, batch+1)
	Lists(lists, cuts, words, 1, 1, batch, 1, 0)
	values := s.fill(make([]float32, len(lists)))
	sum := make([]float32, batch*Block)
	wide := make([]float64, len(base))
	forBench(b, "widen", float64(len(base)), "value", func() { Widen(wide, base) })
	for _, v := range []struct {
		name   string
		values []float32
	}{{"ones", nil}, {"given", values}} {
		forBench(b, "values="+v.name, float64(cuts[batch])*Block, "add", func() { RowSums64(acc, Block, base, lists, v.values, cuts) })
		forBench(b, "values="+v.name+"/widened", float64(cuts[batch])*Block, "add", func() { RowSums64(acc, Block, wide, lists, v.values, cuts) })
	}
	forBench(b, "values=given/sum=float32", float64(cuts[batch])*Block, "add", func() { RowSumsTimes(sum, base, lists, values, cuts, 0) })
}

func BenchmarkScaledErfcs(b *testing.B) {
	x, dst := make([]float64, Block), make([]float64, Block)
	for i := range x {
		x[i] = float64(i) / 8
	}
	forBench(b, "block=64", Block, "value", func() { ScaledErfcs(dst, x) })
}
