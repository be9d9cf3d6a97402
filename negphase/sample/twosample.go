package sample

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// StatesTest is diag.EnergyTest of the rows of x against those of y, states of equal width.
// Their distance is Euclidean: the root of the number of units that differ.
func StatesTest(x, y rbm.Values, rearrangements int, r *rand.Rand) (p, z float64) {
	row := func(i int) []uint64 {
		if i < x.Rows {
			return x.Row(i)
		}
		return y.Row(i - x.Rows)
	}
	return diag.EnergyTest(x.Rows, y.Rows, func(i, j int) float64 { return math.Sqrt(float64(rbm.Hamming(row(i), row(j)))) }, rearrangements, r)
}
