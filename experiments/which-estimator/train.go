package main

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// Settings of all runs.
const (
	batch = 20
	rate  = 0.05
)

// temperatures returns the approximate number of temperatures of pt.
func (d problem) temperatures() int { return cmp.Or(d.ladder, 10) }

// A training trains a model without labels on the data of a problem. It measures the processor time of the
// thread, to which its caller must be locked.
type training struct {
	*train.Trainer
	set   *data.Set
	spent time.Duration // processor time of the updates
}

// start returns a training whose visible biases are the log-odds of the data. horizon is the number of
// updates over which the rate falls to 0; 0: it is constant.
func (d problem) start(ctx context.Context, p *files, e estimator, seed uint64, horizon int) (*training, error) {
	set, err := p.set(ctx, d)
	if err != nil {
		return nil, err
	}
	negative, err := d.settings(e)
	if err != nil {
		return nil, err
	}
	s := train.PaperSettings("pcd")
	s.Negative, s.Rate, s.Batch, s.Center, s.Seed = negative, rate, batch, 0.01, seed
	if horizon > 0 {
		s.Horizon, s.Schedule = horizon, "linear"
	}
	m := train.NewModel(set, d.hidden, false, rbm.Softmax, seed)
	train.SetLogOdds(m, set)
	t, err := train.New(s, set, m)
	return &training{Trainer: t, set: set}, err
}

// advance makes updates until all updates have taken this many seconds.
func (t *training) advance(ctx context.Context, seconds float64) error {
	for t.spent.Seconds() < seconds {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := cli.ThreadTime()
		_, err := t.Step()
		t.spent += cli.ThreadTime() - start
		if err != nil {
			return err
		}
	}
	return nil
}

// train trains a model for this many seconds of updates, and measures it at each moment.
func (d problem) train(ctx context.Context, p *files, e estimator, seed uint64, seconds float64, moments []float64) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	horizon := 0
	if d.falls {
		if horizon, err = forecast(ctx, seconds, func() (*training, error) { return d.start(ctx, p, e, seed, 0) }); err != nil {
			return nil, err
		}
	}
	t, err := d.start(ctx, p, e, seed, horizon)
	if err != nil {
		return nil, err
	}
	rows := d.test(t.set)
	for _, moment := range moments {
		if err := t.advance(ctx, moment*seconds); err != nil {
			return nil, err
		}
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: e.name, Repeat: int(seed), X: moment * seconds, Y: y})
		}
		if err := rows.measure(ctx, t.Model(), seed, add); err != nil {
			return nil, err
		}
	}
	steps := claims.Point{Panel: d.name + updatesPanel, Curve: e.name, Repeat: int(seed), Y: float64(t.Steps())}
	if d.falls { // runs of other times have the same name
		steps.X = seconds
	}
	points = append(points, steps)
	if l, ok := t.Ladder(); ok {
		steps.Panel, steps.Y = d.name+temperaturesPanel, float64(len(l.Beta))
		points = append(points, steps)
	}
	return points, nil
}

// Suffixes of the panels of the end of a run. The name of the data comes before them.
const (
	updatesPanel      = ": updates"
	temperaturesPanel = ": temperatures" // number of temperatures of the ladder
)

// forecast returns the approximate number of updates of a run of this many seconds. It measures the second half of a
// run of a quarter of the time, in which a ladder has nearly all its temperatures. The rate of that run is
// constant.
func forecast(ctx context.Context, seconds float64, start func() (*training, error)) (int, error) {
	t, err := start()
	if err != nil {
		return 0, err
	}
	if err := t.advance(ctx, seconds/8); err != nil {
		return 0, err
	}
	steps, from := t.Steps(), t.spent
	if err := t.advance(ctx, seconds/4); err != nil {
		return 0, err
	}
	perSecond := float64(t.Steps()-steps) / max(t.spent-from, time.Microsecond).Seconds()
	return 1 + int(perSecond*seconds), nil
}

// A test has the rows on which models are measured.
type test struct {
	problem
	set    *data.Set
	values rbm.Values
	free   []float64 // free energies of the rows
	truth  float64   // mean log p of the rows under the distribution of the data; 0 if it is unknown
}

// test returns at most likelihoodRows rows of the data, evenly spaced, because the rows may be sorted.
func (d problem) test(set *data.Set) *test {
	rows := data.EvenRows(likelihoodRows, set.Len())
	x := &test{problem: d, set: set, free: make([]float64, len(rows))}
	for _, r := range rows {
		if set.LogProb != nil {
			x.truth += set.LogProb(set.X.Row(int(r)), -1) / float64(len(rows))
		}
	}
	x.values = set.Rows(rows, 0)
	return x
}

// measure adds the nats of m below the truth, or its −log-likelihood.
func (x *test) measure(ctx context.Context, m *rbm.RBM, seed uint64, add func(panel string, y float64)) error {
	m.FreeEnergy(x.free, x.values)
	energy := train.Mean(x.free)
	if x.brackets == nil {
		logZ, err := exact.LogZ(ctx, m)
		add(x.name, x.truth+energy+logZ)
		return err
	}
	return x.bracket(ctx, m, seed, energy, add)
}
