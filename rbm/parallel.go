package rbm

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shareWork is the work, in weights times rows, from which a job is worth
	// sharing with a helper that is awake: some 5 µs of one core, against less
	// than one for giving and taking.
	shareWork = 1 << 19
	// wakeWork is the work for which a helper is woken, which takes the caller
	// some 5 µs and the helper up to 50: some 80 µs of one core.
	wakeWork = 1 << 23
	// spinTime is how long a goroutine looks for work, or waits for the last
	// part of a job, before it sleeps: longer than what a training step does
	// between its passes.
	spinTime = 100 * time.Microsecond
	// spins is the number of looks, about 10 µs, after which the scheduler may
	// run something else.
	spins = 1 << 14
	// coarseWork is the work of jobs whose parts may take long, and differ: to
	// wait for them does not mean that something else holds the helper up.
	coarseWork = math.MaxInt
	// restFactor is how many times as long as a pass had to wait for a helper
	// that the operating system had taken off its processor callers then work
	// alone. So a busy machine costs a sixteenth at most.
	restFactor = 16
)

// A job is a loop over independent parts of fixed size, shared out among
// goroutines; who runs which part has no influence on the result. It is meant
// to be kept and run again: a run allocates nothing once the helpers exist.
//
// Every worker has a range of the parts of its own, the same in all jobs of as
// many parts, so that the weights of its panels stay in its processor's cache
// from pass to pass. Who is done with that takes parts from the other ranges:
// a helper that comes late, or never, holds nothing up.
type job struct {
	part     func(i int)
	backward bool // workers take the last part of a range first

	n      int
	ranges []partRange
	inside atomic.Int32   // helpers that may be at work
	done   sync.WaitGroup // the same, to sleep on
}

// A partRange counts the parts that were taken of a worker's range. It fills a
// line of the cache.
type partRange struct {
	taken atomic.Int64
	_     [56]byte
}

// run calls part(i) for 0 ≤ i < n, in parallel if wide. A job is run by one
// goroutine at a time.
func (j *job) run(n int, wide bool) {
	if wide {
		j.pass(n, coarseWork)
	} else {
		j.pass(n, 0)
	}
}

// pass is run for a job that may be small or is one of many: work decides
// whether it is worth sharing out, or even waking helpers for.
func (j *job) pass(n, work int) {
	workers := 1
	if n > 1 && work >= shareWork {
		workers = min(n, runtime.GOMAXPROCS(0), processors)
	}
	if workers <= 1 || work < coarseWork && int64(sinceStart()) < rest.Load() {
		for i := range n {
			if j.backward {
				i = n - 1 - i
			}
			j.part(i)
		}
		return
	}
	j.n = n
	if cap(j.ranges) < workers {
		j.ranges = make([]partRange, workers)
	}
	j.ranges = j.ranges[:workers]
	for w := range j.ranges {
		j.ranges[w].taken.Store(0)
	}
	j.share(workers, work)
}

// share runs the job with at most workers−1 helpers. If a part panics in the
// caller, the others are done before it goes on; in a helper it ends the program.
func (j *job) share(workers, work int) {
	start, pool := sinceStart(), helpersFor(workers)
	defer func() {
		callers.Add(-1)
		j.wait(pool, start, work)
	}()
	// Jobs beside this one, or around it, have goroutines at work themselves.
	j.ask(pool, workers-int(callers.Add(1)), work)
	j.work(0)
}

// work runs the parts of range w, then what is left of the others.
func (j *job) work(w int) {
	workers := len(j.ranges)
	for k := range workers {
		w := (w + k) % workers
		lo, hi := w*j.n/workers, (w+1)*j.n/workers
		for {
			i := int(j.ranges[w].taken.Add(1)) - 1
			if i >= hi-lo {
				break
			}
			if j.backward {
				j.part(hi - 1 - i)
			} else {
				j.part(lo + i)
			}
		}
	}
}

// ask gives the job to at most count helpers that have nothing to do.
func (j *job) ask(pool []*helper, count, work int) {
	wake, counted := work >= wakeWork, false
	for _, h := range pool {
		if count <= 0 {
			return
		}
		state := h.job.Load()
		if state == asleep && !wake && !counted {
			// Many small jobs wake helpers too: once for as much work.
			counted = true
			if wake = owed.Add(int64(work)) >= wakeWork; wake {
				owed.Store(0)
			}
		}
		if state == asleep && !wake || state != asleep && state != nil {
			continue
		}
		j.inside.Add(1)
		j.done.Add(1)
		if !h.job.CompareAndSwap(state, j) {
			j.leave()
			continue
		}
		count--
		if state == asleep {
			h.wake <- struct{}{}
		}
	}
}

// leave is called once for every helper that was asked.
func (j *job) leave() {
	j.inside.Add(-1)
	j.done.Done()
}

// wait takes the job back from helpers that have not begun and waits for those
// that have.
func (j *job) wait(pool []*helper, start time.Duration, work int) {
	for _, h := range pool {
		if h.job.Load() == j && h.job.CompareAndSwap(j, nil) {
			j.leave()
		}
	}
	if j.inside.Load() == 0 {
		return
	}
	from, limit := sinceStart(), spinTime
	if work < coarseWork {
		// The last part of a helper takes no longer than the caller's.
		limit = max(limit, 2*(from-start))
	}
	for look := 1; j.inside.Load() > 0; look++ {
		if look%spins != 0 {
			continue
		}
		runtime.Gosched()
		// It may have been the caller itself that was taken off its processor.
		if sinceStart()-from > limit && j.inside.Load() > 0 {
			j.done.Wait()
			if now := sinceStart(); work < coarseWork {
				rest.Store(int64(now + restFactor*(now-from)))
			}
			return
		}
	}
}

// parallel calls part(i) for 0 ≤ i < n on all processors.
func parallel(n int, part func(i int)) {
	j := job{part: part}
	j.run(n, true)
}
