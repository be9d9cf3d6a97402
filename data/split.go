package data

import (
	"math"

	"gorbm/rbm"
)

// Split holds out some rows of a training set for validation, chosen at random. holdout below 1 is a
// fraction of the rows, and otherwise their number. The choice depends only on the number of rows, on
// holdout and on key. Both parts keep the order of the rows. The training part keeps the name of s; the
// held-out part has that name with " holdout" appended.
//
// The error is an [ErrSpec] and says what holdout may be.
func (s *Set) Split(holdout float64, key rbm.Key) (train, held *Set, err error) {
	n := rowsOf(holdout, s.Len())
	switch {
	case s.Len() < 2:
		return nil, nil, specErrorf("%s: a single row cannot be split; hold out nothing", s.Name)
	case !(holdout > 0) || n != math.Trunc(n):
		return nil, nil, specErrorf("%g rows cannot be held out; give a fraction between 0 and 1, or a whole number of rows", holdout)
	case n < 1 || n >= float64(s.Len()):
		return nil, nil, specErrorf("%g of %d rows held out leaves one part empty; hold out from 1 to %d rows", holdout, s.Len(), s.Len()-1)
	}
	out, left := divide(s.Len(), int(n), key)
	held = s.Take(out)
	held.Name += " holdout"
	return s.Take(left), held, nil
}

// rowsOf returns the number of rows that holdout names: the rounded fraction of rows, or holdout itself.
func rowsOf(holdout float64, rows int) float64 {
	if holdout < 1 {
		return math.Round(holdout * float64(rows))
	}
	return holdout
}

// divide holds out n of the given number of rows. Each row in turn is held out with the probability (rows
// still to hold out) / (rows left). Then every choice of n rows is equally likely (Knuth's algorithm S).
func divide(rows, n int, key rbm.Key) (out, left []int32) {
	var r rng
	r.seed(key)
	for i := range rows {
		if r.intn(rows-i) < n-len(out) {
			out = append(out, int32(i))
		} else {
			left = append(left, int32(i))
		}
	}
	return out, left
}

// counted returns the weight of each row in the means, deviations and levels of a source: 0 for the rows of
// Options.Holdout, and otherwise the weight of the row, or 1 if weights is nil.
func (o Options) counted(rows int, weights []float64) []float64 {
	counted := make([]float64, rows)
	var kept []int // rows among which Split holds out
	for r := range counted {
		if counted[r] = 1; weights != nil {
			counted[r] = weights[r]
		}
		if counted[r] > 0 {
			kept = append(kept, r)
		}
	}
	if n := rowsOf(o.Holdout, len(kept)); n >= 1 && n < float64(len(kept)) {
		out, _ := divide(len(kept), int(n), o.HoldoutKey)
		for _, k := range out {
			counted[kept[k]] = 0
		}
	}
	return counted
}

// HoldoutKey returns the key with which a run with this seed holds rows out. Package train uses smaller
// children of the seed's key.
func HoldoutKey(seed uint64) rbm.Key { return rbm.NewKey(seed).Child(1 << 32) }

// Take returns a set of the given rows of s, copied in this order.
func (s *Set) Take(rows []int32) *Set {
	t := *s
	t.X, t.Missing = take(s.X, rows), take(s.Missing, rows)
	t.Grey, t.Chances = take(s.Grey.Values(), rows).Matrix(), take(s.Chances.Values(), rows).Matrix()
	t.Y, t.Weights, t.Numbers, t.RowNames = s.ClassesOf(rows), s.WeightsOf(rows), pick(s.Numbers, rows), pick(s.RowNames, rows)
	return &t
}

// take returns a copy of the given rows of v, or v itself if it has no rows.
func take(v rbm.Values, rows []int32) rbm.Values {
	if v.Rows == 0 {
		return v
	}
	t := rbm.NewValues(len(rows), v.Cols, v.IsReal())
	for i, row := range rows {
		t.CopyRow(i, v, int(row))
	}
	return t
}

// pick returns the entries of the given rows, or nil if from is nil.
func pick[T any](from []T, rows []int32) []T {
	if from == nil {
		return nil
	}
	picked := make([]T, len(rows))
	for i, row := range rows {
		picked[i] = from[row]
	}
	return picked
}
