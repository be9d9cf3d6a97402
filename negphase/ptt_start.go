package negphase

import "gorbm/rbm"

// untrained is the largest size of a weight at which a model counts as not trained.
// Initial weights have a standard deviation of 0.01.
const untrained = 0.1

// meanField returns a model without weights near m, whose units are independent. Its hidden biases are
// those of m. Its visible biases are b + W·σ(c): those of m and the mean input from hidden units that
// are on as often as without input. To first order in
// the weights its F differs from that of m by a constant. With visible biases at the
// log-odds of the data it has the data's base rates.
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

// startingBase returns the model without weights at which chains of m start. If m is fresh, that is
// meanField of m; it has the data's base rates if the visible biases are their log-odds. If m is
// trained, its mean field may lie in a single mode, so chains start at the uniform distribution; the
// straight line from there to m is a ladder of temperatures.
func startingBase(m *rbm.RBM) *rbm.Base {
	if fresh(m) {
		return meanField(m)
	}
	return uniformBase(m)
}

// uniformBase returns the distribution under which every state of units such as those of m is
// equally likely.
func uniformBase(m *rbm.RBM) *rbm.Base {
	return &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
}

// fresh reports whether the weights of m are as small as before training.
func fresh(m *rbm.RBM) bool {
	weight, _ := m.LargestSize()
	return weight <= untrained
}

// baseModel returns b as a model of m's shape, with m's constraint.
func baseModel(b *rbm.Base, m *rbm.RBM) *rbm.RBM {
	x := m.Clone()
	x.Parameters().Zero()
	copy(x.VisibleBias, b.VisibleBias)
	copy(x.HiddenBias, b.HiddenBias)
	return x
}
