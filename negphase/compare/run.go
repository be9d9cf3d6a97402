// Package compare measures the errors of estimators of the negative phase, on one model with fixed
// parameters. It computes the distance of the running mean of
// the estimates from the exact negative phase, as a function of Gibbs steps and of
// seconds, and separates it into bias and noise (the infinite-swapping paper, Hult,
// Nyquist & Ringqvist 2020, Figures 2 and 4).
//
//	truth, err := compare.Enumerate(model)
//	curves, err := compare.Run(ctx, model, truth, estimators, settings)
//
// All vectors are moments in float64, in this order: ⟨vhᵀ⟩ row by row, ⟨v⟩,
// ⟨h⟩. For a fixed positive phase, the distance between two
// negative phases equals the distance between the two gradients of the likelihood.
//
// # Where to begin
//
// Read Enumerate and Run. Example, in example_test.go, compares estimators on a small model.
package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// Settings determine the amount of work of a comparison.
type Settings struct {
	Steps   int // block Gibbs steps of each chain; the last update may exceed them
	Repeats int // independent runs of each estimator
	Seed    uint64

	// Batches returns the source of the batches of one repeat: a function that returns the batch of an
	// update, valid until the next call. Some estimators start chains at the batch. If Batches is nil,
	// such an estimator is an error.
	Batches func(repeat int) func(update int) rbm.Batch
	// Progress, if not nil, is called with the fraction of the work that is done.
	Progress func(done float64)
	// Group has the ranks among which the repeats are divided; nil is one process. All ranks must
	// call Run with the same arguments. The results do not depend on Group, except for seconds.
	Group *ranks.Group
}

// NeedsData reports whether the chains of an estimator with these settings start at the
// positive phase.
func NeedsData(s negphase.Settings) bool {
	return s.Traits().AtData || s.Get("start") == negphase.Data
}

// ErrNoData is wrapped by the error for an estimator whose chains start at the data
// if Settings.Batches is nil.
var ErrNoData = errors.New("there are no data to start at")

// Purposes of the random streams that are derived from the seed.
const (
	pilotKey = iota
	repeatKey
	tuneKey
)

// tuneUpdates is the number of updates in which a ladder is tuned before the comparison. It is tuned
// eight times; the last tunings hardly change it.
const tuneUpdates = 500

// Run runs each estimator Repeats times on m with new chains, and returns one
// curve for each, in the same order. As in the paper the chains start where their
// settings say, by default at uniform states. The estimate at a point is
// the mean of all updates up to it, without burn-in.
//
// One estimator runs at a time: each repeat runs all estimators, one after the other. The seconds are
// those of calls of Estimate alone, with as many processors as GOMAXPROCS allows. With equal seeds all
// results except seconds are identical. The results of an estimator do not depend on the other
// estimators.
//
// Settings that are tuned (tau=auto or k=auto) are first tuned on m, in tuneUpdates updates that are
// not counted, and then frozen. Curve.Estimator has the tuned settings.
//
// An estimator that returns moments is called once per repeat. If the context ends
// or an estimator fails, Run returns the curves of the completed repeats
// together with the error.
func Run(ctx context.Context, m *rbm.RBM, truth *Truth, estimators []negphase.Settings, s Settings) ([]Curve, error) {
	if s.Steps < 1 || s.Repeats < 1 {
		panic("compare: needs at least one step and one repeat")
	}
	r := &runner{m: m, truth: truth, Settings: s, mean: NewMean(m)}
	curves := make([]Curve, len(estimators))
	for i, e := range estimators {
		if NeedsData(e) && r.Batches == nil {
			return nil, fmt.Errorf("%s: %w; name some, or use an estimator that starts uniformly", e, ErrNoData)
		}
		e, err := negphase.Tuned(s.Group, e, m, r.batches(0)(0), tuneUpdates, rbm.NewKey(s.Seed).Child(tuneKey))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e, err)
		}
		updates, err := r.plan(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e, err)
		}
		curves[i] = Curve{Estimator: e, spread: newSpread(len(truth.Negative))}
		for _, n := range grid(updates) {
			curves[i].Points = append(curves[i].Points, Point{Updates: n})
			if n == updates {
				r.total += float64(updates) * math.Ceil(float64(s.Repeats)/float64(s.Group.Size()))
			}
		}
	}
	return curves, ranks.Deal(s.Group, s.Repeats, func(repeat int) (traces []trace, err error) {
		for i := range curves {
			t, err := r.repeat(ctx, &curves[i], repeat)
			if errors.Is(err, context.Canceled) {
				break // keep the completed traces
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", curves[i].Estimator, err)
			}
			traces = append(traces, t)
		}
		return traces, nil
	}, func(_ int, traces []trace) error {
		for i, t := range traces {
			curves[i].add(t, truth)
		}
		if len(traces) < len(curves) {
			return context.Canceled
		}
		return nil
	})
}

type runner struct {
	Settings
	m           *rbm.RBM
	truth       *Truth
	mean        *Mean
	total, done float64 // updates
}

// pilotUpdates is the number of updates that plan makes.
const pilotUpdates = 10

// plan returns the number of updates that together make Settings.Steps steps. It measures the steps of
// pilotUpdates updates.
func (r *runner) plan(s negphase.Settings) (updates int, err error) {
	e, err := negphase.New(s)
	if err != nil {
		return 0, err
	}
	batch := r.batches(0)
	steps := 0.0
	for n := range pilotUpdates {
		phase, info, err := e.Estimate(r.m, batch(n), rbm.NewKey(r.Seed).Child(pilotKey).Child(uint64(n)))
		if err != nil {
			return 0, err
		}
		if phase.Moments != nil {
			return 1, nil
		}
		steps += chainSteps(phase, info)
	}
	return max(1, int(math.Ceil(float64(r.Steps)*pilotUpdates/steps))), nil
}

// batches returns Settings.Batches for a repeat, or a function that returns empty batches.
func (r *runner) batches(repeat int) func(update int) rbm.Batch {
	if r.Batches == nil {
		return func(int) rbm.Batch { return rbm.Batch{} }
	}
	return r.Batches(repeat)
}

// chainSteps returns the block Gibbs steps of each chain in an update. Each particle of the phase is a
// chain or replica. An update without Gibbs steps counts as one step.
func chainSteps(phase rbm.Phase, info negphase.Info) float64 {
	chains := phase.Rows()
	if chains == 0 || info.Updates == 0 {
		return 1
	}
	return float64(info.Updates) / float64(chains)
}

// progressEvery is the number of updates between two calls of Progress.
const progressEvery = 64

// repeat makes one run of the estimator of a curve.
func (r *runner) repeat(ctx context.Context, c *Curve, repeat int) (trace, error) {
	var t trace
	e, err := negphase.New(c.Estimator)
	if err != nil {
		return t, err
	}
	r.mean.Reset()
	batch := r.batches(repeat)
	key := rbm.NewKey(r.Seed).Child(repeatKey).Child(uint64(repeat))
	var steps, gibbs float64
	var spent time.Duration
	for n := range c.Last().Updates {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		b := batch(n)
		start := time.Now()
		phase, info, err := e.Estimate(r.m, b, key.Child(uint64(n)))
		spent += time.Since(start)
		if err != nil {
			return t, err
		}
		t.Info.Add(info)
		if phase.Moments == nil {
			steps += chainSteps(phase, info)
			gibbs += float64(info.Updates)
		}
		r.mean.Add(phase)
		if n+1 == c.Points[len(t.Steps)].Updates {
			t.Steps = append(t.Steps, steps)
			t.Gibbs = append(t.Gibbs, gibbs)
			t.Distance = append(t.Distance, r.mean.Distance(r.truth.Negative))
		}
		if r.done++; r.Progress != nil && n%progressEvery == 0 {
			r.Progress(r.done / r.total)
		}
	}
	t.Seconds = spent.Seconds()
	t.Value = make([]float64, len(r.truth.Negative))
	r.mean.Value(t.Value)
	return t, nil
}
