package parallel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// pipelineTurns is the number of iterations for each stage from which on a pipeline has
// stages: while the first stage begins and the last one ends, workers wait.
const pipelineTurns = 3

// A Pipeline is a loop whose iterations go through parts 0, 1, … in this order: sums over
// panels of weights, say, that round differently in another order. Each worker has a
// range of the parts, in all iterations: it goes through iteration 0, then 1, …, and in
// each of them follows the worker of the range before. So the memory that belongs to a part
// stays in the cache of one processor, also between this loop and a Loop over the
// parts. Where there are too few iterations or parts for this, workers share
// whole iterations.
//
// What goes for a Loop goes for a Pipeline.
type Pipeline struct {
	Body func(i, lo, hi int) // parts lo … hi−1 of iteration i

	n, parts, stages int
	cost             int          // of a stage of an iteration
	ended            []stageCount // for each iteration
	broken           atomic.Bool  // a stage has panicked
	loop             Loop
}

// A stageCount is the number of stages that an iteration has gone through, on a cache line of
// its own.
type stageCount struct {
	atomic.Int32
	_ [60]byte
}

// Run calls Body for all parts of iterations 0 ≤ i < n, and returns when all calls have
// returned. Each iteration's parts come in ascending order, in one call or more. cost is
// that of Loop.Run.
func (p *Pipeline) Run(n, parts, cost int) {
	workers := workersFor(n, cost)
	if workers == 1 {
		for i := range n {
			p.Body(i, 0, parts)
		}
		return
	}
	p.n, p.parts, p.stages = n, parts, 1
	if workers <= parts && n >= pipelineTurns*workers {
		p.stages = workers
	}
	p.cost = cost
	if cost < Always {
		p.cost /= n * p.stages
	}
	if cap(p.ended) < n {
		p.ended = make([]stageCount, n)
	}
	p.ended = p.ended[:n]
	for i := range p.ended {
		p.ended[i].Store(0)
	}
	p.broken.Store(false)
	if p.loop.Body == nil {
		p.loop.Body = p.step
	}
	p.loop.start(n*p.stages, workers, cost)
}

// step takes an iteration through a stage, after the stage before. Range w of the loop is
// stage w. No worker waits in vain: the caller goes through all of stage 0, where nobody waits,
// and then through what others have left of stages 1, 2, ….
func (p *Pipeline) step(t int) {
	stage, i := t/p.n, t%p.n
	if p.ended[i].Load() < int32(stage) && !p.wait(stage, i) {
		return
	}
	whole := false
	defer func() {
		if !whole {
			p.broken.Store(true)
		}
	}()
	p.Body(i, stage*p.parts/p.stages, (stage+1)*p.parts/p.stages)
	whole = true
	p.ended[i].Store(int32(stage) + 1)
}

// slowRate is a number of multiply-adds in a nanosecond that every kernel reaches.
const slowRate = 1

// wait waits until iteration i has gone through the stages before this one, and reports
// whether it has: not if a stage has panicked. If that takes longer than a stage can take,
// the machine is busy, and callers pause.
func (p *Pipeline) wait(stage, i int) bool {
	from := now()
	for look := 1; p.ended[i].Load() < int32(stage); look++ {
		if p.broken.Load() {
			return false
		}
		if look%spins == 0 {
			runtime.Gosched()
		}
	}
	if p.cost < Always {
		end := now()
		if waited := end - from; waited > max(spinTime, time.Duration(p.cost/slowRate)) {
			pause(end, pauseFactor*waited)
		}
	}
	return true
}
