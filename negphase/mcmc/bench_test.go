package mcmc

import (
	"fmt"
	"testing"

	"gorbm/rbm"
)

// critical is the inverse temperature of the square lattice in the experiments of Hamze, Wang & de Freitas, near the
// critical point.
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
				benchMover(b, m.mover, s, beta, "ns/update", func(i Info) int64 { return i.Updates })
			})
		}
	}
}

func BenchmarkExchange(b *testing.B) {
	for _, bc := range []struct {
		name   string
		beta   float64
		active int
	}{{"lattice=60x60/J=uniform", critical, 1800}, {"lattice=9x9x9/J=pm1", 1, 364}, {"lattice=60x60/J=gaussian", 1, 1800}} {
		b.Run(fmt.Sprintf("%s/active=%d", bc.name, bc.active), func(b *testing.B) {
			s := benchSystems(b)[bc.name]
			s.SetState(shellState(s.Len(), bc.active, rbm.NewKey(4)))
			benchMover(b, Exchange{}, s, bc.beta, "ns/attempt", func(i Info) int64 { return i.Updates })
		})
	}
}

func BenchmarkWolff(b *testing.B) {
	for _, name := range []string{"lattice=60x60/J=uniform", "lattice=9x9x9/J=pm1"} {
		b.Run(name, func(b *testing.B) {
			benchMover(b, Wolff{1}, benchSystems(b)[name], critical, "ns/flip", func(i Info) int64 { return i.Flips })
		})
	}
}

func BenchmarkSwendsenWang(b *testing.B) {
	for _, name := range []string{"lattice=60x60/J=uniform", "lattice=9x9x9/J=pm1"} {
		b.Run(name, func(b *testing.B) {
			s := benchSystems(b)[name]
			benchMover(b, SwendsenWang{}, s, critical, "ns/spin", func(i Info) int64 { return i.Moves * int64(s.Len()) })
		})
	}
}

// benchMover reports the time per event that count counts, after 200 moves of warm-up.
func benchMover(b *testing.B, m Mover, s System, beta float64, unit string, count func(Info) int64) {
	c, err := m.Bind(s, beta, nil)
	if err != nil {
		b.Fatal(err)
	}
	r := rbm.NewKey(3).Rand()
	for range 200 {
		c.Move(r)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var info Info
	for range b.N {
		info.Add(c.Move(r))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(count(info)), unit)
	if rate, ok := info.Acceptance(); ok {
		b.ReportMetric(rate, "accepted")
	}
}
