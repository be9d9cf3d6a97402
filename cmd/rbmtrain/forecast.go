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

// A forecast is what a run will take, from a few steps of a copy of it.
type forecast struct {
	MemoryBytes float64        `json:"memory_bytes"` // of each rank, beside the data, at most
	StepSeconds float64        `json:"step_seconds"` // with the ladder that training begins with
	Seconds     float64        `json:"seconds"`      // of all steps; measuring comes on top
	ChainShare  float64        `json:"chain_share"`  // of the time of a step, which ranks share out; 0: none. They share out large ascents too, which is not counted
	Longest     *longestLadder `json:"longest_ladder,omitempty"`
	Ranks       []rankForecast `json:"ranks,omitempty"` // without the time of the network; as far as they gain

	steps int
}

// longestLadder is the longest that a tuned ladder may become.
type longestLadder struct {
	Temperatures int     `json:"temperatures"`
	Seconds      float64 `json:"seconds"`
}

// rankForecast is for ranks as fast as this process.
type rankForecast struct {
	Ranks   int     `json:"ranks"`
	Seconds float64 `json:"seconds"`
}

const (
	// trialTime is how long steps are tried for a forecast, and trialSteps how many of
	// them are enough.
	trialTime, trialSteps = 500 * time.Millisecond, 200
	// mostRanks is the largest number of ranks that a forecast names. It names none where
	// twice as many save less than a tenth, nor where a rank's part of a step is shorter, in seconds, than some
	// times what the gathers of a step take between processes of one machine (experiments/scale), nor
	// of a run that takes no longer than mpirun to start.
	mostRanks = 64
	leastGain = 0.9
	leastPart = 50e-6
	startTime = 1
)

// stopwatch measures the calls of an estimator.
type stopwatch struct {
	negphase.Estimator
	time time.Duration
}

func (s *stopwatch) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, negphase.Info, error) {
	start := time.Now()
	defer func() { s.time += time.Since(start) }()
	return s.Estimator.Estimate(m, pos, key)
}

// tryout forecasts the run of p. It leaves the plan and its model as they are.
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
		if t.Steps() == 1 && t.Elapsed() < trialTime/2 { // the first step makes room, and some chains begin in it
			steps, before, chainsBefore = -1, t.Elapsed(), watch.time
		}
	}
	step := (t.Elapsed() - before).Seconds() / float64(steps)
	chains := (watch.time - chainsBefore).Seconds() / float64(steps)
	f := &forecast{steps: p.steps, MemoryBytes: p.need, StepSeconds: step, Seconds: step * float64(p.steps)}
	if watch.Estimator == nil {
		return f, nil
	}
	if l, ok := watch.Estimator.(negphase.Tempered); ok {
		now, most := len(l.Ladder().Beta), settings.Negative.Ladder().MaxTemperatures()
		if most > now {
			f.Longest = &longestLadder{most, float64(p.steps) * (step - chains + chains*float64(most)/float64(now))}
		}
	}
	if _, ok := watch.Estimator.(negphase.Sharer); !ok {
		return f, nil
	}
	f.ChainShare = chains / step
	f.Ranks = rankForecasts(p.steps, step, chains)
	return f, nil
}

// rankForecasts returns the times of so many steps, of which the part chains is shared out, up to where
// more ranks gain nothing.
func rankForecasts(steps int, step, chains float64) (list []rankForecast) {
	last := float64(steps) * step
	for n := 2; n <= mostRanks && chains/float64(n) >= leastPart; n *= 2 {
		next := float64(steps) * (step - chains + chains/float64(n))
		if last < startTime || next > leastGain*last {
			break
		}
		list, last = append(list, rankForecast{n, next}), next
	}
	return list
}

// write prints the forecast in words.
func (f *forecast) write(w io.Writer) {
	fmt.Fprintf(w, "forecast: up to %s of memory beside the data; %s a step at first, %s for %d steps, and measuring on top\n",
		memory.Size(f.MemoryBytes), duration(f.StepSeconds), duration(f.Seconds), f.steps)
	if l := f.Longest; l != nil {
		fmt.Fprintf(w, "  the ladder may grow to %d temperatures, with which the steps take %s\n", l.Temperatures, duration(l.Seconds))
	}
	if len(f.Ranks) == 0 {
		if f.ChainShare > 0 {
			fmt.Fprintln(w, "  more ranks, by mpirun -n N, would gain nothing")
		}
		return
	}
	fmt.Fprintf(w, "  mpirun -n N shares out at least %.0f %% of a step; without the time of the network the steps take", 100*f.ChainShare)
	for i, r := range f.Ranks {
		sep := ","
		if i == 0 {
			sep = ""
		}
		fmt.Fprintf(w, "%s %s with %d", sep, duration(r.Seconds), r.Ranks)
	}
	fmt.Fprintln(w, " ranks; each of them needs the memory")
}

// duration writes seconds with three digits and a unit.
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
