package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
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
	if !slices.Contains(schedules, name) {
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

// Ends reports whether the rates of a schedule depend on the length of the run.
func Ends(schedule string) bool {
	name, _, given := strings.Cut(schedule, ":")
	return name != "constant" && !given
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

// pace returns the learning rate of step t, counted from 0, times 1/(1−momentum):
// the factor by which a gradient that stays the same moves the parameters.
func (s Settings) pace(t int) float64 { return s.rateAt(t) / (1 - s.Momentum) }

// An optimizer turns the two phases into a change of the parameters, all of it in
// one pass over them (rbm.Ascent).
type optimizer struct {
	settings Settings
	group    *ranks.Group
	ascent   rbm.Ascent
	momentum *rbm.Momentum   // the rule of the ascent, if there is momentum
	average  *rbm.RBM        // whose parameters are the moving average of the model's, if they are averaged
	averaged *rbm.Parameters // these

	visibleMean, hiddenMean []float64 // of a batch, if centred
}

// newOptimizer returns the optimizer of m on set.
func newOptimizer(s Settings, m *rbm.RBM, set *data.Set) *optimizer {
	o := &optimizer{settings: s}
	a := &o.ascent
	if s.Center > 0 {
		a.Mu = VisibleMean(set, m.Classes())
		a.Lambda = make([]float32, m.Hidden())
		for j := range a.Lambda {
			a.Lambda[j] = 0.5
		}
		o.visibleMean, o.hiddenMean = make([]float64, m.Visible()), make([]float64, m.Hidden())
	}
	a.Rule = s.Rule
	if s.Momentum > 0 {
		o.momentum = &rbm.Momentum{Friction: float32(1 - s.Momentum)} // as float32(momentum) would spoil 1/(1−momentum)
		a.Rule = o.momentum
	}
	if a.Rule != nil {
		for range a.Rule.Slots() {
			a.Slots = append(a.Slots, rbm.NewParameters(m))
		}
	}
	if s.LearnPrecision {
		a.ParamRates = learned(m, set)
	}
	if s.Average > 0 {
		o.average = m.Clone()
		o.averaged = o.average.Parameters()
		a.AverageShare = float32(1 - s.Average)
	}
	if s.smallSteps() {
		a.Rest = rbm.NewParameters(m)
	}
	if s.Average > 1-smallShare {
		a.AverageRest = rbm.NewParameters(m)
	}
	return o
}

// learned returns the factors of the rate at which precisions of m move: 1, but 0 in constant
// columns of set, of which the likelihood would grow without bound.
func learned(m *rbm.RBM, set *data.Set) []float32 {
	rates := make([]float32, m.Visible())
	for i := range rates {
		if i >= len(set.Deviations) || set.Deviations[i] > 0 {
			rates[i] = 1
		}
	}
	return rates
}

const (
	// smallRate is the learning rate below which each parameter has a second
	// word: a float32 that keeps what rounding leaves of the parameter's steps
	// and adds it to later ones. A float32 of size 1 to 2 takes steps of 6·10⁻⁸ or more: at this rate,
	// those along a gradient above 10⁻⁴. Exact training of a toy model with weights of that size
	// (40/rate steps) without a second word had an error of 8·10⁻⁵ of its path at rate 10⁻³, and of
	// 10⁻³ at rate 10⁻⁴. With minibatches the error is smaller, because their noise carries steps over
	// the threshold.
	smallRate = 5e-4
	// smallShare is the least share of new parameters in a step of their moving
	// average (1 − Settings.Average) for which the average needs no second word.
	smallShare = 1e-3
)

// smallDecay is the step of a weight of size 1, in one update by weight decay,
// below which the parameters have a second word. It is 64 times the last bit of
// such a weight, so that rounding takes at most a hundredth of a larger step. The
// gradient's noise does not help, because decay is a separate step.
const smallDecay = 0x1p-17

// smallSparse is the step of a hidden bias by sparsity below which the parameters
// have a second word: 64 times the last bit of a bias of size 8 to 16, as far down as
// sparsity drives biases. It is a separate step, like decay.
const smallSparse = 0x1p-14

// smallSteps reports whether the parameters need second words because their steps
// are small in half of the run or more: steps along the gradient, which momentum
// multiplies by 1/(1−momentum), or steps of weight decay or of sparsity.
func (s Settings) smallSteps() bool {
	name, _, given := strings.Cut(s.Schedule, ":")
	if name == "inverse" && given {
		// The rates do not depend on the length of the run, and a run that is made
		// longer must have the bits of one that was as long from the start.
		return true
	}
	pace := s.pace(s.Horizon / 2)
	small := func(penalty float64) bool { return penalty > 0 && pace*penalty < smallDecay }
	sparse := s.Sparse * s.rateAt(s.Horizon/2) / s.Rate
	return pace < smallRate || small(s.L1) || small(s.L2) || sparse > 0 && sparse < smallSparse
}

// ascend moves m by step t, along pos − share·neg, and then the average, if there is one, towards m. If
// later is set the average stays, because the step may be retracted. The gradient is centred at the
// means of batch, the minibatch.
func (o *optimizer) ascend(m *rbm.RBM, t int, batch, pos rbm.Batch, share float32, neg rbm.Phase, later bool) error {
	s, a := o.settings, &o.ascent
	if a.Mu != nil {
		o.slide(batch)
	}
	// Momentum lengthens every step along the gradient by 1/(1−momentum); the
	// penalty's step must keep pace, or it would count for less.
	pace := s.pace(t)
	a.Update, a.L1, a.L2 = t, float32(pace*s.L1), float32(pace*s.L2)
	if s.Sparse > 0 {
		// In proportion to the rate, or it would outweigh the gradient where the rate
		// reaches zero.
		a.Sparse = float32(s.Sparse * s.rateAt(t) / s.Rate)
	}
	a.Average = o.averaged
	if later {
		a.Average = nil
	}
	return o.climb(m, float32(s.rateAt(t)), share, rbm.Phase{Batch: pos}, neg)
}

// follow moves the average, if there is one, towards m, after a step that may have been
// retracted.
func (o *optimizer) follow(m *rbm.RBM) {
	if o.averaged != nil {
		o.averaged.Approach(o.ascent.AverageShare, m.Parameters(), o.ascent.AverageRest)
	}
}

// retract takes the share back of the step t along the gradient that ascend made
// last, of which left is still made. Decay and sparseness stay. What is left of the velocity
// shrinks with the step.
func (o *optimizer) retract(m *rbm.RBM, t int, pos rbm.Batch, share float32, neg rbm.Phase, back, left float64) error {
	a := &o.ascent
	if o.momentum != nil {
		velocity := a.Slots[0]
		m.Parameters().Add(-float32(back/left), velocity, a.Rest)
		velocity.Shrink(float32(back / left))
		return nil
	}
	a.L1, a.L2, a.Sparse, a.Average = 0, 0, 0, nil
	return o.climb(m, float32(-back*o.settings.rateAt(t)), share, rbm.Phase{Batch: pos}, neg)
}

// leastOffset is the size below which an offset counts as zero: products with
// it would end among the subnormal numbers, which are slow to compute with.
const leastOffset = 0x1p-40

// slide moves the offsets towards the means of the batch, before the gradient
// is centred (Melchior, Fischer & Wiskott 2016, Algorithm 1). The plain
// parameters that we keep need no correction then: the distribution does not change.
func (o *optimizer) slide(pos rbm.Batch) {
	pos.Means(o.visibleMean, o.hiddenMean)
	slideTo(o.ascent.Mu, o.visibleMean, o.settings.Center)
	slideTo(o.ascent.Lambda, o.hiddenMean, o.settings.Center)
}

// slideTo moves each offset by this share of its way to the mean.
func slideTo(offsets []float32, mean []float64, share float64) {
	for i, x := range offsets {
		to := float64(x) + float64(share*(mean[i]-float64(x)))
		if to < leastOffset && to > -leastOffset {
			to = 0
		}
		offsets[i] = float32(to)
	}
}
