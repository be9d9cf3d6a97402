package diag

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// EnergyTest tests whether n + m independent points come from one distribution, the first n
// being one sample and the rest the other, by the energy distance
//
//	2·mean d(a,b) − mean d(a,a') − mean d(b,b')
//
// (Székely & Rizzo 2013) between the samples, against as many random
// rearrangements of the points. p is the fraction of arrangements, the given one
// included, whose distance is at least as large. If all points come from one distribution, p is at
// most α with a probability of at most α. z is the given distance less the mean of the rearranged
// ones, in their standard deviations; 0 if they do not vary. distance must be symmetric; with the
// Euclidean one the energy distance is zero only for equal distributions. EnergyTest calls it
// (n+m)(n+m−1)/2 times, and panics if a sample is empty.
func EnergyTest(n, m int, distance func(i, j int) float64, rearrangements int, r *rand.Rand) (p, z float64) {
	if n < 1 || m < 1 {
		panic("diag: the energy distance needs two samples")
	}
	all := n + m
	d := make([]float64, all*all)
	for i := range all {
		for j := range i {
			x := distance(i, j)
			d[i*all+j], d[j*all+i] = x, x
		}
	}
	order := make([]int, all)
	for i := range order {
		order[i] = i
	}
	energy := func() float64 {
		var ab, aa, bb float64
		for i, x := range order {
			row := d[x*all : (x+1)*all]
			for j, y := range order[:i] {
				switch {
				case i < n:
					aa += row[y]
				case j < n:
					ab += row[y]
				default:
					bb += row[y]
				}
			}
		}
		return 2*ab/float64(n*m) - 2*aa/float64(n*n) - 2*bb/float64(m*m)
	}
	// Equal arrangements must count as equal although their sums are rounded
	// in another order.
	given := energy()
	given -= 1e-12 * max(given, 0)
	count, chance := 1, make([]float64, rearrangements)
	for k := range chance {
		r.Shuffle(all, func(i, j int) { order[i], order[j] = order[j], order[i] })
		if chance[k] = energy(); chance[k] >= given {
			count++
		}
	}
	if mean, variance := stat.MeanVariance(chance, nil); variance > 0 {
		z = (given - mean) / math.Sqrt(variance)
	}
	return float64(count) / float64(rearrangements+1), z
}
