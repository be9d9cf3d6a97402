package rbm

import (
	"math"
	"testing"
)

// A reference may leave a class no state.
func TestHasClass(t *testing.T) {
	m := shape{4, 2, 2, Softmax}.random(1, 1)
	for _, c := range []struct {
		constraint *Constraint
		want       [2]bool
	}{
		{nil, [2]bool{true, true}},
		{&Constraint{On: HiddenUnits, Active: 2}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 5}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 1, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{false, true}},
		{&Constraint{On: AllUnits, Active: 6, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{true, false}},
	} {
		m.Constraint = c.constraint
		if err := c.constraint.Check(m); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{m.HasClass(0), m.HasClass(1)}; got != c.want {
			t.Errorf("%+v: %v", c.constraint, got)
		}
	}
}

// The means of the visible units given the hidden ones, under a constraint on
// all units.
func TestConstrainedVisibleMean(t *testing.T) {
	for name, m := range constrainedModels() {
		if m.Constraint.On != AllUnits {
			continue
		}
		v, h, logw := allowed(m)
		dst := NewMatrix(1<<m.Hidden(), m.Visible())
		rows := NewBits(dst.Rows, m.Hidden())
		for r := range rows.Rows {
			rows.Row(r)[0] = uint64(r)
		}
		m.VisibleMean(dst, rows)
		for x := range rows.Rows {
			total, want := 0.0, make([]float64, m.Visible())
			for r, w := range logw {
				if h.Row(r)[0] == uint64(x) {
					total += math.Exp(w)
					v.Each(r, func(i int) { want[i] += math.Exp(w) })
				}
			}
			for i, p := range dst.Row(x) {
				if total == 0 && !math.IsNaN(float64(p)) {
					t.Errorf("%s: mean %v given an impossible state", name, p)
				}
				if total > 0 {
					near(t, name, float64(p), want[i]/total, 2.0/(1<<24))
				}
			}
		}
	}
}
