package main

import (
	"context"
	"runtime"
	"time"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/race"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// train trains a model for so many seconds of updates and returns at each moment how far
// it is below the law.
func (d problem) train(ctx context.Context, p *race.Places, e race.Estimator, seed uint64, seconds float64, moments []float64) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	negative, err := d.settings(e)
	if err != nil {
		return nil, err
	}
	horizon := 0
	if d.falls {
		if horizon, err = d.foretell(ctx, p, negative, seed, seconds); err != nil {
			return nil, err
		}
	}
	t, err := d.Start(ctx, p, negative, seed, horizon)
	if err != nil {
		return nil, err
	}
	of := d.test(t.Set)
	for _, moment := range moments {
		if err := t.Advance(ctx, moment*seconds, nil); err != nil {
			return nil, err
		}
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: e.Name, Repeat: int(seed), X: moment * seconds, Y: y})
		}
		if err := of.measure(ctx, t.Model(), seed, add); err != nil {
			return nil, err
		}
	}
	steps := claims.Point{Panel: d.Name + updatesPanel, Curve: e.Name, Repeat: int(seed), Y: float64(t.Steps())}
	if d.falls { // other runs of this name have other times
		steps.X = seconds
	}
	points = append(points, steps)
	if l, ok := t.Ladder(); ok {
		steps.Panel, steps.Y = d.Name+temperaturesPanel, float64(len(l.Beta))
		points = append(points, steps)
	}
	return points, nil
}

// Panels of the end of a run, after the name of the data.
const (
	updatesPanel      = ": updates"
	temperaturesPanel = ": temperatures" // of the ladder
)

// foretell returns about how many updates a run makes in so many seconds, by the second half
// of a run of a quarter of them, when a ladder has nearly all its temperatures. Its rate is
// constant.
func (d problem) foretell(ctx context.Context, p *race.Places, negative negphase.Settings, seed uint64, seconds float64) (int, error) {
	t, err := d.Start(ctx, p, negative, seed, 0)
	if err != nil {
		return 0, err
	}
	if err := t.Advance(ctx, seconds/8, nil); err != nil {
		return 0, err
	}
	first, from := t.Steps(), t.Spent
	if err := t.Advance(ctx, seconds/4, nil); err != nil {
		return 0, err
	}
	rate := float64(t.Steps()-first) / max(t.Spent-from, time.Microsecond).Seconds()
	return 1 + int(rate*seconds), nil
}

// A test is the rows on which models are measured.
type test struct {
	problem
	*race.Rows
	set *data.Set
	law float64 // mean log p of the rows, 0 if it is not known
}

// test returns rows of the data.
func (d problem) test(set *data.Set) *test {
	x := &test{problem: d, set: set, Rows: race.Evenly(set, likelihoodRows)}
	for _, r := range x.Numbers {
		if set.LogProb != nil {
			x.law += set.LogProb(set.X.Row(int(r)), -1) / float64(len(x.Numbers))
		}
	}
	return x
}

// measure adds how far m is below the law.
func (x *test) measure(ctx context.Context, m *rbm.RBM, seed uint64, add func(panel string, y float64)) error {
	energy := x.MeanFreeEnergy(m)
	if x.brackets == nil {
		logZ, err := exact.LogZ(ctx, m)
		add(x.Name, x.law+energy+logZ)
		return err
	}
	return x.bracket(ctx, m, seed, energy, add)
}
