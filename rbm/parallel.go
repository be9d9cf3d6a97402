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
	done sync.WaitGroup
}

// helpers hands jobs to goroutines that live as long as the program; there
// are as many as ever ran at once.
var helpers struct {
	sync.Mutex
	queue chan *job
	count int
}

// run calls part(i) for 0 ≤ i < n, in parallel if wide.
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
	j.done.Add(workers - 1)
	for range workers - 1 {
		helpers.queue <- j
	}
	j.work()
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
		helpers.queue = make(chan *job, 1024)
	}
	for ; helpers.count < n; helpers.count++ {
		go func() {
			for j := range helpers.queue {
				j.work()
				j.done.Done()
			}
		}()
	}
}

// parallel calls part(i) for 0 ≤ i < n on all processors.
func parallel(n int, part func(i int)) {
	j := job{part: part}
	j.run(n, true)
}
