package binary

import (
	"fmt"
	"testing"

	"gorbm/rbm"
)

// Movers and systems of the benchmarks, and the critical point of the square
// lattice of Hamze, Wang & de Freitas' experiments.
const critical = 1 / 2.27

func benchSystems(b *testing.B) map[string]*Ising {
	systems := map[string]*Ising{}
	for name, c := range map[string]Couplings{"uniform": Uniform(1), "pm1": PlusMinus(1, rbm.NewKey(1)), "gaussian": Gaussian(1, rbm.NewKey(2))} {
		for _, sides := range [][]int{{60, 60}, {9, 9, 9}} {
			l, err := Grid(sides, true)
			if err != nil {
				b.Fatal(err)
			}
			g, err := l.Graph(c, 0)
			if err != nil {
				b.Fatal(err)
			}
			systems[fmt.Sprintf("lattice=%s/J=%s", l.Name, name)] = NewIsing(g, nil)
		}
	}
	return systems
}

func BenchmarkSweep(b *testing.B) {
	for _, name := range []string{"lattice=60x60/J=uniform", "lattice=9x9x9/J=pm1", "lattice=60x60/J=gaussian"} {
		for _, m := range []struct {
			name  string
			mover Mover
		}{{"gibbs/order=linear", Gibbs{}}, {"gibbs/order=random", Gibbs{Random}}, {"metropolis/order=linear", Metropolis{}}} {
			b.Run(name+"/sampler="+m.name, func(b *testing.B) {
				s := benchSystems(b)[name]
				beta := 1.0
				if name == "lattice=60x60/J=uniform" {
					beta = critical
				}
				c, err := m.mover.Bind(s, beta, nil)
				if err != nil {
					b.Fatal(err)
				}
				r := rbm.NewKey(3).Rand()
				for range 200 {
					c.Move(r)
				}
				b.ResetTimer()
				var info Info
				for range b.N {
					info.Add(c.Move(r))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(info.Updates), "ns/update")
			})
		}
	}
}
