package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/negphase"
	"gorbm/negphase/diag"
)

// Kinds of warnings about a run, which has at most one of each at a time. Those about chains are in package
// diag.
const (
	FallKind    diag.Kind = "fall"    // the log-likelihood of the training rows fell
	OverfitKind diag.Kind = "overfit" // the likelihood of held-out or test rows fell
	ShortKind   diag.Kind = "short"   // the log-likelihood of the training rows ends far below that of the data's distribution
	GoalKind    diag.Kind = "falling" // another goal of training got worse
	WeightsKind diag.Kind = "weights" // weights are so large that single inputs fix the states of units
	DeadKind    diag.Kind = "dead"    // hidden units do not respond to the data

	WorseKind     diag.Kind = "worse"     // a goal of training is worse than before the first step
	UntrainedKind diag.Kind = "untrained" // no step was better on the rows held out than the start
	NeverKind     diag.Kind = "never"     // classes of unequal size, some of which are never predicted

	LargeStartKind diag.Kind = "large_start" // the run began with parameters as large as those of WeightsKind
)

// Causes of warnings. A Trial decides between the first four.
const (
	LagCause       diag.Kind = "cause_lag"        // the chains lag behind the model
	ShortCause     diag.Kind = "cause_short"      // the chains are too short
	RateCause      diag.Kind = "cause_rate"       // the rate is too high
	NotChainsCause diag.Kind = "cause_not_chains" // not the chains
	ExactRateCause diag.Kind = "cause_exact_rate" // the rate, because the negative phase is exact
	UntestedCause  diag.Kind = "cause_untested"   // the chains or the rate
)

const (
	// A log-likelihood has fallen if it is below its best by more than fallNats, in nats a row, plus
	// fallErrors standard errors of the estimates.
	fallNats, fallErrors = 1, 2
	// An exact log-likelihood is measured watchPoints times in a run, or less often if that would take
	// 1/watchShare of the work of the updates. 120 runs ended a nat below the best of 200 measurements.
	// With 20 measurements the loss would not have been seen in 11 of these runs, with 50 in 4, and with
	// 100 in 2.
	watchPoints, watchShare = 100, 10
	// A loss is reported once it has lasted for 1/lastShare of the run. Of 268 lasting losses, 263 are then
	// reported within a tenth of the run after they began. With a lastShare of 20, 258 are; with larger
	// ones, more reports are withdrawn later. A loss must also have lasted for leastLoss steps, because
	// runs of a few hundred steps lose and regain a nat within tens of steps.
	lastShare, leastLoss = 30, 50
	// A Trial measures its log-likelihood trialPoints times, in its second half. It compares the mean of
	// these values with the mean of the run's last recentPoints measurements.
	recentPoints, trialPoints = 5, 8
	// A trial has 1/trialShare as many steps as the run, within the bounds someTrial and mostTrial, or
	// fewer if its work is limited, but at least leastTrial. In seven runs at usual rates that lost because
	// of their chains, trials of 25 updates recovered 0.35 of the loss or more. They blamed the chains, as
	// trials of 170 or 500 updates did.
	trialShare, someTrial, mostTrial, leastTrial = 20, 100, 500, 25
	// trialWork bounds the number of terms in the enumerations of a trial, which then take two or three
	// seconds of a core with AVX-512.
	trialWork = 1 << 30
	// trialGain is the fraction of the loss that a trial must recover if the chains are to blame. In 12 of
	// 15 runs that lost because of their chains, trials recovered 0.26 or more. In 9 runs that lost as much
	// with the exact negative phase, no trial recovered anything.
	trialGain = 0.2
	// A log-likelihood still rises if in the last recentPoints measurements it rose by the fraction
	// risingShare of its distance from TrueLikelihood. At that pace, a run of twice as many steps would
	// reach TrueLikelihood.
	risingShare = 0.05
	// Runs of fewer than shortSteps steps are not judged to end short: they have hardly begun, and a trial
	// of someTrial updates would be a large part of them.
	shortSteps = 1000
	// The log-likelihood decides whether a run went wrong if it was measured in the last 1/knownShare of
	// the run.
	knownShare = 5
)

// A track follows the log-likelihood, or pseudo-likelihood, of a part of the data during a run.
type track struct {
	Best     float64 `json:"best"`                   // highest value, in nats a row
	BestErr  float64 `json:"best_std_err,omitempty"` // standard error of Best
	BestStep int     `json:"best_step"`              // step of Best
	BestGap  float64 `json:"best_gap,omitempty"`     // value of the training rows minus that of this part, at BestStep
	Last     float64 `json:"last"`
	LastErr  float64 `json:"last_std_err,omitempty"`
	LastStep int     `json:"last_step"`
	LastGap  float64 `json:"last_gap,omitempty"` // the same difference, at LastStep
	Since    int     `json:"since,omitempty"`    // step since which it has been below its best; 0: it is not below
	N        int     `json:"n"`                  // number of measurements
}

// add records a measurement. loss reports whether the track is now below its best.
func (k *track) add(step int, v, gap, stdErr float64, loss func(k *track) bool) {
	k.Last, k.LastErr, k.LastStep, k.LastGap = v, stdErr, step, gap
	if k.N++; k.N == 1 || v > k.Best {
		k.Best, k.BestErr, k.BestStep, k.BestGap = v, stdErr, step, gap
	}
	switch {
	case !loss(k):
		k.Since = 0
	case k.Since == 0:
		k.Since = step
	}
}

// fell reports whether the likelihood is below its best by more than fallNats and chance.
func (k *track) fell() bool {
	return k.Best-k.Last > fallNats+fallErrors*math.Hypot(k.BestErr, k.LastErr)
}

// learnt reports whether the log-likelihood of the training rows is within fallNats and chance of
// TrueLikelihood, if that is known. Then nothing is wrong with the chains.
func (h *Health) learnt(k *track) bool {
	truth, ok := h.truth()
	return ok && k.Last >= truth-fallNats-float64(fallErrors*k.LastErr)
}

// lost reports whether the log-likelihood of the training rows fell and is below TrueLikelihood.
func (h *Health) lost(k *track) bool { return k.fell() && !h.learnt(k) }

// overfits reports whether the log-likelihood of rows that are not trained on is below its best, and
// their gap to the training rows has grown by fallNats. Log Z and its error cancel in the gap.
func (k *track) overfits() bool { return k.fell() && k.LastGap-k.BestGap > fallNats }

// lasts reports whether the loss has lasted for long enough to be reported.
func (k *track) lasts(steps int) bool {
	n := k.LastStep - k.Since
	return k.Since > 0 && n*lastShare >= steps && n >= leastLoss
}

// Watch sets the trainer of the run, its metrics and its length in steps. If log_likelihood is one of the
// metrics, that metric decides from then on whether the run goes wrong.
func (h *Health) Watch(t *Trainer, metrics []Metric, steps int) {
	h.trainer, h.steps, h.likelihood, h.every, h.otherwise = t, steps, nil, 0, false
	if o := t.settings.Objective; o != "" && o != Joint {
		h.otherwise = true
		return
	}
	at := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == "log_likelihood" })
	if at < 0 {
		return
	}
	h.likelihood = &metrics[at]
	if h.likelihood.Watch != nil { // an estimate, which only evaluations measure
		return
	}
	m, n := t.model, 0
	for _, p := range h.parts {
		n += len(p.freeEnergyRows(m, rowWork))
	}
	n += h.likelihood.Rows
	// An update has at least two passes over the weights for each row of the batch and for each chain.
	update := float64(2*(t.settings.Batch+max(t.settings.Batch, t.settings.Negative.Count("chains")))) * float64(m.Visible()*m.Hidden())
	measure := h.likelihood.Terms + float64(float64(n)*float64(m.Visible()*m.Hidden()))
	h.every = max(steps/watchPoints, int(watchShare*measure/update), 1)
}

// Observe measures an exact log-likelihood where it is due between evaluations, and returns new warnings.
// evaluations is the number of steps from one evaluation to the next.
func (h *Health) Observe(ctx context.Context, step, evaluations int) ([]diag.Warning, error) {
	if h.every == 0 || step%h.every != 0 || step%evaluations == 0 || step == h.steps {
		return nil, nil
	}
	values, err := h.likelihood.Measure(ctx, h.trainer.Model(), false)
	if err != nil {
		return nil, fmt.Errorf("step %d: %s: %w", step, h.likelihood.Name, err)
	}
	e := Evaluation{Step: step}
	for i, x := range values {
		e.Values = append(e.Values, Value{h.likelihood.Values[i], x})
	}
	return h.Early(ctx, e, nil)
}

// Early records the evaluation e, which v made, and returns new warnings about the metrics and the
// likelihood. v is nil for a measurement between evaluations; then there are no warnings about metrics.
// There are none about mixing if the likelihood decides.
func (h *Health) Early(ctx context.Context, e Evaluation, v *Evaluator) (all []diag.Warning, err error) {
	if h.follow(e); e.Step >= h.steps {
		return nil, nil // see Final
	}
	if h.Train.lasts(h.steps) && !h.open(FallKind) {
		w, err := h.fall(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	if k := h.other(); k.lasts(h.steps) && !h.open(OverfitKind) {
		all = append(all, h.overfit())
	}
	if v != nil {
		all = append(all, h.metricWarnings(v, false)...)
	}
	h.Open = append(h.Open, all...)
	return all, nil
}

// Final returns two lists at the end of a run: standing, the warnings that hold, the most important first, and
// withdrawn, the earlier warnings that no longer hold. v is the run's evaluator. others are standing warnings
// that Health does not find.
func (h *Health) Final(ctx context.Context, v *Evaluator, others ...diag.Warning) (standing, withdrawn []diag.Warning, err error) {
	if h.Decides() {
		judge := h.short
		if h.lost(&h.Train) {
			judge = h.fall
		}
		w, err := judge(ctx)
		if err != nil {
			return nil, nil, err
		}
		if w.Kind != "" {
			standing = append(standing, w)
		}
	}
	if k := h.other(); k.N > 0 && k.overfits() {
		standing = append(standing, h.overfit())
	}
	standing = slices.Concat(standing, h.metricWarnings(v, true), h.Found, others)
	for _, w := range h.Open {
		if !diag.Has(standing, w.Kind) {
			withdrawn = append(withdrawn, w)
		}
	}
	return standing, withdrawn, nil
}

func (h *Health) open(kind diag.Kind) bool { return diag.Has(h.Open, kind) }

// metricWarnings returns the warnings of metrics, except those about mixing if the likelihood decides.
func (h *Health) metricWarnings(v *Evaluator, end bool) (all []diag.Warning) {
	for _, w := range v.Warnings(end) {
		if !diag.OfChains(w.Kind) || !h.Decides() {
			all = append(all, w)
		}
	}
	return all
}

// Decides reports whether the log-likelihood of the training rows is known. Warnings about how the chains
// mix then do not count.
func (h *Health) Decides() bool {
	return h.likelihood != nil && h.Train.N > 1 && (h.trainer.step-h.Train.LastStep)*knownShare <= h.steps
}

// A BestValue is the best value of a column along a run, and its step.
type BestValue struct {
	Value float64 `json:"value"`
	Step  int     `json:"step"`
}

// BestLikelihoods returns the best log-likelihoods along the run, by the names of their columns, or nil if the log-likelihood
// does not decide. Like the warnings, it includes measurements between the evaluations.
func (h *Health) BestLikelihoods() map[string]BestValue {
	if !h.Decides() {
		return nil
	}
	best := map[string]BestValue{"log_likelihood_train": {h.Train.Best, h.Train.BestStep}}
	if h.Other.N > 0 {
		best["log_likelihood_"+h.parts[1].name] = BestValue{h.Other.Best, h.Other.BestStep}
	}
	return best
}

// other returns the track of rows that are not trained on: that of their log-likelihood if it is known, and
// otherwise of their pseudo-likelihood.
func (h *Health) other() *track {
	if h.Decides() {
		return &h.Other
	}
	return &h.Pseudo
}

// follow records the likelihoods of an evaluation.
func (h *Health) follow(e Evaluation) {
	value := func(name string) float64 {
		if v, ok := e.Value(name); ok && !math.IsInf(v, 0) {
			return v
		}
		return math.NaN()
	}
	part := ""
	if len(h.parts) > 1 {
		part = "_" + h.parts[1].name
	}
	if h.likelihood != nil {
		v, other, stdErr := value("log_likelihood_train"), value("log_likelihood"+part), 0.0
		if h.likelihood.Watch != nil {
			stdErr = value("log_likelihood_std_err")
		}
		if !math.IsNaN(v + stdErr) {
			h.Train.add(e.Step, v, 0, stdErr, h.lost)
			if h.Recent = append(h.Recent, v); len(h.Recent) > recentPoints {
				h.Recent = h.Recent[1:]
			}
			if !math.IsNaN(other) {
				h.Other.add(e.Step, other, v-other, stdErr, (*track).overfits)
			}
		}
	}
	if h.otherwise { // training does not maximise p(x)
		return
	}
	if v, other := value("pseudo_likelihood_train"), value("pseudo_likelihood"+part); !math.IsNaN(v + other) {
		gap := value("free_energy_gap")
		if math.IsNaN(gap) {
			gap = v - other
		}
		h.Pseudo.add(e.Step, other, gap, 0, (*track).overfits)
	}
}

// overfit returns the warning that the model overfits its training rows.
func (h *Health) overfit() diag.Warning {
	k, name := h.other(), "log_likelihood_"
	if k == &h.Pseudo {
		name = "pseudo_likelihood_"
	}
	w := diag.Warning{Kind: OverfitKind, Of: []string{name + h.parts[1].name},
		Numbers: diag.Numbers{"last": k.Last, "step": float64(k.LastStep), "best": k.Best, "best_step": float64(k.BestStep), "gap": k.LastGap - k.BestGap}}
	held := h.parts[1].name == "holdout"
	if held && k.BestStep > 0 {
		w.Help = append(w.Help, UseBest)
	}
	switch {
	case !held:
		w.Help = append(w.Help, HoldOut)
	case !h.Stops:
		w.Help = append(w.Help, StopAfter)
	}
	w.Help = append(w.Help, MoreRows, FewerHidden, WeightDecay)
	return w
}

// fall returns the warning that the log-likelihood fell, with the cause.
func (h *Health) fall(ctx context.Context) (diag.Warning, error) {
	k := h.Train
	t, err := h.trial(ctx, k.Best-Mean(h.Recent))
	if err != nil {
		return diag.Warning{}, err
	}
	if t.Updates > 0 {
		h.Trial = &t
	} else if h.Trial != nil && h.Trial.Step > 0 { // the rate has fallen to 0: use the trial from before
		t = *h.Trial
	}
	cause, help := h.blame(t)
	return diag.Warning{Kind: FallKind, Of: []string{"log_likelihood_train"}, Cause: &cause, Help: help,
		Numbers: diag.Numbers{"last": k.Last, "step": float64(k.LastStep), "best": k.Best, "best_step": float64(k.BestStep)}}, nil
}

// short returns a warning, with its cause, if the log-likelihood ends far below that of the distribution of
// the data and no longer rises. Otherwise the Warning has no kind.
func (h *Health) short(ctx context.Context) (diag.Warning, error) {
	k := h.Train
	truth, ok := h.truth()
	gap := truth - k.Last
	if !ok || h.steps < shortSteps || h.learnt(&k) || len(h.Recent) < recentPoints || k.Last-h.Recent[0] > gap*risingShare {
		return diag.Warning{}, nil
	}
	t, err := h.trial(ctx, gap)
	if err != nil {
		return diag.Warning{}, err
	}
	w := diag.Warning{Kind: ShortKind, Of: []string{"log_likelihood_train"}, Help: []diag.Remedy{MoreHidden, AnotherRate},
		Numbers: diag.Numbers{"last": k.Last, "step": float64(k.LastStep), "truth": truth}}
	switch {
	case t.Updates > 0 && t.recovers():
		var cause diag.Warning
		cause, w.Help = h.blame(t)
		w.Cause = &cause
	case t.Updates > 0:
		w.Cause = &diag.Warning{Kind: NotChainsCause, Numbers: t.numbers()}
	}
	return w, nil
}

// blame returns the cause of a loss of log-likelihood, and what helps. t is the trial of the loss, which has
// no updates if there was none.
func (h *Health) blame(t Trial) (cause diag.Warning, help []diag.Remedy) {
	s := h.run
	cause.Numbers = t.numbers()
	switch known := t.Updates > 0; {
	case s.Negative.Traits().Moments:
		cause.Kind = ExactRateCause
		return cause, append(smallerRate(h.run), LargerBatch)
	case known && !t.recovers():
		cause.Kind = RateCause
		return cause, append(smallerRate(h.run), LargerBatch)
	case !known:
		cause.Kind = UntestedCause
	case s.Negative.Persists():
		cause.Kind = LagCause
	default:
		cause.Kind = ShortCause
	}
	if !s.Negative.Persists() {
		return cause, Remedies(s, h.trainer.model)
	}
	return cause, advice(s, h.trainer.model)
}

// A Trial is the result of an experiment on a loss of log-likelihood. From Step on, a copy of the model was
// trained for Updates updates with the exact negative phase. They raised the mean log-likelihood of the
// training rows from From to From + Gain. Lost is the size of the loss. From, Gain and Lost are in nats a
// row.
type Trial struct {
	Step    int     `json:"step"`
	From    float64 `json:"from"`
	Gain    float64 `json:"gain"`
	Lost    float64 `json:"lost"`
	Updates int     `json:"updates"`
}

// numbers returns the numbers of a warning about the trial.
func (t Trial) numbers() diag.Numbers {
	if t.Updates == 0 {
		return nil
	}
	return diag.Numbers{"trial_step": float64(t.Step), "updates": float64(t.Updates), "from": t.From, "to": t.From + t.Gain}
}

// recovers reports whether the updates recovered enough of the loss to blame the chains for it.
func (t Trial) recovers() bool { return t.Gain >= trialGain*t.Lost }

// trial tests whether the chains are the cause of a loss of lost nats. It trains a copy of the present
// model with the exact negative phase, at the rate and on the batches of the run. It then compares the mean
// log-likelihood in the second half of these updates with the recent mean of the run. It makes no updates
// if the run itself has the exact negative phase, if the updates would take too long (see TrialTerms), or
// if the rate has fallen to 0.
func (h *Health) trial(ctx context.Context, lost float64) (Trial, error) {
	t := h.trainer
	s := t.settings
	rate := s.rateAt(t.step)
	if over := rate < s.Rate/100; over && h.lost(&h.Train) {
		return Trial{}, nil
	} else if over { // the model ended far below the data's distribution: see short
		rate = s.Rate / 2
	}
	if h.every == 0 || s.Negative.Traits().Moments || s.Average > 0 {
		return Trial{}, nil
	}
	steps := min(max(h.steps/trialShare, someTrial), mostTrial, int(min(trialWork, h.TrialTerms-h.Terms)/h.enumeration))
	if steps < leastTrial {
		return Trial{}, nil
	}
	h.Terms += float64(float64(steps) * h.enumeration)
	s.Rate, s.Schedule, s.Negative = rate, "constant", negphase.DefaultSettings("exact")
	exact, err := negphase.New(s.Negative)
	if err != nil {
		return Trial{}, nil
	}
	try, err := NewWith(exact, s, t.set, t.model.Clone())
	if err != nil {
		return Trial{}, nil
	}
	try.step = t.step
	sum := 0.0
	for i := range steps {
		if err := ctx.Err(); err != nil {
			return Trial{}, err
		}
		if _, err := try.Step(); err != nil {
			return Trial{}, nil
		}
		if left := steps - 1 - i; left < steps/2 && left%(steps/2/trialPoints) == 0 && left/(steps/2/trialPoints) < trialPoints {
			v, err := h.likelihood.Measure(ctx, try.Model(), false)
			if err != nil {
				return Trial{}, nil
			}
			sum += v[0]
		}
	}
	recent := Mean(h.Recent)
	return Trial{Step: t.step, From: recent, Gain: float64(sum/trialPoints) - recent, Lost: lost, Updates: steps}, nil
}
