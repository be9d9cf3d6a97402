package informed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

const (
	// exactly is the largest residual of an exact matrix: probabilities of at most 2⁵ states, rounded to 2⁻⁵³.
	exactly = 1e-12
	// broken is the smallest residual of wrong samplers; the flaws below give at least 6e-6.
	broken = 1e-6
	beta   = 0.8
)

// A small system with the distribution of its states.
type small struct {
	system mcmc.Settable
	target []float64 // by code
	first  bool      // costs are to first order alone
}

func code(state []uint8) (x int) {
	for i, b := range state {
		x |= int(b) << i
	}
	return x
}

func bitsOf(x, n int) []uint8 {
	state := make([]uint8, n)
	for i := range state {
		state[i] = uint8(x >> i & 1)
	}
	return state
}

// boltzmann returns the distribution of the states of s, with the given energies; nil: those of s.
func boltzmann(s mcmc.Settable, beta float64, energy func(state []uint8) float64) []float64 {
	if energy == nil {
		energy = func(state []uint8) float64 {
			s.SetState(state)
			return s.Energy()
		}
	}
	target, sum := make([]float64, 1<<s.Len()), 0.
	for x := range target {
		target[x] = math.Exp(-beta * energy(bitsOf(x, s.Len())))
		sum += target[x]
	}
	for x := range target {
		target[x] /= sum
	}
	return target
}

// model returns an RBM with weights and biases of standard deviation sd.
func model(visible, hidden int, sd float64, seed uint64) *rbm.RBM {
	m := rbm.New(visible, hidden, 0, rbm.Softmax)
	m.Randomize(sd, rbm.NewKey(seed))
	r := rbm.NewKey(seed).Child(1).Rand()
	for _, b := range [][]float32{m.VisibleBias, m.HiddenBias} {
		for i := range b {
			b[i] = float32(sd * r.NormFloat64())
		}
	}
	return m
}

// unknown hides the type of a system.
type unknown struct{ mcmc.Settable }

// smallSystems returns systems of n bits: a dense graph, one whose type is hidden, an RBM, and the visible units of one.
func smallSystems(t testing.TB, n int) map[string]small {
	t.Helper()
	r := rbm.NewKey(uint64(n)).Rand()
	field, edges := make([]float64, n), []mcmc.Edge(nil)
	for i := range n {
		field[i] = r.NormFloat64() / 2
		for j := range i {
			edges = append(edges, mcmc.Edge{I: int32(i), J: int32(j), Coupling: r.NormFloat64()})
		}
	}
	g, err := mcmc.NewGraph(field, edges)
	if err != nil {
		t.Fatal(err)
	}
	dense := mcmc.NewIsing(g, nil)
	m := model(n, 3, 1.5, 4)
	free := NewFree(m)
	both := mcmc.NewRBM(mcmc.NewParameters(model(n-2, 2, 1.5, 5)))
	return map[string]small{
		"dense":  {dense, boltzmann(dense, beta, nil), false},
		"hidden": {unknown{dense}, boltzmann(dense, beta, nil), false},
		"rbm":    {both, boltzmann(both, beta, nil), false},
		"p(v)":   {free, boltzmann(free, beta, func(v []uint8) float64 { return freeEnergy(m, v) }), true},
	}
}

// freeEnergy sums over all hidden states.
func freeEnergy(m *rbm.RBM, v []uint8) float64 {
	z := 0.
	for h := range 1 << m.Hidden() {
		e := 0.
		for i, x := range v {
			e -= float64(x) * float64(m.VisibleBias[i])
			for j := range m.Hidden() {
				e -= float64(x) * float64(h>>j&1) * float64(m.Weight(i, j))
			}
		}
		for j := range m.Hidden() {
			e -= float64(h>>j&1) * float64(m.HiddenBias[j])
		}
		z += math.Exp(-e)
	}
	return -math.Log(z)
}

// A flaw is a plausible mistake in an informed proposal.
type flaw string

const (
	noFlaw     flaw = ""
	rotated    flaw = "the path back is scored in an order whose own order back is not that of the path there"
	staleCosts flaw = "the weights of the first state are taken for those of the last one"
	replaced   flaw = "draws without replacement have the density of draws with it"
	linear     flaw = "the energy rises by the sum of the costs of single flips"
	noRatio    flaw = "the ratio of the proposals is left out"
	// sameOrder is not a mistake: flips commute, so the reverse path may have the same order.
	sameOrder flaw = "the path back is scored in the order of the path there"
)

// scorePath returns the probability of a path from the current state and the logarithm of its ratio, with a flaw. It leaves the system in the last state.
func (f flaw) scorePath(c *pathChain, sites []int32) (chance, log float64) {
	first, last := &c.ends[0], &c.ends[1]
	c.Reset()
	c.there = logProduct{}
	var with logProduct
	sum := 0.
	for _, i := range sites {
		with.times(c.curve.at(first.cost[i]), first.tree.total())
		sum += first.cost[i]
		c.pass(first, int(i), &c.there)
	}
	c.sites = append(c.sites[:0], sites...)
	c.restore(first)
	total := first.tree.total()
	rise := c.flip(sites)
	c.weigh(true)
	log = c.score()
	chance = math.Exp(c.there.value())
	switch f {
	case sameOrder, rotated:
		if f == rotated && len(sites) > 0 {
			copy(c.sites, append(slices.Clone(sites[1:]), sites[0]))
		}
		slices.Reverse(c.sites) // it is read from its end
		log = c.score()
	case staleCosts:
		stale := ending{cost: slices.Clone(first.cost), tree: slices.Clone(first.tree)}
		var p logProduct
		for _, i := range slices.Backward(sites) {
			c.pass(&stale, int(i), &p)
		}
		log = p.value() - c.there.value()
	case replaced:
		a, b := 0., 0.
		for _, i := range sites {
			a += math.Log(c.curve.at(first.cost[i]) / total)
			b += math.Log(c.curve.at(last.cost[i]) / last.tree.total())
		}
		return chance, b - a - rise
	case linear:
		rise = sum
	case noRatio:
		return chance, -rise
	}
	return chance, log - rise
}

// paths returns all ordered draws of k of n sites, with replacement or without.
func paths(n, k int, again bool) [][]int32 {
	all := [][]int32{nil}
	for range k {
		var longer [][]int32
		for _, p := range all {
			for i := range int32(n) {
				if again || !slices.Contains(p, i) {
					longer = append(longer, append(slices.Clone(p), i))
				}
			}
		}
		all = longer
	}
	return all
}

// imbalance returns the largest |π_x K_xy − π_y K_yx|.
func imbalance(target []float64, k [][]float64) (worst float64) {
	for x := range k {
		for y := range x {
			worst = max(worst, math.Abs(target[x]*k[x][y]-target[y]*k[y][x]))
		}
	}
	return worst
}

// matrix returns the transition matrix of a move. For each state it calls each, which calls add for each path or set of flips, with the
// state reached, the probability of the proposal and the logarithm of its ratio.
func matrix(t *testing.T, s small, reset func(), each func(add func(chance, log float64))) [][]float64 {
	t.Helper()
	k := make([][]float64, len(s.target))
	for x := range k {
		k[x] = make([]float64, len(k))
	}
	for x := range k {
		proposed := 0.
		enter := func() {
			s.system.SetState(bitsOf(x, s.system.Len()))
			reset()
		}
		enter()
		each(func(chance, log float64) {
			k[x][code(s.system.State())] += chance * math.Exp(min(0, log))
			proposed += chance
			enter()
		})
		if math.Abs(proposed-1) > exactly {
			t.Fatalf("the proposals from state %d add up to %v", x, proposed)
		}
	}
	return k
}

func bind[C mcmc.Chain](t testing.TB, m mcmc.Mover, s mcmc.System) C {
	t.Helper()
	c, err := m.Bind(s, beta, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.(C)
}

// sizes are the numbers of bits of exact matrices.
func sizes() []int {
	if testing.Short() {
		return []int{4}
	}
	return []int{4, 5}
}

func TestPathKernels(t *testing.T) {
	for _, n := range sizes() {
		for name, s := range smallSystems(t, n) {
			for _, balance := range []Balance{Root, Ratio, Least, Largest} {
				for length := 1; length <= 3; length++ {
					for _, correct := range []bool{false, true} {
						c := bind[*pathChain](t, Path{Balance: balance, Length: length, Correct: correct}, s.system)
						kernel := func(f flaw) [][]float64 {
							return matrix(t, s, c.Reset, func(add func(chance, log float64)) {
								lengths := []int{length - 1, length}
								if length == 1 {
									lengths = lengths[1:]
								}
								for _, l := range lengths {
									for _, p := range paths(n, l, correct) {
										chance, log := f.scorePath(c, p)
										add(chance/float64(len(lengths)), log)
									}
								}
							})
						}
						label := fmt.Sprintf("%s of %d, %s, length %d, correct %v", name, n, balance, length, correct)
						for _, f := range []flaw{noFlaw, sameOrder} {
							if d := imbalance(s.target, kernel(f)); d > exactly {
								t.Errorf("%s%s: detailed balance is off by %g", label, f, d)
							}
						}
						flaws := []flaw{linear, noRatio, rotated}
						if !correct {
							flaws = append(flaws, staleCosts, replaced)
						}
						for _, f := range flaws {
							if length == 1 && f != noRatio && f != staleCosts && !(f == linear && s.first) {
								continue // of one flip these are no mistakes
							}
							if f == rotated && length < 3 { // of two flips the order turned back is that of the path
								continue
							}
							if balance == Root && f == staleCosts || length < 3 && !(f == noRatio || f == staleCosts || s.first) {
								continue
							}
							if d := imbalance(s.target, kernel(f)); d < broken {
								t.Errorf("%s: %s, and detailed balance is off by %g alone", label, f, d)
							}
						}
					}
				}
			}
		}
	}
}

// score returns the probability of flips from the current state and the logarithm of their ratio, with a flaw. It leaves
// the system in the last state.
func (f flaw) score(c *parallelChain, costs []float64, flipped int) (chance, log float64) {
	c.Reset()
	c.costs(costs)
	chance, sum := 1., 0.
	c.sites = c.sites[:0]
	for i, p := range c.chance[0] {
		if flipped>>i&1 == 1 {
			c.sites = append(c.sites, int32(i))
			sum += costs[i]
		} else {
			p = 1 - p
		}
		chance *= p
	}
	rise := c.flip(c.sites)
	c.weigh(true)
	switch f {
	case staleCosts:
		copy(c.chance[1], c.chance[0])
	case linear:
		rise = sum
	case noRatio:
		return chance, -rise
	}
	return chance, c.score() - rise
}

func TestParallelKernels(t *testing.T) {
	for _, n := range sizes() {
		for name, s := range smallSystems(t, n) {
			for _, l := range []Coin{Langevin, DLMCRoot, DLMCRatio} {
				for _, step := range []float64{0.1, 0.7, 5} {
					c := bind[*parallelChain](t, Parallel{Coin: l, Step: step}, s.system)
					costs := make([]float64, n)
					kernel := func(f flaw) [][]float64 {
						return matrix(t, s, c.Reset, func(add func(chance, log float64)) {
							for flipped := range 1 << n {
								add(f.score(c, costs, flipped))
							}
						})
					}
					label := fmt.Sprintf("%s of %d, %s, step %v", name, n, l, step)
					if d := imbalance(s.target, kernel(noFlaw)); d > exactly {
						t.Errorf("%s: detailed balance is off by %g", label, d)
					}
					for _, f := range []flaw{staleCosts, linear, noRatio} {
						if d := imbalance(s.target, kernel(f)); step == 0.7 && d < broken {
							t.Errorf("%s: %s, and detailed balance is off by %g alone", label, f, d)
						}
					}
				}
			}
		}
	}
}

// Weights and probabilities equal the papers' formulas up to the interpolation of a curve. Its relative error is at most that of an
// exponential, h²/8 for cells of width h, and terms of the order h⁴.
func TestFormulas(t *testing.T) {
	const h = 1.0 / curveCells
	const tolerance = h * h / 8 * (1 + h*h)
	formulas := map[Balance]func(t float64) float64{
		Root: math.Sqrt, Ratio: func(t float64) float64 { return t / (1 + t) },
		Least: func(t float64) float64 { return min(1, t) }, Largest: func(t float64) float64 { return max(1, t) },
	}
	var c curve
	near := func(name string, x, want float64) {
		if got := c.at(x); math.Abs(got/want-1) > tolerance {
			t.Errorf("%s at %v: %v, want %v", name, x, got, want)
		}
	}
	r := rbm.NewKey(1).Rand()
	for _, b := range []Balance{Root, Ratio, Least, Largest} {
		c.fill(b.at)
		for range 200 {
			x := 12 * r.NormFloat64() / 2
			g := formulas[b]
			near(string(b), x, g(math.Exp(-x)))
			if u := math.Exp(-x); math.Abs(g(u)/(u*g(1/u))-1) > exactly {
				t.Errorf("%s is not balanced at %v", b, u)
			}
		}
	}
	const step = 0.3
	for l, f := range map[Coin]func(x float64) float64{
		Langevin: func(x float64) float64 { return 1 / (1 + math.Exp(x/2+1/(2*step))) },
		DLMCRoot: func(x float64) float64 {
			return (1 - math.Exp(-step*math.Exp(-x/2)*(1+math.Exp(x)))) / (1 + math.Exp(x))
		},
		DLMCRatio: func(x float64) float64 { return (1 - math.Exp(-step)) / (1 + math.Exp(x)) },
	} {
		c.fill(func(x float64) float64 { return l.chance(x, step) })
		for range 200 {
			x := 3 * r.NormFloat64()
			near(string(l), x, f(x))
		}
	}
}

// Free energies equal the sum over all hidden states, exact costs are their differences, and costs to first order their derivatives.
func TestFreeSystem(t *testing.T) {
	m := model(5, 3, 1.5, 4)
	s := NewFree(m)
	costs := make([]float64, 5)
	for x := range 32 {
		v := bitsOf(x, 5)
		s.SetState(v)
		if d := s.Energy() - freeEnergy(m, v); math.Abs(d) > exactly {
			t.Fatalf("free energy of %v is off by %g", v, d)
		}
		s.Costs(costs)
		for i := range v {
			before := s.Energy()
			cost := s.FlipCost(i)
			s.Flip(i)
			if d := s.Energy() - before - cost; math.Abs(d) > exactly {
				t.Errorf("cost of %d in %v is off by %g", i, v, d)
			}
			s.Flip(i)
			slope := float64(m.VisibleBias[i]) // of −F
			for j := range m.Hidden() {
				a := float64(m.HiddenBias[j])
				for k, b := range v {
					a += float64(b) * float64(m.Weight(k, j))
				}
				slope += float64(m.Weight(i, j)) / (1 + math.Exp(-a))
			}
			// Means of hidden units are rounded to float32.
			if want := (2*float64(v[i]) - 1) * slope; math.Abs(costs[i]-want) > 1e-6 {
				t.Errorf("cost of %d to first order in %v: %v, want %v", i, v, costs[i], want)
			}
		}
	}
}

// everyNew returns all new samplers, with given settings.
func everyNew() []mcmc.Mover {
	return []mcmc.Mover{
		Path{Balance: Ratio, Length: 1}, Path{Balance: Root, Length: 3}, Path{Balance: Least, Length: 2}, Path{Balance: Largest, Length: 3},
		Path{Balance: Ratio, Length: 3, Correct: true}, Parallel{Coin: Langevin, Step: 0.3}, Parallel{Coin: DLMCRoot, Step: 0.3}, Parallel{Coin: DLMCRatio, Step: 0.7},
	}
}

// z moves chains from exact starts and tests the distribution of the states after the moves.
func z(s mcmc.Settable, c mcmc.Chain, target []float64, starts, moves int) float64 {
	r := rbm.NewKey(77).Rand()
	counts := make([]int, len(target))
	for range starts {
		u, x := r.Float64(), 0
		for ; x < len(target)-1 && u >= target[x]; x++ {
			u -= target[x]
		}
		s.SetState(bitsOf(x, s.Len()))
		c.Reset()
		for range moves {
			c.Move(r)
		}
		counts[code(s.State())]++
	}
	return diag.StationarityZ(counts, target)
}

// An adapting chain never ends its warm-up.
type adapting struct{ *pathChain }

func (c adapting) Reset() {
	c.log = rbm.Log(3)
	c.Adapt(mcmc.TargetAcceptance, 1)
	c.pathChain.Reset()
}

func (c adapting) Move(r *rand.Rand) mcmc.Info {
	info, acceptance := c.move(r)
	c.Adapt(acceptance, 3)
	return info
}

func TestStationarity(t *testing.T) {
	const starts = 20_000
	for name, s := range smallSystems(t, 5) {
		for _, m := range everyNew() {
			if x := z(s.system, bind[mcmc.Chain](t, m, s.system), s.target, starts, 3); x > 6 {
				t.Errorf("%s, %+v: z = %.1f", name, m, x)
			}
			hot, err := m.Bind(s.system, 0.7*beta, nil)
			if err != nil {
				t.Fatal(err)
			}
			if x := z(s.system, hot, s.target, starts, 12); x < 6 {
				t.Errorf("%s, %+v at a wrong temperature: z = %.1f", name, m, x)
			}
		}
	}
	s := smallSystems(t, 5)["dense"]
	if x := z(s.system, adapting{bind[*pathChain](t, Path{Balance: Ratio}, s.system)}, s.target, starts, 5); x < 6 {
		t.Errorf("a chain that adapts for ever is not seen: z = %.1f", x)
	}
}

// glass returns a lattice on which moves are rejected.
func glass(t testing.TB) *mcmc.Graph {
	t.Helper()
	l, err := mcmc.ParseLattice("5x5x5", true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Graph(mcmc.PlusMinus(1, rbm.NewKey(2)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// After a warm-up the acceptance is near its target, moves do not change the setting, and equal draws give equal settings. The cached state of a chain equals that of
// a new chain.
func TestWarmUps(t *testing.T) {
	g := glass(t)
	for _, x := range Tuned() {
		run := func() (*mcmc.Ising, float64) {
			s := mcmc.NewIsing(g, nil)
			c := bind[Chain](t, x.Mover, s)
			r := rbm.NewKey(3).Rand()
			if info := c.WarmUp(r); info.Moves != mcmc.WarmUpMoves {
				t.Fatalf("%s: a warm-up of %d moves", x.Name, info.Moves)
			}
			before := c.Setting()
			var info mcmc.Info
			for range 2000 {
				info.Add(c.Move(r))
			}
			if c.Setting() != before {
				t.Errorf("%s: moves changed the setting from %v to %v", x.Name, before, c.Setting())
			}
			// One flip of ten changes the acceptance by some 0.05, and its mean over correlated moves has an error of some 0.02.
			if a, _ := info.Acceptance(); math.Abs(a-mcmc.TargetAcceptance) > 0.09 {
				t.Errorf("%s: accepted with %.3f", x.Name, a)
			}
			fresh := bind[mcmc.Chain](t, x.Mover, mcmc.NewIsing(g, s.State()))
			switch c := c.(type) {
			case *pathChain:
				if !slices.Equal(c.ends[0].tree, fresh.(*pathChain).ends[0].tree) || !slices.Equal(c.ends[0].cost, fresh.(*pathChain).ends[0].cost) {
					t.Errorf("%s: the weights are not those of the state", x.Name)
				}
			case *parallelChain:
				kept := slices.Clone(c.chance[0])
				if c.Reset(); !slices.Equal(c.chance[0], kept) {
					t.Errorf("%s: the chances are not those of the state", x.Name)
				}
			}
			return s, before
		}
		a, first := run()
		b, second := run()
		if first != second || !slices.Equal(a.State(), b.State()) {
			t.Errorf("%s: equal draws give other moves", x.Name)
		}
	}
}

// Chains of one Bind share one setting, which Adapt changes unless it is given.
func TestSharedSetting(t *testing.T) {
	g := glass(t)
	for _, x := range Tuned() {
		all, err := Bind(x.Mover, 1, mcmc.NewIsing(g, nil), mcmc.NewIsing(g, nil))
		if err != nil {
			t.Fatal(err)
		}
		before := all[1].Setting()
		all[0].Adapt(1, 1)
		if after := all[1].Setting(); !(after > before) || after != all[0].Setting() {
			t.Errorf("%s: all moves accepted, and the setting is %v and %v after %v", x.Name, all[0].Setting(), after, before)
		}
	}
	all, err := Bind(Path{Balance: Root, Length: 3}, 1, mcmc.NewIsing(g, nil))
	if err != nil {
		t.Fatal(err)
	}
	all[0].Adapt(1, 1)
	if info := all[0].WarmUp(rbm.NewKey(1).Rand()); info.Moves != 0 || all[0].Setting() != 3 {
		t.Errorf("a given length of 3 is %v after a warm-up of %d moves", all[0].Setting(), info.Moves)
	}
}

func TestMovesDoNotAllocate(t *testing.T) {
	m := model(20, 15, 0.3, 1)
	for name, s := range map[string]mcmc.System{"glass": mcmc.NewIsing(glass(t), nil), "rbm": mcmc.NewRBM(mcmc.NewParameters(m)), "p(v)": NewFree(m)} {
		for _, mover := range everyNew() {
			c := bind[mcmc.Chain](t, mover, s)
			r := rbm.NewKey(1).Rand()
			if n := testing.AllocsPerRun(50, func() { c.Reset(); c.Move(r) }); n != 0 {
				t.Errorf("%s, %+v: %v allocations a move", name, mover, n)
			}
		}
	}
}

func TestBindErrors(t *testing.T) {
	s := mcmc.NewIsing(glass(t), nil)
	for _, m := range []mcmc.Mover{Path{Balance: Root, Length: -1}, Path{Balance: Root, Length: 126}, Parallel{Coin: Langevin, Step: -1}, Parallel{Coin: Langevin, Step: math.NaN()}} {
		if _, err := m.Bind(s, 1, nil); err == nil {
			t.Errorf("%+v is bound", m)
		}
	}
}
