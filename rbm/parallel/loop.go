// Package parallel runs loops on all processors.
//
// Training takes thousands of steps a second, each of a few short loops. Starting
// goroutines for each of them would take longer than the loops. So a few helper
// goroutines live as long as the program and look for work for a while before
// they sleep.
//
// A loop's iterations must be independent of each other: which goroutine runs
// which must not matter. Then results are equal at any number of processors.
package parallel

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// Always is the cost of a loop that is worth sharing out whatever it does:
	// its iterations may be long and differ in length.
	Always = math.MaxInt
	// shareCost is the cost, in multiply-adds, from which a loop is shared with
	// helpers that are awake: some 5 µs of one core. Sharing costs less than 1 µs.
	shareCost = 1 << 19
	// wakeCost is the cost from which helpers are woken: some 80 µs of one core.
	// Waking costs the caller some 5 µs and takes a helper up to 50 µs.
	wakeCost = 1 << 23
)

// A Loop is a loop of independent iterations that is run again and again. Once
// the helpers exist a run allocates nothing. Only one goroutine may run a loop at
// a time; a loop may be run inside an iteration of another one.
//
// The iterations are divided into one range for each worker. A worker gets the
// same range in every run of as many iterations, so what it works on stays in its
// processor's cache. A worker that is done with its range takes iterations of
// the others: so no run waits for a helper that comes late, or never.
type Loop struct {
	Body    func(i int) // one iteration
	Reverse bool        // workers begin with the last iteration of a range

	n       int
	ranges  []workRange
	running atomic.Int32   // helpers that may be at work
	done    sync.WaitGroup // counts the same helpers, to sleep on
}

// A workRange counts how many iterations of a worker's range were taken. Its size
// is that of a cache line, so that workers do not slow each other down.
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
// is roughly the number of multiply-adds of the whole loop, or Always: if it is
// small, the caller runs all iterations, in order.
//
// If an iteration panics in the caller, the other iterations end before the
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

// workersFor returns the number of goroutines to share n iterations of that cost.
func workersFor(n, cost int) int {
	if n <= 1 || cost < shareCost || cost < Always && pausing() {
		return 1
	}
	return min(n, runtime.GOMAXPROCS(0), processors)
}

// start runs n iterations in as many ranges as workers.
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
	// Other callers, and callers around this one, are at work themselves: they
	// leave fewer processors for helpers.
	asked = l.ask(helpers, workers-int(callers.Add(1)), cost)
	l.work(0)
}

// work runs the iterations of range w, then what is left of the other ranges.
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

// ask gives the loop to at most count helpers that have nothing to do, and
// returns how many.
func (l *Loop) ask(helpers []*helper, count, cost int) (asked int) {
	wake, counted := cost >= wakeCost, false
	for _, h := range helpers {
		if asked >= count {
			break
		}
		state := h.loop.Load()
		if state == asleep && !wake && !counted {
			// Many small loops wake a helper too: once for wakeCost of them.
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

// recall takes the loop back from helpers that have not begun, and returns how
// many these were.
func (l *Loop) recall(helpers []*helper) (late int) {
	for _, h := range helpers {
		if h.loop.Load() == l && h.loop.CompareAndSwap(l, nil) {
			l.leave()
			late++
		}
	}
	return late
}

// leave is called once for every helper that was asked.
func (l *Loop) leave() {
	l.running.Add(-1)
	l.done.Done()
}
