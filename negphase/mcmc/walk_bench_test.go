package mcmc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gorbm/rbm"
)

// A bench is a system in the experiments of the SARDONICS paper.
type bench struct {
	name    string
	sides   []int
	j       func(rbm.Key) Couplings
	beta    float64
	low, up int // smallest and largest length of walks
}

var benches = []bench{
	{"ferro60x60", []int{60, 60}, func(rbm.Key) Couplings { return Uniform(1) }, 1 / 2.27, 89, 90},
	{"pm9x9x9", []int{9, 9, 9}, func(k rbm.Key) Couplings { return PlusMinus(1, k) }, 1, 1, 25},
	{"gauss60x60", []int{60, 60}, func(k rbm.Key) Couplings { return Gaussian(1, k) }, 1, 89, 90},
	{"gauss9x9x9", []int{9, 9, 9}, func(k rbm.Key) Couplings { return Gaussian(1, k) }, 1, 1, 25},
}

// system returns the bench's n-th system in a random state.
func (b bench) system(t testing.TB, n uint64) *Ising {
	t.Helper()
	lattice, err := Grid(b.sides, true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := lattice.Graph(b.j(rbm.NewKey(n)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return NewIsing(g, randomState(rbm.NewKey(n).Child(1).Rand(), g.Len()))
}

func randomState(r *rand.Rand, n int) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		x[i] = uint8(r.IntN(2))
	}
	return x
}

// BenchmarkWalks measures the time per flip, including flips of rejected moves.
func BenchmarkWalks(b *testing.B) {
	for _, c := range benches {
		movers := walkers(c)
		for _, name := range []string{"pair", "full", "im"} {
			b.Run(fmt.Sprintf("system=%s/walk=%s", c.name, name), func(b *testing.B) {
				chain := mustBind(b, movers[name], c.system(b, 1), c.beta)
				r := rbm.NewKey(3).Rand()
				for range 3000 {
					chain.Move(r)
				}
				var info Info
				b.ReportAllocs()
				for b.Loop() {
					info.Add(chain.Move(r))
				}
				a, _ := info.Acceptance()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(info.Flips), "ns/flip")
				b.ReportMetric(a, "accepted")
			})
		}
	}
}

func mustBind(t testing.TB, m Mover, s System, beta float64) Chain {
	t.Helper()
	c, err := m.Bind(s, beta, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
