package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// mixtures has mixtures of kernels that differ in everything that a shared walker must change.
var mixtures = map[string]Mixture{
	"shared": {
		Sardonics{MinLength: 1, MaxLength: 2, Gamma1: 0.5, Gamma2: 2, Weights: HeatBath, Walks: 1, Mix: [3]float64{1, 1, 1}},
		Sardonics{MinLength: 1, MaxLength: 4, Gamma1: 1.5, Weights: HeatBath, Walks: 2, Mix: [3]float64{1, 0, 0}},
		Sardonics{MinLength: 2, MaxLength: 3, Gamma1: 3, Weights: HeatBath, Single: true},
	},
	"boltzmann": {
		Sardonics{MinLength: 1, MaxLength: 3, Gamma1: 0.2, Weights: Boltzmann, Walks: 1, Mix: [3]float64{1, 0, 0}},
		Sardonics{MinLength: 1, MaxLength: 2, Gamma1: 0.7, Weights: Boltzmann, Walks: 1, Mix: [3]float64{1, 0, 0}},
	},
}

// mixtureMoves is the number of moves between two Resets. A kernel
// that does not renew the caches of the kernel before is detected.
const mixtureMoves = HeldMoves + 2

// A severalMoves is a chain whose move consists of several moves of another chain.
type severalMoves struct{ Chain }

func (c severalMoves) Move(r *rand.Rand) (info Info) {
	for range mixtureMoves {
		info.Add(c.Chain.Move(r))
	}
	return info
}

func TestMixturesLeaveTheLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const beta = 0.5
	starts := exactStarts / 10
	if !*long {
		starts /= 4
	}
	for name, g := range map[string]*Graph{ // with lists of classes, and with block sums
		"signs":    lattice(t, "3x3", PlusMinus(1, rbm.NewKey(3)), 0),
		"gaussian": lattice(t, "3x3", Gaussian(1, rbm.NewKey(4)), 0.3),
	} {
		for kind, m := range mixtures {
			s := NewIsing(g, nil)
			chain := must(m.Bind(s, beta, nil))(t)
			if z := z(t, s, severalMoves{chain}, starts, every(9), boltzmann(energies(g), beta)); math.Abs(z) > 6 {
				t.Errorf("%s, %s: z = %.1f, want ±6 at most", name, kind, z)
			}
		}
	}
}

// A mixture moves identically to its kernels bound separately to copies of the system: a
// shared walker equals a new one. This does not hold for lists of classes,
// where the order of sites depends on earlier moves.
func TestMixtureMovesAsItsKernels(t *testing.T) {
	systems := map[string]func(state []uint8) System{
		"rbm": func(state []uint8) System {
			s := NewRBM(NewParameters(gaussianRBM(6, 5, 1, 3)))
			if state != nil {
				s.SetState(state)
			}
			return s
		},
	}
	g := lattice(t, "4x4", Gaussian(1, rbm.NewKey(4)), 0.3)
	systems["blocks"] = func(state []uint8) System { return NewIsing(g, state) }
	for name, system := range systems {
		for kind, m := range mixtures {
			n := system(nil).Len()
			start := make([]uint8, n)
			for i := range n / 2 {
				start[i] = 1
			}
			a := system(start)
			mixed := must(m.Bind(a, 0.6, nil))(t)
			r, q := rbm.NewKey(5).Rand(), rbm.NewKey(5).Rand()
			var kernel Mover
			for step := range 12 * HeldMoves {
				before := slices.Clone(a.State())
				info := mixed.Move(r)
				b := system(before)
				if step%HeldMoves == 0 {
					kernel = m[q.IntN(len(m))]
				}
				alone := must(kernel.Bind(b, 0.6, nil))(t)
				if want := alone.Move(q); info != want || !slices.Equal(a.State(), b.State()) || a.Energy() != b.Energy() {
					t.Fatalf("%s, %s: move %d is %+v of energy %v, alone %+v of energy %v", name, kind, step, info, a.Energy(), want, b.Energy())
				}
			}
		}
	}
}

func TestBadMixtures(t *testing.T) {
	g := lattice(t, "3x3", Uniform(1), 0)
	for want, m := range map[string]Mixture{
		"no samplers":                       {},
		"longer than":                       {mixtures["shared"][0], Sardonics{MinLength: 1, MaxLength: 10, Gamma1: 1, Weights: HeatBath, Single: true}},
		"k is 0-2":                          {Sardonics{MaxLength: 2, Weights: HeatBath, Single: true}},
		"lengths of its own":                {mixtures["shared"][0], Sardonics{Auto: true, Weights: HeatBath, Single: true}},
		"of heatbath and boltzmann weights": {mixtures["shared"][0], mixtures["boltzmann"][0]},
	} {
		if c, err := m.Bind(NewIsing(g, nil), 1, nil); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", m, err, want)
		}
	}
}
