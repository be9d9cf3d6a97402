package train

import (
	"math"
	"slices"
	"sync"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/finitejson"
)

// A Health watches a run for faults that do not pass without a change of settings: hidden units that no
// longer respond to the data, weights that grow without bound, and a likelihood that falls. It reports each
// fault once during the run, and judges again at the end.
type Health struct {
	// Stops is true if the run ends early when the held-out rows no longer improve. Warnings then do not
	// advise to stop early.
	Stops bool
	// TrialTerms bounds the number of terms in the enumerations of all trials: see Trial.
	TrialTerms float64

	goal  Column // column that training should improve; without a name it is not watched
	run   Settings
	parts []measuredSet          // parts of the data; the first is trained on
	truth func() (float64, bool) // mean log-likelihood of the training rows under the distribution of the data, if that is known
	batch int

	trainer     *Trainer // trainer of the run: see Watch
	steps       int      // length of the run
	likelihood  *Metric  // the metric log_likelihood; nil: it is not measured
	every       int      // steps between measurements of an exact log-likelihood; 0: it is not exact
	otherwise   bool     // the objective is not the likelihood
	enumeration float64  // number of terms of an exact log Z
	HealthState
}

// A HealthState is what later warnings depend on in addition to the model and the settings. It is saved
// with the run, as JSON.
type HealthState struct {
	Checked  int               `json:"checked"`          // step of the last check of units and weights
	Initial  finitejson.Number `json:"initial"`          // size of the largest parameter before the first step
	Values   []float64         `json:"values,omitempty"` // last values of the goal, negated if lower is better
	First    float64           `json:"first"`            // first value of the goal
	Best     float64           `json:"best"`             // best value of the goal
	BestStep int               `json:"best_step"`        // step of Best
	Below    int               `json:"below"`            // number of successive last values that are far below Best
	Found    []diag.Warning    `json:"found,omitempty"`  // current warnings about units, weights and the goal

	Train  track          `json:"train"`            // log-likelihood of the training rows
	Other  track          `json:"other"`            // log-likelihood of rows that are not trained on
	Pseudo track          `json:"pseudo"`           // pseudo-likelihood of rows that are not trained on
	Recent []float64      `json:"recent,omitempty"` // last values of Train
	Open   []diag.Warning `json:"open,omitempty"`   // warnings that were reported and are judged again at the end
	Trial  *Trial         `json:"trial,omitempty"`  // last trial
	Terms  float64        `json:"terms,omitempty"`  // number of terms that the trials summed
}

const (
	// healthShare bounds the cost of a check of the units, a pass over a sample of rows. Between checks,
	// updates process at least healthShare times as many rows.
	healthShare = 32
	// healthRows is the largest size of the sample.
	healthRows = 1000
	// A unit is dead if its mean p(h=1|v) over rows is below deadMean or above 1 − deadMean.
	deadMean = 1e-3
	// deadShare is the smallest fraction of dead units that causes a warning. Many good models have a few
	// dead units.
	deadShare = 0.25
	// largeWeight is larger than any weight that training needs. In float32 σ(x) is 1 from x = 17 on, so
	// that a single input with a sixth of this weight already fixes the state of a unit.
	largeWeight = 100
	// The likelihood falls if its last fallPoints values are far below the best one: by more than
	// fallSpreads times the spread of the values, and by more than the fraction fallShare of the gain from
	// the first value to the best.
	fallPoints, fallSpreads, fallShare = 5, 5.0, 0.1
	// spreadPoints is the number of last values that the spread is computed from.
	spreadPoints = 20
)

// NewHealth returns a Health for a run of m on set with settings s. goal is the column that training should
// improve; a column without a name is not watched.
func NewHealth(s Settings, set Sets, m *rbm.RBM, goal Column) *Health {
	if s.Objective != "" && s.Objective != Joint { // these objectives trade likelihood for classification
		goal = Column{}
	}
	key := rbm.NewKey(s.Seed).Child(metricKey).Child(healthKey)
	h := &Health{TrialTerms: 2 * trialWork, goal: goal, run: s, batch: s.Batch, parts: set.parts(m, func(uint64) rbm.Key { return key })}
	h.truth = sync.OnceValues(func() (float64, bool) { return TrueLikelihood(set.Train, m.Classes() > 0) })
	if e, err := exact.New(m, exact.EvaluationLimit); err == nil {
		h.enumeration = e.Work()
	}
	return h
}

// Warnings records the evaluation e of m and returns new warnings about units, weights and the goal. If end
// is set the run has ended, and Warnings returns none, because Final returns them.
func (h *Health) Warnings(e Evaluation, m *rbm.RBM, end bool) (all []diag.Warning) {
	h.add(e)
	h.Found = slices.DeleteFunc(h.Found, func(w diag.Warning) bool { return w.Kind == GoalKind })
	if h.likelihood == nil || h.Train.N == 0 { // otherwise the likelihood decides: see Early
		h.falling(e.Step, m)
	}
	rows := h.parts[0].rows(m, productWork)
	rows = rows[:min(len(rows), healthRows)]
	if e.Step == 0 || end || (e.Step-h.Checked)*h.batch >= healthShare*len(rows) {
		h.check(e.Step, m, rows)
	}
	if end {
		return nil
	}
	return h.Report(h.Found...)
}

// Report returns the warnings of kinds that were not reported before, and records that they are reported.
func (h *Health) Report(found ...diag.Warning) (all []diag.Warning) {
	for _, w := range found {
		if !h.open(w.Kind) {
			all = append(all, w)
		}
	}
	h.Open = append(h.Open, all...)
	return all
}

// check replaces the warnings about the weights of m and about its units, which it tests on the given rows.
func (h *Health) check(step int, m *rbm.RBM, rows []int32) {
	h.Checked = step
	h.Found = slices.DeleteFunc(h.Found, func(w diag.Warning) bool { return w.Kind != GoalKind })
	large, bias := m.LargestSize()
	if step == 0 {
		h.Initial = finitejson.Number(max(large, bias))
	}
	numbers := diag.Numbers{"step": float64(step), "largest": large, "initial": float64(h.Initial), "limit": largeWeight}
	switch {
	case large <= largeWeight, math.IsNaN(large), math.IsInf(large, 0): // Trainer.Run reports parameters that are not finite
	case !(h.Initial <= largeWeight):
		h.Found = append(h.Found, diag.Warning{Kind: LargeStartKind, Numbers: numbers, Help: []diag.Remedy{AnotherStart}})
	default:
		h.Found = append(h.Found, diag.Warning{Kind: WeightsKind, Numbers: numbers, Help: append(smallerRate(h.run), WeightDecay)})
	}
	if m.RealHidden() { // real units are neither on nor off
		return
	}
	if dead := deadUnits(m, h.parts[0], rows); float64(dead) >= deadShare*float64(m.Hidden()) && dead > 1 {
		w := diag.Warning{Kind: DeadKind, Numbers: diag.Numbers{"dead": float64(dead), "hidden": float64(m.Hidden()), "step": float64(step), "limit": deadMean}}
		if w.Help = []diag.Remedy{SmallerRate}; step == 0 {
			w.Help = []diag.Remedy{AnotherStart}
		}
		h.Found = append(h.Found, w)
	}
}

// add records the value of the goal.
func (h *Health) add(e Evaluation) {
	v, ok := e.Value(h.goal.Name + "_train")
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if h.goal.Smaller {
		v = -v
	}
	if len(h.Values) == 0 {
		h.First, h.Best, h.BestStep = v, v, e.Step
	}
	if h.Values = append(h.Values, v); len(h.Values) > spreadPoints {
		h.Values = h.Values[1:]
	}
	if v > h.Best {
		h.Best, h.BestStep = v, e.Step
	}
	if lost := h.Best - v; lost > fallSpreads*spread(h.Values) && lost > fallShare*(h.Best-h.First) {
		h.Below++
	} else {
		h.Below = 0
	}
}

// spread returns the standard deviation of the noise of values about a smooth curve, or +Inf for fewer than
// four values. A slope cancels in second differences, and the second differences of independent values have
// six times the variance of the values.
func spread(values []float64) float64 {
	var second []float64
	for i := 2; i < len(values); i++ {
		second = append(second, values[i]-2*values[i-1]+values[i-2])
	}
	if len(second) < 2 {
		return math.Inf(1)
	}
	mean, variance := diag.MeanVariance(second)
	return math.Sqrt((variance + float64(mean*mean)) / 6)
}

// falling adds a warning to h.Found if the goal gets worse.
func (h *Health) falling(step int, m *rbm.RBM) {
	if h.Below < fallPoints || len(h.Values) == 0 || h.Best == h.First { // a run that never improves is reported at the end
		return
	}
	last, best := h.Values[len(h.Values)-1], h.Best
	if h.goal.Smaller {
		last, best = -last, -best
	}
	h.Found = append(h.Found, diag.Warning{Kind: GoalKind, Of: []string{h.goal.Name + "_train"}, Help: advice(h.run, m),
		Numbers: diag.Numbers{"last": last, "step": float64(step), "best": best, "best_step": float64(h.BestStep)}})
}

// BeganLarge returns the size of the largest parameter before the first step, and whether it is so large
// that a single input fixes the state of a unit. A smaller rate does not cure that.
func (h *Health) BeganLarge() (size float64, large bool) {
	return float64(h.Initial), !(h.Initial <= largeWeight)
}

// deadUnits returns the number of hidden units whose mean p(h=1|v) over the given rows is within deadMean
// of 0 or 1.
func deadUnits(m *rbm.RBM, p measuredSet, rows []int32) (dead int) {
	if len(rows) == 0 {
		return 0
	}
	mean := rbm.NewMatrix(len(rows), m.Hidden())
	m.HiddenMean(mean, p.set.Rows(rows, m.Classes()))
	sum := make([]float64, m.Hidden())
	for r := range rows {
		for j, x := range mean.Row(r) {
			sum[j] += float64(x)
		}
	}
	for _, s := range sum {
		if at := s / float64(len(rows)); at < deadMean || at > 1-deadMean {
			dead++
		}
	}
	return dead
}
