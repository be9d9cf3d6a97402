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
	l.logw = l.logw[:0]
	if len(l.Distance) == 0 {
		weight := l.solve(a, mean, active)
		for i := range mean {
			mean[i] = l.law.Mean[i][0]
		}
		return base + weight + l.law.LogSum(0)
	}
	least, most := slices.Min(l.Distance), slices.Max(l.Distance)
	weight := l.solve(a, mean, active-least, active-most)
	sums := [2]float64{l.law.LogSum(0), l.law.LogSum(1)}
	for y, d := range l.Distance {
		l.logw = append(l.logw, a[l.Binary+y]+sums[lane(d, least)])
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
					mean[i] += float64(p * l.law.Mean[i][k])
				}
			}
		}
	}
	return base + weight + total
}

// GroupWeights returns the log weight of each state of the softmax group, but for the weight of
// the reference, as LogWeight found them last; nothing if there is no group. They are valid until
// its next call.
func (l *Layer) GroupWeights() []float64 { return l.logw }

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
	if l.law.Reference = l.Reference; l.Reference != nil {
		l.law.Reference = l.Reference[:l.Binary] // beyond these are units of the group
	}
	for k, n := range active {
		l.law.Active[k] = n
		copy(l.law.LogOdds[k], a)
	}
	l.law.Solve()
	if mean != nil {
		l.law.Forward(true, nil)
	}
	return l.law.Weight[0]
}
