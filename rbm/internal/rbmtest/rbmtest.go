// Package rbmtest has small models for the tests of packages beside rbm.
package rbmtest

import (
	"fmt"

	"gorbm/rbm"
)

// Shape is the shape of a model.
type Shape struct {
	Visible, Hidden, Classes int
	Label                    rbm.Kind
}

func (s Shape) String() string {
	if s.Classes == 0 {
		return fmt.Sprintf("visible=%d/hidden=%d", s.Visible, s.Hidden)
	}
	return fmt.Sprintf("visible=%d/hidden=%d/%v=%d", s.Visible, s.Hidden, s.Label, s.Classes)
}

// Small has a model of each kind whose joint states can be listed one by one,
// with the visible and with the hidden layer as the smaller one.
var Small = []Shape{
	{1, 1, 0, rbm.Softmax},
	{3, 4, 0, rbm.Softmax},
	{6, 3, 0, rbm.Softmax},
	{5, 4, 3, rbm.Softmax},
	{7, 3, 3, rbm.Softmax},
	{3, 5, 3, rbm.Softmax}, // labels alone
	{5, 4, 3, rbm.Bernoulli},
	{4, 6, 1, rbm.Softmax},
	{4, 2, 2, rbm.Bernoulli},
}

// Random returns an RBM of shape s with parameters from N(0, sd²).
func (s Shape) Random(seed uint64, sd float64) *rbm.RBM {
	return Random(s.Visible, s.Hidden, s.Classes, s.Label, seed, sd)
}

// Random returns an RBM of this shape with parameters from N(0, sd²).
func Random(visible, hidden, classes int, label rbm.Kind, seed uint64, sd float64) *rbm.RBM {
	m := rbm.New(visible, hidden, classes, label)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// Constrained returns small models under constraints of every kind, by name:
// both layers the smaller one, both kinds of label, with a reference and without.
func Constrained() map[string]*rbm.RBM {
	models := map[string]*rbm.RBM{}
	for _, s := range []Shape{{4, 5, 0, rbm.Softmax}, {6, 3, 0, rbm.Softmax}, {6, 4, 3, rbm.Softmax}, {4, 6, 2, rbm.Bernoulli}, {5, 2, 2, rbm.Softmax}, {3, 1, 3, rbm.Softmax}} {
		for _, on := range []rbm.Layer{rbm.HiddenUnits, rbm.AllUnits} {
			for _, referenced := range []bool{false, true} {
				m := s.Random(7, 0.8)
				units := m.Hidden()
				if on == rbm.AllUnits {
					units += m.Visible()
				}
				c := &rbm.Constraint{On: on}
				if referenced {
					r := rbm.NewKey(uint64(units)).Rand()
					c.Reference = make([]uint8, units)
					for i := range c.Reference {
						c.Reference[i] = uint8(r.IntN(2))
					}
				}
				for c.Active = range units + 1 {
					if c.Check(m) != nil {
						continue
					}
					m := m.Clone()
					constraint := *c
					m.Constraint = &constraint
					models[fmt.Sprintf("%v/%v/%v", s, c, referenced)] = m
				}
			}
		}
	}
	return models
}
