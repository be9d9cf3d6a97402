package main

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A contestant is a sampler with its copy of the system.
type contestant struct {
	name   string // as in -sampler
	beta   float64
	system system
	shift  float64 // see plan
	chain  mcmc.Chain
	rand   *rand.Rand

	ladder *mcmc.Ladder // chain, if it has several temperatures; otherwise nil

	measured
	twin  *twin // nil without -overlap
	batch int64 // number of moves between two readings of the clock
}

// measured has the measurements of a sampler since the last reset.
type measured struct {
	Info    mcmc.Info
	Trace   *diag.Trace   // energy after each move
	Elapsed time.Duration // computing time
	Within  float64       // sum over moves of the variance between the weighted energies of ins

	Observables *observables // nil without -observables and -overlap
	States      *stateLog    // nil without -states
	Scanned     *scanned     // nil without -scan
	Exchanges   *exchanges   // nil without replicas

	// Set for a sampler that tunes the length of its walks; otherwise 0.
	WarmUp  time.Duration
	Lengths [2]int // numbers of flips of the shortest and the longest walk
}

// exchanges counts swaps of neighbouring replicas and round trips.
type exchanges struct {
	Tries, Made []int64 // for each pair of neighbours, coldest first: attempted and accepted swaps
	Trips       int64
}

// traceLimit is the largest number of blocks of a trace, two megabytes. A
// picture shows far fewer, and this many resolve any τ that the run can measure.
const traceLimit = 1 << 18

// Keys that derive from the seed.
const (
	startKey = iota
	movesKey
	tuneKey
	twinKey
	chainKey
	spaceKey
)

// movesRand returns the generator for a sampler's moves. It depends on a key derived from
// the seed, on the sampler's settings, and on the number of earlier samplers with equal
// settings (before). So a sampler makes the same moves alone and with others.
func movesRand(key rbm.Key, settings string, before int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(settings))
	return key.Child(h.Sum64()).Child(uint64(before)).Rand()
}

// reset discards all measurements.
func (c *contestant) reset() {
	c.Info, c.Trace, c.Elapsed, c.Within = mcmc.Info{}, diag.NewTrace(traceLimit), 0, 0
	c.resetObservables()
	c.States.reset()
	if s := c.Scanned; s != nil {
		c.Scanned = newScanned(len(s.At), s.At[0].Spins != nil)
	}
	c.Exchanges = nil
	if c.ladder != nil {
		c.ladder.Forget()
	}
}

// move makes n moves.
func (c *contestant) move(n int64) {
	for range n {
		c.Info.Add(c.chain.Move(c.rand))
		if c.Scanned != nil {
			c.observeScan()
			continue
		}
		x, y, weight := c.readings(false)
		c.Trace.Add(mean(x.energy, y.energy, weight))
		c.Within += within(x, y, weight)
		if c.twin != nil {
			c.twin.chain.Move(c.twin.rand)
		}
		if c.Observables != nil {
			c.observe()
		}
		if c.States != nil {
			c.States.add(c.system.State(), c.system.Energy()+c.shift)
		}
	}
	if c.ladder != nil {
		tries, made, trips := c.ladder.Exchanged()
		c.Exchanges = &exchanges{tries, made, trips}
	}
}

// warm tunes and then fixes the length of the sampler's walks, at each temperature of a ladder, if its
// settings have k=auto. It makes a fixed number of moves, so that the result does not depend on the clock.
func (c *contestant) warm(now func() time.Duration) {
	if first, ok := chainsOf(c.chain)[0].(mcmc.Adaptive); !ok || first.NewLength() == nil {
		return
	}
	runtime.LockOSThread() // now may be the clock of the thread
	defer runtime.UnlockOSThread()
	start := now()
	for i, chain := range chainsOf(c.chain) {
		chain := chain.(mcmc.Adaptive)
		chain.WarmUp(c.rand)
		low, high := chain.Lengths()
		if i == 0 || low < c.Lengths[0] {
			c.Lengths[0] = low
		}
		c.Lengths[1] = max(c.Lengths[1], high)
	}
	if c.twin != nil {
		for _, chain := range chainsOf(c.twin.chain) {
			chain.(mcmc.Adaptive).WarmUp(c.twin.rand)
		}
	}
	c.WarmUp = now() - start
}

// chainsOf returns the chains of a ladder's replicas, or c itself.
func chainsOf(c mcmc.Chain) []mcmc.Chain {
	if l, ok := c.(*mcmc.Ladder); ok {
		return l.Chains()
	}
	return []mcmc.Chain{c}
}

// clockInterval is about the time between two readings of the clock. It is long
// compared with a reading, and short compared with timeSlice.
const clockInterval = time.Millisecond

// run makes moves until the sampler has used the given total time, or made the
// given total number of moves.
func (c *contestant) run(until time.Duration, moves int64, now func() time.Duration) {
	c.batch = max(1, c.batch)
	for c.Elapsed < until && c.Info.Moves < moves {
		n := min(c.batch, moves-c.Info.Moves)
		start := now()
		c.move(n)
		took := now() - start
		c.Elapsed += took
		switch {
		case took < clockInterval/2:
			c.batch *= 2
		case took > 2*clockInterval:
			c.batch = max(1, c.batch/2)
		}
	}
}

// A length is the length of a race: a number of moves of the first sampler or of
// each sampler, or a time.
type length struct {
	moves int64 // math.MaxInt64 if the time decides
	time  time.Duration
	each  bool // each sampler makes this number of moves, whatever the time
}

// byTime is the number of moves of a race whose length is a time.
const byTime = math.MaxInt64

// scaled returns share times l, at least one move.
func (l length) scaled(share float64) length {
	if l.moves == byTime {
		return length{byTime, time.Duration(share * float64(l.time)), l.each}
	}
	return length{max(1, int64(math.Ceil(share*float64(l.moves)))), l.time, l.each}
}

// done returns the fraction of l that is done, from 0 to 1.
func (l length) done(field []*contestant) float64 {
	first := field[0]
	if l.each {
		first = slices.MinFunc(field, func(a, b *contestant) int { return cmp.Compare(a.Info.Moves, b.Info.Moves) })
	}
	if l.moves == byTime {
		return min(1, float64(first.Elapsed)/float64(l.time))
	}
	return float64(first.Info.Moves) / float64(l.moves)
}

// timeSlice is the time that a sampler runs before the next one does. It is short, so
// that other programs slow all samplers equally.
const timeSlice = 50 * time.Millisecond

// race resets the samplers and runs them in turns: the first for the length of the
// race, the others until they have used as much time. If the length is a number of
// moves, the moves of the first sampler do not depend on the clock. After each round
// of turns it calls report with the fraction that is done. If the context ends, it
// finishes the round and returns the context's error.
func race(ctx context.Context, field []*contestant, l length, now func() time.Duration, report func(done float64)) error {
	runtime.LockOSThread() // now may be the clock of the thread
	defer runtime.UnlockOSThread()
	for _, c := range field {
		c.reset()
	}
	first := field[0]
	for l.done(field) < 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		first.run(min(first.Elapsed+timeSlice, l.time), l.moves, now)
		for _, c := range field[1:] {
			if l.each {
				c.run(c.Elapsed+timeSlice, l.moves, now)
			} else {
				c.run(first.Elapsed, byTime, now)
			}
		}
		report(l.done(field))
	}
	return nil
}
