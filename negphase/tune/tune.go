package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Options are the budget of Tune and the size of the policy.
type Options struct {
	Evaluations int // number of trials
	Moves       int // moves per trial
	Kernels     int // number of kernels of the policy
}

// DefaultOptions returns the budget of the paper: the first 20,000 of 100,000 moves, and 1000 kernels.
func DefaultOptions() Options { return Options{Evaluations: 200, Moves: 100, Kernels: 1000} }

// Check returns an error that names the option that is out of range.
func (o Options) Check() error {
	switch {
	case o.Evaluations < 1 || o.Evaluations > maxEvaluations:
		return fmt.Errorf("evaluations is %d; it must lie in 1 … %d", o.Evaluations, maxEvaluations)
	case o.Moves < 2 || o.Moves > maxMoves:
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

// A Problem is a sampler to be tuned on a system.
type Problem struct {
	Space     *Space
	Beta      float64                         // inverse temperature
	NewSystem func(state []uint8) mcmc.System // returns a new system in the given state
	Start     []uint8                         // initial state of the trials
	Sites     []int32                         // units that are flipped; nil: all
	Key       rbm.Key                         // for all random numbers
}

// Purposes of the random streams that are derived from Problem.Key.
const (
	trialKey = iota
	designKey
	_ // so that policyKey keeps its number
	policyKey
)

// A Trial is one evaluation of the reward.
type Trial struct {
	At       []float64 // point in the unit cube
	Settings string    // settings of the sampler, in the grammar of mcmc.ParseMover
	Reward   float64   // Area of the energies of its moves
}

// A Result is the result of Tune.
type Result struct {
	Trials       []Trial
	Process      *Process  // model of the reward
	Best         []float64 // maximum of the posterior mean
	Kernels      []mcmc.Sardonics
	Points       [][]float64 // points of the kernels in the cube
	ModelSeconds float64     // time for the Gaussian process, for maximising the expected improvement, and for the policy
}

// A tuner is the state of a call of Tune.
type tuner struct {
	*Problem
	Options
	result *Result
	hyper  Hyper
	fitted int // number of observations at the last fit of hyper-parameters
}

// Tune runs Algorithm 3 of the paper: trials of some moves, one after the other on one chain. The first points are a Latin
// hypercube. Each further point has the largest expected improvement over the best reward, found by DIRECT. The
// authors' program instead started in the middle of all ranges and had fixed hyper-parameters. The kernels are draws
// from exp(posterior mean / temperature). Tune calls report repeatedly with the fraction of the work that is done. If
// ctx ends, it returns its error.
func (p *Problem) Tune(ctx context.Context, o Options, report func(done float64)) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	t := &tuner{Problem: p, Options: o, result: new(Result)}
	system, r := p.NewSystem(p.Start), p.Key.Child(trialKey).Child(0).Rand()
	// The first design has a tenth of the trials, but at least two per parameter.
	first := min(o.Evaluations, max(o.Evaluations/10, 2*t.dims()))
	points := LatinHypercube(first, t.dims(), p.Key.Child(designKey))
	for i := range o.Evaluations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i >= first {
			x, err := t.propose()
			if err != nil {
				return nil, err
			}
			points = append(points, x)
		}
		m := p.Space.Mover(points[i])
		chain, err := m.Bind(system, p.Beta, p.Sites)
		if err != nil {
			return nil, err
		}
		energy := make([]float64, o.Moves)
		for k := range energy {
			energy[k] = system.Energy()
			chain.Move(r)
		}
		t.result.Trials = append(t.result.Trials, Trial{At: points[i], Settings: mcmc.FormatMover(m), Reward: Area(energy)})
		report(float64(i+1) / float64(o.Evaluations))
	}
	defer t.modelling()()
	if err := t.model(); err != nil {
		return nil, err
	}
	t.draw()
	return t.result, nil
}

func (t *tuner) dims() int { return len(t.Space.Ranges) }

// modelling adds the time until done is called to ModelSeconds.
func (t *tuner) modelling() (done func()) {
	start := time.Now()
	return func() { t.result.ModelSeconds += time.Since(start).Seconds() }
}

// observe returns trial i as an observation for the model.
func (t *tuner) observe(i int) Observation {
	return Observation{At: t.result.Trials[i].At, Value: t.result.Trials[i].Reward}
}

// directPoints is the number of points at which DIRECT evaluates the expected
// improvement. This takes 2 ms with 200 observations.
const directPoints = 200

// propose adds the last trial to the model. It returns the point with the largest expected improvement over the best
// reward so far, which the paper calls the best known action, plus 0.01. The margin is that of the paper's program.
func (t *tuner) propose() ([]float64, error) {
	defer t.modelling()()
	if n := len(t.result.Trials); t.due(n) || !t.result.Process.Add(t.observe(n-1)) {
		if err := t.model(); err != nil {
			return nil, err
		}
	}
	p := t.result.Process
	best := slices.MaxFunc(t.result.Trials, func(a, b Trial) int { return cmp.Compare(a.Reward, b.Reward) })
	x, _ := Direct(func(x []float64) float64 {
		mean, sd := p.Predict(x)
		return ExpectedImprovement(mean, sd, best.Reward+0.01)
	}, t.dims(), directPoints)
	return x, nil
}

// due reports whether the number n of trials has grown by a third since the last fit of hyper-parameters.
func (t *tuner) due(n int) bool { return t.fitted == 0 || n >= t.fitted+(t.fitted+2)/3 }

// model conditions the process on all trials, after a fit of the hyper-parameters if that
// is due. A fit starts from several points while there are few trials, and later from the last
// optimum alone.
func (t *tuner) model() error {
	data := make([]Observation, len(t.result.Trials))
	for i := range data {
		data[i] = t.observe(i)
	}
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

// draw draws kernels from exp(posterior mean/0.1) by a Metropolis chain that starts at the maximum of the posterior
// mean. As in the paper's program, its steps are 0.005 of the ranges, and the kernels are its successive states.
func (t *tuner) draw() {
	const temperature, step = 0.1, 0.005
	p := t.result.Process
	x, value := Direct(p.Mean, t.dims(), 2000)
	t.result.Best = x
	r := t.Key.Child(policyKey).Child(1).Rand()
	for range t.Kernels {
		y, inside := slices.Clone(x), true
		for d := range y {
			y[d] += step * r.NormFloat64()
			inside = inside && 0 <= y[d] && y[d] <= 1
		}
		if u := r.Float64(); inside {
			if v := p.Mean(y); u < rbm.Exp(min(0, (v-value)/temperature)) {
				x, value = y, v
			}
		}
		t.result.Points = append(t.result.Points, x)
		t.result.Kernels = append(t.result.Kernels, t.Space.Mover(x))
	}
}
