package main

import (
	"fmt"
	"io"
	"time"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/train"
)

// A forecast estimates the memory and the time of a run from a few steps of a copy of it.
type forecast struct {
	MemoryBytes float64        `json:"memory_bytes"` // upper bound for each rank, without the data
	StepSeconds float64        `json:"step_seconds"` // time of a step with the initial ladder
	Seconds     float64        `json:"seconds"`      // time of all steps, without measurements
	Longest     *longestLadder `json:"longest_ladder,omitempty"`

	steps int
}

// longestLadder is the forecast for a tuned ladder at its largest number of temperatures.
type longestLadder struct {
	Temperatures int     `json:"temperatures"`
	Seconds      float64 `json:"seconds"`
}

// A forecast times trialSteps steps, or as many as trialTime allows.
const trialTime, trialSteps = 500 * time.Millisecond, 200

// stopwatch measures the total time spent in an estimator.
type stopwatch struct {
	negphase.Estimator
	time time.Duration
}

func (s *stopwatch) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, negphase.Info, error) {
	start := time.Now()
	defer func() { s.time += time.Since(start) }()
	return s.Estimator.Estimate(m, pos, key)
}

// tryout forecasts the run of p from steps of a copy of the model.
func (p *plan) tryout() (*forecast, error) {
	settings, watch := p.settings, &stopwatch{}
	if !discriminative(p.settings) {
		if l := settings.Negative.Ladder(); l.Path == negphase.ToData && l.Base == nil {
			settings.Negative.SetBase(train.Base(p.model, p.sets.Train))
		}
		var err error
		if watch.Estimator, err = negphase.New(settings.Negative); err != nil {
			return nil, err
		}
	}
	t, err := train.NewWith(watch, settings, p.sets.Train, p.model.Clone())
	if err != nil {
		return nil, err
	}
	steps, before, chainsBefore := 0, time.Duration(0), time.Duration(0)
	for start := time.Now(); steps < trialSteps && time.Since(start) < trialTime && t.Steps() < max(2, p.steps); steps++ {
		if _, err := t.Step(); err != nil {
			return nil, err
		}
		if t.Steps() == 1 && t.Elapsed() < trialTime/2 { // leave out the first step: it allocates memory, and starts some chains
			steps, before, chainsBefore = -1, t.Elapsed(), watch.time
		}
	}
	step := (t.Elapsed() - before).Seconds() / float64(steps)
	chains := (watch.time - chainsBefore).Seconds() / float64(steps)
	f := &forecast{steps: p.steps, MemoryBytes: p.need, StepSeconds: step, Seconds: step * float64(p.steps)}
	if l, ok := watch.Estimator.(negphase.Tempered); ok {
		now, most := len(l.Ladder().Beta), settings.Negative.Ladder().MaxTemperatures()
		if most > now {
			f.Longest = &longestLadder{most, float64(p.steps) * (step - chains + chains*float64(most)/float64(now))}
		}
	}
	return f, nil
}

func (f *forecast) write(w io.Writer) {
	fmt.Fprintf(w, "forecast: up to %s of memory besides the data; %s per step at first, %s for %d steps, without measurements\n",
		memory.Size(f.MemoryBytes), duration(f.StepSeconds), duration(f.Seconds), f.steps)
	if l := f.Longest; l != nil {
		fmt.Fprintf(w, "  with %d temperatures, the most that the ladder may have, the steps take %s\n", l.Temperatures, duration(l.Seconds))
	}
}

func duration(seconds float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}} {
		if seconds >= u.size {
			return fmt.Sprintf("%.3g %s", seconds/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g µs", seconds*1e6)
}
