package diag

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// EnergyTest tests whether two samples of independent points come from one distribution. Points 0 … n−1
// are sample a, points n … n+m−1 are sample b. The test compares the energy distance between the samples,
//
//	2·mean d(a,b) − mean d(a,a') − mean d(b,b')
//
// (Székely & Rizzo 2013), with the energy distances after each of the given number of random
// permutations of all points. p is the fraction of arrangements, the given one included, whose energy
// distance is at least that of the samples. If all points come from one distribution, the probability
// of p ≤ α is at most α, for any α. z is the energy distance of the samples minus the mean over
// permutations, divided by the standard deviation over permutations; 0 if this is 0. The function
// distance is d for two points and must be symmetric. With the Euclidean distance the energy distance
// is zero only for equal distributions. EnergyTest calls distance (n+m)(n+m−1)/2 times. It panics if a
// sample is empty.
func EnergyTest(n, m int, distance func(i, j int) float64, rearrangements int, r *rand.Rand) (p, z float64) {
	if n < 1 || m < 1 {
		panic("diag: the energy test needs at least one point in each sample")
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
	// The tolerance lets arrangements with equal distances count as equal, although the order of
	// summation changes their rounding errors.
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
