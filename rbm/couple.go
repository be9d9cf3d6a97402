package rbm

import "gorbm/rbm/internal/vec"

// StepCoupled takes each row of x and each row of y through one block Gibbs
// step at β = 1, as Step does, with row r of y coupled to row r of x. Alone,
// either is a Gibbs chain; x has the bits that Step with the same key gives.
// Binary units of the two rows are drawn by common uniforms, a softmax group
// by vec.DrawCoupled: given both hidden states, every unit takes the same
// value in both rows with the largest probability that its two laws allow, so
// it is a maximal coupling unit by unit (not of the layer as one variable).
// A constraint has no such coupling. Rows with equal H stay equal for ever. x may have more rows than y, which
// are then on their own. It panics if the shapes differ, y has more rows or m has a
// constraint.
func (m *RBM) StepCoupled(x, y *States, key Key) {
	x.check(m)
	y.check(m)
	if m.Constraint != nil {
		panic("rbm: StepCoupled is not for models with a constraint")
	}
	if y.H.Rows > x.H.Rows || x.layers == y.layers {
		panic("rbm: StepCoupled needs other chains, as many rows of x as of y or more")
	}
	x.layers.grow(m, min(x.H.Rows, chunkRows))
	y.layers.grow(m, min(y.H.Rows, chunkRows))
	y.layers.partner = x.layers
	for lo := 0; lo < x.H.Rows; lo += chunkRows {
		x.stepRows(lo, min(lo+chunkRows, x.H.Rows), 1, key)
		if lo < y.H.Rows {
			y.stepRows(lo, min(lo+chunkRows, y.H.Rows), 1, key)
		}
	}
	x.layers.forget()
	y.layers.forget()
}

// coupledSoftmax draws group g of row r from its preactivations a, coupled to
// that of the partner's row r, by the uniforms that follow the one which drew
// that.
func (l *layers) coupledSoftmax(g Group, r int, a []float32) int {
	uniform := func(unit int) float32 { return l.stream.Uniform(uint32(l.first+r), uint32(unit)) }
	return vec.DrawCoupled(a, l.partner.preactivations(g, r), g.value(l.partner.v.Row(r)), uniform(g.First+1), uniform(g.First+2))
}
