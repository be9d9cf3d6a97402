package negphase

import "gorbm/rbm"

// untrained is the largest absolute weight of a model that counts as not trained.
// Initial weights have a standard deviation of 0.01.
const untrained = 0.1

// meanField returns a distribution of independent units that approximates m if the weights W of m are
// small. Its hidden biases c are those of m. Its visible biases are b + W·σ(c), where b are the visible
// biases of m. To first order in W, its free energy of v differs from that of m by a constant.
func meanField(m *rbm.RBM) *rbm.Base {
	b := uniformBase(m)
	copy(b.HiddenBias, m.HiddenBias)
	for i := range b.VisibleBias {
		sum := float64(m.VisibleBias[i])
		for j, c := range m.HiddenBias {
			sum += float64(float64(m.Weight(i, j)) / (1 + rbm.Exp(-float64(c))))
		}
		b.VisibleBias[i] = float32(sum)
	}
	return b
}

// startingBase returns the distribution from which chains of m start. If m is fresh, it is
// meanField(m). The mean field has approximately the base rates of the data if the visible biases are
// their log-odds. If m is trained, its mean field may describe a single mode, so chains start from the
// uniform distribution. A model on the straight line from the uniform distribution to m is m at an
// inverse temperature below 1.
func startingBase(m *rbm.RBM) *rbm.Base {
	if fresh(m) {
		return meanField(m)
	}
	return uniformBase(m)
}

// uniformBase returns the uniform distribution over the states of m's units.
func uniformBase(m *rbm.RBM) *rbm.Base {
	return &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
}

// fresh reports whether the weights of m are as small as before training.
func fresh(m *rbm.RBM) bool {
	weight, _ := m.LargestSize()
	return weight <= untrained
}

// baseModel returns a model with the biases of b, no weights, and the shape and constraint of m.
func baseModel(b *rbm.Base, m *rbm.RBM) *rbm.RBM {
	x := m.Clone()
	x.Parameters().Zero()
	copy(x.VisibleBias, b.VisibleBias)
	copy(x.HiddenBias, b.HiddenBias)
	return x
}
