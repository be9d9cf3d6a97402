// Package compare measures how far estimators of the negative phase are from the
// truth, on one model of fixed parameters: the distance of the running mean of
// their estimates from the exact negative phase, against Gibbs steps and against
// seconds, and its parts, bias and noise (the infinite-swapping paper, Hult,
// Nyquist & Ringqvist 2020, Figures 2 and 4).
//
//	truth, err := compare.Enumerate(model)
//	curves, err := compare.Run(ctx, model, truth, estimators, settings)
//
// All vectors are moments in float64, in this order: ⟨vhᵀ⟩ row by row, ⟨v⟩,
// ⟨h⟩. As the positive phase has no noise here, the distance between two
// negative phases is that between the two gradients of the likelihood.
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

// Settings say how much work is done.
type Settings struct {
	Steps   int // block Gibbs steps of each chain; an update is never cut
	Repeats int // independent runs of each estimator
	Seed    uint64

	// Batches returns the positive phases of a repeat, as a function of the number
	// of the update whose result is valid until its next call. If it is nil, there
	// are none, and an estimator that starts at the data is an error.
	Batches func(repeat int) func(update int) rbm.Batch
	// Progress, if not nil, is called with the part of the work that is done, from
	// 0 to 1.
	Progress func(done float64)
	// Group are the ranks that divide the repeats; results are identical except for the
	// seconds; nil: one process. All of them must call Run alike.
	Group *ranks.Group
}

// NeedsData reports whether an estimator of these settings starts at the
// positive phase.
func NeedsData(s negphase.Settings) bool {
	return s.Traits().AtData || s.Get("start") == negphase.Data
}

// ErrNoData is wrapped by the error for an estimator that starts at the data
// where there are none.
var ErrNoData = errors.New("there are no data to start at")

// Purposes of the keys that derive from the seed.
const (
	pilotKey = iota
	repeatKey
	tuneKey
)

// tuneUpdates is the number of updates in which a ladder is tuned beforehand:
// eight tunings; the last few hardly move it.
const tuneUpdates = 500

// Run runs each estimator Repeats times on m, from a new start, and returns a
// curve for each, in order. As in the paper the chains start where their
// settings say, at uniform states by default, and the estimate at a point is
// the mean of all updates up to it, with no burn-in.
//
// One estimator runs at a time, the repeats of all in turn, and the seconds are
// those of its calls alone; the caller may set GOMAXPROCS. Equal seeds give equal
// bits in all but the seconds, and the other estimators do not change those of one.
//
// A ladder that tunes itself is tuned on m beforehand, in tuneUpdates that are
// not counted, and then frozen: Curve.Estimator has its temperatures.
//
// An estimator that yields moments is called once a repeat. If the context ends,
// or an estimator fails, the curves have the repeats that were completed, and
// the error is returned with them.
func Run(ctx context.Context, m *rbm.RBM, truth *Truth, estimators []negphase.Settings, s Settings) ([]Curve, error) {
	if s.Steps < 1 || s.Repeats < 1 {
		panic("compare: needs at least one step and one repeat")
	}
	r := &runner{m: m, truth: truth, Settings: s, mean: NewMean(m)}
	curves := make([]Curve, len(estimators))
	for i, e := range estimators {
		if NeedsData(e) && r.Batches == nil {
			return nil, fmt.Errorf("%s: %w; name some, or take an estimator that starts uniformly", e, ErrNoData)
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
				break // those that are completed count
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

// pilotUpdates is the number of updates that plan takes.
const pilotUpdates = 10

// plan returns the number of updates that take Settings.Steps, from the steps of
// some that it tries.
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

// batches returns the positive phases of a repeat, empty ones if there are none.
func (r *runner) batches(repeat int) func(update int) rbm.Batch {
	if r.Batches == nil {
		return func(int) rbm.Batch { return rbm.Batch{} }
	}
	return r.Batches(repeat)
}

// chainSteps returns the block Gibbs steps of each chain in an update: chains
// and replicas are the particles. An update without Gibbs steps counts as one step.
func chainSteps(phase rbm.Phase, info negphase.Info) float64 {
	chains := phase.Rows()
	if chains == 0 || info.Updates == 0 {
		return 1
	}
	return float64(info.Updates) / float64(chains)
}

// progressEvery is the number of updates between two calls of Progress.
const progressEvery = 64

// repeat runs the estimator of a curve once.
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
