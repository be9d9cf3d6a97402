// Package rbmtest has small models for the tests of packages that use rbm.
package rbmtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
)

// Random returns an RBM of this shape with parameters drawn from N(0, sd²).
func Random(visible, hidden, classes int, label rbm.Kind, seed uint64, sd float64) *rbm.RBM {
	m := rbm.New(visible, hidden, classes, label)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// State is a joint state of a model, with its energy from the definition.
type State struct {
	V, H   []int
	Energy float64
}

// States lists the joint states of m by simple code, for comparison with the library.
func States(m *rbm.RBM) []State {
	var all []State
	n, k := m.Visible(), m.Hidden()
	for bits := range 1 << (n + k) {
		s := State{V: make([]int, n), H: make([]int, k)}
		for i := range n {
			s.V[i] = bits >> i & 1
		}
		for j := range k {
			s.H[j] = bits >> (n + j) & 1
		}
		if m.CheckSoftmax(BitsOf([][]int{s.V})) != nil {
			continue
		}
		for i, v := range s.V {
			s.Energy -= float64(float64(v) * float64(m.VisibleBias[i]))
			for j, h := range s.H {
				s.Energy -= float64(float64(v*h) * float64(m.Weight(i, j)))
			}
		}
		for j, h := range s.H {
			s.Energy -= float64(float64(h) * float64(m.HiddenBias[j]))
		}
		all = append(all, s)
	}
	return all
}

// Probabilities returns the probabilities of all states at inverse temperature beta, and
// log Z.
func Probabilities(all []State, beta float64) (p []float64, logZ float64) {
	logw := make([]float64, len(all))
	for i, s := range all {
		logw[i] = -beta * s.Energy
	}
	logZ = floats.LogSumExp(logw)
	for _, w := range logw {
		p = append(p, math.Exp(w-logZ))
	}
	return p, logZ
}

// Allowed lists the states that the constraint of m allows, with −E, from the definitions.
func Allowed(m *rbm.RBM) (v, h rbm.Values, logw []float64) {
	c := m.Constraint
	var visible, hidden [][]int
	for _, s := range States(m) {
		units := s.H
		if c.On == rbm.AllUnits {
			units = slices.Concat(s.V, s.H)
		}
		active := 0
		for _, x := range units {
			active += x
		}
		if active == c.Active {
			visible, hidden, logw = append(visible, s.V), append(hidden, s.H), append(logw, -s.Energy)
		}
	}
	return BitsOf(visible), BitsOf(hidden), logw
}

// BitsOf converts rows to bits.
func BitsOf(rows [][]int) rbm.Values {
	b := rbm.NewBits(len(rows), len(rows[0]))
	for r, row := range rows {
		for c, x := range row {
			b.Set(r, c, x != 0)
		}
	}
	return b
}

// Near fails the test unless got is within tol of want.
func Near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

// Constrained returns small models, by name, under every possible constraint. Either layer is the
// smaller one, and the label is of either kind.
func Constrained() map[string]*rbm.RBM {
	models := map[string]*rbm.RBM{}
	for _, s := range []struct {
		visible, hidden, classes int
		label                    rbm.Kind
	}{{4, 5, 0, rbm.Softmax}, {6, 3, 0, rbm.Softmax}, {6, 4, 3, rbm.Softmax}, {4, 6, 2, rbm.Bernoulli}, {5, 2, 2, rbm.Softmax}, {3, 1, 3, rbm.Softmax}} {
		for _, on := range []rbm.Layer{rbm.HiddenUnits, rbm.AllUnits} {
			m := Random(s.visible, s.hidden, s.classes, s.label, 7, 0.8)
			units := m.Hidden()
			if on == rbm.AllUnits {
				units += m.Visible()
			}
			for active := range units + 1 {
				m := m.Clone()
				m.Constraint = &rbm.Constraint{On: on, Active: active}
				if m.Constraint.Check(m) == nil {
					models[fmt.Sprintf("%v/%v", s, m.Constraint)] = m
				}
			}
		}
	}
	return models
}
