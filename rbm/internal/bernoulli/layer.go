package bernoulli

import "gorbm/rbm/internal/vec"

// A Layer is the distribution of a layer given how many of its units are on. It has binary
// units and then, if there are more, one softmax group, of which one unit is on.
type Layer struct {
	Binary int  // number of binary units
	Group  int  // number of units of the softmax group
	Apart  bool // the unit of the group that is on does not count

	law  Conditional
	logw []float64 // for each state of the group
}

// LogWeight returns base + log Σ exp(aᵀx) over the states x of the layer in which
// active units are on, −Inf if there are none. If mean is not nil it is overwritten with the
// means of the units under that distribution, in the order of a.
func (l *Layer) LogWeight(base float64, a []float64, active int, mean []float64) float64 {
	if l.Group > 0 && !l.Apart {
		active--
	}
	l.law.Resize(l.Binary)
	l.law.Active[0] = active
	copy(l.law.LogOdds[0], a)
	l.law.Solve()
	if mean != nil {
		l.law.Forward(true, nil)
	}
	share, sum := 1.0, l.law.LogZ(0)
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
		mean[i] = float64(share * l.law.Mean[i][0])
	}
	return base + sum
}

// GroupWeights returns the log weight of each state of the softmax group, as LogWeight found them
// last; nothing if there is no group. They are valid until its next call.
func (l *Layer) GroupWeights() []float64 { return l.logw }
