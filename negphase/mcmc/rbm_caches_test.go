package mcmc

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// denseMovers returns the walks on large RBMs.
func denseMovers() map[string]Mover {
	pair := DefaultSardonics()
	pair.MaxLength = 20
	full := pair
	full.Gamma2, full.Walks, full.Mix = .9, 2, [3]float64{.5, .25, .25}
	im := DefaultIntracluster()
	im.MaxLength = 20
	imTwo := im
	imTwo.GammaUp = .9
	return map[string]Mover{"pair": pair, "full": full, "im": im, "im2": imTwo}
}

// caches returns all cached numbers of a system and of a dense walk on it.
func caches(s *RBM, c Chain) (all []any) {
	all = append(all, []int64{s.energy}, slices.Clone(s.state), flipCosts(s))
	for l := range s.field {
		all = append(all, slices.Clone(s.field[l]))
	}
	clone := func(s walk.Sums) walk.Sums { return walk.Sums{Sum: slices.Clone(s.Sum), Total: s.Total} }
	var walker any
	switch c := c.(type) {
	case *sardonicsChain:
		walker = c.walker
	case *intraclusterChain:
		walker = c.walker
	}
	switch w := walker.(type) {
	case *denseWalk:
		for l := range w.layer {
			all = append(all, slices.Clone(w.sign[l]))
			for b := range w.biases {
				all = append(all, slices.Clone(w.layer[l][b].Leaf), clone(w.layer[l][b].Sums))
			}
		}
	case *denseShell:
		for l := range w.leaf {
			all = append(all, slices.Clone(w.sign[l]), slices.Clone(w.side[l]), slices.Clone(w.leaf[l]), clone(w.sums[l][0]), clone(w.sums[l][1]))
		}
	}
	return all
}

// After many flips all sums and caches are identical to their recomputation from the state,
// and after each rejected move to those before it. They are identical at every
// level.
func TestDenseWalksKeepTheirCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m := gaussianRBM(150, 90, .35, 3)
	c := NewParameters(m)
	for name, mover := range denseMovers() {
		var sites []int32
		if name != "pair" {
			sites = everySite(c.Len())[20:200]
		}
		var first [][]uint8
		for level := walk.Go; level <= walk.Best(); level++ {
			restore := walk.SetLevel(level)
			s := NewRBM(c)
			s.SetState(RandomState(c.Len(), rbm.NewKey(4)))
			start := slices.Clone(s.state)
			chain := must(mover.Bind(s, 1, sites))(t)
			r := rbm.NewKey(5).Rand()
			rejected, flips := 0, int64(0)
			for move := range 3000 {
				watched := move%10 == 0
				var before []any
				if watched {
					before = caches(s, chain)
				}
				info := chain.Move(r)
				flips += info.Flips
				if watched && info.Accepted == 0 {
					rejected++
					if !reflect.DeepEqual(before, caches(s, chain)) {
						t.Fatalf("%s: move %d was rejected but not undone", name, move)
					}
				}
				if move%1000 != 999 {
					continue
				}
				fresh := NewRBM(c)
				fresh.SetState(s.state)
				again := must(mover.Bind(fresh, 1, sites))(t)
				if !reflect.DeepEqual(caches(s, chain), caches(fresh, again)) {
					t.Fatalf("%s: after %d moves caches are not those of the state", name, move+1)
				}
				if level == walk.Go {
					first = append(first, slices.Clone(s.state))
				} else if !slices.Equal(s.state, first[move/1000]) {
					t.Errorf("%s: level %v goes another way", name, level)
				}
			}
			restore()
			if rejected == 0 || flips < 30_000 {
				t.Errorf("%s: %d watched moves were rejected, of %d flips", name, rejected, flips)
			}
			for i := range start {
				if sites != nil && (i < 20 || i >= 200) && s.state[i] != start[i] {
					t.Fatalf("%s: site %d moved, got %v, want %v", name, i, s.state[i], start[i])
				}
			}
			// A change of the state without the chain is detected, and Reset recomputes the caches.
			s.Flip(30)
			again := must(mover.Bind(s, 1, sites))(t)
			if reflect.DeepEqual(caches(s, chain), caches(s, again)) {
				t.Errorf("%s: caches of another state pass", name)
			}
			chain.Reset()
			if !reflect.DeepEqual(caches(s, chain), caches(s, again)) {
				t.Errorf("%s: after Reset caches are not those of the state", name)
			}
			if n := testing.AllocsPerRun(20, func() { chain.Reset(); chain.Move(r) }); n != 0 {
				t.Errorf("%s: a move allocates %v times, want 0", name, n)
			}
		}
	}
}

// If the reverse of a path is scored from the end of the path, the two
// probabilities are exchanged. The walks are longer than a vector of the kernels, and some layers
// have several chunks.
func TestReverseOfLongWalksOnRBMs(t *testing.T) {
	for _, c := range []struct{ visible, hidden, low, up, segments int }{{150, 90, 100, 150, 4}, {1200, 30, 1150, 1151, 2}} {
		parameters := NewParameters(gaussianRBM(c.visible, c.hidden, .1, 1))
		for _, mixed := range []bool{false, true} {
			m := DefaultSardonics()
			m.MinLength, m.MaxLength, m.Walks = c.low, c.up, c.segments/2
			if mixed {
				m.Gamma2, m.Mix = .9, [3]float64{.5, .3, .2}
			}
			s := NewRBM(parameters)
			start := RandomState(s.Len(), rbm.NewKey(2))
			s.SetState(start)
			chain := must(m.Bind(s, .5, nil))(t).(*sardonicsChain)
			r := rbm.NewKey(3).Rand()
			var p path
			for range c.segments {
				var w []int32
				for _, i := range r.Perm(s.Len())[:c.low] {
					w = append(w, int32(i))
				}
				p = append(p, w)
			}
			f, back, rise := chain.scorePath(0, p)
			if !slices.Equal(s.state, start) {
				t.Fatal("scorePath leaves another state")
			}
			for _, w := range p {
				for _, i := range w {
					s.Flip(int(i))
				}
			}
			chain.Reset()
			f2, back2, rise2 := chain.scorePath(0, reversed(p))
			// Up to 2300 flips with ten rounding errors each, in logarithms whose sum is some
			// 2·10⁴: 2300·10·2⁻⁵³·2·10⁴ = 5e-8 in the worst case, and a hundredth
			// of this for independent errors.
			if math.Abs(f-back2) > 5e-9 || math.Abs(back-f2) > 5e-9 || rise != -rise2 {
				t.Errorf("%+v, mixed %v: (%v, %v, %v) and back (%v, %v, %v)", c, mixed, f, back, rise, f2, back2, rise2)
			}
		}
	}
}
