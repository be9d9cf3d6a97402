package data

import (
	"math"

	"gorbm/rbm"
)

// Split holds out some rows of a training set for validation, chosen at random. holdout below 1 is a
// fraction of the rows, and otherwise their number. The choice depends only on the number of rows, on
// holdout and on key. Both parts keep the order of the rows. The training part keeps its name; " holdout"
// is appended to that of the other.
//
// The error is an [ErrSpec] and says what holdout may be.
func (s *Set) Split(holdout float64, key rbm.Key) (train, held *Set, err error) {
	n := holdout
	if holdout < 1 {
		n = math.Round(holdout * float64(s.Len()))
	}
	switch {
	case s.Len() < 2:
		return nil, nil, specErrorf("%s: a single row cannot be split; hold out nothing", s.Name)
	case !(holdout > 0) || n != math.Trunc(n):
		return nil, nil, specErrorf("%g rows cannot be held out; give a fraction between 0 and 1, or a whole number of rows", holdout)
	case n < 1 || n >= float64(s.Len()):
		return nil, nil, specErrorf("%g of %d rows held out leaves one part empty; hold out from 1 to %d rows", holdout, s.Len(), s.Len()-1)
	}
	// Each row in turn is held out with the probability (rows still to hold out)
	// / (rows left). Then every choice of n rows is equally likely (Knuth's
	// algorithm S).
	var r rng
	r.seed(key)
	var out, left []int32
	for i := range s.Len() {
		if r.intn(s.Len()-i) < int(n)-len(out) {
			out = append(out, int32(i))
		} else {
			left = append(left, int32(i))
		}
	}
	held = s.Take(out)
	held.Name += " holdout"
	return s.Take(left), held, nil
}

// HoldoutKey returns the key with which a run with this seed holds rows out. Package train uses smaller
// children of the seed's key.
func HoldoutKey(seed uint64) rbm.Key { return rbm.NewKey(seed).Child(1 << 32) }

// Take returns a set of the given rows of s, copied in this order.
func (s *Set) Take(rows []int32) *Set {
	t := *s
	t.X = rbm.NewBits(len(rows), s.X.Cols)
	s.Visible(t.X, rows, 0)
	if s.Grey.Rows > 0 {
		t.Grey = rbm.NewMatrix(len(rows), s.X.Cols)
		s.Visible(t.Grey.Values(), rows, 0)
	}
	if s.Chances.Rows > 0 {
		t.Chances = rbm.NewMatrix(len(rows), s.X.Cols)
		for i, row := range rows {
			copy(t.Chances.Row(i), s.Chances.Row(int(row)))
		}
	}
	t.Weights = s.WeightsOf(rows)
	if s.Numbers != nil {
		t.Numbers = make([]int32, len(rows))
		for i, row := range rows {
			t.Numbers[i] = s.Numbers[row]
		}
	}
	if s.RowNames != nil {
		t.RowNames = make([]string, len(rows))
		for i, row := range rows {
			t.RowNames[i] = s.RowNames[row]
		}
	}
	if s.Missing.Rows > 0 {
		t.Missing = rbm.NewBits(len(rows), s.X.Cols)
		for i, row := range rows {
			copy(t.Missing.Row(i), s.Missing.Row(int(row)))
		}
	}
	if s.Y != nil {
		t.Y = make([]int32, len(rows))
		for i, row := range rows {
			t.Y[i] = s.Y[row]
		}
	}
	return &t
}
