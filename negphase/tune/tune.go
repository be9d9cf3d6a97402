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
	// NoisyEI runs trials of equal computing time in batches, with the reward Rate. A point of a batch
	// has the largest expected improvement over the best posterior mean. For this, earlier points of
	// the batch count as observations equal to their posterior mean. The finals at the end keep the
	// settings before tuning, unless other settings are clearly better: see finals.
	NoisyEI Method = "ei"
	// Paper is the protocol of the paper. Trials of 100 moves run one after the
	// other on one chain, with the reward Area. The first points are a Latin hypercube. Each further
	// point has the largest expected improvement over the best reward, found by DIRECT. The authors'
	// program instead started in the middle of all ranges and had fixed hyper-parameters.
	Paper Method = "paper"
)

// Options are the budget of Tune and the size of the policy.
type Options struct {
	Method      Method
	Seconds     float64 // computing time of all trials together; not for Paper
	Evaluations int     // number of trials of Paper, or of NoisyEI before the finals
	Moves       int     // moves per trial of Paper
	Kernels     int     // number of kernels of the policy
}

// DefaultOptions returns the default budget of a method. Paper has the budget of its authors: the first
// 20,000 of 100,000 moves, and 1000 kernels.
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
	maxEvaluations = 2000   // the time of the Gaussian process grows with the cube of the number
	maxMoves       = 10_000 // the time of Area grows with the cube of the number
	maxKernels     = 10_000
)

// ErrBudget is wrapped by the error of Tune for a budget that is too small for
// trials.
var ErrBudget = errors.New("the budget is too small")

// A Result is the result of Tune.
type Result struct {
	Trials  []Trial   // in the order in which they were proposed
	Finals  []Trial   // trials of the finals, which the model does not use
	Process *Process  // model of the reward
	Best    []float64 // the winner's point if a single kernel won the finals; otherwise the best point by the model (see learn)
	Kernels []mcmc.Sardonics
	Points  [][]float64 // points of the kernels in the cube
	// Untuned reports that the settings before tuning won the finals. These settings are then the only
	// kernel.
	Untuned bool
	// Computing times in seconds. TrialSeconds is for the moves in trials, and BurnSeconds for the
	// burn-in of the lanes. ModelSeconds is for the Gaussian process, for maximising the expected
	// improvement, and for drawing the policy.
	TrialSeconds, BurnSeconds, ModelSeconds float64
}

// A tuner is the state of a call of Tune.
type tuner struct {
	*Problem
	Options
	lanes  []*lane
	result *Result
	hyper  Hyper
	all    [lanes][][]float64 // [lane][observable] values since the burn-in
	fitted int                // number of observations at the last fit of hyper-parameters
	length float64            // seconds of each trial in the first round of the finals
	nested int                // depth of nested calls of modelling
	report func(done float64)
}

// Tune tries settings and returns the kernels of a policy. It calls report repeatedly with
// the fraction of the work that is done. If ctx ends, Tune returns its error.
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

// worst limits how far a reward Rate lies below the median in the model. Smaller rewards are raised to
// this limit, a rate e² times below the median. A sampler ten times slower than the median is as
// useless as one that does not move, and a model fitted to such differences would fit good settings
// poorly.
const worst = 2

// data returns the trials as observations for the model.
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

// due reports whether the number n of trials has grown by a third since the last fit of hyper-parameters.
func (t *tuner) due(n int) bool { return t.fitted == 0 || n >= t.fitted+(t.fitted+2)/3 }

// model conditions the process on all trials, after a fit of the hyper-parameters if that
// is due. A fit starts from several points while there are few trials, and later from the last
// optimum alone.
func (t *tuner) model() error {
	defer t.modelling()()
	data := t.data()
	const cheap = 60 // the fit of this number of observations takes some 20 ms
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

// modelling adds the time until done is called to ModelSeconds. In nested calls the time counts once.
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

// ranked returns the points of all trials in descending order of posterior mean
// minus standard deviation. A maximum over the whole cube would often be wrong, far from any trial.
func (t *tuner) ranked() (points [][]float64) {
	defer t.modelling()()
	value := make(map[*float64]float64) // by the address of the first coordinate
	for _, trial := range t.result.Trials {
		mean, sd := t.result.Process.Predict(trial.At)
		value[&trial.At[0]] = mean - sd
		points = append(points, trial.At)
	}
	slices.SortStableFunc(points, func(a, b []float64) int { return cmp.Compare(value[&b[0]], value[&a[0]]) })
	return points
}

// learn draws kernels from exp(posterior mean/temperature) by a Metropolis chain. Every thin-th state is a
// kernel. For NoisyEI the chain starts at the first point of ranked, and is restricted to points where the
// standard deviation is not much larger than at the start. For Paper it starts at the maximum of the
// posterior mean, without this restriction.
func (t *tuner) learn() error {
	defer t.modelling()()
	if err := t.model(); err != nil {
		return err
	}
	// The paper's program draws from exp(10·mean) with steps of 0.005 of the ranges, and keeps
	// 1000 successive states. Rate is a natural logarithm, so at a temperature of 0.02
	// a kernel loses about a hundredth of the rate for each parameter.
	temperature, step, thin := 0.02, 0.03, 20
	if t.Method == Paper {
		temperature, step, thin = 0.1, 0.005, 1
	}
	p := t.result.Process
	x := t.ranked()[0]
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
			if v := p.Mean(y); u < rbm.Exp(min(0, (v-value)/temperature)) {
				if _, sd := p.Predict(y); sd <= known {
					x, value = y, v
				}
			}
		}
		t.result.Points = append(t.result.Points, x)
		t.result.Kernels = append(t.result.Kernels, t.Space.Mover(x))
	}
	return nil
}
