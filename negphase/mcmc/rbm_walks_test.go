package mcmc

import (
	"fmt"
	"math"
	"testing"

	"gorbm/negphase/mcmc/internal/walk"
)

// plainOfRBM returns the model of an RBM in spins: J = W/4 and
// h = b/2 + Σ W/4, up to a constant.
func plainOfRBM(c *Parameters) plain {
	n := c.Len()
	p := plain{h: make([]float64, n)}
	for range n {
		p.j = append(p.j, make([]float64, n))
	}
	for l := range c.units {
		for i := range c.units[l] {
			site := c.first[l] + i
			p.h[site] = float64(c.bias[l][i]) * c.quantum / 2
			for j, w := range c.rowOf(l, i)[:c.units[1-l]] {
				coupling := float64(w) * c.quantum / 4
				p.h[site] += coupling
				p.j[site][c.first[1-l]+j] = coupling
			}
		}
	}
	return p
}

// denseWeight returns the function of the dense walks from the cost of a flip to its weight.
func denseWeight(c *Parameters, scale float64, mixed bool) func(cost float64) float64 {
	w := denseSites{s: NewRBM(c), scale: [2]float64{scale, scale}}
	if mixed {
		w.scale[0] = 1
	}
	sign := w.factor(0)
	return func(cost float64) float64 {
		field := int32(math.Round(cost / c.quantum))
		if mixed {
			return float64(walk.HeatAt(field, sign, float32(scale), walk.Unit))
		}
		return float64(walk.Heat(field, sign, walk.Unit))
	}
}

// smallRBM returns an RBM with n units, of which the given number are visible.
func smallRBM(visible, n int) *Parameters {
	return NewParameters(gaussianRBM(visible, n-visible, .8, uint64(10*visible+n)))
}

// On small RBMs the exact kernels of SARDONICS are right, and the scores of each path agree with those of the slow
// walk, which does not use layers.
func TestSardonicsKernelsOnRBMs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, c := range exactCases() {
		shapes := []int{c.n / 2}
		switch {
		case c.name == "iterated mixture of 4", c.long && !*long:
			continue // the mixture of 3 units covers it, or -long runs it
		case c.name == "pair", c.name == "mixture":
			shapes = []int{1, c.n / 2, c.n - 1}
		}
		for _, visible := range shapes {
			t.Run(fmt.Sprintf("%s/visible=%d", c.name, visible), func(t *testing.T) {
				parameters := smallRBM(visible, c.n)
				s := NewRBM(parameters)
				chain := must(c.m.Bind(s, exactBeta, c.sites))(t).(*sardonicsChain)
				if _, ok := chain.walker.(*denseWalk); !ok {
					t.Fatalf("walker %T", chain.walker)
				}
				slow := &slowWalk{Sardonics: c.m, model: plainOfRBM(parameters), sites: c.sites}
				if c.sites == nil {
					slow.sites = everySite(c.n)
				}
				for b, gamma := range []float64{c.m.Gamma1, c.m.Gamma2} {
					slow.weight[b] = denseWeight(parameters, gamma*exactBeta, c.m.mixed())
				}
				seen := -1
				score := func(x []uint8, kind int, p path) (f, b, rise float64) {
					if i := indexOf(x); i != seen {
						seen = i
						s.SetState(x)
						chain.Reset()
					}
					f, b, rise = chain.scorePath(kind, p)
					if c.slow {
						// The tolerance is that of TestSardonicsKernels.
						sf, sb, srise := slow.scorePath(x, kind, p)
						if math.Abs(f-sf) > 1e-12 || math.Abs(b-sb) > 1e-12 || math.Abs(rise-srise) > 1e-12 {
							t.Fatalf("path %v from %v: (%v %v %v), slowly (%v %v %v)", p, x, f, b, rise, sf, sb, srise)
						}
					}
					return f, b, rise
				}
				k, total := kernelOf(c, score, exactBeta)
				distribution := slow.model.boltzmann(states(c.n), exactBeta)
				if what := total.wrong(distribution); what != "" {
					t.Errorf("got %q, want %q", what, "")
				}
				if a, r := k.residual(distribution); a > 1e-12 || r > 1e-10 {
					t.Errorf("detailed balance is off by %g, relatively %g", a, r)
				}
				if c.sites == nil && !k.positive() {
					t.Error("some state is not reached from some other")
				}
			})
		}
	}
}

func TestIntraclusterKernelsOnRBMs(t *testing.T) {
	for _, size := range []int{5, 6} {
		for _, visible := range []int{1, 2, size - 2} {
			for n := 1; n < size; n++ {
				for _, k := range [][2]int{{1, 2}, {2, 2}, {1, 1}} {
					if k[1] > min(n, size-n) || size == 6 && (visible != 2 || !*long) {
						continue
					}
					for _, up := range []float64{.5, 1.1} {
						m := Intracluster{MinLength: k[0], MaxLength: k[1], GammaDown: 1.1, GammaUp: up, Weights: HeatBath}
						t.Run(fmt.Sprintf("M=%d/visible=%d/n=%d/k=%s/up=%v", size, visible, n, lengths(k[0], k[1]), up), func(t *testing.T) {
							exactDenseShell(t, m, smallRBM(visible, size), n)
						})
					}
				}
			}
		}
	}
}

func exactDenseShell(t *testing.T, m Intracluster, c *Parameters, n int) {
	on, _ := shell(c.Len(), n)
	s := NewRBM(c)
	s.SetState(on[0])
	chain := must(m.Bind(s, exactBeta, nil))(t).(*intraclusterChain)
	if _, ok := chain.walker.(*denseShell); !ok {
		t.Fatalf("walker %T", chain.walker)
	}
	slow := &slowShell{Intracluster: m, model: plainOfRBM(c)}
	for side, gamma := range [2]float64{sideOn: m.GammaDown, sideOff: m.GammaUp} {
		slow.weight[side] = denseWeight(c, gamma*exactBeta, false)
	}
	seen := -1
	k, total, on := shellKernel(slow, n, func(x []uint8, side int, p path) (f, b, rise float64) {
		if i := indexOf(x); i != seen {
			seen = i
			s.SetState(x)
			chain.Reset()
		}
		f, b, rise = chain.scorePath(side, p)
		sf, sb, srise, _ := slow.scorePath(x, side, p) // as in exactShell
		if math.Abs(f-sf) > 1e-12 || math.Abs(b-sb) > 1e-12 || math.Abs(rise-srise) > 1e-12 {
			t.Fatalf("path %v from %v: (%v %v %v), slowly (%v %v %v)", p, x, f, b, rise, sf, sb, srise)
		}
		return f, b, rise
	})
	distribution := slow.model.boltzmann(on, exactBeta)
	if what := total.wrong(distribution); what != "" {
		t.Errorf("got %q, want %q", what, "")
	}
	if a, r := k.residual(distribution); a > 1e-12 || r > 1e-10 {
		t.Errorf("detailed balance is off by %g, relatively %g", a, r)
	}
	if !k.positive() {
		t.Error("some state is not reached from some other")
	}
}

// Stale caches of the state, of the biases or of the parameters
// must be detected by the comparison of scores for each path, on which the tests of exact
// kernels rely.
func TestStaleDenseWalksAreSeen(t *testing.T) {
	const n = 5
	m := Sardonics{MinLength: 1, MaxLength: 2, Gamma1: 1.1, Gamma2: .4, Weights: HeatBath, Walks: 1, Mix: [3]float64{.3, .2, .5}}
	im := Intracluster{MinLength: 1, MaxLength: 2, GammaDown: 1.1, GammaUp: .5, Weights: HeatBath}
	from, to := []uint8{1, 0, 0, 1, 0}, []uint8{0, 1, 0, 0, 1}
	for _, flaw := range []struct {
		name  string
		spoil func(s *RBM, w *denseWalk, shell *denseShell)
	}{
		{"", func(s *RBM, w *denseWalk, shell *denseShell) { s.SetState(to); w.reset(); shell.reset() }},
		{"state", func(s *RBM, _ *denseWalk, _ *denseShell) { s.SetState(to) }},
		{"biases", func(s *RBM, w *denseWalk, shell *denseShell) {
			s.SetState(to)
			w.gamma[0], w.gamma[1] = w.gamma[1], w.gamma[0]
			shell.scale[0], shell.scale[1] = shell.scale[1], shell.scale[0]
			w.reset()
			shell.reset()
		}},
		{"sites", func(s *RBM, w *denseWalk, shell *denseShell) {
			s.SetState(to)
			w.unit[hidden][1], shell.unit[hidden][1] = 0, 0
			w.reset()
			shell.reset()
		}},
		{"one orientation of the weights", func(s *RBM, w *denseWalk, shell *denseShell) {
			s.SetState(to)
			w.reset()
			shell.reset()
			s.parameters.row[hidden][0] = -s.parameters.row[hidden][0]
		}},
	} {
		c := smallRBM(2, n)
		slow := &slowWalk{Sardonics: m, model: plainOfRBM(c), sites: everySite(n)}
		slowShell := &slowShell{Intracluster: im, model: slow.model}
		for b, gamma := range []float64{m.Gamma1, m.Gamma2} {
			slow.weight[b] = denseWeight(c, gamma*exactBeta, true)
		}
		for side, gamma := range [2]float64{sideOn: im.GammaDown, sideOff: im.GammaUp} {
			slowShell.weight[side] = denseWeight(c, gamma*exactBeta, false)
		}
		s := NewRBM(c)
		s.SetState(from)
		walks := must(m.Bind(s, exactBeta, nil))(t).(*sardonicsChain)
		shells := must(im.Bind(s, exactBeta, nil))(t).(*intraclusterChain)
		flaw.spoil(s, walks.walker.(*denseWalk), shells.walker.(*denseShell))
		seen := [2]bool{}
		differ := func(a, b float64) bool { return !(math.Abs(a-b) < 1e-12) } // see TestSardonicsKernels
		for _, p := range paths(selfAvoiding(everySite(n), 2, 2), 2) {
			sf, sb, _ := slow.scorePath(to, 0, p)
			f, b, _ := walks.scorePath(0, p)
			seen[0] = seen[0] || differ(f, sf) || differ(b, sb)
			if sf, sb, _, possible := slowShell.scorePath(to, sideOn, p); possible {
				f, b, _ := shells.scorePath(sideOn, p)
				seen[1] = seen[1] || differ(f, sf) || differ(b, sb)
			}
		}
		if want := flaw.name != ""; seen != [2]bool{want, want} {
			t.Errorf("stale %s: seen %v, want %v", flaw.name, seen, [2]bool{want, want})
		}
	}
}
