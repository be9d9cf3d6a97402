package rbm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gorbm/rbm/internal/vec"
)

// ErrAllGiven is the error of Given if no visible unit is free.
var ErrAllGiven = errors.New("given; leave some of them free")

const (
	Free      = -1               // the class argument of Given for a label that is not clamped
	FreeInput = -math.MaxFloat32 // the value of an input that Given does not clamp
)

// Given returns the RBM over the free visible units, those that are not clamped. Its distribution is
// the conditional distribution of m,
//
//	p(v, h | x) ∝ exp(vᵀWh + bᵀv + (c + Σᵢ xᵢWᵢ)ᵀh)
//
// where v are the free units with weights W and biases b, and xᵢ are the values of the clamped
// units i with weights Wᵢ. The clamped units therefore only change the hidden biases. The
// sums are in float64 and are rounded once, to float32.
//
// inputs has a value for each input of m: 0 or 1, any number for a real unit, or FreeInput. If inputs is nil,
// all inputs are free. FillGroups defines the meaning for softmax groups. class is the class to which the
// label is clamped, or Free; a free label is the label of the new model. Free inputs keep their order.
// Energies are those of m without the terms U of the clamped units. A constraint on all units is reduced by
// the number of clamped units that are active.
//
// Given returns an error if no unit is free, if the constraint allows no state, or if FillGroups
// does. It panics if inputs does not have Inputs() valid values, or if m has no such class.
func (m *RBM) Given(inputs []float32, class int) (*RBM, error) {
	nx := m.Inputs()
	if class != Free && (class < 0 || class >= m.Classes()) {
		panic("rbm: class out of range")
	}
	inputs, err := m.FillGroups(inputs)
	if err != nil {
		return nil, err
	}
	var free []int // free visible units
	var on []clamp // visible units that are clamped to a value other than 0
	var groups []Group
	for _, g := range m.visible.groups {
		left := len(free)
		for i := g.First; i < g.First+g.Units; i++ {
			switch {
			case g.Label && class == Free, !g.Label && (inputs == nil || inputs[i] == FreeInput):
				free = append(free, i)
			case g.Label && i == nx+class:
				on = append(on, clamp{i, 1})
			case !g.Label && inputs[i] != 0:
				on = append(on, clamp{i, float64(inputs[i])})
			}
		}
		if g.Units = len(free) - left; g.Units > 0 {
			groups = append(groups, g)
		}
	}
	if len(free) == 0 {
		return nil, fmt.Errorf("all %d visible units are %w", m.Visible(), ErrAllGiven)
	}
	c := NewLayers(m.hidden.groups[0], groups...)
	for k, p := range c.HiddenParams() {
		copy(p, m.HiddenParams()[k])
	}
	if m.Constraint != nil {
		c.Constraint = m.Constraint.given(inputs, class)
		if err := c.Constraint.Check(c); err != nil {
			return nil, fmt.Errorf("no state of the other units meets %v: %w", m.Constraint, err)
		}
	}
	for to, from := range free {
		c.VisibleBias[to] = m.VisibleBias[from]
		for k, p := range c.VisibleParams() { // may be fewer than those of m
			p[to] = m.VisibleParams()[k][from]
		}
		for k := range vec.Blocks(m.Hidden()) {
			copy(c.panel(k)[to*vec.Block:(to+1)*vec.Block], m.panel(k)[from*vec.Block:])
		}
	}
	for j := range c.HiddenBias {
		sum := float64(m.HiddenBias[j])
		for _, x := range on {
			sum += float64(x.value * float64(m.Weight(x.unit, j)))
		}
		c.HiddenBias[j] = float32(sum)
	}
	return c, nil
}

// A clamp is a visible unit and the value to which it is clamped.
type clamp struct {
	unit  int
	value float64
}

// FillGroups returns a copy of inputs, an argument of Given, in which units of softmax groups are inferred:
// if one unit of a group is 1, the others become 0; if all units but one are 0, that one becomes 1. Otherwise
// a unit that is 0 excludes its state. The error names a group without a possible state. FillGroups panics if
// inputs does not have Inputs() valid values.
func (m *RBM) FillGroups(inputs []float32) ([]float32, error) {
	if inputs == nil {
		return nil, nil
	}
	if len(inputs) != m.Inputs() {
		panic("rbm: Given needs one value for each input")
	}
	for _, g := range m.visible.apart {
		for i := g.First; i < min(g.First+g.Units, m.Inputs()); i++ {
			x := inputs[i]
			if g.Real() && x == x || x == 0 || x == 1 || x == FreeInput {
				continue
			}
			panic("rbm: a clamped input is 0 or 1, or a number for a real unit")
		}
	}
	inputs = slices.Clone(inputs)
	for _, g := range m.visible.joint {
		if g.Label {
			continue
		}
		group := inputs[g.First : g.First+g.Units]
		on, free := 0, 0
		for _, x := range group {
			switch x {
			case 1:
				on++
			case FreeInput:
				free++
			case 0:
			default:
				panic("rbm: a clamped input is 0 or 1, or a number for a real unit")
			}
		}
		switch {
		case on > 1:
			return nil, fmt.Errorf("%d of units %d … %d are given as 1; a softmax group has one", on, g.First, g.First+g.Units-1)
		case on+free == 0:
			return nil, fmt.Errorf("all of units %d … %d are given as 0; a softmax group has one on", g.First, g.First+g.Units-1)
		case on == 1 || free == 1:
			for i, x := range group {
				if x == FreeInput {
					group[i] = float32(1 - on)
				}
			}
		}
	}
	return inputs, nil
}

// GivenClass returns the RBM over the inputs x with the distribution p(x,h|y). It is Given
// with the label clamped to class y. It panics unless HasClass(y).
func (m *RBM) GivenClass(y int) *RBM {
	if !m.HasClass(y) {
		panic("rbm: no state of this class meets the constraint")
	}
	c, err := m.Given(nil, y)
	if err != nil {
		panic("rbm: a model without inputs")
	}
	return c
}

// given returns the constraint on the free and hidden units, given the clamped units.
func (c *Constraint) given(inputs []float32, class int) *Constraint {
	if c.On == HiddenUnits {
		return c
	}
	g := &Constraint{On: AllUnits, Active: c.Active}
	for _, x := range inputs {
		if x == 1 {
			g.Active--
		}
	}
	if class != Free {
		g.Active--
	}
	return g
}
