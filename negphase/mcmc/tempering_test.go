package mcmc

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// A ladderCase is a ladder on a small graph, with the exact distributions of its
// temperatures. A state of all replicas has the number Σ x_k·2^(nk).
type ladderCase struct {
	*Ladder
	n        int
	pi       []float64   // distribution of the states of all replicas
	marginal [][]float64 // [temperature] distribution of the states at it
}

func newLadderCase(t *testing.T, g *Graph, e Swapping, betas ...float64) ladderCase {
	t.Helper()
	c := ladderCase{Ladder: must(NewLadder(NewIsing(g, nil), Gibbs{}, e, betas, nil))(t), n: g.Len(), pi: []float64{1}}
	for k, beta := range betas {
		c.marginal = append(c.marginal, boltzmann(energies(g), beta))
		next := make([]float64, len(c.pi)<<c.n)
		for x, p := range c.marginal[k] {
			for rest, q := range c.pi {
				next[x*len(c.pi)+rest] = p * q
			}
		}
		c.pi = next
	}
	return c
}

func (c ladderCase) set(x int) {
	for _, s := range c.systems {
		s.(*Ising).SetState(stateOf(x&(1<<c.n-1), c.n))
		x >>= c.n
	}
}

func (c ladderCase) code() (x int) {
	for _, s := range slices.Backward(c.systems) {
		x = x<<c.n | codeOf(s.State())
	}
	return x
}

// A weighing has the weights after an exchange.
type weighing struct {
	own     []float64
	partner []int
}

// exchanges calls each for every outcome y of the exchanges from state x, with its probability. twist
// changes the probabilities of single swaps.
func (c ladderCase) exchanges(x int, twist func(p float64) float64, each func(y int, p float64, w weighing)) {
	pairs := len(c.betas) - 1
	if c.swapping == NoSwaps {
		pairs = 0
	}
	for script := range 1 << pairs {
		c.set(x)
		p, at := 1.0, 0
		c.exchangeAll(func(q float64) bool {
			q = twist(q)
			swap := script>>at&1 == 1
			at++
			if swap {
				p *= q
			} else {
				p *= 1 - q
			}
			return swap
		})
		if at != pairs {
			panic("a pair without a decision")
		}
		if p > 0 {
			each(c.code(), p, weighing{slices.Clone(c.weight), slices.Clone(c.partner)})
		}
	}
}

// kernel returns the transition matrix of the exchanges.
func (c ladderCase) kernel(twist func(p float64) float64) *mat.Dense {
	k := mat.NewDense(len(c.pi), len(c.pi), nil)
	for x := range c.pi {
		c.exchanges(x, twist, func(y int, p float64, _ weighing) { k.Set(x, y, k.At(x, y)+p) })
	}
	return k
}

func asItIs(p float64) float64 { return p }

func ladderCases(t *testing.T) map[string]ladderCase {
	cases := map[string]ladderCase{}
	for _, e := range []Swapping{NoSwaps, Swaps, InfiniteSwaps} {
		cases[string(e)+" real, two"] = newLadderCase(t, realGraph(t, 3), e, 1.2, 0.5)
		cases[string(e)+" integer, three"] = newLadderCase(t, integerGraph(t, 2, 1), e, 0.9, 0.4, 0)
		cases[string(e)+" real, four"] = newLadderCase(t, realGraph(t, 2), e, 2, 1.1, 0.4, 0.1)
	}
	return cases
}

// TestLadderLeavesTheProduct checks that a move (sweeps and exchanges) leaves the
// product of the Boltzmann distributions invariant.
func TestLadderLeavesTheProduct(t *testing.T) {
	for name, c := range ladderCases(t) {
		exchange := c.kernel(asItIs)
		if d := drift(c.pi, exchange); d > exact {
			t.Errorf("%s: exchanges move the product by %g", name, d)
		}
		var moves mat.Dense
		for k, beta := range c.betas {
			one := sweepMatrix(t, c.systems[0].(*Ising).graph, Gibbs{}, beta)
			if k == 0 {
				moves.CloneFrom(one)
				continue
			}
			var both mat.Dense
			both.Kronecker(one, &moves)
			moves = both
		}
		var step mat.Dense
		step.Mul(&moves, exchange)
		if d := drift(c.pi, &step); d > exact {
			t.Errorf("%s: a move moves the product by %g", name, d)
		}
		if c.swapping == NoSwaps {
			continue
		}
		if d := imbalanceOfPair(c); d > exact {
			t.Errorf("%s: the exchange of a pair is out of balance by %g", name, d)
		}
		// Broken: swaps with probability below 1 are too rare by a tenth, or have the opposite probability.
		for what, twist := range map[string]func(float64) float64{
			"p^1.1": func(p float64) float64 { return math.Pow(p, 1.1) },
			"1 - p": func(p float64) float64 { return 1 - p },
		} {
			if d := drift(c.pi, c.kernel(twist)); d < broken {
				t.Errorf("%s, %s: the product moves by %g only", name, what, d)
			}
		}
	}
}

// imbalanceOfPair returns the violation of detailed balance by the exchange, for a ladder with one pair.
func imbalanceOfPair(c ladderCase) float64 {
	if len(c.betas) > 2 {
		return 0 // several pairs in sequence do not satisfy detailed balance
	}
	return imbalance(c.pi, c.kernel(asItIs))
}

// TestLadderWeights checks that from draws of the product, the weighted means of any function after the exchanges are
// those at the temperatures. With broken weights, which ignore whether the states
// were swapped, they are not.
func TestLadderWeights(t *testing.T) {
	r := rbm.NewKey(6).Rand()
	for name, c := range ladderCases(t) {
		f := make([]float64, 1<<c.n)
		for x := range f {
			f[x] = r.NormFloat64()
		}
		for k := range c.betas {
			want, got, wrong, weighted := 0.0, 0.0, 0.0, false
			for x, p := range c.marginal[k] {
				want += p * f[x]
			}
			for x, p := range c.pi {
				c.exchanges(x, asItIs, func(y int, q float64, w weighing) {
					of := func(k int) float64 { return f[y>>(c.n*k)&(1<<c.n-1)] }
					own, partner := w.own[k], w.partner[k]
					weighted = weighted || own < 1
					got += p * q * (own*of(k) + (1-own)*of(partner))
					wrong += p * q * ((1-own)*of(k) + own*of(partner))
				})
			}
			if math.Abs(got-want) > exact {
				t.Errorf("%s: the mean at temperature %d is %v, want %v", name, k, got, want)
			}
			if paired := c.swapping == InfiniteSwaps && c.partner[k] != k; paired != weighted {
				t.Errorf("%s: temperature %d is weighted: %v", name, k, weighted)
			} else if paired && math.Abs(wrong-want) < broken {
				t.Errorf("%s: weights the wrong way round err by %g only", name, wrong-want)
			}
		}
	}
}

// ladderZ draws all replicas from their distributions, moves them once and tests each
// against its distribution.
func ladderZ(c ladderCase, starts int) (worst float64) {
	r := rbm.NewKey(78).Rand()
	counts := make([][]int, len(c.betas))
	var sums [][]float64
	for k := range counts {
		counts[k] = make([]int, 1<<c.n)
		sums = append(sums, cumulated(c.marginal[k]))
	}
	for range starts {
		for k, s := range c.systems {
			s.(*Ising).SetState(stateOf(pick(sums[k], r), c.n))
		}
		c.Reset()
		c.Move(r)
		for k, s := range c.systems {
			counts[k][codeOf(s.State())]++
		}
	}
	for k := range counts {
		worst = max(worst, math.Abs(diag.StationarityZ(counts[k], c.marginal[k])))
	}
	return worst
}

func TestLadderFromExactStarts(t *testing.T) {
	starts := exactStarts
	if !*long {
		starts /= 10
	}
	for _, e := range []Swapping{NoSwaps, Swaps, InfiniteSwaps} {
		for name, g := range map[string]*Graph{"glass": lattice(t, "3x3", Gaussian(1, rbm.NewKey(4)), 0.3), "signs": lattice(t, "3x2", PlusMinus(1, rbm.NewKey(3)), 0)} {
			c := newLadderCaseWithoutProduct(t, g, e, 0.7, 0.5, 0.25, 0)
			if z := ladderZ(c, starts); z > 6 {
				t.Errorf("%s, %q: z = %.1f", name, e, z)
			}
			if e == NoSwaps {
				continue
			}
			c.betas[1], c.betas[2] = c.betas[2], c.betas[1] // broken: exchanges have the wrong temperatures
			if z := ladderZ(c, starts); z < 6 {
				t.Errorf("%s, %q with two temperatures in the wrong order: z = %.1f only", name, e, z)
			}
		}
	}
}

// newLadderCaseWithoutProduct is newLadderCase without the product distribution, which may be too large.
func newLadderCaseWithoutProduct(t *testing.T, g *Graph, e Swapping, betas ...float64) ladderCase {
	t.Helper()
	c := ladderCase{Ladder: must(NewLadder(NewIsing(g, nil), Gibbs{}, e, betas, nil))(t), n: g.Len()}
	for _, beta := range betas {
		c.marginal = append(c.marginal, boltzmann(energies(g), beta))
	}
	return c
}

// TestLadderMeanEnergies runs ladders of every sampler, on Ising systems and RBMs, and compares the
// mean energy at every temperature with the exact one. Some samplers keep lists of the sites that are up, which become
// stale when replicas are exchanged.
func TestLadderMeanEnergies(t *testing.T) {
	g := lattice(t, "3x3", Gaussian(1, rbm.NewKey(4)), 0)
	p := smallRBM(4, 7)
	betas := []float64{1.5, 1, 0.6, 0.3}
	const up = 4
	fixed := func(s System) System { return startAt(s, 1<<up-1) }
	walks := Sardonics{MinLength: 1, MaxLength: 4, Gamma1: 1, Gamma2: 1, Mix: [3]float64{1, 0, 0}, Walks: 1, Weights: HeatBath}
	for _, e := range []Swapping{NoSwaps, Swaps, InfiniteSwaps} {
		for name, c := range map[string]struct {
			s System
			m Mover
		}{
			"gibbs": {NewIsing(g, nil), Gibbs{}}, "sw": {NewIsing(g, nil), SwendsenWang{}}, "wolff": {NewIsing(g, nil), Wolff{3}},
			"walks": {NewIsing(g, nil), walks}, "rbm": {NewRBM(p), BlockGibbs{}}, "walks of an rbm": {NewRBM(p), walks},
			"exchange": {fixed(NewIsing(g, nil)), Exchange{}}, "im": {fixed(NewIsing(g, nil)), Intracluster{MinLength: 1, MaxLength: 2, GammaDown: 1, GammaUp: 1, Weights: HeatBath}},
			"exchange of an rbm": {fixed(NewRBM(p)), Exchange{}},
		} {
			l := must(NewLadder(c.s, c.m, e, betas, nil))(t)
			r := rbm.NewKey(9).Rand()
			traces := make([]*diag.Trace, len(betas))
			for k := range traces {
				traces[k] = diag.NewTrace(1 << 14)
			}
			for i := range 22000 {
				l.Move(r)
				for k := range traces {
					if own, partner := l.Weight(k); i >= 2000 {
						traces[k].Add(own*l.Replica(k).Energy() + (1-own)*l.Replica(partner).Energy())
					}
				}
			}
			energy := energiesOf(c.s)
			if KeepsActive(c.m) {
				var kept []float64
				for x, e := range energy {
					if bits.OnesCount(uint(x)) == up {
						kept = append(kept, e)
					}
				}
				energy = kept
			}
			for k, beta := range betas {
				want := 0.0
				for x, q := range boltzmann(energy, beta) {
					want += q * energy[x]
				}
				if s := traces[k].Summary(); !s.Trusted() || math.Abs(s.Mean-want) > 4.5*s.StdErr {
					t.Errorf("%q %s at β = %v: mean energy %.4f ± %.4f, want %.4f", e, name, beta, s.Mean, s.StdErr, want)
				}
			}
			tries, swaps, trips := l.Exchanged()
			for k := range tries {
				if (e != NoSwaps) != (tries[k] == 22000 && swaps[k] > 0 && swaps[k] < tries[k]) {
					t.Errorf("%q %s: pair %d swapped %d of %d times", e, name, k, swaps[k], tries[k])
				}
			}
			if (e != NoSwaps) != (trips > 100) {
				t.Errorf("%q %s: %d round trips", e, name, trips)
			}
		}
	}
}

// startAt sets the state of a system and returns the system.
func startAt(s System, code int) System {
	for i, x := range stateOf(code, s.Len()) {
		if s.State()[i] != x {
			s.Flip(i)
		}
	}
	return s
}

// energiesOf returns the energies of all states of a small system.
func energiesOf(s System) []float64 {
	all := make([]float64, 1<<s.Len())
	for x := range all {
		switch s := s.(type) {
		case *Ising:
			all[x] = NewIsing(s.graph, stateOf(x, s.Len())).Energy()
		case *RBM:
			copied := NewRBM(s.parameters)
			copied.SetState(stateOf(x, s.Len()))
			all[x] = copied.Energy()
		}
	}
	return all
}

// TestParseTempering parses and formats ladders, and checks errors.
func TestParseTempering(t *testing.T) {
	for text, want := range map[string]string{
		"pt":                          "pt:replicas=8:hottest=2:gibbs:order=linear",
		"ins:replicas=3:hottest=1.5":  "ins:replicas=3:hottest=1.5:gibbs:order=linear",
		"pt:wolff:clusters=2":         "pt:replicas=8:hottest=2:wolff:clusters=2",
		"pt:replicas=2:gibbs":         "pt:replicas=2:hottest=2:gibbs:order=linear",
		"ins:exchange":                "ins:replicas=8:hottest=2:exchange",
		"pt:metropolis:order=random":  "pt:replicas=8:hottest=2:metropolis:order=random",
		"pt:hottest=3:sw":             "pt:replicas=8:hottest=3:sw",
		"ins:sardonics:walks=2:k=1-5": "ins:replicas=8:hottest=2:sardonics:k=1-5:gamma=1:weights=heatbath:walks=2:mix=1/0/0",
	} {
		m, _, err := ParseTempering(text, "gibbs", Linear)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := FormatMover(m); got != want && !strings.HasPrefix(want, "ins:replicas=8:hottest=2:sardonics") {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
		again, _, err := ParseTempering(FormatMover(m), "sw", Linear)
		if err != nil || FormatMover(again) != FormatMover(m) {
			t.Errorf("%s is written as %s and read as %v (%v)", text, FormatMover(m), again, err)
		}
		if KeepsActive(m) != strings.Contains(text, "exchange") {
			t.Errorf("%s keeps the number of spins up: %v", text, KeepsActive(m))
		}
	}
	for text, want := range map[string]string{
		"tp": "unknown ladder", "pt:replicas=1": "replicas is 1", "pt:hottest=1": "hottest is 1", "pt:hottest=x": "not a number",
		"pt:hottest=inf": "finite", "pt:tau=1": "no setting", "pt:gibs": "did you mean gibbs", "pt:pt": "unknown sampler", "pt:sw:replicas=3": "no settings",
	} {
		if _, _, err := ParseTempering(text, "gibbs", Linear); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want …%s…", text, err, want)
		}
	}
}

func TestLadderErrors(t *testing.T) {
	s := NewIsing(realGraph(t, 3), nil)
	pt := Tempering{Swaps, Gibbs{}, 3, 2}
	for what, err := range map[string]error{
		"rising":         errorOf(NewLadder(s, Gibbs{}, Swaps, []float64{1, 2}, nil)),
		"unknown swaps":  errorOf(NewLadder(s, Gibbs{}, "tp", []float64{2, 1}, nil)),
		"none":           errorOf(NewLadder(s, Gibbs{}, Swaps, nil, nil)),
		"negative":       errorOf(NewLadder(s, Gibbs{}, Swaps, []float64{1, -1}, nil)),
		"NaN":            errorOf(NewLadder(s, Gibbs{}, Swaps, []float64{1, math.NaN()}, nil)),
		"another system": errorOf(NewLadder(general{s}, Gibbs{}, Swaps, []float64{1, 0.5}, nil)),
		"no sampler":     errorOf(Tempering{Swaps, nil, 3, 2}.Bind(s, 1, nil)),
		"no exchange":    errorOf(Tempering{NoSwaps, Gibbs{}, 3, 2}.Bind(s, 1, nil)),
		"β = 0":          errorOf(pt.Bind(s, 0, nil)),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	l := must(pt.Bind(s, 2, nil))(t).(*Ladder)
	if got := fmt.Sprintf("%.6f", l.Betas()); got != "[2.000000 1.414214 1.000000]" || l.Replica(0) != System(s) {
		t.Errorf("a ladder to twice the temperature has β = %s", got)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func TestLadderMovesDoNotAllocate(t *testing.T) {
	s := NewIsing(lattice(t, "8x8", PlusMinus(1, rbm.NewKey(1)), 0.5), nil)
	for _, e := range []Swapping{Swaps, InfiniteSwaps} {
		l := must(Tempering{e, Gibbs{}, 5, 3}.Bind(s, 1, nil))(t)
		r := rbm.NewKey(4).Rand()
		if n := testing.AllocsPerRun(20, func() { l.Move(r) }); n != 0 {
			t.Errorf("%s allocates %g times a move", e, n)
		}
	}
}

// TestLadderRenewsCaches checks that chains move as if all caches were renewed before each move.
func TestLadderRenewsCaches(t *testing.T) {
	walks := Sardonics{MinLength: 1, MaxLength: 4, Gamma1: 1, Gamma2: 1, Mix: [3]float64{1, 0, 0}, Walks: 1, Weights: HeatBath}
	for _, e := range []Swapping{Swaps, InfiniteSwaps} {
		var ladders [2]*Ladder
		for i := range ladders {
			ladders[i] = must(NewLadder(NewIsing(realGraph(t, 12), nil), walks, e, []float64{0.6, 0.5, 0.4}, nil))(t)
		}
		a, b := rbm.NewKey(4).Rand(), rbm.NewKey(4).Rand()
		for i := range 300 {
			ladders[1].Reset()
			ladders[0].Move(a)
			ladders[1].Move(b)
			for k := range ladders[0].betas {
				if !slices.Equal(ladders[0].Replica(k).State(), ladders[1].Replica(k).State()) {
					t.Fatalf("%s: after move %d the states of replica %d differ", e, i, k)
				}
			}
		}
	}
}
