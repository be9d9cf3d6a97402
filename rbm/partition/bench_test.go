package partition

import (
	"fmt"
	"testing"

	"gorbm/rbm"
)

// An iteration of the benchmark has 100 chains and a hundred temperatures. The metric is the time
// for 1000 temperatures.
func BenchmarkAIS(b *testing.B) {
	m := rbm.New(784, 500, 0, rbm.Softmax)
	m.Randomize(0.01, rbm.NewKey(1))
	mean := make([]float32, 784)
	for i := range mean {
		mean[i] = 0.19
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] -= 0.85
	}
	s := Annealing{Chains: 100, Temperatures: 101, Base: rbm.NewBase(m, mean, 60000)}
	copy(m.VisibleBias, s.Base.VisibleBias)
	for b.Loop() {
		if _, err := AIS(b.Context(), m, s, rbm.NewKey(1), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10*b.Elapsed().Seconds()/float64(b.N), "s/1000temperatures")
}

// Bennett for a ladder with a thousand draws at each temperature. Energies are normal; neighbours
// in a ladder of a hundred are half a standard deviation apart.
func BenchmarkBennett(b *testing.B) {
	for _, temperatures := range []int{10, 100} {
		b.Run(fmt.Sprintf("temperatures=%d/draws=1000", temperatures), func(b *testing.B) {
			r := rbm.NewKey(1).Rand()
			beta, d := make([]float64, temperatures), make([][]float64, temperatures)
			for k := range beta {
				beta[k] = float64(k) / float64(temperatures-1)
				d[k] = make([]float64, 1000)
				sd := float64(temperatures) / 2
				for i := range d[k] {
					d[k][i] = sd*r.NormFloat64() - sd*sd*beta[k]
				}
			}
			for b.Loop() {
				if _, err := Bennett(beta, d, 10, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
