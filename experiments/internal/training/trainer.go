// Package training trains models for experiments, in the process or by the commands rbmtrain and rbmeval.
package training

import (
	"context"
	"runtime"
	"sync"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

var sets sync.Map

// Load returns a data set by its spec, such as fontdigits:300, and loads it only once. MNIST is looked for in the folder dir first,
// if that is not empty.
func Load(ctx context.Context, spec, dir string) (*data.Set, error) {
	once, _ := sets.LoadOrStore(spec, sync.OnceValues(func() (*data.Set, error) {
		set, _, err := data.Load(ctx, spec, data.Options{Dir: dir})
		return set, err
	}))
	return once.(func() (*data.Set, error))()
}

// A Recipe has the settings of a training run, in addition to its data. The others are those of train.PaperSettings.
type Recipe struct {
	Negative string // as in package negphase
	Hidden   int
	Active   int // number of active hidden units, by a constraint; 0: none
	Labels   bool
	LogOdds  bool // the visible biases start at the log-odds of the data
	Rate     float64
	Batch    int
	Center   float64
	Schedule string // "": constant
	Horizon  int
}

// Settings returns the settings of a trainer.
func (r Recipe) Settings(seed uint64) (s train.Settings, err error) {
	s = train.PaperSettings("pcd")
	s.Negative, err = negphase.Parse(r.Negative, negphase.Settings{})
	s.Rate, s.Batch, s.Center, s.Seed, s.Horizon = r.Rate, r.Batch, r.Center, seed, r.Horizon
	if r.Schedule != "" {
		s.Schedule = r.Schedule
	}
	return s, err
}

// Trainer returns a trainer of a new model.
func (r Recipe) Trainer(set *data.Set, seed uint64) (*train.Trainer, error) {
	s, err := r.Settings(seed)
	if err != nil {
		return nil, err
	}
	m := train.NewModel(set, r.Hidden, r.Labels, rbm.Softmax, seed)
	if r.Active > 0 {
		m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: r.Active}
	}
	if r.LogOdds {
		train.SetLogOdds(m, set)
	}
	return train.New(s, set, m)
}

// A Timed trainer measures the processor time of its updates on the thread, to which its caller must be locked.
type Timed struct {
	*train.Trainer
	spent time.Duration
}

// Advance makes updates until all updates have taken this many seconds.
func (t *Timed) Advance(ctx context.Context, seconds float64) error {
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

// Race trains a new model for this many seconds of processor time, and calls look at each moment, a fraction of the time. With falls
// the rate falls linearly to about 0 at the end. For this, a run of a quarter of the time with a constant rate, which does not count,
// forecasts the number of updates: its second half is measured, in which a ladder has nearly all its temperatures.
func (r Recipe) Race(ctx context.Context, set *data.Set, seed uint64, seconds float64, falls bool, moments []float64, look func(moment float64, t *train.Trainer) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := func() (*Timed, error) {
		t, err := r.Trainer(set, seed)
		return &Timed{Trainer: t}, err
	}
	t, err := start()
	if err != nil {
		return err
	}
	if falls {
		if err := t.Advance(ctx, seconds/8); err != nil {
			return err
		}
		steps, from := t.Steps(), t.spent
		if err := t.Advance(ctx, seconds/4); err != nil {
			return err
		}
		perSecond := float64(t.Steps()-steps) / max(t.spent-from, time.Microsecond).Seconds()
		r.Horizon, r.Schedule = 1+int(perSecond*seconds), "linear"
		if t, err = start(); err != nil {
			return err
		}
	}
	for _, moment := range moments {
		if err := t.Advance(ctx, moment*seconds); err != nil {
			return err
		}
		if err := look(moment, t.Trainer); err != nil {
			return err
		}
	}
	return nil
}
