package negphase

import (
	"fmt"
	"math"

	"gorbm/data/grammar"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

type exactSettings struct{}

func (*exactSettings) keys() grammar.Keys { return nil }

func (*exactSettings) estimator(Settings) Estimator { return &enumerated{} }

func (*exactSettings) Traits() Traits {
	return Traits{Moments: true}
}

// enumerated computes the exact negative phase by enumeration of the smaller layer,
// for models with at most exact.GradientLimit states to enumerate.
type enumerated struct {
	enum    *exact.Enumeration
	moments *rbm.Moments

	constraint *rbm.Constraint // the model's at the first call
	info       Info
	stateless
}

func (e *enumerated) Estimate(m *rbm.RBM, _ rbm.Batch, _ rbm.Key) (rbm.Phase, Info, error) {
	if e.enum == nil {
		enum, err := exact.New(m, exact.GradientLimit)
		if err != nil {
			return rbm.Phase{}, Info{}, err
		}
		e.enum, e.moments, e.constraint = enum, rbm.NewMoments(m), m.Constraint
	}
	if !m.Constraint.Equal(e.constraint) {
		return rbm.Phase{}, Info{}, fmt.Errorf("the enumeration has the constraint %v, the model has %v", e.constraint, m.Constraint)
	}
	if len(e.moments.V) != m.Visible() || len(e.moments.H) != m.Hidden() {
		return rbm.Phase{}, Info{}, fmt.Errorf("the enumeration has %d visible and %d hidden units, the model has %d and %d",
			len(e.moments.V), len(e.moments.H), m.Visible(), m.Hidden())
	}
	e.enum.Set(m)
	if z := e.enum.Moments(e.moments); math.IsNaN(z) || math.IsInf(z, 0) {
		return rbm.Phase{}, Info{}, fmt.Errorf("%w: log Z is %v", rbm.ErrDiverged, z)
	}
	return rbm.Phase{Moments: e.moments}, e.info, nil
}
