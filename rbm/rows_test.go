package rbm

import (
	"math"
	"reflect"
	"testing"
)

// Steps of parts of the rows are bit-identical to those of all rows, for any division, and do not
// change other rows.
func TestStepOfSomeRows(t *testing.T) {
	const rows = 300 // several chunks
	for _, s := range []shape{{70, 130, 3, Softmax}, {70, 65, 0, Softmax}} {
		for _, constrained := range []bool{false, true} {
			m := s.random(5, 0.6)
			if constrained {
				m.Constraint = &Constraint{On: HiddenUnits, Active: 9}
			}
			mean := make([]float32, m.Visible())
			for i := range mean {
				mean[i] = float32(i+1) / float32(len(mean)+1)
			}
			beta := make([]float32, rows)
			for r := range beta {
				beta[r] = 1 / (1 + float32(r%7))
			}
			step := func(cuts []int, base *Base, free []float64) *States {
				x := NewStates(m, rows)
				m.RandomizeHidden(x.H, NewKey(2))
				x.Base = base
				lo := 0
				for _, hi := range append(cuts, rows) {
					if free != nil {
						m.StepFreeRows(x, lo, hi, free, 2, NewKey(3))
					} else {
						m.StepRows(x, lo, hi, beta, 2, NewKey(3))
					}
					lo = hi
				}
				x.pass, x.Base = nil, nil
				return x
			}
			for _, cuts := range [][]int{{0, 1}, {150}, {3, 3, 77, 139, 299}} {
				for _, base := range []*Base{nil, NewBase(m, mean, 100)} {
					if !reflect.DeepEqual(step(nil, base, nil), step(cuts, base, nil)) {
						t.Errorf("%v, cut at %v: StepRows gives other bits than Step", s, cuts)
					}
				}
				want, got := make([]float64, rows), make([]float64, rows)
				if !reflect.DeepEqual(step(nil, nil, want), step(cuts, nil, got)) || !reflect.DeepEqual(want, got) {
					t.Errorf("%v, cut at %v: StepFreeRows of parts gives other bits than of all", s, cuts)
				}
			}
			x, free := NewStates(m, rows), make([]float64, rows)
			m.RandomizeHidden(x.H, NewKey(2))
			x.Energy[9], free[9] = math.Inf(1), math.Inf(1)
			m.StepRows(x, 10, 20, beta, 1, NewKey(3))
			m.StepFreeRows(x, 10, 20, free, 1, NewKey(3))
			if x.V.Slice(0, 10).Count() > 0 || x.V.Slice(20, rows).Count() > 0 || !math.IsInf(x.Energy[9], 1) || !math.IsInf(free[9], 1) || free[20] != 0 {
				t.Errorf("%v: other rows are changed", s)
			}
		}
	}
}
