package rbm

import (
	"fmt"
	"runtime"
	"testing"
)

// benchShapes are the models for which speed is measured. batch is the number of examples and of
// chains.
var benchShapes = []struct{ visible, hidden, batch int }{
	{16, 4, 10}, // toy models of the exact experiments
	{784, 500, 10},
	{784, 500, 50},
	{784, 500, 100},
	{784, 4096, 50},
}

// forBench runs a benchmark on every shape, on one and on two processors. Visible units are on with
// probability 0.19, as in MNIST, and hidden units with 0.3.
func forBench(b *testing.B, f func(b *testing.B, m *RBM, data Values, s *States)) {
	for i := range 2 * len(benchShapes) {
		c, workers := benchShapes[i/2], 1+i%2
		b.Run(fmt.Sprintf("visible=%d/hidden=%d/batch=%d/workers=%d", c.visible, c.hidden, c.batch, workers), func(b *testing.B) {
			if workers > runtime.NumCPU() {
				b.Skip("fewer processors")
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			m := New(c.visible, c.hidden, 0, Softmax)
			m.Randomize(0.01, NewKey(1))
			for i := range m.VisibleBias {
				m.VisibleBias[i] -= 1.45
			}
			for j := range m.HiddenBias {
				m.HiddenBias[j] -= 0.85
			}
			p := NewMatrix(c.batch, c.visible)
			for i := range p.Data {
				p.Data[i] = 0.19
			}
			data := NewBits(c.batch, c.visible)
			DrawBits(data, p, NewKey(2))
			s := NewStates(m, c.batch)
			m.Step(s, nil, 1, NewKey(3))
			f(b, m, data, s)
		})
	}
}

// An update of persistent contrastive divergence, without metrics.
func BenchmarkUpdate(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		var a Ascent
		mean := NewMatrix(data.Rows, m.Hidden())
		for i := uint64(0); b.Loop(); i++ {
			m.HiddenMean(mean, data)
			m.Step(s, nil, 1, NewKey(5))
			a.Step(m, 1e-6, 1, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	})
}

func BenchmarkHiddenMean(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		for b.Loop() {
			m.HiddenMean(mean, data)
		}
	})
}

func BenchmarkVisibleMean(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		mean := NewMatrix(data.Rows, m.Visible())
		for b.Loop() {
			m.VisibleMean(mean, s.H)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		for b.Loop() {
			m.Step(s, nil, 1, NewKey(5))
		}
	})
}

func BenchmarkAscend(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		m.HiddenMean(mean, data)
		var a Ascent
		for b.Loop() {
			a.Step(m, 1e-6, 1, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
		}
	})
}

// benchModel returns a classification RBM of MNIST's shape, and a thousand rows with MNIST's
// density.
func benchModel() (*RBM, Values) {
	m := New(794, 500, 10, Softmax)
	m.Randomize(0.05, NewKey(1))
	p := NewMatrix(1000, 794)
	for i := range p.Data {
		if i%794 < 784 {
			p.Data[i] = 0.19
		}
	}
	v := NewBits(1000, 794)
	DrawBits(v, p, NewKey(2))
	for r := range v.Rows {
		v.Set(r, 784+r%10, true)
	}
	return m, v
}

// forEvaluation reports the number of rows per second that f evaluates, n at a time.
func forEvaluation(b *testing.B, n int, f func(m *RBM, v Values, dst []float64)) {
	m, v := benchModel()
	dst := make([]float64, v.Rows*m.Classes())
	b.Run(fmt.Sprintf("visible=794/hidden=500/classes=10/rows=%d", n), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f(m, v.Slice(0, n), dst)
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

func BenchmarkFreeEnergy(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		forEvaluation(b, n, func(m *RBM, v Values, dst []float64) { m.FreeEnergy(dst[:n], v) })
	}
}

func BenchmarkClassLogProb(b *testing.B) {
	for _, n := range []int{10, 1000} {
		forEvaluation(b, n, func(m *RBM, v Values, dst []float64) { m.ClassLogProb(dst[:10*n], v) })
	}
}

func BenchmarkHiddenMeanGivenInputs(b *testing.B) {
	mean := NewMatrix(1000, 500)
	for _, n := range []int{10, 1000} {
		forEvaluation(b, n, func(m *RBM, v Values, _ []float64) { m.HiddenMeanGivenInputs(mean.Slice(0, n), v) })
	}
}

func BenchmarkPseudo(b *testing.B) {
	for _, n := range []int{10, 200} {
		forEvaluation(b, n, func(m *RBM, v Values, dst []float64) { m.PseudoLogLikelihood(dst[:n], v) })
	}
}

// forGrey runs a benchmark on grey rows, in which a fifth of the values is not zero.
func forGrey(b *testing.B, f func(m *RBM, v, mean Matrix)) {
	for _, batch := range []int{10, 100} {
		b.Run(fmt.Sprintf("visible=784/hidden=500/batch=%d", batch), func(b *testing.B) {
			m := New(784, 500, 0, Softmax)
			m.Randomize(0.01, NewKey(1))
			v, mean := NewMatrix(batch, 784), NewMatrix(batch, 500)
			r := NewKey(2).Rand()
			for i := range v.Data {
				if r.Float64() < 0.2 {
					v.Data[i] = r.Float32()
				}
			}
			m.HiddenMean(mean, v.Values())
			b.ReportAllocs()
			for b.Loop() {
				f(m, v, mean)
			}
		})
	}
}

func BenchmarkHiddenMeanGrey(b *testing.B) {
	forGrey(b, func(m *RBM, v, mean Matrix) { m.HiddenMean(mean, v.Values()) })
}

func BenchmarkAscendGrey(b *testing.B) {
	var a Ascent
	forGrey(b, func(m *RBM, v, mean Matrix) {
		a.Step(m, 1e-6, 1, Phase{Batch: Batch{V: v.Values(), H: mean}}, Phase{Batch: Batch{V: v.Values(), H: mean}})
	})
}

func BenchmarkMomentsSet(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Values, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		m.HiddenMean(mean, data)
		dst := NewMoments(m)
		b.ReportAllocs()
		for b.Loop() {
			dst.Set(Batch{V: data, H: mean})
		}
	})
}

// Hidden means and draws of a hundred rows under a constraint, and whole updates with and without
// the constraint.
func BenchmarkConstraint(b *testing.B) {
	for _, c := range []struct{ hidden, active int }{{100, 20}, {500, 50}, {500, 250}} {
		for _, active := range []int{0, c.active} {
			b.Run(fmt.Sprintf("visible=784/hidden=%d/active=%d/batch=100", c.hidden, active), func(b *testing.B) {
				m := New(784, c.hidden, 0, Softmax)
				m.Randomize(0.1, NewKey(1))
				if active > 0 {
					m.Constraint = &Constraint{On: HiddenUnits, Active: active}
				}
				p := NewMatrix(100, 784)
				for i := range p.Data {
					p.Data[i] = 0.19
				}
				data := NewBits(100, 784)
				DrawBits(data, p, NewKey(2))
				s := NewStates(m, 100)
				m.RandomizeHidden(s.H, NewKey(3))
				mean := NewMatrix(100, c.hidden)
				var a Ascent
				for i := uint64(0); b.Loop(); i++ {
					m.HiddenMean(mean, data)
					m.Step(s, nil, 1, NewKey(5))
					a.Step(m, 1e-6, 1, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
				}
			})
		}
	}
}

// A discriminative update: the phase and the ascent.
func BenchmarkObjective(b *testing.B) {
	for _, rows := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			m := shape{794, 500, 10, Softmax}.random(1, 0.01)
			p, y := objectiveOf(m, rows, false)
			for r := range y {
				y[r] = int32(r % 10)
			}
			none := Phase{Batch: Batch{V: NewBits(0, m.Visible()), H: NewMatrix(0, m.Hidden())}}
			var a Ascent
			for b.Loop() {
				p.Set(m, Objective{Discriminative: 1}, y)
				a.Step(m, 1e-4, 0, Phase{Batch: p.Batch}, none)
			}
		})
	}
}
