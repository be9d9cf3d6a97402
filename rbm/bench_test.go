package rbm

import (
	"fmt"
	"testing"
)

// benchShapes are the models that the project is measured on; batch is both
// the number of examples and that of chains.
var benchShapes = []struct{ visible, hidden, batch int }{
	{784, 500, 10},
	{784, 500, 50},
	{784, 500, 100},
	{784, 4096, 50},
}

// forBench runs a benchmark on every shape, with states whose visible units
// are one with probability 0.19, as MNIST's, and hidden ones with 0.3.
func forBench(b *testing.B, f func(b *testing.B, m *RBM, data Bits, s *States)) {
	for _, c := range benchShapes {
		b.Run(fmt.Sprintf("visible=%d/hidden=%d/batch=%d", c.visible, c.hidden, c.batch), func(b *testing.B) {
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

// An update of persistent contrastive divergence without the bookkeeping.
func BenchmarkUpdate(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Bits, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		for i := uint64(0); b.Loop(); i++ {
			m.HiddenMean(mean, data)
			m.Step(s, nil, 1, NewKey(5))
			m.Ascend(1e-6, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	})
}

func BenchmarkHiddenMean(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Bits, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		for b.Loop() {
			m.HiddenMean(mean, data)
		}
	})
}

func BenchmarkVisibleMean(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Bits, s *States) {
		mean := NewMatrix(data.Rows, m.Visible())
		for b.Loop() {
			m.VisibleMean(mean, s.H)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Bits, s *States) {
		for b.Loop() {
			m.Step(s, nil, 1, NewKey(5))
		}
	})
}

func BenchmarkAscend(b *testing.B) {
	forBench(b, func(b *testing.B, m *RBM, data Bits, s *States) {
		mean := NewMatrix(data.Rows, m.Hidden())
		m.HiddenMean(mean, data)
		for b.Loop() {
			m.Ascend(1e-6, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
		}
	})
}
