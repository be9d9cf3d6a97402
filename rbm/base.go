package rbm

import (
	"errors"
	"fmt"

	"gorbm/rbm/units"
)

// A Base is the distribution at β = 0 of a tempered path: independent units with energy
//
//	E₀(v,h) = −b₀ᵀv − c₀ᵀh
//
// whose log Z is known. The distribution at inverse temperature β on the path from a
// base to a model of energy E is p_β ∝ exp(−E_β) with
//
//	E_β(v,h) = β·E(v,h) + (1−β)·E₀(v,h)
//
// (Salakhutdinov & Murray 2008). The path from the data's base rates is shorter
// than from the uniform distribution. A nil Base is the uniform distribution: E₀ = 0, every state
// equally likely. Real units have no uniform distribution. Visible ones are standard normal under a
// nil Base. Hidden ones have E₀ = Σ γhⱼ²/2 with the precision γ that they have in the model, so
// that a change of the scale of a hidden unit, h to h/λ, leaves the path as it is. A softmax
// group stays one variable.
type Base struct {
	VisibleBias []float32 // b₀, len Visible() of the model
	HiddenBias  []float32 // c₀, len Hidden()

	// The other parameters of units that have some: see units.Distribution.
	VisibleParams, HiddenParams [][]float32
}

// NewBase returns the base of a model of m's shape whose visible units have the
// biases that LogOdds gives for the means mean over rows rows, and whose hidden
// units are those of a nil Base: on with probability ½, or real ones without field. It panics if mean has another length than the
// visible layer.
func NewBase(m *RBM, mean []float32, rows float64) *Base {
	b := UniformBase(m)
	m.LogOdds(b.VisibleBias, mean, rows)
	return b
}

// UniformBase returns the distribution that a nil Base of m's shape stands for. Parameters besides the fields
// are those that a new model has, except for the precisions of hidden units, which are those of m.
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

// baseOr returns b, or what a nil Base stands for if that has an energy.
func (m *RBM) baseOr(b *Base) *Base {
	if b == nil && (m.visible.isReal || m.hidden.isReal) {
		return UniformBase(m)
	}
	return b
}

// LogOdds overwrites dst with the visible biases at which a model of m's shape
// without weights has about the means mean over rows rows: log((n+½)/(N−n+½)) for
// a unit that is on in n of N rows, and log(n+½) for a unit of a softmax label. The
// halves keep the biases of units that never change finite. Those of a softmax group of q inputs
// are log(n+1/q), less their mean. It panics if dst or
// mean has another length than the visible layer.
func (m *RBM) LogOdds(dst, mean []float32, rows float64) {
	if len(dst) != m.Visible() || len(mean) != m.Visible() {
		panic("rbm: LogOdds needs one mean and one place a visible unit")
	}
	for _, g := range m.visible.groups {
		if g.isJoint() && !g.Label {
			units.FieldOfStates(g.values(dst), g.values(mean), rows)
			continue
		}
		g.Kind.(units.VisibleKind).Field(g.values(dst), g.values(mean), rows)
	}
}

// Check returns an error if b does not fit m or has a bias that is not finite. A nil Base always fits.
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

// LogZ returns log Σ exp(−E₀) over the states of m that meet its constraint, in
// nats. Without one it is Σ log(1+e^b) over the binary units, plus log Σ e^b over
// the states of each softmax group. It panics if the shape of b is not that of m.
func (b *Base) LogZ(m *RBM) float64 {
	b.mustFit(m)
	if b == nil {
		b = UniformBase(m)
	}
	return m.given().logZ(b, m)
}

// widen returns x in float64.
func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, x := range x {
		y[i] = float64(x)
	}
	return y
}

// Energy overwrites dst, len v.Rows, with E₀(v,h) of every pair of rows of m's layers: zeros
// for a nil Base of binary units. It panics if the shapes differ.
func (b *Base) Energy(m *RBM, dst []float64, v, h Values) {
	b.mustFit(m)
	m.checkStates(v)
	m.checkHidden(h)
	if len(dst) != v.Rows || h.Rows != v.Rows {
		panic("rbm: Energy needs as many rows of h and places of dst as rows of v")
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

// Draw overwrites v and h, equally many rows of m's layers, with independent draws
// from b among the states of m. Without a constraint, a step at β = 0 with the
// result is bit-identical for equal keys. It panics if the shapes differ.
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

// RandomizeHidden overwrites h, rows of m's hidden units, with independent
// draws in which all states of the layer that m allows are equally likely: fair
// bits, or under a constraint on the hidden units sets of active units of its
// size. Under one on all units, and of real hidden units, they are the hidden part of draws of a nil Base. It
// panics if h has another width than the hidden layer.
func (m *RBM) RandomizeHidden(h Values, key Key) {
	m.checkHidden(h)
	m.given().randomize(m, h, key)
}

// visible and hidden return the distributions of the layers, with nil fields for a nil Base.
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
