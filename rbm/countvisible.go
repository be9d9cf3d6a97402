package rbm

import (
	"math"

	"gorbm/rbm/parallel"
)

// countVisibleMean is VisibleMean under a constraint on all units, which binds
// the visible ones too: their number that is active is what h leaves.
func (m *RBM) countVisibleMean(dst Matrix, h Bits) {
	c := &countedStates{m: m, hidden: true}
	c.plan()
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	parallel.Do(ceilDiv(h.Rows, rowBlock), func(part int) {
		w := c.newWalk()
		for r := part * rowBlock; r < min((part+1)*rowBlock, h.Rows); r++ {
			rest := m.Constraint.Active
			reference := m.Constraint.hiddenReference(m)
			for j := range m.Hidden() {
				if h.Get(r, j) != (reference != nil && reference[j] == 1) {
					rest--
				}
			}
			s := shell{class: -1, rest: rest}
			if !c.feasible(s) {
				for i := range dst.Row(r) {
					dst.Row(r)[i] = float32(math.NaN())
				}
				continue
			}
			for i := range w.a {
				w.a[i] = float64(m.VisibleBias[i])
				row := weights.Row(i)
				h.Each(r, func(j int) { w.a[i] += float64(row[j]) })
			}
			c.logWeight(w, s, true)
			for i, p := range w.mean {
				dst.Row(r)[i] = float32(p)
			}
		}
	})
}
