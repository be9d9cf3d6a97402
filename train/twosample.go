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
// apart than two random parts of both together do. The distance of samples is the
// energy distance (Székely & Rizzo 2013),
//
//	2·E|X−Y| − E|X−X'| − E|Y−Y'|,
//
// with the Euclidean distance of two states, the root of the number of units that
// differ. It is zero for equal laws only. The samples have at least two rows each;
// if no division differs from any other, the answer is 0.
func apart(x, y rbm.Bits, key rbm.Key) float64 {
	row := func(i int) []uint64 {
		if i < x.Rows {
			return x.Row(i)
		}
		return y.Row(i - x.Rows)
	}
	n := x.Rows + y.Rows
	distance, all := make([]float64, n*n), 0.0
	order := make([]int, n)
	for i := range n {
		order[i] = i
		for j := range i {
			d := math.Sqrt(float64(differ(row(i), row(j))))
			distance[i*n+j], distance[j*n+i] = d, d
			all += d
		}
	}
	within := func(rows []int) (sum float64) {
		for i, a := range rows {
			for _, b := range rows[:i] {
				sum += distance[a*n+b]
			}
		}
		return sum
	}
	a, b := float64(x.Rows), float64(y.Rows)
	statistic := func() float64 {
		xx, yy := within(order[:x.Rows]), within(order[x.Rows:])
		return 2*(all-xx-yy)/(a*b) - 2*xx/(a*(a-1)) - 2*yy/(b*(b-1))
	}
	seen := statistic()
	chance, draws := make([]float64, permutations), key.Rand()
	for i := range chance {
		draws.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		chance[i] = statistic()
	}
	mean, variance := diag.MeanVariance(chance)
	if variance <= 0 {
		return 0
	}
	return (seen - mean) / math.Sqrt(variance*permutations/(permutations-1))
}

// differ returns the number of units in which two states differ.
func differ(a, b []uint64) (n int) {
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}
