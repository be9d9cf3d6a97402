// Package chains runs Markov chains side by side for equal computing time and keeps
// their energies, for experiments that compare samplers.
package chains

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Sampler is a mover with its own copy of a system.
type Sampler struct {
	Name   string
	Mover  mcmc.Mover
	System mcmc.System
	// Moves is the number of moves that it makes at most; 0: as many as it has time for.
	Moves int
	// Observe overwrites dst with Values numbers of the state; nil: none. It is called after each
	// Every-th move, and its time counts.
	Observe       func(dst []float64)
	Values, Every int
}

// A Run is what a sampler did.
type Run struct {
	Name     string
	Energies []float64   // after each move
	Observed [][]float64 // by value: what Observe gave
	Info     mcmc.Info
	Seconds  float64 // of computing
}

const (
	// turn is how long a sampler runs before the next one does: short, so that other
	// work of the machine slows all samplers alike.
	turn = 50 * time.Millisecond
	// between is about the time between two readings of the clock.
	between = time.Millisecond
	// longest is a race without an end by the clock, in seconds.
	longest = 1e9
)

// Race runs samplers in turns at inverse temperature beta, each for the given seconds of
// computing or until it has made its moves. The moves of a sampler depend on the key and on its
// place among the samplers; only where it stops depends on the clock.
func Race(ctx context.Context, samplers []Sampler, beta, seconds float64, key rbm.Key) ([]Run, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runs, steps := make([]Run, len(samplers)), make([]func(n int), len(samplers))
	until := time.Duration(min(seconds, longest) * float64(time.Second))
	for i, s := range samplers {
		chain, err := s.Mover.Bind(s.System, beta, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		runs[i].Name = s.Name
		r, run := key.Child(uint64(i)).Rand(), &runs[i]
		run.Observed = make([][]float64, s.Values)
		values := make([]float64, s.Values)
		steps[i] = func(n int) {
			for range n {
				run.Info.Add(chain.Move(r))
				run.Energies = append(run.Energies, s.System.Energy())
				if s.Observe == nil || len(run.Energies)%s.Every != 0 {
					continue
				}
				s.Observe(values)
				for k, x := range values {
					run.Observed[k] = append(run.Observed[k], x)
				}
			}
		}
	}
	spent, batch := make([]time.Duration, len(samplers)), make([]int, len(samplers))
	// left returns the number of moves that a sampler has still to make.
	left := func(i int) int {
		switch most := samplers[i].Moves; {
		case spent[i] >= until:
			return 0
		case most > 0:
			return most - len(runs[i].Energies)
		}
		return math.MaxInt
	}
	for running := true; running; {
		running = false
		for i := range samplers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for end := spent[i] + turn; spent[i] < end && left(i) > 0; {
				batch[i] = min(max(1, batch[i]), left(i))
				begin := cli.ThreadTime()
				steps[i](batch[i])
				took := cli.ThreadTime() - begin
				spent[i] += took
				switch {
				case took < between/2:
					batch[i] *= 2
				case took > 2*between:
					batch[i] /= 2
				}
			}
			running = running || left(i) > 0
			runs[i].Seconds = spent[i].Seconds()
		}
	}
	return runs, nil
}

// Rate returns moves a second of computing.
func (r Run) Rate() float64 { return float64(len(r.Energies)) / r.Seconds }

// At returns the energy after the given seconds, or the first or last one.
func (r Run) At(seconds float64) float64 {
	move := int(math.Ceil(seconds*r.Rate())) - 1
	return r.Energies[min(max(move, 0), len(r.Energies)-1)]
}

// After returns the energies after this share of the moves.
func (r Run) After(share float64) []float64 {
	return r.Energies[int(share*float64(len(r.Energies))):]
}

// Correlation returns the autocorrelation of energies at lags in moves, interpolated
// between whole ones. It is NaN at lags below 1 and above half the length of the series.
func Correlation(energies, lags []float64) []float64 {
	half := float64(len(energies) / 2)
	most := 0.
	for _, l := range lags {
		if l <= half {
			most = max(most, l)
		}
	}
	rho := diag.Autocorrelation(energies, int(most)+1)
	at := make([]float64, len(lags))
	for i, l := range lags {
		at[i] = math.NaN()
		if k := int(l); l >= 1 && k+1 < len(rho) {
			part := l - float64(k)
			at[i] = (1-part)*rho[k] + part*rho[k+1]
		}
	}
	return at
}

// Relaxed returns the state that samplers start from: after moves of m from a random
// state with this number of bits on, or of any number if active is 0. Take an m of
// small moves: from a random state long walks might never be accepted.
func Relaxed(s mcmc.Settable, m mcmc.Mover, beta float64, active, moves int, key rbm.Key) ([]uint8, error) {
	r := key.Rand()
	state := make([]uint8, s.Len())
	if active > 0 {
		for _, i := range r.Perm(len(state))[:active] {
			state[i] = 1
		}
	} else {
		for i := range state {
			state[i] = uint8(r.Uint64() & 1)
		}
	}
	s.SetState(state)
	chain, err := m.Bind(s, beta, nil)
	if err != nil {
		return nil, err
	}
	for range moves {
		chain.Move(r)
	}
	copy(state, s.State())
	return state, nil
}

// Log returns n values from lo to hi that are evenly spaced on a logarithmic axis.
func Log(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo * math.Pow(hi/lo, float64(i)/float64(n-1))
	}
	return x
}

// A Warmed mover warms its chain up when it is bound, and goes back to the start: a chain that finds a setting does so then,
// and a ladder moves its hotter replicas away from the state in which all begin.
type Warmed struct {
	mcmc.Mover
	Start []uint8
	Key   rbm.Key
	// Bound, if not nil, gets the chain and the seconds of computing that its warm-up took.
	Bound func(c mcmc.Chain, seconds float64)
}

// ladderMoves is the warm-up of a ladder.
const ladderMoves = 500

// Bind implements mcmc.Mover. s must be Settable.
func (m Warmed) Bind(s mcmc.System, beta float64, sites []int32) (mcmc.Chain, error) {
	c, err := m.Mover.Bind(s, beta, sites)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	r, begin := m.Key.Rand(), cli.ThreadTime()
	if w, ok := c.(interface {
		WarmUp(r *rand.Rand) mcmc.Info
	}); ok {
		w.WarmUp(r)
	} else if _, ok := c.(*mcmc.Ladder); ok {
		for range ladderMoves {
			c.Move(r)
		}
	}
	took := cli.ThreadTime() - begin
	s.(mcmc.Settable).SetState(m.Start)
	c.Reset()
	if m.Bound != nil {
		m.Bound(c, took.Seconds())
	}
	return c, nil
}
