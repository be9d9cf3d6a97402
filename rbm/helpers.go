package rbm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A helper is a goroutine that lives as long as the program and runs parts of
// jobs. It is a number from 1 on; callers are 0.
type helper struct {
	number int
	job    atomic.Pointer[job] // what it was asked to join; nil, taken or asleep
	wake   chan struct{}       // tells a sleeping one that it is so no longer
	_      [40]byte            // callers look at job all the time: keep it off other lines
}

// States of a helper beside the job that it was asked to join.
var (
	taken  = new(job) // it is at work
	asleep = new(job)
)

// serve runs what the helper is asked for. Without work it looks for some for
// spinTime, then sleeps.
func (h *helper) serve() {
	for {
		<-h.wake
		idle := sinceStart()
		for look := 1; ; look++ {
			if j := h.job.Load(); j != nil {
				if h.job.CompareAndSwap(j, taken) {
					j.work(h.number % len(j.ranges))
					h.job.Store(nil)
					j.leave()
					idle = sinceStart()
				}
				continue
			}
			if look%spins != 0 {
				continue
			}
			runtime.Gosched()
			if sinceStart()-idle > spinTime && h.job.CompareAndSwap(nil, asleep) {
				break
			}
		}
	}
}

// What all jobs share. Nothing of it has an influence on results.
var (
	processors = runtime.NumCPU() // more goroutines at work would hinder each other
	callers    atomic.Int32       // callers of shared jobs, those inside parts included
	owed       atomic.Int64       // work of small jobs that was done without helpers that sleep
	missed     atomic.Int64       // time in which passes have asked for helpers in vain
	rest       atomic.Int64       // the time until which only coarse jobs are shared
	restLength atomic.Int64       // how long that took, or takes
	helpers    struct {
		sync.Mutex
		all atomic.Pointer[[]*helper]
	}
)

// helpersFor returns the helpers, at least one less than workers.
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
		h.job.Store(asleep)
		all = append(all, h)
		go h.serve()
	}
	helpers.all.Store(&all)
	return all
}

var programStart = time.Now()

// sinceStart is the monotonic time since the program began.
func sinceStart() time.Duration { return time.Since(programStart) }
