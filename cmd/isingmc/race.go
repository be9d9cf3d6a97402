package main

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A contestant is a sampler on its own copy of the system.
type contestant struct {
	name   string // in the grammar of -sampler
	system system
	label  float64 // energy of the label unit that -class holds: no unit of the system
	chain  mcmc.Chain
	rand   *rand.Rand

	// What was measured since the last reset.
	info    mcmc.Info
	trace   *diag.Trace // of the energy after each move
	elapsed time.Duration

	batch int64 // moves between two looks at the clock
}

// traceLimit is the number of blocks that a trace may hold, two megabytes: far
// more than a picture shows, and enough to resolve any τ that the run can
// measure.
const traceLimit = 1 << 18

// Purposes of the keys derived from the seed.
const (
	startKey = iota
	movesKey
)

// movesRand returns the generator of a sampler's moves: a function of the seed, of the
// sampler and of how many equal ones stand before it, not of the others beside it. So a
// sampler makes the same moves alone and in a race, and no two share draws.
func movesRand(seed uint64, settings string, twin int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(settings))
	return rbm.NewKey(seed).Child(movesKey).Child(h.Sum64()).Child(uint64(twin)).Rand()
}

// reset forgets what was measured.
func (c *contestant) reset() {
	c.info, c.trace, c.elapsed = mcmc.Info{}, diag.NewTrace(traceLimit), 0
}

// move makes n moves.
func (c *contestant) move(n int64) {
	for range n {
		c.info.Add(c.chain.Move(c.rand))
		c.trace.Add(c.system.Energy() + c.label)
	}
}

// glance is the time between two looks at the clock: long beside the look, and
// short beside the turns.
const glance = time.Millisecond

// run moves until the sampler has had so much time, or made so many moves.
func (c *contestant) run(until time.Duration, moves int64, now func() time.Duration) {
	c.batch = max(1, c.batch)
	for c.elapsed < until && c.info.Moves < moves {
		n := min(c.batch, moves-c.info.Moves)
		start := now()
		c.move(n)
		took := now() - start
		c.elapsed += took
		switch {
		case took < glance/2:
			c.batch *= 2
		case took > 2*glance:
			c.batch = max(1, c.batch/2)
		}
	}
}

// A length says how long a race lasts: so many moves of the first sampler, or
// so much time.
type length struct {
	moves int64 // math.MaxInt64 if the time decides
	time  time.Duration
}

// byTime is the number of moves where the time decides.
const byTime = math.MaxInt64

// scaled returns a share of l, at least one move.
func (l length) scaled(share float64) length {
	if l.moves == byTime {
		return length{byTime, time.Duration(share * float64(l.time))}
	}
	return length{max(1, int64(math.Ceil(share*float64(l.moves)))), l.time}
}

// done returns which part of l the first sampler has behind it.
func (l length) done(first *contestant) float64 {
	if l.moves == byTime {
		return min(1, float64(first.elapsed)/float64(l.time))
	}
	return float64(first.info.Moves) / float64(l.moves)
}

// turn is how long a sampler runs before the next one does: whatever else the
// machine has to do meanwhile slows all of them alike.
const turn = 50 * time.Millisecond

// race runs the samplers by turns, for equal computing time each: the first for the
// length of the race, the others until they have had as much time as the first.
// What was measured before is forgotten. Where moves decide, those of the
// first sampler do not depend on the clock. It calls report, with the part
// that is done, after every round, and ends early, all samplers level, with the
// context's error.
func race(ctx context.Context, field []*contestant, l length, now func() time.Duration, report func(done float64)) error {
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
