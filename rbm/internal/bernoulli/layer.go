package bernoulli

import (
	"slices"

	"gorbm/rbm/internal/vec"
)

// A Layer is the distribution of a layer given the number of its units that differ from a
// reference. It has binary units and then, if there are more, one softmax group.
type Layer struct {
	Binary    int     // number of binary units
	Reference []uint8 // of the binary units; nil means zeros
	// Distance is, for each state of the softmax group, the number of the group's
	// units that differ from the reference. Without a reference all are 1. With one
	// there are two values: the unit that is on is one or zero in the reference.
	Distance []int

	law  Conditional
	logw []float64 // of each state of the group
}

// LogWeight returns base + log Σ exp(aᵀx) over the states x of the layer in which
// active units differ from the reference, −Inf if there are none. If mean
// is not nil it is overwritten with the means of the units under that distribution, in
// the order of a.
func (l *Layer) LogWeight(base float64, a []float64, active int, mean []float64) float64 {
	if len(l.Distance) == 0 {
		weight := l.solve(a, mean, active)
		for i := range mean {
			mean[i] = l.on(i, 0)
		}
		return base + weight + l.law.LogSum(0)
	}
	least, most := slices.Min(l.Distance), slices.Max(l.Distance)
	weight := l.solve(a, mean, active-least, active-most)
	l.logw = slices.Grow(l.logw[:0], len(l.Distance))[:len(l.Distance)]
	sums := [2]float64{l.law.LogSum(0), l.law.LogSum(1)}
	for y, d := range l.Distance {
		l.logw[y] = a[l.Binary+y] + sums[lane(d, least)]
	}
	total := vec.LogSumExp(l.logw)
	if mean != nil {
		var part [2]float64
		for y, x := range l.logw {
			p := vec.Exp(x - total)
			mean[l.Binary+y] = p
			part[lane(l.Distance[y], least)] += p
		}
		for i := range l.Binary {
			mean[i] = 0
			for k, p := range part {
				if p > 0 {
					mean[i] += float64(p * l.on(i, k))
				}
			}
		}
	}
	return base + weight + total
}

// lane returns the row of the distribution that goes with a state of the group at this
// distance.
func lane(distance, least int) int {
	if distance != least {
		return 1
	}
	return 0
}

// solve solves the distribution of the binary units for each number of active units, and
// returns the log weight of their reference.
func (l *Layer) solve(a, mean []float64, active ...int) (weight float64) {
	l.law.Resize(l.Binary)
	for k, n := range active {
		l.law.Active[k] = n
		weight = 0
		for i, x := range a[:l.Binary] {
			if l.reference(i) {
				weight += x
				x = -x
			}
			l.law.LogOdds[k][i] = x
		}
	}
	l.law.Solve()
	if mean != nil {
		l.law.Forward(true, nil)
	}
	return weight
}

func (l *Layer) reference(i int) bool { return l.Reference != nil && l.Reference[i] == 1 }

// on returns the mean of binary unit i for the k-th number of active units.
func (l *Layer) on(i, k int) float64 {
	if l.reference(i) {
		return 1 - l.law.Mean[i][k]
	}
	return l.law.Mean[i][k]
}
