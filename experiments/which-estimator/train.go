package main

import (
	"context"
	"runtime"
	"time"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/clock"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// train trains a model for so many seconds of updates and returns at each moment how far
// it is below the law.
func (d problem) train(ctx context.Context, p *places, e estimator, seed uint64, seconds float64, moments []float64) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := p.set(ctx, d)
	if err != nil {
		return nil, err
	}
	s := train.DefaultSettings("pcd")
	if s.Negative, err = e.on(d); err != nil {
		return nil, err
	}
	s.Rate, s.Batch, s.Center, s.Seed = d.rate, d.batch, 0.01, seed
	begin := func() (*train.Trainer, error) {
		m := train.NewModel(set, d.hidden, false, rbm.Softmax, seed)
		train.SetLogOdds(m, set)
		return train.New(s, set, m)
	}
	if d.falls {
		if s.Horizon, err = foretell(ctx, seconds, begin); err != nil {
			return nil, err
		}
		s.Schedule = "linear"
	}
	t, err := begin()
	if err != nil {
		return nil, err
	}
	of := d.test(set)
	var spent time.Duration
	for _, moment := range moments {
		if err := advance(ctx, t, &spent, moment*seconds); err != nil {
			return nil, err
		}
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: e.name, Repeat: int(seed), X: moment * seconds, Y: y})
		}
		if err := of.measure(ctx, t.Model(), seed, add); err != nil {
			return nil, err
		}
	}
	steps := claims.Point{Panel: d.name + updatesPanel, Curve: e.name, Repeat: int(seed), Y: float64(t.Steps())}
	if d.falls { // other runs of this name have other times
		steps.X = seconds
	}
	points = append(points, steps)
	if l, ok := t.Ladder(); ok {
		steps.Panel, steps.Y = d.name+temperaturesPanel, float64(len(l.Beta))
		points = append(points, steps)
	}
	return points, nil
}

// Panels of the end of a run, after the name of the data.
const (
	updatesPanel      = ": updates"
	temperaturesPanel = ": temperatures" // of the ladder
)

// advance makes updates until so many seconds of them are spent.
func advance(ctx context.Context, t *train.Trainer, spent *time.Duration, seconds float64) error {
	for spent.Seconds() < seconds {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := clock.Now()
		_, err := t.Step()
		*spent += clock.Now() - begin
		if err != nil {
			return err
		}
	}
	return nil
}

// foretell returns about how many updates a run makes in so many seconds, by the second half
// of a run of a quarter of them, when a ladder has nearly all its temperatures.
func foretell(ctx context.Context, seconds float64, begin func() (*train.Trainer, error)) (int, error) {
	t, err := begin()
	if err != nil {
		return 0, err
	}
	var spent time.Duration
	if err := advance(ctx, t, &spent, seconds/8); err != nil {
		return 0, err
	}
	first, from := t.Steps(), spent
	if err := advance(ctx, t, &spent, seconds/4); err != nil {
		return 0, err
	}
	rate := float64(t.Steps()-first) / max(spent-from, time.Microsecond).Seconds()
	return 1 + int(rate*seconds), nil
}

// A test is the rows on which models are measured.
type test struct {
	problem
	set  *data.Set
	rows rbm.Values
	law  float64 // mean log p of the rows, 0 if it is not known
	free []float64
}

// test returns rows of the data, evenly, as they are in order.
func (d problem) test(set *data.Set) *test {
	some := make([]int32, min(likelihoodRows, set.Len()))
	for i := range some {
		some[i] = int32(i * set.Len() / len(some))
	}
	x := &test{problem: d, set: set, rows: set.Rows(some, 0), free: make([]float64, len(some))}
	for _, r := range some {
		if set.LogProb != nil {
			x.law += set.LogProb(set.X.Row(int(r)), -1) / float64(len(some))
		}
	}
	return x
}

// measure adds how far m is below the law.
func (x *test) measure(ctx context.Context, m *rbm.RBM, seed uint64, add func(panel string, y float64)) error {
	m.FreeEnergy(x.free, x.rows)
	energy := train.Mean(x.free)
	if x.brackets == nil {
		logZ, err := exact.LogZ(ctx, m)
		add(x.name, x.law+energy+logZ)
		return err
	}
	return x.bracket(ctx, m, seed, energy, add)
}
