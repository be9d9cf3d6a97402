package mcmc

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// rbmMovers returns all movers for an RBM of n units, with settings for few
// units.
func rbmMovers(n int) map[string]Mover {
	pair := DefaultSardonics()
	pair.MaxLength = 3
	full := pair
	full.Gamma2, full.Walks, full.Mix = .6, 2, [3]float64{.5, .25, .25}
	boltzmann := pair
	boltzmann.Weights, boltzmann.Gamma1 = Boltzmann, .5
	im := DefaultIntracluster()
	im.MaxLength, im.GammaUp = 2, .7
	imBoltzmann := im
	imBoltzmann.Weights, imBoltzmann.GammaDown, imBoltzmann.GammaUp = Boltzmann, .5, .4
	return map[string]Mover{
		"gibbs": Gibbs{}, "gibbs random": Gibbs{Random}, "metropolis random": Metropolis{Random}, "modified": ModifiedMetropolis{},
		"block-gibbs": BlockGibbs{}, "flip": FlipTheState{}, "exchange": Exchange{},
		"sardonics": pair, "sardonics mixed": full, "sardonics boltzmann": boltzmann, "im": im, "im boltzmann": imBoltzmann,
	}
}

// rbmZ starts chains from the exact distribution over the given states, makes a
// few moves of each, and returns the z-score of the final states.
func rbmZ(s *RBM, c Chain, on [][]uint8, distribution []float64, starts int) float64 {
	index := map[int]int{}
	for k, x := range on {
		index[indexOf(x)] = k
	}
	counts := make([]int, len(on))
	r := rbm.NewKey(77).Rand()
	for range starts {
		s.SetState(on[pickState(distribution, r)])
		c.Reset()
		for range 2 {
			c.Move(r)
		}
		counts[index[indexOf(s.State())]]++
	}
	return diag.StationarityZ(counts, distribution)
}

// Every mover leaves the distribution of an RBM invariant, on all sites and on some. A chain at
// another temperature does not.
func TestMoversLeaveTheLawOfAnRBM(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const beta, units, starts = 0.8, 8, 10_000
	for _, visible := range []int{5, 3} {
		c := NewParameters(gaussianRBM(visible, units-visible, .9, uint64(visible)))
		model := plainOfRBM(c)
		some := []int32{6, 1, 2, 7, 4, 0}
		for name, m := range rbmMovers(units) {
			on := states(units)
			if _, im := m.(Intracluster); im || name == "exchange" {
				// A shell of the sites that move; the other sites are fixed.
				on = slices.DeleteFunc(on, func(x []uint8) bool { return sum(x) != 4 || x[3] != 1 || x[5] != 0 })
			}
			distribution := model.boltzmann(on, beta)
			for _, sites := range [][]int32{nil, some} {
				if sites == nil && len(on) < 1<<units {
					on = slices.DeleteFunc(states(units), func(x []uint8) bool { return sum(x) != 4 })
					distribution = model.boltzmann(on, beta)
				}
				s := NewRBM(c)
				s.SetState(on[0])
				chain := must(m.Bind(s, beta, sites))(t)
				if z := rbmZ(s, chain, on, distribution, starts); z > 6 {
					t.Errorf("%d visible units, %s on sites %v: z = %.1f, want at most 6", visible, name, sites, z)
				}
			}
			s := NewRBM(c)
			s.SetState(on[0])
			if z := rbmZ(s, must(m.Bind(s, 1.3*beta, nil))(t), on, distribution, starts); z < 6 {
				t.Errorf("%s at a wrong temperature: z = %.1f, want at least 6", name, z)
			}
		}
	}
}

// Each update of a single unit satisfies detailed balance exactly.
func TestUpdatesOfUnitsBalance(t *testing.T) {
	const beta = 0.8
	c := smallRBM(3, 7)
	distribution := plainOfRBM(c).boltzmann(states(7), beta)
	for _, m := range []Mover{Gibbs{}, Metropolis{}, ModifiedMetropolis{}} {
		s := NewRBM(c)
		var chance func(i int) chance
		switch b := must(m.Bind(s, beta, nil))(t).(type) {
		case *sweep:
			chance = b.chance
		case *metropolis:
			chance = b.chance
		}
		for x, state := range states(7) {
			for i := range state {
				s.SetState(state)
				there := distribution[x] * float64(chance(i)) / 0x1p53
				s.Flip(i)
				back := distribution[x^1<<i] * float64(chance(i)) / 0x1p53
				// Probabilities of up to 1 with ten rounding errors each.
				if math.Abs(there-back) > 10*0x1p-53 {
					t.Errorf("%T of unit %d from state %d: %v there, %v back", m, i, x, there, back)
				}
			}
		}
	}
}

// A layer-wise update is identical to a sweep of the hidden and then the visible units. The
// fast paths of the movers are identical to the general one.
func TestLayerwiseIsTheSweep(t *testing.T) {
	c := NewParameters(gaussianRBM(70, 33, .5, 1))
	order := append(everySite(c.Len())[70:], everySite(70)...)
	for name, pair := range map[string]struct {
		layers, sites Mover
		fast, slow    []int32
	}{
		"block-gibbs":         {BlockGibbs{}, Gibbs{}, nil, order},
		"flip":                {FlipTheState{}, ModifiedMetropolis{}, nil, order},
		"block-gibbs of some": {BlockGibbs{}, Gibbs{}, []int32{3, 80, 5, 100, 2}, []int32{80, 100, 3, 5, 2}},
		"gibbs":               {Gibbs{Random}, Gibbs{Random}, nil, nil},
		"metropolis":          {Metropolis{Random}, Metropolis{Random}, nil, nil},
		"exchange":            {Exchange{}, Exchange{}, nil, nil},
	} {
		start := RandomState(c.Len(), rbm.NewKey(2))
		a, b := NewRBM(c), NewRBM(c)
		a.SetState(start)
		b.SetState(start)
		fast := must(pair.layers.Bind(a, .7, pair.fast))(t)
		slow := must(pair.sites.Bind(general{b}, .7, pair.slow))(t)
		ra, rb := rbm.NewKey(3).Rand(), rbm.NewKey(3).Rand()
		var ia, ib Info
		for range 100 {
			ia.Add(fast.Move(ra))
			ib.Add(slow.Move(rb))
		}
		if !slices.Equal(a.state, b.state) || a.energy != b.energy || ia != ib || ia.Flips == 0 {
			t.Errorf("%s: the paths differ (%+v, %+v)", name, ia, ib)
		}
		if !slices.Equal(flipCosts(a), flipCosts(b)) {
			t.Errorf("%s: flip costs differ", name)
		}
		if n := testing.AllocsPerRun(10, func() { fast.Reset(); fast.Move(ra) }); n != 0 {
			t.Errorf("%s allocates %v times a move, want 0", name, n)
		}
	}
}

// Without weights all values are equally probable. Then flip-the-state is uniform
// after one move, but Metropolis by layers flips all units in each move and has
// period 2.
func TestFlipTheStateOfEqualProbabilities(t *testing.T) {
	c := NewParameters(rbm.New(2, 2, 0, rbm.Softmax))
	flip := func(c Chain, s *RBM) (counts []int) {
		counts = make([]int, 16)
		r := rbm.NewKey(1).Rand()
		for range 3200 {
			s.SetState(make([]uint8, 4))
			c.Move(r)
			counts[indexOf(s.state)]++
		}
		return counts
	}
	s := NewRBM(c)
	counts := flip(must(FlipTheState{}.Bind(s, 1, nil))(t), s)
	if z := diag.StationarityZ(counts, slices.Repeat([]float64{1. / 16}, 16)); z > 6 {
		t.Errorf("flip-the-state: z = %.1f, %v, want at most 6", z, counts)
	}
	always := must(newLayerwise("metropolis", s, 1, nil, Metropolis{}))(t)
	if counts := flip(always, s); counts[15] != 3200 {
		t.Errorf("Metropolis by layers does not flip all: %v, got %v, want 3200", counts, counts[15])
	}
}

// Bind returns an error for movers that do not support an RBM. Units of a softmax label are not sites.
func TestBindErrorsOfRBMs(t *testing.T) {
	m := gaussianRBM(6, 3, 1, 1)
	s := NewRBM(NewParameters(m))
	ising := NewIsing(realGraph(t, 5), nil)
	labelled := rbm.New(6, 3, 2, rbm.Softmax)
	labels := NewRBM(NewParameters(labelled))
	flat := DefaultSardonics()
	flat.Single, flat.MinLength, flat.MaxLength = true, 3, 3
	for want, bind := range map[string]func() (Chain, error){
		"block-gibbs: updates by layers": func() (Chain, error) { return BlockGibbs{}.Bind(ising, 1, nil) },
		"flip: updates by layers":        func() (Chain, error) { return FlipTheState{}.Bind(ising, 1, nil) },
		"couplings of an Ising":          func() (Chain, error) { return SwendsenWang{}.Bind(s, 1, nil) },
		"not a lattice":                  func() (Chain, error) { return Gibbs{Chessboard}.Bind(s, 1, nil) },
		"sites 4 to 5":                   func() (Chain, error) { return Gibbs{}.Bind(labels, 1, []int32{0, 5}) },
		"every move is accepted":         func() (Chain, error) { return flat.Bind(labels, 1, nil) },
		"site 9: sites are numbered":     func() (Chain, error) { return FlipTheState{}.Bind(s, 1, []int32{9}) },
		"finite number, 0 or more":       func() (Chain, error) { return BlockGibbs{}.Bind(s, -1, nil) },
	} {
		if _, err := bind(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if got := fmt.Sprint(labels.parameters.sites()); got != "[0 1 2 3 6 7 8]" {
		t.Errorf("sites %s, want %s", got, "[0 1 2 3 6 7 8]")
	}
	chain := must(BlockGibbs{}.Bind(labels, 1, nil))(t)
	r := rbm.NewKey(1).Rand()
	for range 50 {
		if chain.Move(r); labels.state[4]+labels.state[5] != 0 {
			t.Fatalf("a label moved: got %v, want 0", labels.state[4]+labels.state[5])
		}
	}
	if w := must(Metropolis{}.Bind(s, 1, nil))(t).(Warner).Warning(); w != "" {
		t.Errorf("warning %q, want nothing", w)
	}
}

// acceptance returns the fraction of accepted moves and its standard error, from
// 20 batches.
func acceptance(t testing.TB, m Mover, s *RBM, moves int) (mean, deviation float64) {
	const batches = 20
	chain := must(m.Bind(s, 1, nil))(t)
	r := rbm.NewKey(4).Rand()
	var squares float64
	for range batches {
		var info Info
		for range moves / batches {
			info.Add(chain.Move(r))
		}
		a, _ := info.Acceptance()
		mean += a / batches
		squares += a * a / batches
	}
	return mean, math.Sqrt((squares - mean*mean) / (batches - 1))
}

// On RBMs of 784 × 500 units the acceptance of pairs of walks of 1 to 20 flips equals that of the
// authors' program. So the weights and the units of γ are right: at a γ for the other family the acceptance is far
// lower.
func TestAcceptanceOnLargeRBMs(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := burnt(t, gaussianRBM(784, 500, .1, 1))
	m := DefaultSardonics()
	m.MaxLength, m.Gamma1 = 20, 1
	if a, e := acceptance(t, m, s, 2000); math.Abs(a-.98) > 3*e+.005 { // .98 is rounded to two digits
		t.Errorf("gaussian RBM: accepted %.3f ± %.3f, the authors' program .98", a, e)
	}
	m.Gamma1 = .5
	if a, e := acceptance(t, m, s, 200); a+3*e > .5 {
		t.Errorf("half the heat bath's γ is accepted with %.3f ± %.3f", a, e)
	}
	im := DefaultIntracluster()
	im.MaxLength = 20
	if a, e := acceptance(t, im, s, 2000); a+3*e < .945 {
		t.Errorf("intracluster moves: accepted %.3f ± %.3f, the authors' program .95", a, e)
	}
	m.Gamma1 = 1
	if a, e := acceptance(t, m, burnt(t, trained(t)), 2000); a+3*e < .845 {
		t.Errorf("trained RBM: accepted %.3f ± %.3f, the authors' program .85", a, e)
	}
}
