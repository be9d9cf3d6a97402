package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/parallel"
)

// visibleLayer returns the law of the visible units of m under its constraint on
// all units.
func (m *RBM) visibleLayer() bernoulli.Layer {
	l := bernoulli.Layer{Binary: m.binary(), Reference: m.Constraint.VisibleReference(m)}
	if m.softmaxLabel() {
		for y := range m.Classes() {
			l.Distance = append(l.Distance, m.Constraint.ClassDistance(m, y))
		}
	}
	return l
}

// constrainedVisibleMean is VisibleMean under a constraint on all units, which
// binds the visible ones too: of them as many are active as h leaves.
func (m *RBM) constrainedVisibleMean(dst Matrix, h Bits) {
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	parallel.Do(ceilDiv(h.Rows, rowBlock), func(part int) {
		layer := m.visibleLayer()
		a, mean := make([]float64, m.Visible()), make([]float64, m.Visible())
		for r := part * rowBlock; r < min((part+1)*rowBlock, h.Rows); r++ {
			active := m.Constraint.Active
			reference := m.Constraint.HiddenReference(m)
			for j := range m.Hidden() {
				if h.Get(r, j) != (reference != nil && reference[j] == 1) {
					active--
				}
			}
			for i := range a {
				a[i] = float64(m.VisibleBias[i])
				row := weights.Row(i)
				h.Each(r, func(j int) { a[i] += float64(row[j]) })
			}
			if math.IsInf(layer.LogWeight(0, a, active, mean), -1) {
				for i := range mean {
					mean[i] = math.NaN()
				}
			}
			for i, p := range mean {
				dst.Row(r)[i] = float32(p)
			}
		}
	})
}
