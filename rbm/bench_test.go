package rbm

import (
	"fmt"
	"testing"
)

// benchShapes are the models that the project is measured on; batch is both
// the number of examples and that of chains.
var benchShapes = []struct{ visible, hidden, batch int }{
	{16, 4, 10}, // the toy models of the exact experiments
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

// Annealed importance sampling of 100 chains, a hundred temperatures an
// iteration; the metric is what 1000 would take.
func BenchmarkAIS(b *testing.B) {
	m := New(784, 500, 0, Softmax)
	m.Randomize(0.01, NewKey(1))
	mean := make([]float32, 784)
	for i := range mean {
		mean[i] = 0.19
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] -= 0.85
	}
	s := Annealing{Chains: 100, Temperatures: 101, Base: NewBase(m, mean, 60000)}
	copy(m.VisibleBias, s.Base.VisibleBias)
	for b.Loop() {
		if _, err := m.AIS(b.Context(), s, NewKey(1), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10*b.Elapsed().Seconds()/float64(b.N), "s/1000temperatures")
}

// Bennett's ratio of a ladder with a thousand draws a rung whose energies are
// normal; neighbours of a hundred are half a standard deviation apart.
func BenchmarkBennett(b *testing.B) {
	for _, rungs := range []int{10, 100} {
		b.Run(fmt.Sprintf("rungs=%d/draws=1000", rungs), func(b *testing.B) {
			r := NewKey(1).Rand()
			beta, d := make([]float64, rungs), make([][]float64, rungs)
			for k := range beta {
				beta[k] = float64(k) / float64(rungs-1)
				d[k] = make([]float64, 1000)
				sd := float64(rungs) / 2
				for i := range d[k] {
					d[k][i] = sd*r.NormFloat64() - sd*sd*beta[k]
				}
			}
			for b.Loop() {
				if _, err := Bennett(beta, d, nil, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The hidden units of a hundred rows under a constraint, whose means and draws
// take a recursion; and whole updates with it and without.
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
				for i := uint64(0); b.Loop(); i++ {
					m.HiddenMean(mean, data)
					m.Step(s, nil, 1, NewKey(5))
					m.Ascend(1e-6, Phase{Batch: Batch{V: data, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
				}
			})
		}
	}
}
