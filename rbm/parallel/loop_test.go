package parallel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Every iteration runs once, for any number of concurrent and nested loops.
func TestLoops(t *testing.T) {
	defer SetProcessors(4)()
	const outer, inner = 40, 50
	var counts [outer][inner]atomic.Int32
	Do(outer, func(i int) {
		Do(inner, func(k int) { counts[i][k].Add(1) })
	})
	for i := range counts {
		for k := range counts[i] {
			if n := counts[i][k].Load(); n != 1 {
				t.Fatalf("part %d of job %d ran %d times, want 1", k, i, n)
			}
		}
	}
}

// Loops of several goroutines use the same helpers. Small and large loops alternate at random;
// large ones wake helpers.
func TestLoopsOfManyCallers(t *testing.T) {
	defer SetProcessors(4)()
	var callers sync.WaitGroup
	for c := range 6 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			var sum atomic.Int64
			l := Loop{Body: func(i int) { sum.Add(int64(i) + 1) }, Reverse: c%2 == 0}
			for range 2000 {
				n := r.IntN(20)
				sum.Store(0)
				l.Run(n, []int{0, shareCost, wakeCost / 3, wakeCost}[r.IntN(4)])
				if got, want := sum.Load(), int64(n*(n+1)/2); got != want {
					t.Errorf("caller %d: %d parts sum to %d, want %d", c, n, got, want)
					return
				}
				if r.IntN(100) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	callers.Wait()
}

// A loop may run many times. A helper that is late in one run does not disturb the next.
func TestLoopRunsAgain(t *testing.T) {
	defer SetProcessors(4)()
	var sum atomic.Int64
	l := Loop{Body: func(i int) { sum.Add(int64(i)) }}
	for n := 1; n < 3000; n++ {
		sum.Store(0)
		l.Run(n%17+1, Always)
		if got, want := sum.Load(), int64((n%17+1)*(n%17)/2); got != want {
			t.Fatalf("run %d sums to %d, want %d", n, got, want)
		}
	}
}

// A worker first runs its range, which is the same in every run with the same number of iterations,
// and then takes iterations of others.
func TestWorkersKeepTheirParts(t *testing.T) {
	for _, c := range []struct {
		worker   int
		backward bool
		want     []int
	}{
		{0, false, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{1, false, []int{2, 3, 4, 5, 6, 7, 0, 1}},
		{2, false, []int{5, 6, 7, 0, 1, 2, 3, 4}},
		{1, true, []int{4, 3, 2, 7, 6, 5, 1, 0}},
	} {
		var got []int
		l := Loop{Body: func(i int) { got = append(got, i) }, Reverse: c.backward, n: 8, ranges: make([]workRange, 3)}
		l.work(c.worker)
		if !slices.Equal(got, c.want) {
			t.Errorf("worker %d of 3, backward %v: %v, want %v", c.worker, c.backward, got, c.want)
		}
	}
}

// After a helper was late, the caller runs loops alone, in order, except for loops of cost Always.
func TestPause(t *testing.T) {
	defer SetProcessors(4)()
	pauseEnd.Store(math.MaxInt64)
	defer noPause()
	var got []int // without locks: only one goroutine may write
	l := Loop{Body: func(i int) { got = append(got, i) }}
	l.Run(5, wakeCost)
	l.Reverse = true
	l.Run(3, shareCost)
	if want := []int{0, 1, 2, 3, 4, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("passes run %v, want %v", got, want)
	}
	meet(t, Always)
}

func noPause() {
	missed.Store(0)
	pauseEnd.Store(0)
	pauseLength.Store(0)
}

// Loops without a helper lead to a pause, and a helper in between resets the count. Consecutive
// pauses become longer, up to a limit. A pause much later is short again.
func TestPauseAfterMisses(t *testing.T) {
	defer noPause()
	noPause()
	note(false, now()-missTime*3/4)
	note(true, now())
	note(false, now()-missTime/8)
	if pauseEnd.Load() != 0 {
		t.Error("a rest although there was help")
	}
	note(false, now()-missTime)
	if at := int64(now()); pauseEnd.Load() == 0 || pauseEnd.Load() > at+int64(pauseFactor*missTime) {
		t.Errorf("a rest to %v at %v", pauseEnd.Load(), at)
	}

	noPause()
	const short = pauseFactor * missTime
	at := time.Hour
	for want := short; want <= 4*longestPause; want *= 2 {
		pause(at, short)
		if got := time.Duration(pauseEnd.Load()) - at; got != min(want, longestPause) {
			t.Errorf("a rest of %v, want %v", got, min(want, longestPause))
		}
		at = time.Duration(pauseEnd.Load()) + short/2
	}
	at += longestPause
	pause(at, short)
	if got := time.Duration(pauseEnd.Load()) - at; got != short {
		t.Errorf("a late rest of %v, want %v", got, short)
	}
	pause(at, 2*longestPause) // as long as the wait for a helper
	if got := time.Duration(pauseEnd.Load()) - at; got != 2*longestPause {
		t.Errorf("a rest of %v, want %v", got, 2*longestPause)
	}
}

// Helpers sleep if there is no work. They wake for a large loop, and for many small ones.
func TestHelpersSleepAndWake(t *testing.T) {
	defer SetProcessors(4)()
	noPause()
	for _, work := range []int{wakeCost, shareCost} {
		meet(t, work)
		for _, h := range *helpers.all.Load() {
			for h.loop.Load() != asleep { // the test would not end otherwise
				runtime.Gosched()
			}
		}
	}
}

// After a panic in an iteration that the caller recovers, the helpers still work.
func TestPanicInALoop(t *testing.T) {
	defer SetProcessors(4)()
	helpersFor(4)
	for _, h := range *helpers.all.Load() {
		for h.loop.Load() != asleep { // makes the caller run all iterations
			runtime.Gosched()
		}
	}
	unshared.Store(0)
	l := Loop{Body: func(i int) { panic(i) }}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		l.Run(2, shareCost)
	}()
	if n := callers.Load(); n != 0 {
		t.Fatalf("%d callers are left, want 0", n)
	}
	meet(t, wakeCost)
}

// meet runs loops of two iterations until both iterations run at the same time, by two goroutines.
// Otherwise it does not end.
func meet(t *testing.T, work int) {
	t.Helper()
	for met := false; !met; {
		if work < Always {
			noPause() // other programs may delay helpers
		}
		var inside, both atomic.Int32
		l := Loop{Body: func(int) {
			inside.Add(1)
			for range 1000 {
				if inside.Load() == 2 {
					both.Store(1)
				}
				runtime.Gosched()
			}
			inside.Add(-1)
		}}
		l.Run(2, work)
		met = both.Load() == 1
	}
}

// Parallel loops allocate nothing after the helpers exist.
func TestLoopsAllocateNothing(t *testing.T) {
	if Raced() {
		t.Skip("the race detector allocates")
	}
	defer SetProcessors(2)()
	l := Loop{Body: func(int) {}}
	if n := testing.AllocsPerRun(200, func() { l.Run(8, wakeCost) }); n > 0 {
		t.Errorf("%v allocations a run, want 0", n)
	}
}
