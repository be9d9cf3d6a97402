package mcmc

import (
	"math"
	"testing"
)

// Stale caches of the state or of the bias must be detected by the comparison of scores for each pair of walks, on
// which the tests of exact kernels rely.
func TestStaleShellsAreSeen(t *testing.T) {
	m := Intracluster{MinLength: 1, MaxLength: 2, GammaDown: 1.1, GammaUp: .5, Weights: HeatBath}
	other := m
	other.GammaDown, other.GammaUp = .6, .9
	on, _ := shell(5, 2)
	for _, structure := range structures[:2] {
		g := structure.graph(t, 5)
		for _, flaw := range []struct {
			name  string
			spoil func(s *Ising, c *intraclusterChain)
		}{
			{"", func(s *Ising, c *intraclusterChain) {
				s.SetState(on[3])
				c.Reset()
			}},
			{"sides after a reset", func(s *Ising, c *intraclusterChain) { s.SetState(on[3]) }},
			{"sides after a rejection", func(s *Ising, c *intraclusterChain) {
				for _, i := range everySite(5) { // finds a possible walk
					if s.state[i] == sideOn && len(c.path()) == 0 {
						c.walker.segment(nil, []int32{i}, 1, sideOn, new(score))
					}
				}
				staleSides{c.walker}.undo()
			}},
			{"weights after a change of bias", func(s *Ising, c *intraclusterChain) {
				switch w := mustBind(t, m, s, exactBeta).(*intraclusterChain).walker.(type) {
				case *classShell:
					for k := range w.lists.List {
						c.walker.(*classShell).lists.List[k].Weight = w.lists.List[k].Weight
					}
				case *blockShell:
					c.walker.(*blockShell).table, c.walker.(*blockShell).scale = w.table, w.scale
				}
			}},
		} {
			s := NewIsing(g, on[0])
			settings := m
			if flaw.name == "weights after a change of bias" {
				settings = other // m keeps its settings
			}
			c := mustBind(t, settings, s, exactBeta).(*intraclusterChain)
			flaw.spoil(s, c)
			if seen := differsFrom(newSlowShell(m, g, exactBeta, structure.table), s, c); seen != (flaw.name != "") {
				t.Errorf("%s: stale %s: seen %v, want %v", structure.name, flaw.name, seen, flaw.name != "")
			}
		}
	}
}

// path returns the flips of the current move.
func (c *intraclusterChain) path() []int32 {
	switch w := c.walker.(type) {
	case *classShell:
		return w.path
	case *blockShell:
		return w.path
	}
	return nil
}

// differsFrom reports whether the scores of c and slow differ for some pair of walks from the state
// of s, or whether c panics.
func differsFrom(slow *slowShell, s *Ising, c *intraclusterChain) (yes bool) {
	defer func() { yes = recover() != nil || yes }()
	for k := 1; k <= 2; k++ {
		for _, p := range paths(selfAvoiding(everySite(s.Len()), k, k), 2) {
			for side := range 2 {
				sf, sb, _, possible := slow.scorePath(s.state, side, p)
				if !possible {
					continue
				}
				f, b, _ := c.scorePath(side, p)
				if !(math.Abs(f-sf) < 1e-12 && math.Abs(b-sb) < 1e-12) { // see exactShell
					return true
				}
			}
		}
	}
	return false
}

// staleSides is a broken walker that leaves one site on the wrong side when it undoes a move.
type staleSides struct{ shellWalker }

func (f staleSides) undo() {
	switch w := f.shellWalker.(type) {
	case *classShell:
		i := w.path[0]
		w.undo()
		from := w.lists.Node[i].List
		to := from + uint8(w.n)
		if int(from) >= w.n {
			to = from - uint8(w.n)
		}
		for b := range w.total {
			w.total[b] += w.lists.List[to].Weight[b] - w.lists.List[from].Weight[b]
		}
		w.lists.Move(i, to)
	case *blockShell:
		i := w.path[0]
		w.undo()
		side := w.state[i]
		w.blocks[side].Set(int(i), 0)
		w.blocks[1-side].Set(int(i), w.table[1-side].Weight(w.scale[1-side]*w.cost(i)))
	}
}
