package sample

import (
	"math"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// Two samples of one distribution are 0 ± 1 standard deviations apart, and the mean over many pairs is
// within five standard errors of 0. Two samples whose units have equal means, but depend on each other in
// only one of them, are far apart. A distance of means would not show that.
func TestStatesApart(t *testing.T) {
	const rows, repeats = 20, 200
	draw := func(equal bool, key rbm.Key) rbm.Values {
		x := rbm.NewBits(rows, 70)
		for r := range rows {
			for j := range x.Cols {
				n := uint64(r * x.Cols)
				if !equal {
					n += uint64(j)
				}
				x.Set(r, j, key.Uniform(n) < 0.5)
			}
		}
		return x
	}
	apart := func(x, y rbm.Values, key rbm.Key) float64 {
		_, z := StatesTest(x, y, 40, key.Rand()) // 40 give the standard deviation to 1/√80
		return z
	}
	var z []float64
	for i := range uint64(repeats) {
		key := rbm.NewKey(i)
		z = append(z, apart(draw(false, key.Child(0)), draw(false, key.Child(1)), key.Child(2)))
	}
	mean, variance := diag.MeanVariance(z)
	if math.Abs(mean) > 5*math.Sqrt(variance/repeats) {
		t.Errorf("samples of one distribution lie %.3f standard deviations apart, want 0 ± %.3f", mean, math.Sqrt(variance/repeats))
	}
	if variance < 0.5 || variance > 2 { // the distribution has a longer tail above, and few permutations estimate it
		t.Errorf("the variance of z is %.3f, want about 1", variance)
	}
	if z := apart(draw(false, rbm.NewKey(1)), draw(true, rbm.NewKey(2)), rbm.NewKey(3)); z < 4 { // by chance once in 30,000 tests
		t.Errorf("samples of other distributions with equal means lie %.3f standard deviations apart, want at least 4", z)
	}
	same := rbm.NewBits(rows, 70)
	if z := apart(same, same, rbm.NewKey(3)); z != 0 {
		t.Errorf("equal rows lie %v apart, want 0", z)
	}
}
