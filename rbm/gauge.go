package rbm

import "gorbm/rbm/units"

// ZeroSum brings the softmax groups among the inputs of m to the zero-sum gauge: the weights of
// a group's units to each hidden unit sum to zero, and so do their biases. Exactly one unit of a
// group is on, so a constant added to the weights of all its units to one hidden unit can be
// subtracted from the bias of that hidden unit:
//
//	ω_j = mean of W_ij over the group,  W_ij −= ω_j,  c_j += ω_j,  b_i −= mean of b
//
// It leaves the distribution and differences of free energies as they are, except for the rounding of
// parameters to float32. It returns how much log Z falls, which is the sum of the means of the
// biases. A penalty on the size of the weights is least in this gauge.
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
