package rbm

import "fmt"

// Spins are the parameters of an RBM in spin variables s = 2v−1 and t = 2h−1, each −1 or +1:
//
//	E(s,t) = −sᵀWt − aᵀs − bᵀt
//
// The probability of every state is that of the model with units 0 and 1.
type Spins struct {
	Weights Matrix    // W, visible × hidden
	Visible []float32 // a
	Hidden  []float32 // b
}

// Spins converts m to spins. k is log Z of m minus log Z of the spins, in nats. The error wraps
// ErrUnits if a unit is not Bernoulli, and ErrConstraint if m has a constraint. Parameters are rounded
// once, to float32.
func (m *RBM) Spins() (s Spins, k float64, err error) {
	if err := m.CheckSpins(); err != nil {
		return s, 0, err
	}
	s = Spins{NewMatrix(m.Visible(), m.Hidden()), make([]float32, m.Visible()), make([]float32, m.Hidden())}
	m.Weights(s.Weights)
	visible, hidden := spinShares(s.Weights)
	for i, x := range visible {
		half := float64(float64(m.VisibleBias[i]) / 2)
		s.Visible[i] = float32(half + float64(x/4))
		k += half
	}
	for j, x := range hidden {
		b := float64(float64(m.HiddenBias[j])/2) + float64(x/4)
		s.Hidden[j] = float32(b)
		k += b
	}
	for i := range s.Weights.Data {
		s.Weights.Data[i] /= 4
	}
	return s, k, nil
}

// SetSpins sets the parameters of m to those of s, converted from spins. The error is that of
// Spins. It panics if the shapes differ.
func (m *RBM) SetSpins(s Spins) error {
	if err := m.CheckSpins(); err != nil {
		return err
	}
	m.checkWeights(s.Weights)
	visible, hidden := spinShares(s.Weights)
	for i, x := range visible {
		m.VisibleBias[i] = float32(float64(2*float64(s.Visible[i])) - float64(2*x))
	}
	for j, x := range hidden {
		m.HiddenBias[j] = float32(float64(2*float64(s.Hidden[j])) - float64(2*x))
	}
	w := NewMatrix(s.Weights.Rows, s.Weights.Cols)
	for i, x := range s.Weights.Data {
		w.Data[i] = 4 * x
	}
	m.SetWeights(w)
	return nil
}

// CheckSpins returns the error of Spins, or nil.
func (m *RBM) CheckSpins() error {
	for _, g := range m.visible.groups {
		if g.Real() || g.Joint() {
			return g.refusal()
		}
	}
	if err := m.CheckBinaryHidden(); err != nil {
		return err
	}
	if m.Constraint != nil {
		return fmt.Errorf("%w: the model has %v; spins need a model without a constraint", ErrConstraint, m.Constraint)
	}
	return nil
}

// spinShares returns the sums of the rows and of the columns of w.
func spinShares(w Matrix) (rows, cols []float64) {
	rows, cols = make([]float64, w.Rows), make([]float64, w.Cols)
	for i := range rows {
		for j, x := range w.Row(i) {
			rows[i] += float64(x)
			cols[j] += float64(x)
		}
	}
	return rows, cols
}
