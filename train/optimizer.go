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

// Schedules of the learning rate. The rate of step t of T is Settings.Rate times
//
//	constant    1
//	inverse:t0  1/(1 + t/t0), where t0 is T/10 if it is not given
//	linear      1 − t/T
//	cosine      (1 + cos(πt/T))/2
var schedules = []string{"constant", "inverse", "linear", "cosine"}

// CheckSchedule returns an error unless s is constant, inverse, inverse:STEPS, linear or cosine.
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

// pace returns the learning rate of step t, counted from 0, divided by 1 − momentum. Each step along a
// constant gradient tends to this factor times the gradient.
func (s Settings) pace(t int) float64 { return s.rateAt(t) / (1 - s.Momentum) }

// An optimizer updates the parameters from the two phases, in one pass over them (rbm.Ascent).
type optimizer struct {
	settings Settings
	group    *ranks.Group
	ascent   rbm.Ascent
	momentum *rbm.Momentum   // rule of the ascent; nil: no momentum
	average  *rbm.RBM        // model whose parameters are the moving average; nil: no averaging
	averaged *rbm.Parameters // parameters of average

	visibleMean, hiddenMean []float64 // means of a minibatch, for centring
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
		o.momentum = &rbm.Momentum{Friction: float32(1 - s.Momentum)} // not from float32(s.Momentum), whose rounding would change 1/(1−momentum)
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

// learned returns a factor of the learning rate for the precision of each visible unit: 1, but 0 in
// constant columns of set, where the likelihood would grow without bound.
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
	// smallRate is the learning rate below which each parameter has a second word: a float32 that collects
	// the rounding errors of the parameter's steps and adds them to later steps. A float32 between 1 and 2
	// changes by 6·10⁻⁸ or more; at this rate, gradients below 10⁻⁴ would change nothing. A toy model with
	// weights of that size was trained with the exact gradient for 40/rate steps. Without a second word the
	// result was wrong by 8·10⁻⁵ of the path of the parameters at rate 10⁻³, and by 10⁻³ at rate 10⁻⁴. With
	// minibatches the error is smaller, because their noise carries steps over the threshold.
	smallRate = 5e-4
	// smallShare is the weight of the new parameters in their moving average, 1 − Settings.Average, below
	// which the average has a second word too.
	smallShare = 1e-3
)

// smallDecay is the change of a weight of size 1, in one update by weight decay, below which the parameters
// have a second word. It is 64 times the last bit of such a weight, so that rounding changes a larger step
// by at most a hundredth. The noise of the gradient does not help, because decay is a separate step.
const smallDecay = 0x1p-17

// smallSparse is the change of a hidden bias, in one update by sparsity, below which the parameters have a
// second word. It is 64 times the last bit of a bias of size 8 to 16, the largest that sparsity leads to.
// Sparsity is a separate step, like decay.
const smallSparse = 0x1p-14

// smallSteps reports whether the parameters need second words, because their steps are small in half of the
// run or more. There are three kinds of steps: along the gradient (which momentum multiplies by
// 1/(1−momentum)), by weight decay, and by sparsity.
func (s Settings) smallSteps() bool {
	name, _, given := strings.Cut(s.Schedule, ":")
	if name == "inverse" && given {
		// The rates do not depend on the length of the run. A run that is extended must be identical to one
		// that had its length from the start.
		return true
	}
	pace := s.pace(s.Horizon / 2)
	small := func(penalty float64) bool { return penalty > 0 && pace*penalty < smallDecay }
	sparse := s.Sparse * s.rateAt(s.Horizon/2) / s.Rate
	return pace < smallRate || small(s.L1) || small(s.L2) || sparse > 0 && sparse < smallSparse
}

// ascend moves m by step t along the gradient, pos − share·neg, and then the average, if there is one,
// towards m. batch is the minibatch, whose means centre the gradient. If later is set the average stays,
// because the step may be retracted: see follow.
func (o *optimizer) ascend(m *rbm.RBM, t int, batch, pos rbm.Batch, share float32, neg rbm.Phase, later bool) error {
	s, a := o.settings, &o.ascent
	if a.Mu != nil {
		o.slide(batch)
	}
	// Momentum multiplies every step along the gradient by 1/(1−momentum). The steps of penalties are
	// multiplied too, because they would count for less otherwise.
	pace := s.pace(t)
	a.Update, a.L1, a.L2 = t, float32(pace*s.L1), float32(pace*s.L2)
	if s.Sparse > 0 {
		// Proportional to the rate, because it would outweigh the gradient as the rate reaches zero.
		a.Sparse = float32(s.Sparse * s.rateAt(t) / s.Rate)
	}
	a.Average = o.averaged
	if later {
		a.Average = nil
	}
	return o.climb(m, float32(s.rateAt(t)), share, rbm.Phase{Batch: pos}, neg)
}

// follow moves the average, if there is one, towards m, after a step that might have been retracted.
func (o *optimizer) follow(m *rbm.RBM) {
	if o.averaged != nil {
		o.averaged.Approach(o.ascent.AverageShare, m.Parameters(), o.ascent.AverageRest)
	}
}

// retract undoes the fraction back of the last step that ascend made along the gradient. left is the
// fraction of that step that is not undone yet. The steps of decay and sparsity stay. With momentum the
// velocity shrinks in proportion to the step.
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

// leastOffset is the size below which an offset is set to zero, because products with it may be subnormal
// numbers, which are slow.
const leastOffset = 0x1p-40

// slide moves the centring offsets towards the means of the batch, before the gradient is centred
// (Melchior, Fischer & Wiskott 2016, Algorithm 1). Their algorithm then corrects the biases. Our biases are
// those of the uncentred model and need no correction.
func (o *optimizer) slide(pos rbm.Batch) {
	pos.Means(o.visibleMean, o.hiddenMean)
	slideTo(o.ascent.Mu, o.visibleMean, o.settings.Center)
	slideTo(o.ascent.Lambda, o.hiddenMean, o.settings.Center)
}

// slideTo moves each offset by the fraction share of its distance to the mean.
func slideTo(offsets []float32, mean []float64, share float64) {
	for i, x := range offsets {
		to := float64(x) + float64(share*(mean[i]-float64(x)))
		if to < leastOffset && to > -leastOffset {
			to = 0
		}
		offsets[i] = float32(to)
	}
}
