package train

import (
	"math"
	"slices"
	"testing"
)

// Of 99 rows of one class and one of another, the answer that is always the first errs in 1 % of
// the rows and in half of the classes.
func TestConfusion(t *testing.T) {
	always, told := make([]float64, 200), make([]float64, 200)
	y := make([]int32, 100)
	y[7] = 1
	for i := range y {
		always[2*i], always[2*i+1] = math.Log(0.9), math.Log(0.1)
		told[2*i+1-int(y[i])] = math.Inf(-1)
	}
	for _, c := range []struct {
		name    string
		logp    []float64
		y       []int32
		error   float64
		never   []int
		unequal bool
	}{
		{"always the first", always, y, 0.5, []int{1}, true},
		{"all right", told, y, 0, nil, true},
		{"rows of one class", always[:20], make([]int32, 10), 0, nil, false},
	} {
		got := Confuse(c.logp, c.y, 2)
		if e := got.BalancedError(); e != c.error || !slices.Equal(got.Never(), c.never) || got.Unequal() != c.unequal {
			t.Errorf("%s: balanced error %v, never %v, unequal %v; want %+v", c.name, e, got.Never(), got.Unequal(), c)
		}
	}
	if e := Confuse(nil, nil, 2).BalancedError(); !math.IsNaN(e) {
		t.Errorf("of no rows %v", e)
	}
}
