package rbm

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A job is a loop over independent parts of fixed size, shared out among
// goroutines; who runs which part has no influence on the result. It is meant
// to be kept and run again: run allocates nothing once the helpers exist.
type job struct {
	part func(i int)
	n    int64
	next atomic.Int64

	mu   sync.Mutex
	turn uint64 // number of runs that are over
	done sync.WaitGroup
}

// A ticket asks a helper to join one run of a job. One that is found after
// that run is over is void, so nobody waits for a helper that is busy
// elsewhere: passes may run beside each other, and inside each other's parts.
type ticket struct {
	job  *job
	turn uint64
}

// join enters the run that t is for, if it still goes on.
func (t ticket) join() bool {
	t.job.mu.Lock()
	defer t.job.mu.Unlock()
	if t.job.turn != t.turn {
		return false
	}
	t.job.done.Add(1)
	return true
}

// helpers are goroutines that live as long as the program, one less than the
// largest GOMAXPROCS that a job has seen.
var helpers struct {
	sync.Mutex
	queue chan ticket
	count int
}

// run calls part(i) for 0 ≤ i < n, in parallel if wide. A job is run by one
// goroutine at a time.
func (j *job) run(n int, wide bool) {
	workers := 1
	if wide {
		workers = min(n, runtime.GOMAXPROCS(0))
	}
	if workers <= 1 {
		for i := range n {
			j.part(i)
		}
		return
	}
	startHelpers(workers - 1)
	j.n = int64(n)
	j.next.Store(0)
	t := ticket{j, j.turn}
	for range workers - 1 {
		select {
		case helpers.queue <- t:
		default: // more work waits than there is help
		}
	}
	j.work()
	j.mu.Lock()
	j.turn++
	j.mu.Unlock()
	j.done.Wait()
}

func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.part(int(i))
	}
}

func startHelpers(n int) {
	helpers.Lock()
	defer helpers.Unlock()
	if helpers.queue == nil {
		helpers.queue = make(chan ticket, 1024)
	}
	for ; helpers.count < n; helpers.count++ {
		go func() {
			for t := range helpers.queue {
				if t.join() {
					t.job.work()
					t.job.done.Done()
				}
			}
		}()
	}
}

// parallel calls part(i) for 0 ≤ i < n on all processors.
func parallel(n int, part func(i int)) {
	j := job{part: part}
	j.run(n, true)
}
