package partition

import (
	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// shape is the shape of a model.
type shape struct {
	visible, hidden, classes int
	label                    rbm.Kind
}

func (s shape) random(seed uint64, sd float64) *rbm.RBM {
	return rbmtest.Random(s.visible, s.hidden, s.classes, s.label, seed, sd)
}

// randomBase returns a base of m's shape with biases from N(0, sd²).
func randomBase(m *rbm.RBM, sd float64, seed uint64) *rbm.Base {
	r := rbm.NewKey(seed).Rand()
	b := uniformBase(m)
	for i := range b.VisibleBias {
		b.VisibleBias[i] = float32(sd * r.NormFloat64())
	}
	for j := range b.HiddenBias {
		b.HiddenBias[j] = float32(sd * r.NormFloat64())
	}
	return b
}

// uniformBase returns the base that nil means.
func uniformBase(m *rbm.RBM) *rbm.Base {
	return &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
}

// baseStates lists the joint states of m with their energies under b.
func baseStates(m *rbm.RBM, b *rbm.Base) []rbmtest.State {
	if b == nil {
		b = uniformBase(m)
	}
	independent := rbm.New(m.Visible(), m.Hidden(), m.Classes(), m.LabelKind())
	copy(independent.VisibleBias, b.VisibleBias)
	copy(independent.HiddenBias, b.HiddenBias)
	return rbmtest.States(independent)
}

// withActive returns a small model under a constraint on its hidden units.
func withActive(s shape, active int) *rbm.RBM {
	m := s.random(23, 1.5)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: active}
	return m
}

// hiddenConstrained returns small models under constraints on the hidden units.
func hiddenConstrained() []*rbm.RBM {
	return []*rbm.RBM{
		withActive(shape{3, 4, 0, rbm.Softmax}, 2),
		withActive(shape{4, 5, 2, rbm.Softmax}, 1),
		withActive(shape{4, 5, 2, rbm.Bernoulli}, 3),
		withActive(shape{3, 3, 0, rbm.Softmax}, 3),
		withActive(shape{2, 6, 0, rbm.Softmax}, 5),
	}
}

// picks draws n indices from p.
func picks(p []float64, n int, key rbm.Key) []int {
	out := make([]int, n)
	for r := range out {
		u := key.Uniform(uint64(r))
		for out[r] < len(p)-1 && u >= p[out[r]] {
			u -= p[out[r]]
			out[r]++
		}
	}
	return out
}

// blended returns states with the energy β·E + rest·E₀. On the path rest is 1−β.
func blended(m *rbm.RBM, b *rbm.Base, beta, rest float64) []rbmtest.State {
	all := rbmtest.States(m)
	for i, s := range baseStates(m, b) {
		all[i].Energy = beta*all[i].Energy + rest*s.Energy
	}
	return all
}
