package mcmc

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/rbm"
	enumeration "gorbm/rbm/exact"
)

// realRBM returns a model with Gaussian units, bits and a softmax group, and
// precisions around 1.
func realRBM(hidden int, groups ...rbm.Group) *rbm.RBM {
	m := rbm.NewGroups(hidden, groups...)
	m.Randomize(1, rbm.NewKey(5))
	p := m.VisibleParams()[0]
	for i := range p {
		if p[i] != 0 {
			p[i] = float32(0.5 + 2*rbm.NewKey(6).Uniform(uint64(i)))
		}
	}
	return m
}

// freeEnergy returns −log ∫ exp(−E) over the Gaussian units of m, given its other visible units in v
// and the hidden units h. It is computed from E and its curvature at the mode of the Gaussian units.
// Without curvature, a broken version, it is E at the mode.
func freeEnergy(m *rbm.RBM, v, h []float64, curvature bool) float64 {
	f := 0.0
	for j, x := range h {
		f -= float64(m.HiddenBias[j]) * x
	}
	for _, g := range m.Groups() {
		for i := g.First; i < g.First+g.Units; i++ {
			z := float64(m.VisibleBias[i])
			for j, x := range h {
				z += float64(m.Weight(i, j)) * x
			}
			if g.Kind != rbm.Gaussian {
				f -= v[i] * (z - float64(m.VisibleBias[i]))
				f -= v[i] * float64(m.VisibleBias[i])
				continue
			}
			p := float64(m.VisibleParams()[0][i])
			mode := z / p
			f += p*mode*mode/2 - z*mode
			if curvature {
				f -= math.Log(2*math.Pi/p) / 2
			}
		}
	}
	return f
}

// The energy of every state of a Marginal is the free energy of that state, and its partition
// function is that of the model.
func TestMarginalEnergies(t *testing.T) {
	for _, groups := range [][]rbm.Group{
		{{Kind: rbm.Gaussian, Units: 5}},
		{{Kind: rbm.Bernoulli, Units: 2}, {Kind: rbm.Gaussian, Units: 70}, {Kind: rbm.Softmax, Units: 3, Label: true}},
	} {
		m := realRBM(7, groups...)
		q, err := NewMarginal(m)
		if err != nil {
			t.Fatal(err)
		}
		m.Randomize(0.7, rbm.NewKey(8)) // Set copies the parameters
		if err := q.Set(m, nil, 1); err != nil {
			t.Fatal(err)
		}
		apart := len(q.Visible)
		n := q.Graph.Len()
		var logs []float64
		worst, twin := 0.0, 0.0
		for x := range 1 << n {
			state, v, h := make([]uint8, n), make([]float64, m.Visible()), make([]float64, m.Hidden())
			classes := 0
			for i := range n {
				state[i] = uint8(x >> i & 1)
				if i >= apart {
					h[i-apart] = float64(state[i])
					continue
				}
				v[q.Visible[i]] = float64(state[i])
				if m.Classes() > 0 && q.Visible[i] >= m.Inputs() {
					classes += int(state[i])
				}
			}
			got := NewIsing(q.Graph, state).Energy() + q.Shift
			worst = max(worst, math.Abs(got-freeEnergy(m, v, h, true)))
			twin = max(twin, math.Abs(got-freeEnergy(m, v, h, false)))
			if m.Classes() == 0 || classes == 1 {
				logs = append(logs, -got)
			}
		}
		if worst > 1e-10 || twin < 1e-3 {
			t.Errorf("%v: energies are off by %g, those without curvature by %g", groups, worst, twin)
		}
		want, err := enumeration.LogZ(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		if got := rbm.LogSumExp(logs); math.Abs(got-want) > 1e-10*math.Abs(want) {
			t.Errorf("%v: log Z %v, want %v", groups, got, want)
		}
	}
}

// For each sampler, a chain that was bound before the parameters changed moves identically to a chain that is bound
// after: Set, SetState and Reset renew all caches.
func TestMarginalFollowsTheModel(t *testing.T) {
	m := realRBM(9, rbm.Group{Kind: rbm.Gaussian, Units: 20})
	start := []uint8{1, 0, 1, 1, 0, 0, 1, 0, 1}
	for _, kind := range MoverKinds() {
		texts := []string{kind}
		if MoverHas(kind, "weights") {
			texts = append(texts, kind+":weights=boltzmann")
		}
		for _, text := range texts {
			if MoverHas(kind, "k") {
				text += ":k=1-4"
			}
			mover, err := ParseMover(text, Linear)
			if err != nil {
				t.Fatal(err)
			}
			m.Randomize(0.1, rbm.NewKey(1))
			q, err := NewMarginal(m)
			if err != nil {
				t.Fatal(err)
			}
			old := NewIsing(q.Graph, start)
			before, err := mover.Bind(old, 1, nil)
			if kind == "block-gibbs" || kind == "flip" {
				if err == nil {
					t.Errorf("%s: no error, though the system has no layers", kind)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			m.Randomize(0.5, rbm.NewKey(2))
			if err := q.Set(m, nil, 1); err != nil {
				t.Fatal(err)
			}
			old.SetState(start)
			before.Reset()
			fresh := NewIsing(q.Graph, start)
			after, err := mover.Bind(fresh, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			moved := false
			a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
			for range 50 {
				before.Move(a)
				after.Move(b)
				moved = moved || !slices.Equal(fresh.State(), start)
				if !slices.Equal(old.State(), fresh.State()) || old.Energy() != fresh.Energy() {
					t.Fatalf("%s: chains on equal systems part ways", text)
				}
			}
			if !moved {
				t.Errorf("%s: nothing moved", text)
			}
			if n := testing.AllocsPerRun(10, func() {
				if q.Set(m, nil, 1) != nil {
					t.Error("Set failed")
				}
				old.SetState(start)
				before.Reset()
			}); n > 0 {
				t.Errorf("%s: %v allocations to follow the model, want 0", text, n)
			}
		}
	}
}

func TestMarginalErrors(t *testing.T) {
	m := realRBM(3, rbm.Group{Kind: rbm.Gaussian, Units: 4})
	m.HiddenBias[1] = float32(math.Inf(1))
	if _, err := NewMarginal(m); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("an infinite bias: %v, want %v", err, rbm.ErrDiverged)
	}
	if _, err := NewMarginal(realRBM(12000, rbm.Group{Kind: rbm.Gaussian, Units: 1})); err == nil {
		t.Error("no error for 72 million couplings")
	}
}

func BenchmarkMarginalSet(b *testing.B) {
	m := realRBM(500, rbm.Group{Kind: rbm.Gaussian, Units: 784})
	q, err := NewMarginal(m)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := q.Set(m, nil, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// At β the marginal is that of the model whose parameters lie at the fraction β on the path from the base.
// Fields that lack a factor of β, or have one too many, are off.
func TestMarginalOnThePath(t *testing.T) {
	m := realRBM(4, rbm.Group{Kind: rbm.Gaussian, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	base := rbm.UniformBase(m)
	for i := range base.VisibleBias {
		base.VisibleBias[i] = float32(i) - 1.5
	}
	for j := range base.HiddenBias {
		base.HiddenBias[j] = 0.5 - float32(j)
	}
	for _, beta := range []float64{0, 0.3, 0.7} {
		mixed := m.Clone()
		blend := func(x, was float32) float32 { return float32(beta*float64(x) + (1-beta)*float64(was)) }
		w := rbm.NewMatrix(m.Visible(), m.Hidden())
		for i := range m.Visible() {
			mixed.VisibleBias[i] = blend(m.VisibleBias[i], base.VisibleBias[i])
			if p := mixed.VisibleParams()[0]; p[i] != 0 {
				p[i] = blend(p[i], 1)
			}
			for j := range m.Hidden() {
				w.Row(i)[j] = float32(beta) * m.Weight(i, j)
			}
		}
		for j := range m.Hidden() {
			mixed.HiddenBias[j] = blend(m.HiddenBias[j], base.HiddenBias[j])
		}
		mixed.SetWeights(w)
		q := must(NewMarginal(m))(t)
		if err := q.Set(m, base, beta); err != nil {
			t.Fatal(err)
		}
		for x := range 1 << q.Graph.Len() {
			state, v, h := make([]uint8, q.Graph.Len()), make([]float64, m.Visible()), make([]float64, m.Hidden())
			for i := range state {
				if state[i] = uint8(x >> i & 1); i < len(q.Visible) {
					v[q.Visible[i]] = float64(state[i])
				} else {
					h[i-len(q.Visible)] = float64(state[i])
				}
			}
			got, want := NewIsing(q.Graph, state).Energy()+q.Shift, freeEnergy(mixed, v, h, true)
			if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) { // the mixed parameters are float32
				t.Fatalf("β = %v, state %b: energy %v, want %v", beta, x, got, want)
			}
		}
	}
}
