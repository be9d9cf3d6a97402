package main

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A contestant is a sampler with its own copy of the system.
type contestant struct {
	name   string // in the grammar of -sampler
	beta   float64
	system system
	label  float64 // energy of the label unit that -class fixes, which is not in the system
	chain  mcmc.Chain
	rand   *rand.Rand

	measured
	twin  *twin // nil without -overlap
	batch int64 // moves between two readings of the clock
}

// measured is what a sampler has measured since the last reset.
type measured struct {
	info    mcmc.Info
	trace   *diag.Trace // of the energy after each move
	elapsed time.Duration

	observables *observables // nil without -observables and -overlap
	states      *stateLog    // nil without -states

	// Of a sampler that finds the length of its walks; else 0.
	warmUp  time.Duration
	lengths [2]int // the shortest and the longest walk
}

// traceLimit is the largest number of blocks of a trace, two megabytes. A
// picture shows far fewer, and they resolve any τ that the run can measure.
const traceLimit = 1 << 18

// Keys that derive from the seed.
const (
	startKey = iota
	movesKey
	tuneKey
	twinKey
	chainKey
)

// movesRand returns the random numbers of a sampler's moves. They depend on a key
// of the seed, on the sampler's settings and on how many samplers with equal settings
// come before it. So a sampler makes the same moves alone and with others.
func movesRand(key rbm.Key, settings string, before int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(settings))
	return key.Child(h.Sum64()).Child(uint64(before)).Rand()
}

// reset forgets what was measured.
func (c *contestant) reset() {
	c.info, c.trace, c.elapsed = mcmc.Info{}, diag.NewTrace(traceLimit), 0
	c.resetObservables()
	c.states.reset()
}

// move makes n moves.
func (c *contestant) move(n int64) {
	for range n {
		c.info.Add(c.chain.Move(c.rand))
		c.trace.Add(c.system.Energy() + c.label)
		if c.twin != nil {
			c.twin.chain.Move(c.twin.rand)
		}
		if c.observables != nil {
			c.observe()
		}
		if c.states != nil {
			c.states.add(c.system.State(), c.system.Energy()+c.label)
		}
	}
}

// warm lets the sampler find the length of its walks, if it is to do so, and freezes it. That
// makes a fixed number of moves, so that it does not depend on the clock.
func (c *contestant) warm(now func() time.Duration) {
	chain, ok := c.chain.(mcmc.Adaptive)
	if !ok || chain.NewLength() == nil {
		return
	}
	runtime.LockOSThread() // the clock may be that of the thread
	defer runtime.UnlockOSThread()
	start := now()
	chain.WarmUp(c.rand)
	if c.twin != nil {
		c.twin.chain.(mcmc.Adaptive).WarmUp(c.twin.rand)
	}
	c.warmUp = now() - start
	c.lengths[0], c.lengths[1] = chain.Lengths()
}

// clockInterval is about the time between two readings of the clock: long
// compared with a reading, and short compared with a turn.
const clockInterval = time.Millisecond

// run makes moves until the sampler has used this much time in all, or made
// this many moves.
func (c *contestant) run(until time.Duration, moves int64, now func() time.Duration) {
	c.batch = max(1, c.batch)
	for c.elapsed < until && c.info.Moves < moves {
		n := min(c.batch, moves-c.info.Moves)
		start := now()
		c.move(n)
		took := now() - start
		c.elapsed += took
		switch {
		case took < clockInterval/2:
			c.batch *= 2
		case took > 2*clockInterval:
			c.batch = max(1, c.batch/2)
		}
	}
}

// A length is the length of a race: a number of moves of the first sampler, or
// a time.
type length struct {
	moves int64 // math.MaxInt64 if the time decides
	time  time.Duration
}

// byTime is the number of moves of a race whose length is a time.
const byTime = math.MaxInt64

// scaled returns a fraction of l, at least one move.
func (l length) scaled(share float64) length {
	if l.moves == byTime {
		return length{byTime, time.Duration(share * float64(l.time))}
	}
	return length{max(1, int64(math.Ceil(share*float64(l.moves)))), l.time}
}

// done returns the part of l that the first sampler has done, from 0 to 1.
func (l length) done(first *contestant) float64 {
	if l.moves == byTime {
		return min(1, float64(first.elapsed)/float64(l.time))
	}
	return float64(first.info.Moves) / float64(l.moves)
}

// turn is how long a sampler runs before the next one does. Turns are short, so
// that other work of the machine slows all samplers alike.
const turn = 50 * time.Millisecond

// race runs the samplers in turns: the first one for the length of the race, the
// others until they have used as much time. It resets them first. If the length
// is a number of moves, the moves of the first sampler do not depend on the
// clock. After each round of turns it calls report with the part that is done.
// If the context ends, it returns the context's error after a whole round.
func race(ctx context.Context, field []*contestant, l length, now func() time.Duration, report func(done float64)) error {
	runtime.LockOSThread() // the clock may be that of the thread
	defer runtime.UnlockOSThread()
	for _, c := range field {
		c.reset()
	}
	first := field[0]
	for l.done(first) < 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		first.run(min(first.elapsed+turn, l.time), l.moves, now)
		for _, c := range field[1:] {
			c.run(first.elapsed, byTime, now)
		}
		report(l.done(first))
	}
	return nil
}
