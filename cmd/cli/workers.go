package cli

import (
	"math"
	"runtime"
)

// AddWorkersFlag adds -workers, the number of processors to use, to f. What
// Parse has read of it is for UseWorkers.
func AddWorkersFlag(f *Flags) *int {
	return f.Int("workers", 0, "processors to use at most; 0: all. Results are the same bits at any number")
}

// UseWorkers limits the program to n processors, if n is not 0 and there are as
// many, and returns a function that goes back. The limit is Go's own: all that
// is done in parallel, the garbage collection with it, keeps to GOMAXPROCS.
func UseWorkers(n int) (restore func(), err error) {
	if err := Between("workers", n, 0, math.MaxInt32); err != nil {
		return nil, err
	}
	if n == 0 {
		return func() {}, nil
	}
	old := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(min(n, old))
	return func() { runtime.GOMAXPROCS(old) }, nil
}
