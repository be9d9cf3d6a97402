package rbm

import (
	"slices"
	"testing"
)

// Row r of the draws is given row r mod n of a batch of n rows, by random
// numbers of its own: the same as of a batch that holds the rows again and
// again.
func TestHiddenSampleGoesRound(t *testing.T) {
	const n, rows = 150, 2*150 + 7 // more than a chunk
	for _, c := range []*Constraint{nil, {On: HiddenUnits, Active: 20}} {
		m := shape{30, 70, 3, Softmax}.random(4, 0.3)
		m.Constraint = c
		v := randomRows(m, n)
		again := NewBits(rows, 30)
		for r := range rows {
			copy(again.Row(r), v.Row(r%n))
		}
		batch := func(v Bits, grey bool) Batch {
			b := Batch{V: v.Input(), H: NewMatrix(v.Rows, 70)}
			m.HiddenMean(b.H, v.Input())
			if grey {
				b.V.Bits, b.V.Grey = Bits{}, greyOf(v)
			}
			return b
		}
		for _, grey := range []bool{false, true} {
			got, want := NewBits(rows, 70), NewBits(rows, 70)
			m.HiddenSample(got, batch(v, grey), NewKey(5))
			m.HiddenSample(want, batch(again, grey), NewKey(5))
			for r := range rows {
				if !slices.Equal(got.Row(r), want.Row(r)) {
					t.Fatalf("%v, grey %v: row %d is another draw", c, grey, r)
				}
			}
		}
	}
}
