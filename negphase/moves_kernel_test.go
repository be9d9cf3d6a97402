package negphase

import (
	"math"
	"math/rand/v2"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// tiny has models so small that their transition matrices can be computed.
var tiny = []shape{{3, 2, 0, rbm.Softmax}, {2, 3, 0, rbm.Softmax}, {4, 2, 3, rbm.Softmax}, {4, 2, 2, rbm.Softmax}, {4, 2, 2, rbm.Bernoulli}}

// rounded rounds the parameters of m to multiples of 2⁻²⁰. Walks represent them
// exactly if preactivations are below 2¹⁰, because the quantum is 2⁻³⁰ times these.
func rounded(m *rbm.RBM) *rbm.RBM {
	round := func(x []float32) {
		for i := range x {
			x[i] = float32(math.RoundToEven(float64(x[i])*0x1p20) * 0x1p-20)
		}
	}
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	round(w.Data)
	m.SetWeights(w)
	round(m.VisibleBias)
	round(m.HiddenBias)
	return m
}

// The update of a chain (moves, Gibbs steps and drawing the label)
// leaves the distribution at each temperature invariant and reaches all states.
func TestWalkKernels(t *testing.T) {
	for _, shape := range tiny {
		for _, beta := range []float64{1, 0.4} {
			m := rounded(shape.random(41, 1.2))
			l := newListing(t, m, beta)
			label := l.label(labelProbabilities)
			gibbs := gibbsKernel(m, nil, l.all, beta)
			softmax := softmaxLabel(m).Units > 0
			right := func(name string, kernel [][]float64) {
				t.Helper()
				if off := l.moved(kernel); off > kernelTol {
					t.Errorf("%v at %v: %s moves the distribution by %v, want at most %v", shape, beta, name, off, kernelTol)
				}
				if n := l.reachable(kernel); n != l.states() {
					t.Errorf("%v at %v: %s reaches %d of %d states", shape, beta, name, n, l.states())
				}
			}
			wrong := func(name string, kernel [][]float64) {
				t.Helper()
				off, n := l.moved(kernel), l.reachable(kernel)
				t.Logf("%v at %v: %s: off by %.2g, reaches %d of %d", shape, beta, name, off, n, l.states())
				if off < mutantBreak && n == l.states() {
					t.Errorf("%v at %v: mutant is not seen: %s", shape, beta, name)
				}
			}
			sardonics, im := l.sardonics(l.sites), l.im(l.sites)
			right("sardonics", product(sardonics, label))
			right("gibbs", product(l.sweep(l.sites), label))
			right("im", product(product(gibbs, im), label))
			if off := l.moved(product(im, label)); off > kernelTol {
				t.Errorf("%v at %v: the moves of im change the distribution by %v, want at most %v", shape, beta, off, kernelTol)
			}

			wrong("im without a Gibbs step", product(im, label))
			if softmax {
				wrong("the old label", sardonics)
				wrong("a uniform label", product(sardonics, l.label(func(p []float64, _ []uint8, _ []float64, _ float64) {
					for k := range p {
						p[k] = 1 / float64(len(p))
					}
				})))
				wrong("a label of the wrong sign", product(sardonics, l.label(func(p []float64, state []uint8, cost []float64, beta float64) {
					labelProbabilities(p, state, cost, -beta)
				})))
				wrong("a label at another temperature", product(sardonics, l.label(func(p []float64, state []uint8, cost []float64, beta float64) {
					labelProbabilities(p, state, cost, beta*.8)
				})))
				wrong("flips of label units", product(l.sardonics(everyUnit(m)), label))
			}
			stale := newListing(t, shape.random(42, 1.2), beta) // the listing before the parameters changed
			wrong("costs of other parameters", product(stale.sardonics(l.sites), label))
			if softmax {
				wrong("a label of other parameters", product(sardonics, stale.label(labelProbabilities)))
			}
		}
	}
}

// Under a constraint intracluster moves, with visible units redrawn after them, leave the distribution of the
// allowed states invariant and reach all of them.
func TestConstrainedWalkKernels(t *testing.T) {
	for _, c := range []struct {
		shape      shape
		constraint rbm.Constraint
	}{
		{shape{2, 4, 0, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 2}},
		{shape{4, 3, 3, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 2}},
		{shape{3, 2, 2, rbm.Bernoulli}, rbm.Constraint{On: rbm.HiddenUnits, Active: 1}},
		{shape{3, 3, 0, rbm.Softmax}, rbm.Constraint{On: rbm.AllUnits, Active: 3}},
		{shape{5, 2, 3, rbm.Softmax}, rbm.Constraint{On: rbm.AllUnits, Active: 3}},
		{shape{4, 2, 2, rbm.Bernoulli}, rbm.Constraint{On: rbm.AllUnits, Active: 2}},
	} {
		m := c.shape.random(45, 1.2)
		m.Constraint = &c.constraint
		for _, beta := range []float64{1, 0.4} {
			l := newListing(t, m, beta)
			label, im := l.label(labelProbabilities), l.im(l.sites)
			kernel := product(im, label)
			onHidden := c.constraint.On == rbm.HiddenUnits
			if onHidden {
				kernel = product(product(im, l.inputs(flipChance)), label)
			}
			if off, n := l.moved(kernel), l.reachable(kernel); off > kernelTol || n != l.states() {
				t.Errorf("%v, %v: the distribution is moved by %v, %d of %d states are reached", c.shape, m.Constraint, off, n, l.states())
			}
			wrong := func(name string, kernel [][]float64) {
				t.Helper()
				off, n := l.moved(kernel), l.reachable(kernel)
				t.Logf("%v, %v: %s: off by %.2g, reaches %d of %d", c.shape, m.Constraint, name, off, n, l.states())
				if off < mutantBreak && n == l.states() {
					t.Errorf("%v, %v: mutant is not seen: %s", c.shape, m.Constraint, name)
				}
			}
			wrong("walks that leave the shell", l.sardonics(l.sites))
			if onHidden {
				wrong("the old visible units", product(im, label))
				wrong("visible units at another temperature", product(product(im, l.inputs(func(cost, beta float64) float64 { return flipChance(cost, .8*beta) })), label))
				wrong("fair visible units", product(product(im, l.inputs(func(_, beta float64) float64 { return .5 })), label))
			}
			if softmaxLabel(m).Units > 0 {
				wrong("the old label", im)
			}
		}
	}
}

// Ladders whose particles are moved by a sampler leave the product of
// the distributions invariant, and with infinite swapping the symmetrised product. They do not if particles
// move at the temperature of another particle.
func TestLaddersOfMoves(t *testing.T) {
	for _, shape := range []shape{{2, 1, 0, rbm.Softmax}, {3, 1, 2, rbm.Softmax}} {
		m := shape.random(44, 1.5)
		s := newReplicated(m, nil, []float64{1, 0.625, 0.25})
		upward := []int{0, 1}
		var l *listing
		for k, beta := range s.beta {
			l = newListing(t, m, beta)
			s.all = l.all
			s.gibbs[k] = product(l.sardonics(l.sites), l.label(labelProbabilities))
			s.p[k] = l.distribution
		}
		d, _ := s.tempering(upward, swapProbability, false)
		if d > kernelTol {
			t.Errorf("%v: swaps of pt move Π p_k by %v, want at most %v", shape, d, kernelTol)
		}
		bar := s.symmetrised()
		if d := farthest(after(bar, s.infinite()), bar); d > kernelTol {
			t.Errorf("%v: infinite swapping moves p̄ by %v, want at most %v", shape, d, kernelTol)
		}
		right := s.gibbs[2]
		for name, kernel := range map[string][][]float64{
			"another's temperature":       s.gibbs[0],
			"a label of another's":        product(newListing(t, m, .25).sardonics(l.sites), newListing(t, m, 1).label(labelProbabilities)),
			"the hottest moves as by E/2": product(newListing(t, m, .5).sardonics(l.sites), newListing(t, m, .25).label(labelProbabilities)),
		} {
			if name == "a label of another's" && softmaxLabel(m).Units == 0 {
				continue
			}
			s.gibbs[2] = kernel
			d, _ := s.tempering(upward, swapProbability, false)
			t.Logf("%v: %s: distribution moved by %.2g", shape, name, d)
			if d < mutantBreak {
				t.Errorf("%v: mutant is not seen: %s: distribution moved by %v only", shape, name, d)
			}
		}
		s.gibbs[2] = right
	}
}

// everyUnit returns all units, label units too.
func everyUnit(m *rbm.RBM) []int32 {
	all := make([]int32, m.Visible()+m.Hidden())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// A script is a random source whose first words are given.
type script struct{ words []uint64 }

func (s *script) Uint64() uint64 {
	if len(s.words) == 0 {
		return 0
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// still is a mover whose moves do nothing.
type still struct{}

func (still) Bind(mcmc.System, float64, []int32) (mcmc.Chain, error) { return still{}, nil }
func (still) Move(*rand.Rand) mcmc.Info                              { return mcmc.Info{} }
func (still) Reset()                                                 {}

// The label is drawn from p(y|h) at the temperature of the particle: the class changes where the uniform variate crosses
// the cumulative sums of this distribution.
func TestLabelIsDrawnFromItsLaw(t *testing.T) {
	m := rounded(shape{5, 3, 3, rbm.Softmax}.random(43, 1.5))
	for _, beta := range []float64{1, 0.3, 0} {
		w := newMoves(samplerSettings{mover: still{}}, 1)
		if err := w.prepare(m, []float64{beta}, 1); err != nil {
			t.Fatal(err)
		}
		p := &w.replicas[0]
		s := rbm.NewStates(m, 1)
		for _, st := range states(m) {
			field := visibleField(m, st.h)[m.Inputs():]
			want, sum := make([]float64, len(field)), 0.0
			for k, f := range field {
				want[k] = math.Exp(beta * f)
				sum += want[k]
			}
			edge := 0.0
			for y := range want {
				for side, u := range []float64{edge + kernelTol, edge + want[y]/sum - kernelTol} {
					for i, v := range st.v {
						s.V.Set(0, i, v != 0)
					}
					for j, h := range st.h {
						s.H.Set(0, j, h != 0)
					}
					p.draws = rand.New(&script{[]uint64{uint64(u * 0x1p53)}})
					var info Info
					w.run(m, s, []int32{0}, nil, rbm.NewKey(1), &info, new(team))
					for k := range want {
						if s.V.Get(0, m.Inputs()+k) != (k == y) {
							t.Fatalf("β = %v: at %v, side %d of class %d, label unit %d is %v, want %v", beta, u, side, y, k, s.V.Get(0, m.Inputs()+k), k == y)
						}
					}
					energy := make([]float64, 1)
					m.Energy(energy, s.V, s.H)
					near(t, "energy with the new label", s.Energy[0], energy[0], 1e-6)
				}
				edge += want[y] / sum
			}
		}
	}
}
