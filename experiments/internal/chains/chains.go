// Package chains compares samplers: it runs Markov chains in turns for equal computing
// time and records their energies.
package chains

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Sampler is a mover with its own copy of a system.
type Sampler struct {
	Name   string
	Mover  mcmc.Mover
	System mcmc.System
	// Moves is the largest number of moves; 0: no limit but the time.
	Moves int
}

// A Run is the record of a sampler.
type Run struct {
	Name     string
	Energies []float64 // after each move
	Info     mcmc.Info
	Seconds  float64 // computing time
}

const (
	// slice is the time that a sampler runs before the next sampler continues. It is short, so that other
	// programs slow all samplers equally.
	slice = 50 * time.Millisecond
	// between is about the time between two readings of the clock.
	between = time.Millisecond
	// longest is the largest limit of the computing time, in seconds.
	longest = 1e9
)

// Race runs samplers in turns at inverse temperature beta. Each runs for the given seconds of
// computing time or until it has made its moves. The moves of a sampler depend only on the key and
// on its index; their number depends on the clock.
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
		steps[i] = func(n int) {
			for range n {
				run.Info.Add(chain.Move(r))
				run.Energies = append(run.Energies, s.System.Energy())
			}
		}
	}
	spent, batch := make([]time.Duration, len(samplers)), make([]int, len(samplers))
	// left returns the number of moves that a sampler may still make.
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
			for end := spent[i] + slice; spent[i] < end && left(i) > 0; {
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

// Rate returns the number of moves per second of computing time.
func (r Run) Rate() float64 { return float64(len(r.Energies)) / r.Seconds }

// At returns the energy after the given seconds of computing time, clamped to the run.
func (r Run) At(seconds float64) float64 {
	move := int(math.Ceil(seconds*r.Rate())) - 1
	return r.Energies[min(max(move, 0), len(r.Energies)-1)]
}

// After returns the energies after this fraction of the moves.
func (r Run) After(fraction float64) []float64 {
	return r.Energies[int(fraction*float64(len(r.Energies))):]
}

// Relaxed returns a state to start samplers from. It makes moves by m from a random state with
// active bits on, or with each bit on with probability ½ if active is 0. m should make
// small moves, because long walks from a random state may never be accepted.
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
