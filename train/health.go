package train

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// A Health watches a run for what does not get well without help: hidden units that no
// longer answer to the data, weights that grow without end, and a likelihood that
// falls. It reports each of these once while the run trains, and judges again at the end.
type Health struct {
	// Stops reports that the run ends where the rows held out get no better, so that
	// no warning advises it.
	Stops bool

	goal  Column // what training is to better; without a name it is not watched
	run   Settings
	parts []measuredSet          // of the data; the first is trained on
	law   func() (float64, bool) // the log-likelihood of the training rows by the distribution of the data, if that is known
	batch int

	trainer     *Trainer // of the run: see Watch
	steps       int      // of the run
	likelihood  *Metric  // the log-likelihood; nil: it is not measured
	every       int      // steps between measurements of an exact one; 0: it is not exact
	otherwise   bool     // training does not serve the likelihood
	enumeration float64  // terms of one
	HealthState
}

// A HealthState is what the next warnings depend on in addition to the run. It is saved with
// it, as JSON.
type HealthState struct {
	Checked  int       `json:"checked"`          // step at which the units were looked at
	Initial  float64   `json:"initial"`          // largest parameter before the first step
	Values   []float64 `json:"values,omitempty"` // of the goal, the last ones; more is better
	First    float64   `json:"first"`            // value of the goal
	Best     float64   `json:"best"`             // and its best one
	BestStep int       `json:"best_step"`        //
	Below    int       `json:"below"`            // values in a row far below the best
	Found    []Warning `json:"found,omitempty"`  // what is wrong with units and weights, at step Checked, and with the goal

	Train  track     `json:"train"`            // the log-likelihood of the training rows
	Other  track     `json:"other"`            // and of others
	Pseudo track     `json:"pseudo"`           // the pseudo-likelihood of others
	Recent []float64 `json:"recent,omitempty"` // the last values of Train
	Open   []Warning `json:"open,omitempty"`   // what was told and is judged again at the end
	Trial  *Trial    `json:"trial,omitempty"`  // the last one
}

const (
	// healthShare bounds the cost of looking at the units, a pass over some rows of the data: it is made
	// after updates on healthShare times as many rows.
	healthShare = 32
	// healthRows is the largest number of rows of the pass.
	healthRows = 1000
	// deadMean is the mean p(h=1|v) over rows below which a unit is dead, and so is one
	// as near to 1.
	deadMean = 1e-3
	// deadShare is the share of dead units from which a warning is worth while. A few
	// are found in many good models.
	deadShare = 0.25
	// largeWeight is a size of weights beyond any that training needs: in float32
	// σ(x) is 1 from x = 17 on, so that one input alone decides over a unit six times over.
	largeWeight = 100
	// The likelihood falls if its last fallPoints values are below the best one by more than
	// fallSpreads times their spread and by more than the fraction fallShare of all that was gained.
	fallPoints, fallSpreads, fallShare = 5, 5.0, 0.1
	// spreadPoints is the number of last values whose spread is taken.
	spreadPoints = 20
)

// NewHealth returns what watches runs of m on set with these settings. goal is the column
// of the metric that training is to better, or has no name.
func NewHealth(s Settings, set Sets, m *rbm.RBM, goal Column) *Health {
	if s.Objective != "" && s.Objective != Joint { // which trades the likelihood for classes
		goal = Column{}
	}
	key := rbm.NewKey(s.Seed).Child(metricKey).Child(healthKey)
	h := &Health{goal: goal, run: s, batch: s.Batch, parts: set.parts(m, func(uint64) rbm.Key { return key })}
	h.law = sync.OnceValues(func() (float64, bool) { return LawLikelihood(set.Train, m.Classes() > 0) })
	if e, err := exact.New(m, exact.EvaluationLimit); err == nil {
		h.enumeration = e.Work()
	}
	return h
}

// Warnings takes the evaluation e of m and returns new warnings about its units, its weights and the
// goal. At the end of the run, if end is set, it returns nothing: see Final.
func (h *Health) Warnings(e Evaluation, m *rbm.RBM, end bool) (all []Warning) {
	h.add(e)
	h.Found = slices.DeleteFunc(h.Found, func(w Warning) bool { return w.Kind == GoalKind })
	if h.likelihood == nil || h.Train.N == 0 { // which else decides: see Early
		h.find(GoalKind, h.falling(e.Step, m))
	}
	rows := h.parts[0].rows(m, productWork)
	rows = rows[:min(len(rows), healthRows)]
	if e.Step == 0 || end || (e.Step-h.Checked)*h.batch >= healthShare*len(rows) {
		h.check(e.Step, m, rows)
	}
	if end {
		return nil
	}
	for _, w := range h.Found {
		if !h.open(w.Kind) {
			all = append(all, w)
		}
	}
	h.Open = append(h.Open, all...)
	return all
}

// find adds a warning to what is found, unless its text is empty.
func (h *Health) find(kind, text string) {
	if text != "" {
		h.Found = append(h.Found, Warning{kind, text})
	}
}

// check looks at the weights of m and at its units given these rows.
func (h *Health) check(step int, m *rbm.RBM, rows []int32) {
	h.Checked = step
	h.Found = slices.DeleteFunc(h.Found, func(w Warning) bool { return w.Kind != GoalKind })
	large, bias := m.LargestSize()
	if step == 0 {
		h.Initial = min(max(large, bias), math.MaxFloat64) // as JSON has no infinity
		if math.IsNaN(h.Initial) {
			h.Initial = math.MaxFloat64
		}
	}
	switch {
	case large <= largeWeight, math.IsNaN(large), math.IsInf(large, 0): // the next step says what is not finite
	case h.Initial > largeWeight:
		h.find(WeightsKind, fmt.Sprintf("the run began with parameters up to %.3g: inputs decide over units at once, and learning hardly changes them; start from another -init, a smaller -rate will not help", h.Initial))
	default:
		h.find(WeightsKind, fmt.Sprintf("weights explode: at step %d the largest is %.3g, and beyond %d single inputs decide over units; a smaller -rate%s or some -l2 keeps them small", step, large, largeWeight, h.linear()))
	}
	if m.RealHidden() { // which are neither on nor off
		return
	}
	if dead := deadUnits(m, h.parts[0], rows); float64(dead) >= deadShare*float64(m.Hidden()) && dead > 1 {
		text := fmt.Sprintf("%d of %d hidden units are dead at step %d: given training rows they are on, or off, with a mean probability below %g, so that they learn nothing from the data; ", dead, m.Hidden(), step, deadMean)
		if step == 0 {
			text += "start from another -init"
		} else {
			text += "a smaller -rate keeps them alive, in a new run"
		}
		h.find(DeadKind, text)
	}
}

// linear names the schedule that a warning advises, where the run has none that ends.
func (h *Health) linear() string {
	if Ends(h.run.Schedule) {
		return ""
	}
	return ", -schedule linear"
}

// add takes in the value of the goal.
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

// spread returns the standard deviation of values about a curve: of their second
// differences, which a slope does not enter. Those of independent values have six
// times their variance. It is +Inf of too few.
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

// falling returns the warning of a likelihood that falls, or "".
func (h *Health) falling(step int, m *rbm.RBM) string {
	if h.Below < fallPoints || len(h.Values) == 0 || h.Best == h.First { // never better than at first is reported at the end
		return ""
	}
	last, best := h.Values[len(h.Values)-1], h.Best
	if h.goal.Smaller {
		last, best = -last, -best
	}
	return fmt.Sprintf("training makes the model worse: %s_train is %.5g at step %d and was %.5g at step %d; usually the rate is too large for the end of a run, or the chains no longer follow the model; what helps is %s",
		h.goal.Name, last, step, best, h.BestStep, advice(h.run, m))
}

// BeganLarge returns the size of the largest parameter before the first step, and
// whether it is so large that units do not follow their inputs. A smaller rate does
// not cure that.
func (h *Health) BeganLarge() (size float64, large bool) {
	return h.Initial, h.Initial > largeWeight
}

// deadUnits returns the number of hidden units whose mean p(h=1|v) over these rows is
// within deadMean of 0 or 1.
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
