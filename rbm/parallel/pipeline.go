package parallel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// pipelineTurns is the smallest number of iterations per stage of a pipeline with several stages.
// Workers wait while the first stage begins and the last stage ends, which costs too much with fewer iterations.
const pipelineTurns = 3

// A Pipeline is a loop whose iterations process parts 0, 1, … in this order. An example is a sum over panels
// of weights, which rounds differently in another order. Each worker processes the same range of parts, a
// stage, in iteration 0, then 1, and so on. In each iteration it waits for the stage before. The data of a
// part therefore stay in the cache of one processor, through all iterations and through a Loop over the same
// parts. If there are too few iterations or parts, each worker processes whole iterations instead.
//
// The rules of a Loop also apply to a Pipeline.
type Pipeline struct {
	Body func(i, lo, hi int) // parts lo … hi−1 of iteration i

	n, parts, stages int
	cost             int          // cost of one stage of one iteration
	ended            []stageCount // for each iteration: the number of finished stages
	broken           atomic.Bool  // a stage has panicked
	loop             Loop
}

// A stageCount is a counter that fills a cache line.
type stageCount struct {
	atomic.Int32
	_ [60]byte
}

// Run calls Body for all parts of iterations 0 ≤ i < n, and returns when all calls have
// returned. The parts of an iteration are processed in ascending order, in one or several calls. cost is
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

// step runs one stage of one iteration, after the stage before. Range w of the loop is
// stage w. There is no deadlock: the caller runs all of stage 0, which does not wait,
// and then what remains of stages 1, 2, ….
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

// slowRate is the speed of the slowest kernel, in multiply-adds per nanosecond.
const slowRate = 1

// wait waits until all stages before this one have finished iteration i. It returns false if a stage
// has panicked. If the wait is longer than the longest time of a stage, the machine is busy, and
// callers pause.
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
