package mcmc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// trained returns the trained RBM of the SARDONICS paper, from the folder
// benchmarks of $GORBM_DATA. It is the model in the authors' repository ziyuw/AdaptSAW, converted to an
// .npz file of gorbm.
func trained(t testing.TB) *rbm.RBM {
	t.Helper()
	const name = "sardonics-rbm-784x500.npz"
	m, _, err := modelfile.Read(filepath.Join(os.Getenv("GORBM_DATA"), "benchmarks", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the trained RBM of the SARDONICS paper, " + name + ", is not there; $GORBM_DATA/benchmarks is its folder")
	}
	return must(m, err)(t)
}

// rbmBenches has RBMs of 784 × 500 units: one with random parameters as in the
// paper, and a trained one.
var rbmBenches = []struct {
	name  string
	model func(t testing.TB) *rbm.RBM
}{
	{"gaussian.1", func(testing.TB) *rbm.RBM { return gaussianRBM(784, 500, .1, 1) }},
	{"trained", trained},
}

// burnt returns a system on the model after some block Gibbs steps.
func burnt(t testing.TB, m *rbm.RBM) *RBM {
	s := NewRBM(NewParameters(m))
	s.SetState(RandomState(s.Len(), rbm.NewKey(2)))
	chain := must(Gibbs{}.Bind(s, 1, nil))(t)
	r := rbm.NewKey(3).Rand()
	for range 50 {
		chain.Move(r)
	}
	return s
}

// BenchmarkRBMWalks measures the time per flip, including flips of rejected moves.
func BenchmarkRBMWalks(b *testing.B) {
	for _, c := range rbmBenches {
		movers := denseMovers()
		for _, name := range []string{"pair", "full", "im", "im2"} {
			b.Run(fmt.Sprintf("system=%s/walk=%s", c.name, name), func(b *testing.B) {
				s := burnt(b, c.model(b))
				chain := must(movers[name].Bind(s, 1, nil))(b)
				r := rbm.NewKey(3).Rand()
				for range 100 {
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

// BenchmarkRBMSteps measures the time per move of the alternatives to walks, which update
// each unit once per move.
func BenchmarkRBMSteps(b *testing.B) {
	for _, c := range rbmBenches {
		for _, m := range []Mover{BlockGibbs{}, FlipTheState{}, Gibbs{}, Metropolis{Random}, Exchange{}} {
			b.Run(fmt.Sprintf("system=%s/mover=%s", c.name, FormatMover(m)), func(b *testing.B) {
				chain := must(m.Bind(burnt(b, c.model(b)), 1, nil))(b)
				r := rbm.NewKey(3).Rand()
				b.ReportAllocs()
				for b.Loop() {
					chain.Move(r)
				}
			})
		}
	}
}

// BenchmarkRBMLoad measures the time to set new parameters, to load
// the states of 10 chains, and to renew a chain's caches.
func BenchmarkRBMLoad(b *testing.B) {
	const chains = 10
	m := gaussianRBM(784, 500, .1, 1)
	c := NewParameters(m)
	v, h := rbm.NewBits(chains, 784), rbm.NewBits(chains, 500)
	systems := make([]*RBM, chains)
	for r := range systems {
		systems[r] = burnt(b, m)
		systems[r].parameters = c
		systems[r].Store(v, h, r)
	}
	systems = slices.Clone(systems)
	b.Run("part=set", func(b *testing.B) {
		for b.Loop() {
			c.Set(m)
		}
	})
	b.Run("part=load", func(b *testing.B) {
		for b.Loop() {
			c.Load(systems, v, h)
		}
	})
	for _, name := range []string{"pair", "im"} {
		chain := must(denseMovers()[name].Bind(systems[0], 1, nil))(b)
		b.Run("part=reset/walk="+name, func(b *testing.B) {
			for b.Loop() {
				chain.Reset()
			}
		})
	}
}
