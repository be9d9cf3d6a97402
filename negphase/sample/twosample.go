package sample

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// StatesTest is diag.EnergyTest for the rows of x and the rows of y, which must have equal numbers of columns. The
// distance of two rows is Euclidean.
func StatesTest(x, y rbm.Values, rearrangements int, r *rand.Rand) (p, z float64) {
	row := func(i int) rbm.Values {
		if i < x.Rows {
			return x.Slice(i, i+1)
		}
		return y.Slice(i-x.Rows, i-x.Rows+1)
	}
	return diag.EnergyTest(x.Rows, y.Rows, func(i, j int) float64 {
		a, b := row(i), row(j)
		if !a.IsReal() {
			return math.Sqrt(float64(rbm.Hamming(a.Words, b.Words)))
		}
		sum := 0.0
		for k, x := range a.Real {
			d := float64(x) - float64(b.Real[k])
			sum += float64(d * d)
		}
		return math.Sqrt(sum)
	}, rearrangements, r)
}
