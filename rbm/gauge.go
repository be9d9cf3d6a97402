package rbm

import "gorbm/rbm/units"

// ZeroSum transforms the parameters of m to the zero-sum gauge. In this gauge the weights between a softmax
// group of inputs and each hidden unit sum to zero, and so do the biases of the group. Exactly one unit of a
// group is on, so the transformation
//
//	ω_j = mean of W_ij over the group,  W_ij −= ω_j,  c_j += ω_j,  b_i −= mean of b over the group
//
// for each group and hidden unit j, changes neither the distribution nor differences of free energies, except
// for the rounding of parameters to float32. It returns the decrease of log Z, the sum of the means of b. A
// squared penalty on the weights is smallest in this gauge.
func (m *RBM) ZeroSum() (fall float64) {
	w := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	shift := make([]float64, m.Hidden())
	for _, g := range m.SoftmaxGroups() {
		if g.Label {
			continue
		}
		fall += units.Centre(g.values(m.VisibleBias))
		for j := range shift {
			sum := 0.0
			for i := range g.Units {
				sum += float64(w.Row(g.First + i)[j])
			}
			mean := sum / float64(g.Units)
			for i := range g.Units {
				x := &w.Row(g.First + i)[j]
				*x = float32(float64(*x) - mean)
			}
			shift[j] += mean
		}
	}
	m.SetWeights(w)
	for j := range m.HiddenBias {
		m.HiddenBias[j] = float32(float64(m.HiddenBias[j]) + shift[j])
	}
	return fall
}
