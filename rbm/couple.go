package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// StepCoupled takes each row of x and each row of y through one block Gibbs
// step at β = 1, as Step does, with row r of y coupled to row r of x. Alone,
// either is a Gibbs chain; x has the bits that Step with the same key gives.
// Binary units of the two rows are drawn by common uniforms, a softmax label
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

// coupledLabel draws the softmax label of row r from its preactivations a,
// coupled to that of the partner's row r, by the uniforms that follow the one
// which drew that.
func (l *layers) coupledLabel(r int, a []float32) int {
	nx, classes := l.m.Inputs(), l.m.Classes
	drawn := labelOf(l.partner.v.Row(r), nx)
	uniform := func(unit int) float32 { return l.stream.Uniform(uint32(l.first+r), uint32(unit)) }
	return vec.DrawCoupled(a, l.partner.label[r*classes:(r+1)*classes], drawn, uniform(nx+1), uniform(nx+2))
}

// labelOf returns the label that is on in a row of visible units, of which the
// first inputs are none.
func labelOf(row []uint64, inputs int) int {
	k := inputs / vec.Block
	for w := row[k] &^ vec.WordMask(inputs%vec.Block); ; w = row[k] {
		if w != 0 {
			return k*vec.Block + bits.TrailingZeros64(w) - inputs
		}
		k++
	}
}
