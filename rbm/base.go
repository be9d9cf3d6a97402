package rbm

import (
	"errors"
	"fmt"

	"gorbm/rbm/units"
)

// A Base is the distribution at inverse temperature β = 0 of a tempered path: independent units
// with known log Z. Its energy is
//
//	E₀(v,h) = −b₀ᵀv − c₀ᵀh
//
// for units that are 0 or 1. Real units add the terms Σ U′ (package units). On the path from a base
// to a model of energy E the distribution at β is p_β ∝ exp(−E_β) with
//
//	E_β(v,h) = β·E(v,h) + (1−β)·E₀(v,h)
//
// (Salakhutdinov & Murray 2008). A base with the means of the data is closer to a trained model
// than the uniform distribution is.
//
// A nil Base is the uniform distribution over units that are 0 or 1: E₀ = 0. Real units have no
// uniform distribution. Under a nil Base visible real units are standard normal, and hidden ones have
// E₀ = Σ γhⱼ²/2, where γ is their precision in the model. A change of the scale of a hidden
// unit, h to h/λ, therefore does not change the path.
type Base struct {
	VisibleBias []float32 // b₀, len Visible() of the model
	HiddenBias  []float32 // c₀, len Hidden()

	// Parameters of real units besides the biases: see units.Distribution.
	VisibleParams, HiddenParams [][]float32
}

// NewBase returns a base of m's shape for data with the given means of the visible units.
// rows is the number of rows over which mean was taken. Visible biases are those of LogOdds;
// hidden units are those of a nil Base. It panics if mean has another length than the visible layer.
func NewBase(m *RBM, mean []float32, rows float64) *Base {
	b := UniformBase(m)
	m.LogOdds(b.VisibleBias, mean, rows)
	return b
}

// UniformBase returns the base that a nil Base stands for in model m. Its biases are zero. Precisions
// of hidden units are those of m; other parameters have the initial values of their kind.
func UniformBase(m *RBM) *Base {
	b := &Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden()),
		VisibleParams: newLayer(m.visible.groups...).dist.Params, HiddenParams: newLayer(m.hidden.groups...).dist.Params}
	for k, p := range b.HiddenParams {
		if m.hidden.param(k).Positive {
			copy(p, m.HiddenParams()[k])
		}
	}
	return b
}

// baseOr returns b, or UniformBase if b is nil and m has real units. With units that are 0 or 1
// it keeps nil, which saves the terms of E₀ = 0.
func (m *RBM) baseOr(b *Base) *Base {
	if b == nil && (m.visible.isReal || m.hidden.isReal) {
		return UniformBase(m)
	}
	return b
}

// LogOdds overwrites dst with visible biases at which a model of m's shape with zero weights has about the
// means of the data. mean has these means, and rows is the number N of rows over which they were taken. A
// Bernoulli unit that is on in n rows gets log((n+½)/(N−n+½)); a unit of a softmax label gets log(n+½). The
// halves keep biases finite for units that never change. The units of a softmax group of q inputs get
// log(n+1/q), minus the mean over the group. Real units get the field at
// which they have the mean, at precision 1. It panics if dst or mean has
// another length than the visible layer.
func (m *RBM) LogOdds(dst, mean []float32, rows float64) {
	if len(dst) != m.Visible() || len(mean) != m.Visible() {
		panic("rbm: LogOdds needs one mean and one element of dst for each visible unit")
	}
	for _, g := range m.visible.groups {
		if g.Joint() && !g.Label {
			units.FieldOfStates(g.values(dst), g.values(mean), rows)
			continue
		}
		switch kind := g.Kind.(type) {
		case units.VisibleKind:
			kind.Field(g.values(dst), g.values(mean), rows)
		case units.RealKind:
			for i, x := range g.values(mean) {
				g.values(dst)[i] = float32(kind.FieldOf(float64(x), 1))
			}
		}
	}
}

// Check returns an error if b has another shape than m or a bias that is not finite. A nil Base
// has no error.
func (b *Base) Check(m *RBM) error {
	if b == nil {
		return nil
	}
	if len(b.VisibleBias) != m.Visible() || len(b.HiddenBias) != m.Hidden() {
		return fmt.Errorf("the base has %d visible and %d hidden biases, the model %d and %d units; make the base for this model",
			len(b.VisibleBias), len(b.HiddenBias), m.Visible(), m.Hidden())
	}
	if len(b.VisibleParams) != len(m.VisibleParams()) || len(b.HiddenParams) != len(m.HiddenParams()) {
		return errors.New("the base has units of other kinds; make the base for this model")
	}
	asModel := RBM{VisibleBias: b.VisibleBias, HiddenBias: b.HiddenBias}
	if err := asModel.checkBiases(); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	return nil
}

func (b *Base) mustFit(m *RBM) {
	if b != nil && (len(b.VisibleBias) != m.Visible() || len(b.HiddenBias) != m.Hidden() || len(b.VisibleParams) != len(m.VisibleParams()) || len(b.HiddenParams) != len(m.HiddenParams())) {
		panic("rbm: base of another shape than the model")
	}
}

// LogZ returns log Σ exp(−E₀) over the states of m that satisfy its constraint, in nats. Without
// a constraint it is Σ log(1+e^b) over the Bernoulli units with biases b, plus log Σ e^b over
// the states of each softmax group, plus log ∫ exp(−E₀) for real units. It panics if the shape of
// b is not that of m.
func (b *Base) LogZ(m *RBM) float64 {
	b.mustFit(m)
	if b == nil {
		b = UniformBase(m)
	}
	return m.given().logZ(b, m)
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, x := range x {
		y[i] = float64(x)
	}
	return y
}

// Energy overwrites dst[r] with E₀ of row r of v and row r of h, in nats. dst has length v.Rows. It
// panics if the shapes differ.
func (b *Base) Energy(m *RBM, dst []float64, v, h Values) {
	b.mustFit(m)
	m.checkStates(v)
	m.checkHidden(h)
	if len(dst) != v.Rows || h.Rows != v.Rows {
		panic("rbm: Energy needs as many rows of h and elements of dst as rows of v")
	}
	clear(dst)
	if b = m.baseOr(b); b == nil {
		return
	}
	visible, hidden := b.visible(), b.hidden()
	for r := range dst {
		dst[r] = 0 - m.visible.weight(&v, r, &visible) - m.hidden.weight(&h, r, &hidden)
	}
}

// Draw overwrites the rows of v and h with independent draws from b, among the states that
// satisfy the constraint of m. Without a constraint the result is bit-identical to that of a Gibbs
// step at β = 0 with the same key. It panics if the shapes differ.
func (b *Base) Draw(m *RBM, v, h Values, key Key) {
	b.mustFit(m)
	m.checkStates(v)
	m.checkHidden(h)
	if h.Rows != v.Rows {
		panic("rbm: Draw needs as many rows of hidden as of visible units")
	}
	if b == nil {
		b = UniformBase(m)
	}
	m.given().draw(b, m, v, h, key)
}

// RandomizeHidden overwrites the rows of h with independent draws, uniform over the hidden states
// that the constraint of m allows: without a constraint, fair bits. If the constraint is on all units, or
// the hidden units are real, the rows are the hidden part of draws from a nil Base. It panics if h
// has another width than the hidden layer.
func (m *RBM) RandomizeHidden(h Values, key Key) {
	m.checkHidden(h)
	m.given().randomize(m, h, key)
}

// visible and hidden return the distributions of the layers. A nil Base has nil fields.
func (b *Base) visible() units.Distribution {
	if b == nil {
		return units.Distribution{}
	}
	return units.Distribution{Field: b.VisibleBias, Params: b.VisibleParams}
}

func (b *Base) hidden() units.Distribution {
	if b == nil {
		return units.Distribution{}
	}
	return units.Distribution{Field: b.HiddenBias, Params: b.HiddenParams}
}
