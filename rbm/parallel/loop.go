// Package parallel runs loops on all processors.
//
// Training makes thousands of steps per second, each with a few short loops. Starting
// goroutines for each loop would take longer than the loop. Therefore helper
// goroutines exist as long as the program, and poll for work for some time before they sleep.
//
// The iterations of a loop must be independent of each other, and must not depend on which goroutine
// runs them. Results are then equal at any number of processors.
package parallel

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// Always is the cost of a loop that is always run in parallel. Its iterations may be long and
	// differ in length.
	Always = math.MaxInt
	// shareCost is the smallest cost, in multiply-adds, of a parallel loop with
	// helpers that are awake: about 5 µs of one core. The overhead is less than 1 µs.
	shareCost = 1 << 19
	// wakeCost is the smallest cost for which helpers are woken: about 80 µs of one core.
	// Waking costs the caller about 5 µs, and the helper begins after up to 50 µs.
	wakeCost = 1 << 23
)

// A Loop is a loop of independent iterations that runs many times. Once
// the helpers exist, a run allocates nothing. Only one goroutine may run a Loop at
// a time. An iteration may run another Loop.
//
// The iterations are divided into one range for each worker. A worker gets the
// same range in every run with the same number of iterations, so its data stay in the cache
// of its processor. A worker that has finished its range takes iterations of
// the others. No run therefore waits for a helper that has not begun.
type Loop struct {
	Body    func(i int) // one iteration
	Reverse bool        // workers begin with the last iteration of a range

	n       int
	ranges  []workRange
	running atomic.Int32   // number of helpers that may be at work
	done    sync.WaitGroup // the same number, for a caller that sleeps
}

// A workRange counts the iterations of a worker's range that were taken. It fills a cache line, so
// that workers do not write to the same line.
type workRange struct {
	taken atomic.Int64
	_     [56]byte
}

// Do calls body(i) for 0 ≤ i < n on all processors.
func Do(n int, body func(i int)) {
	l := Loop{Body: body}
	l.Run(n, Always)
}

// Run calls Body(i) for 0 ≤ i < n and returns when all calls have returned. cost
// is about the number of multiply-adds of the whole loop, or Always. If it is
// small, the caller runs all iterations, in order.
//
// If an iteration panics in the caller, Run waits for the iterations of the helpers before the
// panic continues. A panic in a helper ends the program.
func (l *Loop) Run(n, cost int) {
	workers := workersFor(n, cost)
	if workers == 1 {
		for i := range n {
			if l.Reverse {
				i = n - 1 - i
			}
			l.Body(i)
		}
		return
	}
	l.start(n, workers, cost)
}

// workersFor returns the number of goroutines for n iterations of the given total cost.
func workersFor(n, cost int) int {
	if n <= 1 || cost < shareCost || cost < Always && pausing() {
		return 1
	}
	return min(n, runtime.GOMAXPROCS(0), processors)
}

// start runs n iterations, divided into one range for each worker.
func (l *Loop) start(n, workers, cost int) {
	l.n = n
	if cap(l.ranges) < workers {
		l.ranges = make([]workRange, workers)
	}
	l.ranges = l.ranges[:workers]
	for w := range l.ranges {
		l.ranges[w].taken.Store(0)
	}
	l.share(workers, cost)
}

// share runs the loop with at most workers−1 helpers.
func (l *Loop) share(workers, cost int) {
	start, helpers, asked := now(), helpersFor(workers), 0
	defer func() {
		callers.Add(-1)
		if late := l.recall(helpers); asked > 0 && cost < Always {
			note(late < asked, start)
		}
		l.wait(start, cost)
	}()
	// Other callers, including those whose iteration runs this loop, use processors too, so fewer
	// are available for helpers.
	asked = l.ask(helpers, workers-int(callers.Add(1)), cost)
	l.work(0)
}

// work runs the iterations of range w, then the remaining ones of the other ranges.
func (l *Loop) work(w int) {
	workers := len(l.ranges)
	for k := range workers {
		w := (w + k) % workers
		lo, hi := w*l.n/workers, (w+1)*l.n/workers
		for {
			i := int(l.ranges[w].taken.Add(1)) - 1
			if i >= hi-lo {
				break
			}
			if l.Reverse {
				l.Body(hi - 1 - i)
			} else {
				l.Body(lo + i)
			}
		}
	}
}

// ask assigns the loop to at most count idle helpers, and returns their number.
func (l *Loop) ask(helpers []*helper, count, cost int) (asked int) {
	wake, counted := cost >= wakeCost, false
	for _, h := range helpers {
		if asked >= count {
			break
		}
		state := h.loop.Load()
		if state == asleep && !wake && !counted {
			// Small loops also wake helpers, once their total cost reaches wakeCost.
			counted = true
			if wake = unshared.Add(int64(cost)) >= wakeCost; wake {
				unshared.Store(0)
			}
		}
		if state == asleep && !wake || state != asleep && state != nil {
			continue
		}
		l.running.Add(1)
		l.done.Add(1)
		if !h.loop.CompareAndSwap(state, l) {
			l.leave()
			continue
		}
		asked++
		if state == asleep {
			h.wake <- struct{}{}
		}
	}
	return asked
}

// recall takes the loop back from helpers that have not begun, and returns their number.
func (l *Loop) recall(helpers []*helper) (late int) {
	for _, h := range helpers {
		if h.loop.Load() == l && h.loop.CompareAndSwap(l, nil) {
			l.leave()
			late++
		}
	}
	return late
}

// leave records that a helper is no longer at work. It is called once for every helper that was asked.
func (l *Loop) leave() {
	l.running.Add(-1)
	l.done.Done()
}
