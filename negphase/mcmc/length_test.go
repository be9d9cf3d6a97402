package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// autos has samplers with k=auto, in the grammar.
var autos = []string{"sardonics:k=auto", "sardonics:k=auto:walks=single", "sardonics:k=auto:weights=boltzmann:walks=2", "im:k=auto", "im:k=auto:weights=boltzmann"}

// warmed returns a chain after its warm-up, from a state with half of the spins up.
func warmed(t *testing.T, text string, g *Graph, beta float64, seed uint64) (*Ising, Adaptive, *rand.Rand) {
	t.Helper()
	start := shellState(g.Len(), g.Len()/2, rbm.NewKey(seed))
	s := NewIsing(g, start)
	r := rbm.NewKey(seed).Child(1).Rand()
	c := must(must(ParseMover(text, Linear))(t).Bind(s, beta, nil))(t).(Adaptive)
	if info := c.WarmUp(r); info.Moves != WarmUpMoves {
		t.Fatalf("%s: a warm-up of %d moves, want %d", text, info.Moves, WarmUpMoves)
	}
	return s, c, r
}

// After the warm-up the acceptance is TargetAcceptance. Later moves do not change the length, and
// the lengths for different seeds agree.
func TestWarmUpReachesTheTarget(t *testing.T) {
	for name, g := range map[string]*Graph{
		"ferromagnet": lattice(t, "16x16", Uniform(1), 0),
		"glass":       lattice(t, "6x6x6", PlusMinus(1, rbm.NewKey(2)), 0),
		"gaussian":    lattice(t, "12x12", Gaussian(1, rbm.NewKey(2)), 0.1),
	} {
		const beta = 0.4
		for _, text := range autos {
			var found []float64
			for seed := range uint64(4) {
				_, c, r := warmed(t, text, g, beta, seed)
				low, high := c.Lengths()
				var info Info
				for range 2000 {
					info.Add(c.Move(r))
				}
				if l, h := c.Lengths(); l != low || h != high {
					t.Errorf("%s, %s: moves changed the lengths from %d-%d to %d-%d", name, text, low, high, l, h)
				}
				found = append(found, float64(high))
				// Lengths are whole numbers: one flip more than ten changes the acceptance by
				// some 0.05. The mean acceptance over correlated moves has an error of some 0.02.
				if a, _ := info.Acceptance(); math.Abs(a-TargetAcceptance) > 0.09 {
					t.Errorf("%s, %s: walks of %d-%d flips are accepted with %.3f, want %.3g ± 0.09", name, text, low, high, a, TargetAcceptance)
				}
			}
			if lo, hi := slices.Min(found), slices.Max(found); hi > 1.2*lo+1 {
				t.Errorf("%s, %s: lengths of %v, got %v, want at most %v", name, text, found, hi, 1.2*lo+1)
			}
		}
	}
}

// Equal draws give equal lengths.
func TestWarmUpGolden(t *testing.T) {
	g := lattice(t, "6x6x6", PlusMinus(1, rbm.NewKey(2)), 0)
	for _, text := range autos {
		a, c, _ := warmed(t, text, g, 0.5, 3)
		b, d, _ := warmed(t, text, g, 0.5, 3)
		_, high := c.Lengths()
		if _, again := d.Lengths(); high != again || !slices.Equal(a.state, b.state) {
			t.Errorf("%s: two warm-ups from one seed differ", text)
		}
	}
}

// After the warm-up the chain has a fixed length, and its transition matrix is reversible.
func TestWarmedUpKernel(t *testing.T) {
	const beta = 2.5 // cold enough that not all walks are accepted
	g := randomGraph(t, 5, true, 3)
	for _, text := range autos {
		s, c, _ := warmed(t, text, g, beta, 1)
		low, high := c.Lengths()
		var a, relative float64
		switch chain := c.(type) {
		case *sardonicsChain:
			m := chain.settings
			m.MinLength, m.MaxLength = low, high
			k, total := kernelOf(exactCase{n: 5, m: m}, func(x []uint8, kind int, p path) (f, b, rise float64) {
				s.SetState(x)
				chain.Reset()
				return chain.scorePath(kind, p)
			}, beta)
			distribution := plainOf(g).boltzmann(states(5), beta)
			if what := total.wrong(distribution); what != "" {
				t.Errorf("%s: %s, want nothing", text, what)
			}
			a, relative = k.residual(distribution)
		case *intraclusterChain:
			m := chain.settings
			m.MinLength, m.MaxLength = low, high
			slow := newSlowShell(m, g, exactBeta, false)
			k, total, on := shellKernel(slow, 2, func(x []uint8, side int, p path) (f, b, rise float64) {
				s.SetState(x)
				chain.Reset()
				f, b, rise = chain.scorePath(side, p)
				return f, b, float64(rise * (beta / exactBeta)) // shellKernel accepts at exactBeta
			})
			distribution := slow.model.boltzmann(on, beta)
			if what := total.wrong(distribution); what != "" {
				t.Errorf("%s: %s, want nothing", text, what)
			}
			a, relative = k.residual(distribution)
		}
		if a > exact || relative > 1e-10 {
			t.Errorf("%s of %d-%d flips: detailed balance is off by %g, relatively %g", text, low, high, a, relative)
		}
	}
}

// An adapting chain is a broken one that never stops adapting.
type adapting struct {
	*sardonicsChain
	length *Length
}

func (c *adapting) Reset() {
	c.sardonicsChain.Reset()
	c.length = c.NewLength()
	c.TakeLength(c.length)
}

func (c *adapting) Move(r *rand.Rand) Info {
	info, acceptance := c.move(r)
	c.length.Adapt(acceptance, 3)
	c.TakeLength(c.length)
	return info
}

// A chain with a fixed length leaves the distribution invariant. A chain that continues to adapt does not.
func TestFrozenLengthsLeaveTheLaw(t *testing.T) {
	const beta = 1.5
	g := torus(t)
	s, c, _ := warmed(t, "sardonics:k=auto:walks=single", g, beta, 5)
	every := states(9)
	if z := zAfter(s, c, every, beta, 40_000, 5); z > 6 {
		t.Errorf("frozen: z = %.1f, want at most 6", z)
	}
	if z := zAfter(s, &adapting{sardonicsChain: c.(*sardonicsChain)}, every, beta, 40_000, 5); z < 6 {
		t.Errorf("a chain that adapts for ever is not seen: z = %.1f, want at least 6", z)
	}
}

// With the default bias of k=auto the weights are locally balanced: the ratio of the weights of a flip and of its
// reverse is the ratio of the probabilities of the two states.
func TestAutoIsBalanced(t *testing.T) {
	const beta = 0.7
	for _, text := range autos {
		m := must(ParseMover(text, Linear))(t)
		weights, gamma := Weights(""), 0.0
		switch m := m.(type) {
		case Sardonics:
			weights, gamma = m.Weights, m.Gamma1
			if m.Gamma1 != m.Gamma2 {
				t.Errorf("%s: two biases, got %v, want %v", text, m.Gamma1, m.Gamma2)
			}
		case Intracluster:
			weights, gamma = m.Weights, m.GammaUp
			if m.GammaUp != m.GammaDown {
				t.Errorf("%s: two biases, got %v, want %v", text, m.GammaUp, m.GammaDown)
			}
		}
		s := NewIsing(randomGraph(t, 5, true, 3), nil)
		b := must(newBiases("", weights, s, beta, 5, gamma))(t)
		for i := range 5 {
			up := float64(b.weight[0].Weight(b.scale[0] * s.FlipCost(i)))
			down := float64(b.weight[0].Weight(-b.scale[0] * s.FlipCost(i)))
			// Weights are whole numbers of at least 2⁴⁰.
			if want := math.Exp(-beta * s.FlipCost(i)); math.Abs(up/down/want-1) > 1e-9 {
				t.Errorf("%s: weights of a flip and its reverse are as %v, probabilities as %v", text, up/down, want)
			}
		}
		given := must(ParseMover(text+":gamma=0.9", Linear))(t)
		if !strings.Contains(FormatMover(given), "gamma=0.9:") || !strings.Contains(FormatMover(given), "k=auto") {
			t.Errorf("%s with a bias that is given: %s", text, FormatMover(given))
		}
	}
}

func TestAutoRefuses(t *testing.T) {
	g := randomGraph(t, 5, true, 3)
	m := must(ParseMover("sardonics:k=auto", Linear))(t)
	if _, err := m.Bind(NewIsing(g, nil), 1, []int32{2}); err == nil || !strings.Contains(err.Error(), "2 units or more") {
		t.Errorf("one site: %v, want %q in it", err, "2 units or more")
	}
	if _, err := (Mixture{DefaultSardonics(), m.(Sardonics)}).Bind(NewIsing(g, nil), 1, nil); err == nil || !strings.Contains(err.Error(), "lengths of its own") {
		t.Errorf("in a mixture: %v, want %q in it", err, "lengths of its own")
	}
	im := must(ParseMover("im:k=auto", Linear))(t)
	if _, err := im.Bind(NewIsing(g, nil), 1, nil); err == nil || !strings.Contains(err.Error(), "0 of 5 sites are on") {
		t.Errorf("on a shell of one state: %v, want %q in it", err, "0 of 5 sites are on")
	}
	given := must(must(ParseMover("sardonics", Linear))(t).Bind(NewIsing(lattice(t, "6x6", Uniform(1), 0), nil), 1, nil))(t).(Adaptive)
	if given.NewLength() != nil || given.WarmUp(rbm.NewKey(1).Rand()) != (Info{}) {
		t.Error("a warm-up of lengths that are given")
	}
	for _, bad := range []float64{math.NaN(), -1, 99} {
		l := newLength(8)
		if l.Check() != nil {
			t.Error("the first length is refused")
		}
		l.Log = bad
		if l.Check() == nil {
			t.Errorf("a logarithm of %v is not refused", bad)
		}
	}
}
