package rbm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm/units"
)

// CheckNormalisable returns an error that wraps ErrDiverged if the partition function Z of m may be infinite.
// Z is infinite if a parameter that must be positive, such as a precision, is not. If both layers are real,
// large weights may also make Z infinite; the error is then a RateError. Let Γ_v and Γ_h be the diagonal
// matrices of the precisions of the visible and hidden real units. A dReLU unit counts with the smaller
// precision of its two sides. With Gaussian units Z is finite if and only if
//
//	Γ_v − W Γ_h⁻¹ Wᵀ
//
// is positive definite. For other real units the condition is sufficient, and CheckNormalisable requires it
// too.
func (m *RBM) CheckNormalisable() error {
	if err := m.checkPositive(); err != nil {
		return err
	}
	if !m.visible.isReal || !m.hidden.isReal {
		return nil
	}
	visible, hidden := m.visible.scales(), m.hidden.scales()
	scaled := mat.NewDense(len(visible), len(hidden), nil)
	for i, v := range visible {
		for j, h := range hidden {
			scaled.Set(i, j, float64(float64(m.Weight(v.unit, h.unit))/v.root)/h.root)
		}
	}
	n := min(len(visible), len(hidden))
	square := mat.NewSymDense(n, nil)
	if n == len(visible) {
		square.SymOuterK(-1, scaled)
	} else {
		square.SymOuterK(-1, scaled.T())
	}
	for i := range n {
		square.SetSym(i, i, 1+square.At(i, i))
	}
	var c mat.Cholesky
	if !c.Factorize(square) {
		return &RateError{fmt.Sprintf("the weights between %v visible and %v hidden units are so large that energies have no lower bound", Gaussian, m.HiddenKind()), " or with l2"}
	}
	return nil
}

// A scale is the square root of the precision of a real unit.
type scale struct {
	unit int
	root float64
}

// scales returns the scales of the real units of l.
func (l *layer) scales() (all []scale) {
	for _, g := range l.groups {
		k, ok := g.Kind.(units.RealKind)
		for i := g.First; ok && i < g.First+g.Units; i++ {
			all = append(all, scale{i, math.Sqrt(k.Curvature(&l.dist, i))})
		}
	}
	return all
}

// checkPositive returns an error if a parameter that must be positive is not.
func (m *RBM) checkPositive() error {
	tensor := 0 // index in m.Params()
	for _, l := range [...]*layer{&m.visible, &m.hidden} {
		for k, values := range l.dist.Params {
			for _, g := range l.groups {
				if p := g.Kind.Params(); k < len(p) && p[k].Positive {
					for i, x := range g.values(values) {
						if !(x > 0) {
							return fmt.Errorf("%w: %s[%d] is %v, not above 0", ErrDiverged, m.Params()[tensor].Name, g.First+i, x)
						}
					}
				}
			}
			tensor++
		}
	}
	return nil
}
