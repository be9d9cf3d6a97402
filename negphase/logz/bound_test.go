package logz

import (
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// The bound is the log of the sum over distinct rows. With all states it is log Z, for any order and
// number of copies of the rows. With some of the states it is less.
func TestLowerBound(t *testing.T) {
	for _, m := range []*rbm.RBM{
		rbm.New(9, 5, 0, rbm.Softmax), rbm.New(9, 5, 3, rbm.Softmax), rbm.New(9, 5, 3, rbm.Bernoulli), rbm.New(70, 5, 64, rbm.Softmax),
	} {
		m.Randomize(1.5, rbm.NewKey(1))
		if m.Visible() == 70 {
			m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
		}
		want, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		all := states(m)
		rows := rbm.NewBits(3*all.Rows, m.Visible())
		for r := range rows.Rows {
			copy(rows.Row(r), all.Row(7*r%all.Rows)) // 7 and the number of states are coprime
		}
		free := make([]float64, rows.Rows)
		m.FreeEnergy(free, rows)
		if got := LowerBound(free, rows); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%d × %d: the bound of all states is %v, log Z %v", m.Visible(), m.Hidden(), got, want)
		}
		some := all.Rows / 2
		half := LowerBound(free[:some], rows.Slice(0, some))
		rest := LowerBound(free[some:all.Rows], rows.Slice(some, all.Rows))
		if got := rbm.LogSumExp([]float64{half, rest}); half >= want || rest >= want || math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%d × %d: the bounds of two halves are %v and %v, log Z %v", m.Visible(), m.Hidden(), half, rest, want)
		}
		// An estimate that equals log Z up to rounding is possible.
		if impossible(want, LowerBound(free, rows)) || !impossible(want-1e-6*math.Abs(want), want) {
			t.Error("log Z itself is impossible, or less is not")
		}
	}
	if got := LowerBound(nil, rbm.NewBits(0, 3)); !math.IsInf(got, -1) || impossible(-1e300, got) {
		t.Errorf("the bound of no rows is %v", got)
	}
}
