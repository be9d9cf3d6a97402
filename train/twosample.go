package train

import (
	"math"
	"math/bits"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// permutations is the number of random divisions of two samples that say how far
// apart they are by chance. The standard deviation of the statistic is then known
// to 1/√80, some 11 %.
const permutations = 40

// apart returns by how many standard deviations two samples of states lie farther
// apart than two random parts of both together do, by diag.EnergyTest. The distance
// of two states is Euclidean: the root of the number of units that differ.
func apart(x, y rbm.Bits, key rbm.Key) float64 {
	row := func(i int) []uint64 {
		if i < x.Rows {
			return x.Row(i)
		}
		return y.Row(i - x.Rows)
	}
	_, z := diag.EnergyTest(x.Rows, y.Rows, func(i, j int) float64 { return math.Sqrt(float64(differ(row(i), row(j)))) }, permutations, key.Rand())
	return z
}

// differ returns the number of units in which two states differ.
func differ(a, b []uint64) (n int) {
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}
