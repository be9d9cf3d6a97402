package bernoulli

import "gorbm/rbm/internal/vec"

// A Layer is the distribution of a layer in which a fixed number of units is on. It has binary
// units and then perhaps a softmax group, of which one unit is on.
type Layer struct {
	Binary int  // number of binary units
	Group  int  // number of units of the softmax group
	Apart  bool // the unit of the group that is on does not count

	conditional Conditional
	logw        []float64 // log weight of each state of the group
}

// LogWeight returns base + log Σ exp(aᵀx) over the states x of the layer in which
// active units are on, or −Inf if there is no such state. The argument a has the log-odds of the units.
// If mean is not nil, LogWeight overwrites it with the means of the units.
func (l *Layer) LogWeight(base float64, a []float64, active int, mean []float64) float64 {
	if l.Group > 0 && !l.Apart {
		active--
	}
	l.conditional.Resize(l.Binary)
	l.conditional.Active[0] = active
	copy(l.conditional.LogOdds[0], a)
	l.conditional.Solve()
	if mean != nil {
		l.conditional.Forward(true, nil)
	}
	share, sum := 1.0, l.conditional.LogZ(0)
	if l.Group > 0 {
		l.logw = l.logw[:0]
		for _, x := range a[l.Binary:] {
			l.logw = append(l.logw, x+sum)
		}
		sum = vec.LogSumExp(l.logw)
	}
	if mean == nil {
		return base + sum
	}
	if l.Group > 0 {
		share = 0
		for y, x := range l.logw {
			mean[l.Binary+y] = vec.Exp(x - sum)
			share += mean[l.Binary+y]
		}
	}
	for i := range l.Binary {
		mean[i] = float64(share * l.conditional.Mean[i][0])
	}
	return base + sum
}

// GroupWeights returns the log weight of each state of the softmax group from the last call of
// LogWeight. It is empty if there is no group. The slice is valid until the next call of LogWeight.
func (l *Layer) GroupWeights() []float64 { return l.logw }
