package mcmc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// scorePath makes a given pair of walks, the first on the given side, and undoes it. It returns the log
// probabilities of the walks and of their reverse, and the change of energy; see sardonicsChain.scorePath.
func (c *intraclusterChain) scorePath(side int, p path) (forward, reverse, rise float64) {
	sc := emptyScore
	c.walker.segment(nil, p[0], len(p[0]), side, &sc)
	c.walker.segment(nil, p[1], len(p[1]), 1-side, &sc)
	rise = c.walker.rise()
	c.walker.undo()
	return sc.forward[0].Log(), sc.reverse[0].Log(), rise
}

// A slowShell is a simple implementation of the move as the paper states it. It recomputes the weights
// for each flip, and makes the reverse walk to compute its probability.
type slowShell struct {
	Intracluster
	model  plain
	weight [2]func(cost float64) float64 // [side]

	noMoved bool // the reverse draws among the sites that were there before
}

func newSlowShell(m Intracluster, g *Graph, beta float64, table bool) *slowShell {
	s := &slowShell{Intracluster: m, model: plainOf(g)}
	family := walk.HeatBath
	if m.Weights == Boltzmann {
		family = walk.Boltzmann
	}
	for side, gamma := range [2]float64{sideOn: m.GammaDown, sideOff: m.GammaUp} {
		weights := walk.NewBias(family, g.Len(), gamma*beta*2*g.maxField)
		weight := weights.Weight
		if table {
			weight = walk.NewTable(weights).Weight
		}
		s.weight[side] = func(cost float64) float64 { return float64(weight(gamma * beta * cost)) }
	}
	return s
}

// walked makes a pair of walks from x, and returns their log probability, and whether the pair is
// possible.
func (s *slowShell) walked(x []uint8, side int, p path, back bool) (logp float64, possible bool) {
	for n, w := range p {
		on := side ^ n
		for _, i := range w {
			sum, own := 0.0, 0.0
			count := 0
			for j := range x {
				if int(x[j]) != on {
					continue
				}
				weight := s.weight[on](s.model.delta(x, j))
				if !back || !s.noMoved || j != int(i) {
					sum += weight
				}
				count++
				if j == int(i) {
					own = weight
				}
			}
			if own == 0 {
				return 0, false
			}
			if sum == 0 { // occurs in the broken version only
				sum = own
			}
			logp += math.Log(own / sum)
			x[i] ^= 1
		}
	}
	return logp, true
}

func (s *slowShell) scorePath(x0 []uint8, side int, p path) (forward, reverse, rise float64, possible bool) {
	x := slices.Clone(x0)
	forward, possible = s.walked(x, side, p, false)
	if !possible {
		return
	}
	rise = s.model.energy(x) - s.model.energy(x0)
	reverse, back := s.walked(x, side, reversed(p), true)
	if !back {
		panic("a walk whose reverse is impossible")
	}
	return forward, reverse, rise, true
}

// shell returns the states of size bits of which n are on, and the index of
// each state among them; −1 for other states.
func shell(size, n int) (on [][]uint8, index []int) {
	all := states(size)
	index = make([]int, len(all))
	for k, x := range all {
		count := 0
		for i := range x {
			count += int(x[i])
		}
		index[k] = -1
		if count == n {
			index[k] = len(on)
			on = append(on, x)
		}
	}
	return on, index
}

// shellKernel computes the transition matrix, by enumeration of all possible pairs of walks from every state of the
// shell.
func shellKernel(s *slowShell, n int, score func(x []uint8, side int, p path) (f, b, rise float64)) (kernel, sums, [][]uint8) {
	on, index := shell(len(s.model.h), n)
	k, total := newKernel(len(on)), newSums(len(on))
	odds := 0.5 / float64(s.MaxLength-s.MinLength+1)
	for length := s.MinLength; length <= s.MaxLength; length++ {
		every := paths(selfAvoiding(everySite(len(s.model.h)), length, length), 2)
		for x, state := range on {
			for side := range 2 {
				for _, p := range every {
					if _, _, _, ok := s.scorePath(state, side, p); !ok {
						continue
					}
					f, b, rise := score(state, side, p)
					y := slices.Clone(state)
					for _, w := range p {
						for _, i := range w {
							y[i] ^= 1
						}
					}
					flow := odds * math.Exp(f)
					k[x][index[indexOf(y)]] += flow * total.add(x, flow, b-f-exactBeta*rise)
				}
			}
		}
	}
	return k, total, on
}

func TestIntraclusterKernels(t *testing.T) {
	for _, structure := range structures {
		for _, weights := range []Weights{HeatBath, Boltzmann} {
			for _, size := range []int{5, 6} {
				for n := 1; n < size; n++ {
					for _, k := range [][2]int{{1, 2}, {2, 2}, {1, 1}} {
						if k[1] > min(n, size-n) || testing.Short() && (size == 6 || weights == Boltzmann) {
							continue
						}
						if size == 6 && (weights == Boltzmann || structure.name == "untold") {
							continue // size 5 has these cases
						}
						m := Intracluster{MinLength: k[0], MaxLength: k[1], GammaDown: 1.1, GammaUp: .5, Weights: weights}
						if weights == Boltzmann {
							m.GammaDown, m.GammaUp = .6, .3
						}
						name := fmt.Sprintf("%s/%s/M=%d/n=%d/k=%s", structure.name, weights, size, n, lengths(k[0], k[1]))
						t.Run(name, func(t *testing.T) { exactShell(t, m, structure.graph(t, size), n, structure.hide, structure.table) })
					}
				}
			}
		}
	}
}

func exactShell(t *testing.T, m Intracluster, g *Graph, n int, hide func(*Ising) System, table bool) {
	on, _ := shell(g.Len(), n)
	ising := NewIsing(g, on[0])
	chain := mustBind(t, m, hide(ising), exactBeta).(*intraclusterChain)
	if _, classes := chain.walker.(*classShell); classes == table {
		t.Fatalf("walker %T", chain.walker)
	}
	slow := newSlowShell(m, g, exactBeta, table)
	if w, ok := chain.walker.(*blockShell); ok {
		w.table = [2]*walk.Table{} // see TestSardonicsKernels
		for side, gamma := range [2]float64{sideOn: m.GammaDown, sideOff: m.GammaUp} {
			family := walk.HeatBath
			if m.Weights == Boltzmann {
				family = walk.Boltzmann
			}
			w.table[side] = walk.NewTable(walk.NewBias(family, g.Len(), gamma*exactBeta*2*g.maxField))
		}
	}
	seen := -1
	k, total, on := shellKernel(slow, n, func(x []uint8, side int, p path) (f, b, rise float64) {
		if i := indexOf(x); i != seen {
			seen = i
			ising.SetState(x)
			chain.Reset()
		}
		f, b, rise = chain.scorePath(side, p)
		// At most four flips, with some ten rounding errors of logarithms of at most 5.
		sf, sb, srise, _ := slow.scorePath(x, side, p)
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

// The reverse of a flip draws among the sites of the other side, including the site that was just
// flipped.
func TestIntraclusterMutantIsSeen(t *testing.T) {
	m := Intracluster{MinLength: 1, MaxLength: 2, GammaDown: 1.1, GammaUp: .5, Weights: HeatBath}
	for _, flawed := range []bool{false, true} {
		s := newSlowShell(m, randomGraph(t, 5, true, 3), exactBeta, false)
		s.noMoved = flawed
		k, _, on := shellKernel(s, 2, func(x []uint8, side int, p path) (f, b, rise float64) {
			f, b, rise, _ = s.scorePath(x, side, p)
			return f, b, rise
		})
		if a, _ := k.residual(s.model.boltzmann(on, exactBeta)); (a < 1e-12) == flawed {
			t.Errorf("flawed %v: detailed balance is off by %g", flawed, a)
		}
	}
}

// zAfter starts chains from the exact distribution over the given states, makes
// some moves of each, and returns the z-score of the final states.
func zAfter(s *Ising, c Chain, on [][]uint8, beta float64, starts, moves int) float64 {
	distribution := plainOf(s.graph).boltzmann(on, beta)
	index := map[int]int{}
	for k, x := range on {
		index[indexOf(x)] = k
	}
	counts := make([]int, len(on))
	r := rbm.NewKey(77).Rand()
	for range starts {
		s.SetState(on[pickState(distribution, r)])
		c.Reset()
		for range moves {
			c.Move(r)
		}
		counts[index[indexOf(s.State())]]++
	}
	return diag.StationarityZ(counts, distribution)
}

// torus returns a 3×3 ±J torus, which has 512 states.
func torus(t testing.TB) *Graph {
	t.Helper()
	lattice, err := Grid([]int{3, 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := lattice.Graph(PlusMinus(1, rbm.NewKey(12)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestIntraclusterStationarity(t *testing.T) {
	for _, g := range []*Graph{torus(t), randomGraph(t, 9, false, 21)} {
		on, _ := shell(9, 4)
		if len(on) != 126 {
			t.Fatalf("got %v, want %v", len(on), 126)
		}
		ising := NewIsing(g, on[0])
		m := Intracluster{MinLength: 1, MaxLength: 4, GammaDown: 1, GammaUp: .7, Weights: HeatBath}
		chain := mustBind(t, m, ising, 0.6)
		if z := zAfter(ising, chain, on, 0.6, 40_000, 3); z > 6 {
			t.Errorf("z = %.1f, want at most 6", z)
		}
		// A chain at another temperature is detected.
		if z := zAfter(ising, mustBind(t, m, ising, 0.5), on, 0.6, 40_000, 3); z < 6 {
			t.Errorf("at a wrong temperature z = %.1f, want at least 6", z)
		}
	}
}
