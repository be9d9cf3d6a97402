package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
)

// Schedules of the learning rate, of which step t of T takes rate times
//
//	constant    1
//	inverse:t0  1/(1 + t/t0), t0 a tenth of T if it is not given
//	linear      1 − t/T
//	cosine      (1 + cos(πt/T))/2
var schedules = []string{"constant", "inverse", "linear", "cosine"}

// CheckSchedule returns an error if a schedule is none of those above.
func CheckSchedule(s string) error {
	name, t0, given := strings.Cut(s, ":")
	known := false
	for _, k := range schedules {
		known = known || name == k
	}
	if !known {
		return fmt.Errorf("schedule %q is unknown; there are constant, inverse or inverse:STEPS, linear and cosine", s)
	}
	if !given {
		return nil
	}
	if x, err := strconv.ParseFloat(t0, 64); name != "inverse" || err != nil || !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("schedule %q: only inverse takes a number, of steps above 0", s)
	}
	return nil
}

// rateAt returns the learning rate of step t, counted from 0.
func (s Settings) rateAt(t int) float64 {
	name, t0, given := strings.Cut(s.Schedule, ":")
	x := float64(t) / float64(max(s.Horizon, 1))
	switch name {
	case "inverse":
		half := max(float64(s.Horizon)/10, 1)
		if given {
			half, _ = strconv.ParseFloat(t0, 64) // checked
		}
		return s.Rate / (1 + float64(t)/half)
	case "linear":
		return s.Rate * max(1-x, 0)
	case "cosine":
		return s.Rate * (1 + math.Cos(math.Pi*min(x, 1))) / 2
	}
	return s.Rate
}

// An optimizer turns the two phases into a change of the parameters. Plain
// ascent is one fused pass; each of the rest costs a sweep over the weights
// and is only done if it is asked for.
type optimizer struct {
	settings Settings
	gradient *rbm.RBM  // of this step, if centred
	velocity *rbm.RBM  // if there is momentum
	average  *rbm.RBM  // of the parameters, if they are averaged
	mu       []float32 // offsets of the visible units, if centred
	lambda   []float32 // and of the hidden ones
}

// newOptimizer returns the optimizer of m on set.
func newOptimizer(s Settings, m *rbm.RBM, set *data.Set) *optimizer {
	o := &optimizer{settings: s}
	blank := func() *rbm.RBM { return rbm.New(m.Visible(), m.Hidden(), m.Classes, m.Labels) }
	if s.Center > 0 {
		o.gradient = blank()
		o.mu = VisibleMean(m, set)
		o.lambda = make([]float32, m.Hidden())
		for j := range o.lambda {
			o.lambda[j] = 0.5
		}
	}
	if s.Momentum > 0 {
		o.velocity = blank()
	}
	if s.Average > 0 {
		o.average = m.Clone()
	}
	return o
}

// ascend moves m by step t.
func (o *optimizer) ascend(m *rbm.RBM, t int, pos rbm.Batch, neg rbm.Phase) {
	rate := float32(o.settings.rateAt(t))
	plus := rbm.Phase{Batch: pos}
	switch {
	case o.gradient != nil:
		o.slide(pos)
		o.gradient.Zero()
		o.gradient.Ascend(1, plus, neg)
		o.gradient.Centre(o.mu, o.lambda)
		if o.velocity == nil {
			m.Add(rate, o.gradient)
			break
		}
		o.velocity.Scale(float32(o.settings.Momentum))
		o.velocity.Add(rate, o.gradient)
		m.Add(1, o.velocity)
	case o.velocity != nil:
		o.velocity.Scale(float32(o.settings.Momentum))
		o.velocity.Ascend(rate, plus, neg)
		m.Add(1, o.velocity)
	default:
		m.Ascend(rate, plus, neg)
	}
	if o.settings.L1 > 0 || o.settings.L2 > 0 {
		// Momentum lengthens every step along the gradient by 1/(1−momentum);
		// the penalty's step must keep pace, or it would count for less.
		pace := rate / (1 - float32(o.settings.Momentum))
		m.Decay(pace*float32(o.settings.L1), pace*float32(o.settings.L2))
	}
	if o.average != nil {
		o.average.Blend(float32(o.settings.Average), m)
	}
}

// slide moves the offsets towards the means of the batch, before the gradient
// is taken (Melchior, Fischer & Wiskott 2016, Algorithm 1). The plain
// parameters that we keep need no correction then: the law does not change.
func (o *optimizer) slide(pos rbm.Batch) {
	to := float32(o.settings.Center)
	keep, share := 1-to, to/float32(pos.Rows())
	for i := range o.mu {
		o.mu[i] *= keep
	}
	for j := range o.lambda {
		o.lambda[j] *= keep
	}
	for r := range pos.Rows() {
		if pos.Grey.Rows > 0 {
			for i, x := range pos.Grey.Row(r) {
				o.mu[i] += float32(share * x)
			}
		} else {
			pos.V.Each(r, func(i int) { o.mu[i] += share })
		}
		for j, p := range pos.H.Row(r) {
			o.lambda[j] += float32(share * p)
		}
	}
}
