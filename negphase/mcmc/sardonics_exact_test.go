package mcmc

import (
	"fmt"
	"math"
	"testing"

	"gorbm/negphase/mcmc/internal/walk"
)

// An exactCase is a sampler with a system so small that all moves can be enumerated.
type exactCase struct {
	name  string
	n     int
	m     Sardonics
	sites []int32
	slow  bool // compare each path with slowWalk
	long  bool // run only with -long
}

func exactCases() []exactCase {
	single := func(low, high int) Sardonics {
		return Sardonics{MinLength: low, MaxLength: high, Gamma1: .9, Weights: HeatBath, Single: true}
	}
	pair := Sardonics{MinLength: 1, MaxLength: 2, Gamma1: 1.1, Gamma2: .4, Weights: HeatBath, Walks: 1, Mix: [3]float64{1, 0, 0}}
	mixed := pair
	mixed.Mix = [3]float64{.3, .2, .5}
	twice := mixed
	twice.Walks = 2
	iterated := pair
	iterated.Walks = 2
	return []exactCase{
		{name: "single k=1-3", n: 5, m: single(1, 3), slow: true},
		{name: "single k=3", n: 5, m: single(3, 3), slow: true},
		{name: "single k=1-M", n: 5, m: single(1, 5), slow: true},
		{name: "single k=1-M of 6", n: 6, m: single(1, 6), long: true},
		{name: "single k=1-2 of 8", n: 8, m: single(1, 2), long: true},
		{name: "pair", n: 5, m: pair, slow: true},
		{name: "some sites", n: 6, m: pair, sites: []int32{5, 0, 3, 2}, slow: true},
		{name: "mixture", n: 4, m: mixed, slow: true},
		{name: "mixture of 5", n: 5, m: mixed},
		{name: "iterated", n: 3, m: iterated},
		{name: "iterated mixture", n: 3, m: twice, slow: true},
		{name: "iterated mixture of 4", n: 4, m: twice, long: true},
	}
}

// A scorer returns the scores of a path, by a chain, by the slow walk or by a broken version.
type scorer func(x []uint8, kind int, p path) (forward, reverse, rise float64)

// sums has sums over all moves from each state.
type sums struct {
	proposed []float64 // proposal probabilities; the sum must be 1
	ratio    []float64 // proposal probability times the ratio in the acceptance min(1, ratio)
}

func newSums(states int) sums { return sums{make([]float64, states), make([]float64, states)} }

// add adds a move from state x to the sums, and returns its acceptance probability.
func (s sums) add(x int, flow, logRatio float64) float64 {
	ratio := math.Exp(logRatio)
	s.proposed[x] += flow
	s.ratio[x] += flow * ratio
	return min(1, ratio)
}

// wrong describes the sum that is wrong; "" if none is. The proposal probabilities of each state
// must add to 1. In equilibrium the mean ratio must be 1, because the ratio is the flow back divided by the flow.
func (s sums) wrong(distribution []float64) string {
	mean := 0.0
	for x, p := range s.proposed {
		if math.Abs(p-1) > 1e-12 {
			return fmt.Sprintf("the proposals of state %d add up to %v", x, p)
		}
		mean += distribution[x] * s.ratio[x]
	}
	if math.Abs(mean-1) > 1e-12 {
		return fmt.Sprintf("the mean ratio is %v, not 1", mean)
	}
	return ""
}

// kernelOf computes the transition matrix, by enumeration of all walks from every state.
func kernelOf(c exactCase, score scorer, beta float64) (kernel, sums) {
	all := states(c.n)
	k, total := newKernel(len(all)), newSums(len(all))
	lengths := 1 / math.Pow(float64(c.m.MaxLength-c.m.MinLength+1), float64(c.m.walks()))
	sites := c.sites
	if sites == nil {
		sites = everySite(c.n)
	}
	every := paths(selfAvoiding(sites, c.m.MinLength, c.m.MaxLength), c.m.walks())
	for x, state := range all {
		for _, p := range every {
			f, b, rise := score(state, 0, p)
			y := x
			for _, w := range p {
				for _, i := range w {
					y ^= 1 << i
				}
			}
			flow := lengths * math.Exp(f)
			k[x][y] += flow * total.add(x, flow, b-f-beta*rise)
		}
	}
	return k, total
}

const exactBeta = 0.8

// The data structures of weights on which the exact tests run.
var structures = []struct {
	name  string
	graph func(t testing.TB, n int) *Graph
	hide  func(s *Ising) System
	table bool // the weights are interpolated
}{
	{"classes", func(t testing.TB, n int) *Graph { return randomGraph(t, n, true, 3) }, func(s *Ising) System { return s }, false},
	{"blocks", func(t testing.TB, n int) *Graph { return randomGraph(t, n, false, 4) }, func(s *Ising) System { return s }, true},
	{"bipartite", func(t testing.TB, n int) *Graph { return bipartiteGraph(t, n, 5) }, func(s *Ising) System { return anySystem{s} }, true},
	{"untold", func(t testing.TB, n int) *Graph { return randomGraph(t, n, true, 6) }, func(s *Ising) System { return dense{s} }, true},
}

func TestSardonicsKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, structure := range structures {
		for _, weights := range []Weights{HeatBath, Boltzmann} {
			for _, c := range exactCases() {
				t.Run(structure.name+"/"+string(weights)+"/"+c.name, func(t *testing.T) {
					if c.long && (!*long || weights == Boltzmann || structure.name != "classes") || !*long && weights == Boltzmann && structure.name != "classes" {
						t.Skip("with -long")
					}
					c.m.Weights = weights
					if weights == Boltzmann {
						c.m.Gamma1, c.m.Gamma2 = c.m.Gamma1/2, c.m.Gamma2/2
					}
					g := structure.graph(t, c.n)
					ising := NewIsing(g, nil)
					bound, err := c.m.Bind(structure.hide(ising), exactBeta, c.sites)
					if err != nil {
						t.Fatal(err)
					}
					chain := bound.(*sardonicsChain)
					_, classes := chain.walker.(*classWalk)
					if classes != (structure.name == "classes") {
						t.Fatalf("walker %T", chain.walker)
					}
					if bw, ok := chain.walker.(*blockWalk); ok && structure.hide(ising) != System(ising) {
						// The bound of the costs depends on the state at Bind;
						// slowWalk has the true bound, so the two are made equal.
						for b := range bw.biases {
							family := walk.HeatBath
							if weights == Boltzmann {
								family = walk.Boltzmann
							}
							bw.table[b] = walk.NewTable(walk.NewBias(family, len(bw.sites), bw.scale[b]*2*g.maxField))
						}
					}
					slow := newSlow(c.m, g, exactBeta, c.sites, structure.table)
					seen := -1
					score := func(x []uint8, kind int, p path) (f, b, rise float64) {
						if i := indexOf(x); i != seen {
							seen = i
							ising.SetState(x)
							chain.Reset()
						}
						f, b, rise = chain.scorePath(kind, p)
						if c.slow && (c.m.walks() < 4 || weights == HeatBath) {
							// A path has at most 10 flips, each with some 10 rounding errors
							// of logarithms of at most 5, and totals of 2⁴⁷.
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
}

// TestSardonicsKernels must detect common mistakes.
func TestSardonicsMutantsAreSeen(t *testing.T) {
	mixed := Sardonics{MinLength: 1, MaxLength: 2, Gamma1: 1.1, Gamma2: .4, Weights: HeatBath, Walks: 1, Mix: [3]float64{.3, .2, .5}}
	for _, mutant := range []struct {
		name string
		m    Sardonics
		flaw func(s *slowWalk)
	}{
		{"none", mixed, func(s *slowWalk) {}},
		{"the reverse may not draw the bits it set free", mixed, func(s *slowWalk) { s.noFreed = true }},
		{"the biases of the halves of the reverse are not exchanged", mixed, func(s *slowWalk) { s.noSwap = true }},
	} {
		g := randomGraph(t, 4, true, 3)
		s := newSlow(mutant.m, g, exactBeta, nil, false)
		mutant.flaw(s)
		k, total := kernelOf(exactCase{n: 4, m: mutant.m}, s.scorePath, exactBeta)
		distribution := s.model.boltzmann(states(4), exactBeta)
		a, _ := k.residual(distribution)
		if s.noFreed && total.wrong(distribution) == "" {
			t.Errorf("%s: the mean ratio is 1", mutant.name)
		}
		if ok := a < 1e-12; ok != (mutant.name == "none") {
			t.Errorf("%s: detailed balance is off by %g", mutant.name, a)
		}
	}
	for _, m := range []Sardonics{
		{MinLength: 2, MaxLength: 2, Gamma1: 1, Weights: HeatBath, Walks: 1, Mix: [3]float64{1, 0, 0}},
		{MinLength: 3, MaxLength: 3, Gamma1: 1, Weights: HeatBath, Walks: 1, Mix: [3]float64{1, 0, 0}},
		{MinLength: 2, MaxLength: 2, Gamma1: 1, Weights: HeatBath, Single: true},
		{MinLength: 4, MaxLength: 4, Gamma1: 1, Weights: HeatBath, Single: true},
	} {
		g := randomGraph(t, 4, true, 3)
		k, _ := kernelOf(exactCase{n: 4, m: m}, newSlow(m, g, exactBeta, nil, false).scorePath, exactBeta)
		if k.positive() {
			t.Errorf("k=%d: all states are reached", m.MinLength)
		}
		if _, err := m.Bind(NewIsing(g, nil), exactBeta, nil); err == nil {
			t.Errorf("k=%d, single %v is not refused", m.MinLength, m.Single)
		}
	}
}

// Proposition 3.3: between two states, the rate of accepted walks is at most that of a sampler that proposes the end
// state with the probability summed over walks.
func TestSardonicsAcceptsAtMostTheMarginal(t *testing.T) {
	m := Sardonics{MinLength: 1, MaxLength: 4, Gamma1: 1.3, Weights: HeatBath, Single: true}
	for seed := range uint64(5) {
		g := randomGraph(t, 4, false, 100+seed)
		ising := NewIsing(g, nil)
		chain := mustBind(t, m, ising, exactBeta).(*sardonicsChain)
		q := newKernel(16)
		c := exactCase{n: 4, m: m}
		k, _ := kernelOf(c, func(x []uint8, kind int, p path) (f, b, rise float64) {
			ising.SetState(x)
			chain.Reset()
			f, b, rise = chain.scorePath(kind, p)
			y := indexOf(x)
			for _, i := range p[0] {
				y ^= 1 << i
			}
			q[indexOf(x)][y] += math.Exp(f) / 4 // one of four lengths
			return f, b, rise
		}, exactBeta)
		distribution := plainOf(g).boltzmann(states(4), exactBeta)
		strict := 0
		for x := range k {
			for y := range k {
				if x == y {
					continue
				}
				effective := k[x][y] / q[x][y]
				marginal := min(1, distribution[y]*q[y][x]/(distribution[x]*q[x][y]))
				if effective > marginal*(1+1e-12) { // rounding errors of 24 walks
					t.Errorf("%d to %d: accepted with %v, above %v, want at most %v", x, y, effective, marginal, marginal*(1+1e-12))
				}
				if effective < marginal*(1-1e-6) {
					strict++
				}
			}
		}
		if strict == 0 {
			t.Error("nowhere is the bound strict")
		}
	}
}
