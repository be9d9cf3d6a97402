//go:build linux

package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"gorbm/cmd/cli/clitest"
)

// Runs leave no goroutines and no open files behind, whether they succeed, fail, are
// interrupted or resumed.
func TestLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("sixteen runs")
	}
	clitest.Isolate(t)
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	all := func(n string) {
		rbmtrain.OK(t, small("-negphase", "ins", "-out", "run"+n, "-tensorboard", "-quiet")...)
		interrupt(20, small("-negphase", "pt", "-out", "cut"+n, "-quiet")...)
		rbmtrain.OK(t, "-resume", "cut"+n, "-quiet")
		rbmtrain.Fails(t, 1, small("-out", "run"+n), "run"+n)
	}
	all("first") // starts goroutines that stay, such as workers
	goroutines, open := runtime.NumGoroutine(), files()
	for _, n := range []string{"a", "b", "c"} {
		all(n)
	}
	// Goroutines may take a moment to end.
	for range 100 {
		if runtime.NumGoroutine() <= goroutines && files() <= open {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines and %d open files before, %d and %d after\n%s", goroutines, open, runtime.NumGoroutine(), files(), stacks[:runtime.Stack(stacks, true)])
}
