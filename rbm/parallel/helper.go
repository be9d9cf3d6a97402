package parallel

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spinTime is the time for which a goroutine polls for work, or for the end of the last
	// iteration of a loop, before it sleeps. It is longer than the pauses between the loops of a
	// training step.
	spinTime = 100 * time.Microsecond
	// spins is the number of polls, about 10 µs, after which a goroutine yields its processor.
	spins = 1 << 14
)

// On a busy machine helpers respond late, and parallel loops cost more than they save. Callers then
// run their loops alone for some time, a pause.
const (
	// missTime is the total time of loops without a helper after which callers pause. A sleeping helper wakes
	// within an eighth of this time.
	missTime = 400 * time.Microsecond
	// pauseFactor is the length of a pause divided by the time lost before it. On a busy machine
	// attempts to use helpers therefore cost about a sixteenth of the time.
	pauseFactor = 16
	// longestPause, 51 ms, limits the length of a pause. A pause soon after another one is twice as long. On a
	// machine that stays busy, attempts then cost at most 1/128 of the time.
	longestPause = 8 * pauseFactor * missTime
)

// A helper is a goroutine that runs iterations of loops until the program ends.
// Helpers are numbered from 1; the caller of a loop is its worker 0.
type helper struct {
	number int
	loop   atomic.Pointer[Loop] // the loop to join, or nil, taken or asleep
	wake   chan struct{}        // wakes a sleeping helper
	_      [40]byte             // separates loop, which callers poll, from other cache lines
}

// Values of helper.loop that are not loops to join.
var (
	taken  = new(Loop) // the helper is at work
	asleep = new(Loop)
)

// serve joins the loops that callers assign to the helper. After spinTime without a loop it
// sleeps until a caller wakes it.
func (h *helper) serve() {
	for {
		<-h.wake
		idle := now()
		for look := 1; ; look++ {
			if l := h.loop.Load(); l != nil {
				if h.loop.CompareAndSwap(l, taken) {
					l.work(h.number % len(l.ranges))
					h.loop.Store(nil)
					l.leave()
					idle = now()
				}
				continue
			}
			if look%spins != 0 {
				continue
			}
			runtime.Gosched()
			if now()-idle > spinTime && h.loop.CompareAndSwap(nil, asleep) {
				break
			}
		}
	}
}

// State of all loops. It has no influence on results.
var (
	processors  = runtime.NumCPU() // largest number of goroutines at work
	callers     atomic.Int32       // number of goroutines that run a parallel loop
	unshared    atomic.Int64       // cost of small loops that ran alone while helpers slept
	missed      atomic.Int64       // total time of loops that got no helper
	pauseEnd    atomic.Int64       // until then only loops of cost Always are parallel
	pauseLength atomic.Int64       // length of the last pause
	helpers     struct {
		sync.Mutex
		all atomic.Pointer[[]*helper]
	}
)

// SetProcessors makes loops use up to n processors, even if the machine has fewer. It
// returns a function that restores the previous number. It is for tests.
func SetProcessors(n int) (restore func()) {
	old, procs := processors, runtime.GOMAXPROCS(n)
	processors = n
	return func() {
		processors = old
		runtime.GOMAXPROCS(procs)
	}
}

// Raced reports whether the program runs under the race detector, where pools drop items at random. It is for tests
// that count allocations, and for those that would take long.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// helpersFor returns all helpers. It creates helpers if there are fewer than workers−1.
func helpersFor(workers int) []*helper {
	if all := helpers.all.Load(); all != nil && len(*all) >= workers-1 {
		return *all
	}
	helpers.Lock()
	defer helpers.Unlock()
	var all []*helper
	if old := helpers.all.Load(); old != nil {
		all = append(all, *old...)
	}
	for len(all) < workers-1 {
		h := &helper{number: len(all) + 1, wake: make(chan struct{}, 1)}
		h.loop.Store(asleep)
		all = append(all, h)
		go h.serve()
	}
	helpers.all.Store(&all)
	return all
}

// wait waits for the helpers that are at work. start is the time at which the loop began.
func (l *Loop) wait(start time.Duration, cost int) {
	if l.running.Load() == 0 {
		return
	}
	from, limit := now(), spinTime
	if cost < Always {
		// The last iteration of a helper should not take longer than the loop has taken.
		limit = max(limit, 2*(from-start))
	}
	for look := 1; l.running.Load() > 0; look++ {
		if look%spins != 0 {
			continue
		}
		runtime.Gosched()
		// Check running after reading the clock: the caller may have lost its processor for some
		// time, and the helpers may be done.
		if now()-from > limit && l.running.Load() > 0 {
			l.done.Wait()
			if end := now(); cost < Always {
				pause(end, pauseFactor*(end-from))
			}
			return
		}
	}
}

// note records whether a loop that began at start got any of the helpers that it asked for.
func note(helped bool, start time.Duration) {
	if helped {
		if missed.Load() != 0 { // a write would take the cache line from other callers
			missed.Store(0)
		}
		return
	}
	end := now()
	if missed.Add(int64(end-start)) > int64(missTime) {
		pause(end, pauseFactor*missTime)
	}
}

// pause makes callers run loops alone. The pause begins at the time at and lasts for at least least.
func pause(at, least time.Duration) {
	if last := time.Duration(pauseLength.Load()); at-time.Duration(pauseEnd.Load()) < last {
		least = max(least, min(2*last, longestPause))
	}
	missed.Store(0)
	pauseLength.Store(int64(least))
	pauseEnd.Store(int64(at + least))
}

// pausing reports whether callers should run loops alone.
func pausing() bool { return int64(now()) < pauseEnd.Load() }

var programStart = time.Now()

// now returns the time since the program began, by a monotonic clock.
func now() time.Duration { return time.Since(programStart) }
