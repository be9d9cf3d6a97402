package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Method is a protocol of tuning.
type Method string

const (
	// NoisyEI runs trials of one length, in batches: at the points of largest expected
	// improvement over the best posterior mean, where earlier points of the batch count
	// as observed at their mean. The reward is Rate. It ends with finals, by which the
	// settings before tuning stay unless others are clearly better: see finals.
	NoisyEI Method = "ei"
	// Paper is the protocol of the paper: trials of 100 moves, one after the
	// other, on one chain; the reward is Area, and the next point is that of the
	// largest expected improvement over the best observation, found by DIRECT. The
	// first ones are a Latin hypercube. Their program started in the middle of all
	// ranges instead and had fixed hyper-parameters.
	Paper Method = "paper"
)

// Options are the budget of Tune and the size of the policy.
type Options struct {
	Method      Method
	Seconds     float64 // computing time of all trials together; not for Paper
	Evaluations int     // trials of Paper, or of NoisyEI before the finals
	Moves       int     // of a trial of Paper
	Kernels     int     // of the policy
}

// DefaultOptions returns the budget of a method. Paper has that of its authors:
// the first 20,000 of 100,000 moves, and 1000 kernels.
func DefaultOptions(m Method) Options {
	if m == Paper {
		return Options{Method: m, Evaluations: 200, Moves: 100, Kernels: 1000}
	}
	return Options{Method: m, Seconds: 16, Evaluations: 40, Kernels: 100}
}

// Methods returns the names of all methods, the default first.
func Methods() []string {
	return []string{string(NoisyEI), string(Paper)}
}

// Check returns an error that names the option that is out of range.
func (o Options) Check() error {
	byTime := o.Method != Paper
	switch {
	case !slices.Contains(Methods(), string(o.Method)):
		return fmt.Errorf("unknown method %q of tuning", o.Method)
	case byTime && !(o.Seconds > 0 && !math.IsInf(o.Seconds, 1)):
		return fmt.Errorf("seconds is %v; it must be finite and above 0", o.Seconds)
	case o.Evaluations < 1 || o.Evaluations > maxEvaluations:
		return fmt.Errorf("evaluations is %d; it must lie in 1 … %d", o.Evaluations, maxEvaluations)
	case !byTime && (o.Moves < 2 || o.Moves > maxMoves):
		return fmt.Errorf("moves is %d; a trial has 2 … %d, of which the autocorrelation is taken", o.Moves, maxMoves)
	case o.Kernels < 1 || o.Kernels > maxKernels:
		return fmt.Errorf("kernels is %d; it must lie in 1 … %d", o.Kernels, maxKernels)
	}
	return nil
}

const (
	maxEvaluations = 2000   // the time of the Gaussian process grows with its cube
	maxMoves       = 10_000 // the time of Area grows with its cube
	maxKernels     = 10_000
)

// ErrBudget is wrapped by the error of Tune for a budget that is too small for
// trials.
var ErrBudget = errors.New("the budget is too small")

// A Result is what Tune found.
type Result struct {
	Trials  []Trial   // in the order in which they were proposed
	Finals  []Trial   // of the finals, which the model does not use
	Process *Process  // of the reward
	Best    []float64 // the best point by the model (see ranked; for Paper, the point of the largest posterior mean), or the sole winner of the finals
	Kernels []mcmc.Sardonics
	Points  [][]float64 // of the kernels
	// Untuned reports that the settings before tuning won the finals. They are then the
	// only kernel.
	Untuned bool
	// Computing times in seconds: of the moves of trials, of the moves before that bring the
	// lanes to equilibrium, and of the model, which is the Gaussian process, the maximisation
	// over it, and the policy.
	TrialSeconds, BurnSeconds, ModelSeconds float64
}

// A tuner is a run of Tune.
type tuner struct {
	*Problem
	Options
	lanes  []*lane
	result *Result
	hyper  Hyper
	all    [lanes][][]float64 // values of the observables on each lane, of all trials since it was burnt in
	fitted int                // observations at the last fit of hyper-parameters
	length float64            // seconds of the first trials of the finals
	nested int                // calls of modelling
	report func(done float64)
}

// Tune tries settings and returns a policy. It calls report now and then with
// the part that is done. If ctx ends, so does Tune, with its error.
func (p *Problem) Tune(ctx context.Context, o Options, report func(done float64)) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	t := &tuner{Problem: p, Options: o, result: new(Result), report: report}
	var err error
	if o.Method == Paper {
		err = t.paper(ctx)
	} else {
		err = t.batches(ctx)
	}
	if err == nil {
		err = t.learn()
	}
	if err == nil && o.Method != Paper {
		err = t.finals(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, trial := range slices.Concat(t.result.Trials, t.result.Finals) {
		t.result.TrialSeconds += trial.Seconds
	}
	t.report(1)
	return t.result, nil
}

func (t *tuner) dims() int { return len(t.Space.Ranges) }

// Rewards by time that are more than worst below the median count as worst below it, in units of e. A
// sampler ten times as slow as the median is as useless as one that does not move, and a model fitted to
// that difference would fit good settings poorly.
const worst = 2

// data returns the trials as observations.
func (t *tuner) data() []Observation {
	data := make([]Observation, len(t.result.Trials))
	for i, trial := range t.result.Trials {
		data[i] = Observation{At: trial.At, Value: trial.Reward}
	}
	if t.Method != Paper {
		var values []float64
		for _, o := range data {
			values = append(values, o.Value)
		}
		slices.Sort(values)
		for i := range data {
			data[i].Value = max(data[i].Value, values[len(values)/2]-worst)
		}
	}
	for i, o := range data {
		t.result.Trials[i].Modelled = o.Value
	}
	return data
}

// due reports whether n trials are a third more than at the last fit.
func (t *tuner) due(n int) bool { return t.fitted == 0 || n >= t.fitted+(t.fitted+2)/3 }

// model conditions the process on all trials. When a fit of the hyper-parameters
// is due, it searches from several starts while that is cheap, and from the last
// optimum afterwards.
func (t *tuner) model() error {
	defer t.modelling()()
	data := t.data()
	const cheap = 60 // observations: a fit then takes some 20 ms
	if n := len(data); t.due(n) {
		var starts []Hyper
		iterations := 10
		if t.fitted > 0 {
			starts = append(starts, t.hyper)
		}
		if t.fitted == 0 || n <= cheap {
			short := initial(t.dims())
			for d := range short.Length {
				short.Length[d] = 0.2
			}
			starts, iterations = append(starts, initial(t.dims()), short), 30
		}
		t.hyper, _ = Fit(data, iterations, starts...)
		t.fitted = n
	}
	p, err := Condition(t.hyper, data)
	if err != nil {
		return fmt.Errorf("%w, so there is no model of the rewards", err)
	}
	t.result.Process = p
	return nil
}

// modelling counts the time until the function it returns is called as that of the
// model. Calls within calls count once.
func (t *tuner) modelling() (done func()) {
	if t.nested++; t.nested > 1 {
		return func() { t.nested-- }
	}
	start := time.Now()
	return func() {
		t.nested--
		t.result.ModelSeconds += time.Since(start).Seconds()
	}
}

// ranked returns the points of all trials, those with the largest posterior mean
// less its standard deviation first. A maximum over all points would often lie
// where there was no trial, and be wrong.
func (t *tuner) ranked() (points [][]float64) {
	defer t.modelling()()
	value := make(map[*float64]float64) // by the first coordinate's place
	for _, trial := range t.result.Trials {
		mean, sd := t.result.Process.Predict(trial.At)
		value[&trial.At[0]] = mean - sd
		points = append(points, trial.At)
	}
	slices.SortStableFunc(points, func(a, b []float64) int { return cmp.Compare(value[&b[0]], value[&a[0]]) })
	return points
}

// surest returns the first of ranked.
func (t *tuner) surest() []float64 { return t.ranked()[0] }

// known reports whether the standard deviation at x is at most sd.
func (t *tuner) known(x []float64, sd float64) bool {
	if math.IsInf(sd, 1) {
		return true
	}
	_, here := t.result.Process.Predict(x)
	return here <= sd
}

// learn draws kernels from exp(mean/temperature) by a Metropolis walk from the best
// point. Every thin-th state is a kernel. The walk stays where trials say what the
// mean is: where its standard deviation is not much larger than at the start. The
// paper's walk goes everywhere, from the maximum of the mean.
func (t *tuner) learn() error {
	defer t.modelling()()
	if err := t.model(); err != nil {
		return err
	}
	// The paper's program: exp(10·mean), steps of 0.005 of the ranges, each of
	// 1000 states in a row. Rates are in units of e, and at a temperature of 0.02
	// a kernel loses about a hundredth of the rate for each parameter.
	temperature, step, thin := 0.02, 0.03, 20
	if t.Method == Paper {
		temperature, step, thin = 0.1, 0.005, 1
	}
	p := t.result.Process
	x := t.surest()
	if t.Method == Paper {
		x, _ = Direct(p.Mean, t.dims(), 2000)
	}
	t.result.Best = x
	value, known := p.Predict(x)
	known *= 1.25
	if t.Method == Paper {
		known = math.Inf(1)
	}
	r := t.Key.Child(policyKey).Child(1).Rand()
	for len(t.result.Kernels) < t.Kernels {
		for range thin {
			y, inside := slices.Clone(x), true
			for d := range y {
				y[d] += step * r.NormFloat64()
				inside = inside && 0 <= y[d] && y[d] <= 1
			}
			u := r.Float64()
			if !inside {
				continue
			}
			if v := p.Mean(y); u < rbm.Exp(min(0, (v-value)/temperature)) && t.known(y, known) {
				x, value = y, v
			}
		}
		t.result.Points = append(t.result.Points, x)
		t.result.Kernels = append(t.result.Kernels, t.Space.Mover(x))
	}
	return nil
}
