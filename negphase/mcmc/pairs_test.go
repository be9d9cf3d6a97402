package mcmc

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gorbm/rbm"
)

// A pairFlaw is a mistake that is easily made in the acceptance of Pairs.
type pairFlaw string

const (
	noFlaw     pairFlaw = ""
	staleSum   pairFlaw = "the sum over pairs of the old state is taken for that of the new one"
	staleWay   pairFlaw = "the weight of the way back is that of the way there"
	noCoupling pairFlaw = "the coupling of the two sites is left out of the energy"
	noTest     pairFlaw = "all moves are accepted"
)

// logRatio is the ratio of acceptance of a pair with a mistake, and leaves the pair exchanged.
func (f pairFlaw) logRatio(c *pairsChain, i, j int32, before uint64, uncoupled float64) float64 {
	forward, rise := c.pairs.weight(i, j), c.pairs.cost(i, j)
	right := c.take(i, j, before)
	after, back := float64(c.pairs.total()), float64(c.pairs.weight(j, i))
	switch f {
	case staleSum:
		return right + math.Log(after/float64(before))
	case staleWay:
		return right + math.Log(float64(forward)/back)
	case noCoupling:
		return right + c.beta*(rise-uncoupled)
	case noTest:
		return 0
	}
	return right
}

// pairKernel lists every pair of every state on a shell. It checks weights and ratios
// against the formula, where the weights are those of the formula up to tolerance.
func pairKernel(t *testing.T, c *pairsChain, s *Ising, model plain, reference []uint8, n int, beta, tolerance float64, g func(t float64) float64, flaw pairFlaw) (kernel, sums, [][]uint8) {
	t.Helper()
	on, index := shell(reference, n)
	k, total := newKernel(len(on)), newSums(len(on))
	for x, state := range on {
		var way, want []float64
		sum := 0.0
		for i := range state {
			for j := range state {
				if state[i] == reference[i] || state[j] != reference[j] {
					continue
				}
				s.SetState(state)
				c.Reset()
				before := c.pairs.total()
				p := float64(c.pairs.weight(int32(i), int32(j))) / float64(before)
				e0, apart := model.energy(state), model.delta(state, i)+model.delta(state, j)
				log := flaw.logRatio(c, int32(i), int32(j), before, apart)
				c.pairs.commit()
				y := index[indexOf(s.State())]
				rise := model.energy(s.State()) - e0
				if flaw == noFlaw && math.Abs(s.Energy()-e0-rise) > exact {
					t.Fatalf("energy %v after a rise of %v from %v", s.Energy(), rise, e0)
				}
				way, want = append(way, p), append(want, g(math.Exp(-beta*rise)))
				sum += want[len(want)-1]
				k[x][y] += p * total.add(x, p, log)
				c.pairs.swap(int32(j), int32(i))
				c.pairs.commit()
				if indexOf(s.State()) != indexOf(state) || c.pairs.total() != before {
					t.Fatal("an exchange back leaves something changed")
				}
			}
		}
		for m := range way {
			if math.Abs(way[m]-want[m]/sum) > tolerance {
				t.Fatalf("a pair is drawn with %v, by the formula %v", way[m], want[m]/sum)
			}
		}
	}
	return k, total, on
}

// Barker's and the root's balancing functions.
var balancing = map[Weights]func(t float64) float64{
	HeatBath:  func(t float64) float64 { return t / (1 + t) },
	Boltzmann: math.Sqrt,
}

func TestPairsKernels(t *testing.T) {
	for _, structure := range structures {
		for weights, g := range balancing {
			for _, size := range []int{4, 5} {
				for n := 1; n < size; n++ {
					reference := randomState(rbm.NewKey(uint64(n)).Rand(), size)
					on, _ := shell(reference, n)
					graph := structure.graph(t, size)
					s := NewIsing(graph, on[0])
					c := mustBind(t, Pairs{weights, reference}, structure.hide(s), exactBeta).(*pairsChain)
					_, classes := c.pairs.(*pairClasses)
					if classes == structure.table {
						t.Fatalf("%s: pairs %T", structure.name, c.pairs)
					}
					// Weights of classes are whole numbers near 2⁴⁴; those of a table are interpolated
					// with a relative error of 2e-4, see walk.Table.
					tolerance := 1e-9
					if !classes {
						tolerance = 1e-3
					}
					model := plainOf(graph)
					k, total, on := pairKernel(t, c, s, model, reference, n, exactBeta, tolerance, g, noFlaw)
					law := model.boltzmann(on, exactBeta)
					if what := total.wrong(law); what != "" {
						t.Errorf("%s, %s, %d of %d: %s", structure.name, weights, n, size, what)
					}
					if a, r := k.residual(law); a > exact || r > 1e-10 {
						t.Errorf("%s, %s, %d of %d: detailed balance is off by %g, relatively %g", structure.name, weights, n, size, a, r)
					}
					if n != 2 || size != 5 {
						continue
					}
					for _, flaw := range []pairFlaw{staleSum, staleWay, noCoupling, noTest} {
						k, _, _ := pairKernel(t, c, s, model, reference, n, exactBeta, tolerance, g, flaw)
						if a, _ := k.residual(law); a < broken {
							t.Errorf("%s, %s: %s, and detailed balance is off by %g alone", structure.name, weights, flaw, a)
						}
					}
				}
			}
		}
	}
}

// The units of an RBM are pairs of both layers.
func TestPairsOfAnRBM(t *testing.T) {
	m := rbm.New(3, 2, 0, rbm.Softmax)
	m.Randomize(1.5, rbm.NewKey(4))
	p := NewParameters(m)
	for weights := range balancing {
		s := NewRBM(p)
		all, _ := shell(make([]uint8, 5), 2)
		energy := make([]float64, len(all))
		for x, state := range all {
			s.SetState(state)
			energy[x] = s.Energy()
		}
		s.SetState(all[0])
		c := mustBind(t, Pairs{Weights: weights}, s, 1).(*pairsChain)
		_, index := shell(make([]uint8, 5), 2)
		k := newKernel(len(all))
		for x, state := range all {
			for i := range state {
				for j := range state {
					if state[i] == 0 || state[j] == 1 {
						continue
					}
					s.SetState(state)
					c.Reset()
					before := c.pairs.total()
					q := float64(c.pairs.weight(int32(i), int32(j))) / float64(before)
					a := min(1, math.Exp(c.take(int32(i), int32(j), before)))
					k[x][index[indexOf(s.State())]] += q * a
				}
			}
		}
		if a, r := k.residual(boltzmann(energy, 1)); a > exact || r > 1e-10 {
			t.Errorf("%s: detailed balance is off by %g, relatively %g", weights, a, r)
		}
	}
}

// always accepts every exchange.
type acceptAll struct{ *pairsChain }

func (c acceptAll) Move(r *rand.Rand) Info {
	i, j := c.pairs.draw(r)
	c.pairs.swap(i, j)
	c.pairs.commit()
	return Info{Moves: 1}
}

func TestPairsStationarity(t *testing.T) {
	reference := []uint8{1, 0, 0, 1, 1, 0, 1, 0, 0}
	const beta = 0.6
	for _, g := range []*Graph{torus(t), randomGraph(t, 9, false, 21)} {
		on, _ := shell(reference, 4)
		s := NewIsing(g, on[0])
		for weights := range balancing {
			m := Pairs{weights, reference}
			c := mustBind(t, m, s, beta)
			if z := lawAfter(s, c, on, beta, 40_000, 3); z > 6 {
				t.Errorf("%s: z = %.1f", weights, z)
			}
			if z := lawAfter(s, mustBind(t, m, s, 0.8*beta), on, beta, 40_000, 3); z < 6 {
				t.Errorf("%s at a wrong temperature: z = %.1f", weights, z)
			}
			if z := lawAfter(s, acceptAll{c.(*pairsChain)}, on, beta, 40_000, 3); z < 6 {
				t.Errorf("%s, %s: z = %.1f", weights, noTest, z)
			}
		}
	}
}

// After many moves what is kept is what a new chain has, and some sites stay as they are.
func TestPairsKeepTheirSums(t *testing.T) {
	for name, g := range map[string]*Graph{
		"glass":    lattice(t, "4x4x4", PlusMinus(1, rbm.NewKey(2)), 0),
		"field":    lattice(t, "8x8", Uniform(1), 1),
		"gaussian": lattice(t, "6x6", Gaussian(1, rbm.NewKey(2)), 0.1),
	} {
		for _, sites := range [][]int32{nil, {1, 2, 3, 7, 8, 9, 10, 11, 20, 21, 22, 23}} {
			start := must(ShellState(g.Len(), g.Len()/2, nil, rbm.NewKey(7)))(t)
			s := NewIsing(g, start)
			c := must(Pairs{Weights: HeatBath}.Bind(s, 0.8, sites))(t).(*pairsChain)
			r := rbm.NewKey(8).Rand()
			var info Info
			for range 300 {
				info.Add(c.Move(r))
				fresh := must(Pairs{Weights: HeatBath}.Bind(NewIsing(g, s.State()), 0.8, sites))(t).(*pairsChain)
				if a, b := c.pairs.total(), fresh.pairs.total(); a != b {
					t.Fatalf("%s: the pairs weigh %d, anew %d", name, a, b)
				}
			}
			if s.Energy() != NewIsing(g, s.State()).Energy() || sum(s.State()) != g.Len()/2 {
				t.Errorf("%s: energy %v, %d up", name, s.Energy(), sum(s.State()))
			}
			if info.Flips != 600 || info.Accepted == 0 || info.Accepted == 300 { // cold enough for rejections
				t.Errorf("%s: %+v", name, info)
			}
			if sites != nil {
				moved := map[int32]bool{}
				for _, i := range sites {
					moved[i] = true
				}
				for i, x := range s.State() {
					if !moved[int32(i)] && x != start[i] {
						t.Fatalf("%s: site %d moved", name, i)
					}
				}
			}
		}
	}
}

func TestPairsRefuse(t *testing.T) {
	g := randomGraph(t, 4, true, 3)
	for _, c := range []struct {
		m     Pairs
		state []uint8
		beta  float64
		want  string
	}{
		{Pairs{Weights: HeatBath}, nil, 1, "pairs: exchange: 0 of 4 sites differ"},
		{Pairs{Weights: "x"}, []uint8{1, 0, 0, 0}, 1, "heatbath or boltzmann"},
		{Pairs{Weights: Boltzmann}, []uint8{1, 0, 0, 0}, 100, "take weights=heatbath"},
		{Pairs{Weights: HeatBath, Reference: []uint8{1}}, []uint8{1, 0, 0, 0}, 1, "a reference of 1 bits"},
	} {
		if _, err := c.m.Bind(NewIsing(g, c.state), c.beta, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %s", c.m, err, c.want)
		}
	}
	s := NewIsing(g, []uint8{1, 0, 0, 0})
	c := must(Pairs{Weights: HeatBath}.Bind(s, 1, []int32{0, 1}))(t)
	if w := c.(Warner).Warning(); !strings.Contains(w, "a single pair") {
		t.Errorf("one pair: %q", w)
	}
	s.SetState([]uint8{1, 1, 0, 0})
	c.Reset()
	if info := c.Move(rbm.NewKey(1).Rand()); info != (Info{Moves: 1}) {
		t.Errorf("without a pair: %+v", info)
	}
}
