package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spinTime is how long a goroutine looks for work, or waits for the last
	// iteration of a loop, before it sleeps: longer than what a training step
	// does between its loops.
	spinTime = 100 * time.Microsecond
	// spins is the number of looks, in all about 10 µs, after which a goroutine
	// lets others run.
	spins = 1 << 14
)

// On a busy machine helpers come late, and sharing costs more than it saves. Then
// callers run their loops alone for a while: a pause.
const (
	// missTime is how long, in all, callers may ask in vain for helpers before
	// they pause. A sleeping helper takes up to an eighth of it to wake.
	missTime = 400 * time.Microsecond
	// pauseFactor is the length of a pause divided by the time lost before it. A busy machine
	// therefore costs about a sixteenth of the time.
	pauseFactor = 16
	// longestPause bounds the length of a pause, which doubles when pauses follow each other closely: 51 ms. The looks at
	// whether helpers are back then cost a machine that stays busy at most 1/128 of the time.
	longestPause = 8 * pauseFactor * missTime
)

// A helper is a goroutine that lives as long as the program and joins loops.
// Helpers are numbered from 1; callers are worker 0 of their loops.
type helper struct {
	number int
	loop   atomic.Pointer[Loop] // the loop it is asked to join, or nil, taken or asleep
	wake   chan struct{}        // is sent to when a sleeping helper is asked
	_      [40]byte             // callers read loop all the time: keep it off other cache lines
}

// What a helper's loop may hold besides a loop that it is asked to join.
var (
	taken  = new(Loop) // the helper is at work
	asleep = new(Loop)
)

// serve runs what the helper is asked to. When it finds nothing for spinTime, it
// sleeps until it is asked again.
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

// State that all loops share. It has no influence on results.
var (
	processors  = runtime.NumCPU() // more goroutines at work would hinder each other
	callers     atomic.Int32       // goroutines that run a shared loop
	unshared    atomic.Int64       // cost of small loops that were run while helpers slept
	missed      atomic.Int64       // time for which callers have asked for helpers in vain
	pauseEnd    atomic.Int64       // until then only loops of cost Always are shared
	pauseLength atomic.Int64       // of the last pause
	helpers     struct {
		sync.Mutex
		all atomic.Pointer[[]*helper]
	}
)

// SetProcessors makes loops use up to n processors, whatever the machine has, and
// returns a function that goes back. It is for tests.
func SetProcessors(n int) (restore func()) {
	old, procs := processors, runtime.GOMAXPROCS(n)
	processors = n
	return func() {
		processors = old
		runtime.GOMAXPROCS(procs)
	}
}

// helpersFor returns all helpers, at least workers−1.
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

// wait waits for helpers that have begun. start is when the loop did.
func (l *Loop) wait(start time.Duration, cost int) {
	if l.running.Load() == 0 {
		return
	}
	from, limit := now(), spinTime
	if cost < Always {
		// A helper's last iteration takes no longer than the caller's.
		limit = max(limit, 2*(from-start))
	}
	for look := 1; l.running.Load() > 0; look++ {
		if look%spins != 0 {
			continue
		}
		runtime.Gosched()
		// Look again after reading the clock: the caller itself may have lost its processor for a
		// while, and the helpers may be done.
		if now()-from > limit && l.running.Load() > 0 {
			l.done.Wait()
			if end := now(); cost < Always {
				pause(end, pauseFactor*(end-from))
			}
			return
		}
	}
}

// note takes note of whether a loop that began at start and asked for helpers
// got any.
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

// pause makes callers run loops alone from now on, for at least so long.
func pause(at, least time.Duration) {
	if last := time.Duration(pauseLength.Load()); at-time.Duration(pauseEnd.Load()) < last {
		least = max(least, min(2*last, longestPause))
	}
	missed.Store(0)
	pauseLength.Store(int64(least))
	pauseEnd.Store(int64(at + least))
}

// pausing reports whether callers are to run loops alone.
func pausing() bool { return int64(now()) < pauseEnd.Load() }

var programStart = time.Now()

// now is the time since the program began, by a clock that is never set back.
func now() time.Duration { return time.Since(programStart) }
