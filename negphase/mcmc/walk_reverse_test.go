package mcmc

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// If the reverse of a path is scored from the end of the path, the two
// probabilities are exchanged. The systems are too large for enumeration.
func TestSardonicsReversePathExchangesProbabilities(t *testing.T) {
	for _, b := range benches {
		m := DefaultSardonics()
		m.Gamma1, m.Gamma2, m.Walks, m.Mix = 1.02, .9, 2, [3]float64{.5, .3, .2}
		m.MinLength, m.MaxLength = b.low, b.up
		ising := b.system(t, 2)
		chain := mustBind(t, m, ising, b.beta).(*sardonicsChain)
		r := rbm.NewKey(8).Rand()
		for range 200 {
			chain.Move(r)
		}
		for range 10 {
			var p path
			for range 4 {
				sites := r.Perm(ising.Len())[:b.low+r.IntN(b.up-b.low+1)]
				w := make([]int32, len(sites))
				for t, i := range sites {
					w[t] = int32(i)
				}
				p = append(p, w)
			}
			f, back, rise := chain.scorePath(0, p)
			start := slices.Clone(ising.State())
			for _, w := range p {
				for _, i := range w {
					ising.Flip(int(i))
				}
			}
			chain.Reset()
			f2, back2, rise2 := chain.scorePath(0, reversed(p))
			// Some 360 flips with ten rounding errors each, in logarithms whose sum is
			// some 3000: below 360·10·2⁻⁵³·3000 = 1.2e-9 in the worst case, and far
			// less for independent errors.
			if math.Abs(f-back2) > 1e-9 || math.Abs(back-f2) > 1e-9 || math.Abs(rise+rise2) > 1e-9 {
				t.Errorf("%s: (%v, %v, %v) and back (%v, %v, %v)", b.name, f, back, rise, f2, back2, rise2)
			}
			ising.SetState(start)
			chain.Reset()
		}
	}
}

// If the reverse of a drawn pair of walks is scored from its end,
// the two probabilities are exchanged.
func TestIntraclusterReversePathExchangesProbabilities(t *testing.T) {
	for _, b := range benches {
		m := DefaultIntracluster()
		m.MinLength, m.MaxLength, m.GammaUp = b.up, b.up, .8
		ising := b.system(t, 2)
		c := mustBind(t, m, ising, b.beta).(*intraclusterChain)
		r := rbm.NewKey(8).Rand()
		for n := range 10 {
			side := n % 2
			sc := emptyScore
			c.walker.segment(r, nil, b.up, side, &sc)
			c.walker.segment(r, nil, b.up, 1-side, &sc)
			rise := c.walker.rise()
			var drawn []int32
			switch w := c.walker.(type) {
			case *classShell:
				drawn = slices.Clone(w.path)
			case *blockShell:
				drawn = slices.Clone(w.path)
			}
			c.walker.commit()
			p := reversed(path{drawn[:b.up], drawn[b.up:]})
			f, back, down := c.scorePath(side, p)
			// 180 flips with ten rounding errors each, in logarithms whose sum is some
			// 1500: 180·10·2⁻⁵³·1500 = 3e-10.
			if math.Abs(f-sc.reverse[0].Log()) > 1e-9 || math.Abs(back-sc.forward[0].Log()) > 1e-9 || math.Abs(rise+down) > 1e-9 {
				t.Errorf("%s: (%v, %v, %v) and back (%v, %v, %v)", b.name, sc.forward[0].Log(), sc.reverse[0].Log(), rise, f, back, down)
			}
		}
	}
}
