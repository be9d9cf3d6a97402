package rbm

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// forWorkers makes jobs use n workers, whatever the machine has, and returns a
// function that goes back.
func forWorkers(n int) (restore func()) {
	old, procs := processors, runtime.GOMAXPROCS(n)
	processors = n
	return func() {
		processors = old
		runtime.GOMAXPROCS(procs)
	}
}

// Every part of a job is run once, however many jobs run beside each other and
// inside each other's parts.
func TestJobs(t *testing.T) {
	defer forWorkers(4)()
	const outer, inner = 40, 50
	var counts [outer][inner]atomic.Int32
	parallel(outer, func(i int) {
		parallel(inner, func(k int) { counts[i][k].Add(1) })
	})
	for i := range counts {
		for k := range counts[i] {
			if n := counts[i][k].Load(); n != 1 {
				t.Fatalf("part %d of job %d ran %d times", k, i, n)
			}
		}
	}
}

// Jobs of several goroutines share the helpers; small and large ones, which
// wake them, follow each other at random.
func TestJobsOfManyCallers(t *testing.T) {
	defer forWorkers(4)()
	var callers sync.WaitGroup
	for c := range 6 {
		callers.Go(func() {
			r := NewKey(uint64(c)).Rand()
			var sum atomic.Int64
			j := job{part: func(i int) { sum.Add(int64(i) + 1) }, backward: c%2 == 0}
			for range 2000 {
				n := r.IntN(20)
				sum.Store(0)
				j.pass(n, []int{0, shareWork, wakeWork / 3, wakeWork}[r.IntN(4)])
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

// A job may be run again and again, and a helper that comes late to one run
// does not disturb the next.
func TestJobRunsAgain(t *testing.T) {
	defer forWorkers(4)()
	var sum atomic.Int64
	j := job{part: func(i int) { sum.Add(int64(i)) }}
	for n := 1; n < 3000; n++ {
		sum.Store(0)
		j.run(n%17+1, true)
		if got, want := sum.Load(), int64((n%17+1)*(n%17)/2); got != want {
			t.Fatalf("run %d sums to %d, want %d", n, got, want)
		}
	}
}

// A worker takes its own range first, which is the same in every job of as many
// parts, and then what is left.
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
		j := job{part: func(i int) { got = append(got, i) }, backward: c.backward, n: 8, ranges: make([]partRange, 3)}
		j.work(c.worker)
		if !slices.Equal(got, c.want) {
			t.Errorf("worker %d of 3, backward %v: %v, want %v", c.worker, c.backward, got, c.want)
		}
	}
}

// After a helper came too late passes are run by their caller alone, in order,
// and coarse jobs are not.
func TestRest(t *testing.T) {
	defer forWorkers(4)()
	rest.Store(math.MaxInt64)
	defer rest.Store(0)
	var got []int // not for more than one goroutine
	j := job{part: func(i int) { got = append(got, i) }}
	j.pass(5, wakeWork)
	j.backward = true
	j.pass(3, shareWork)
	if want := []int{0, 1, 2, 3, 4, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("passes run %v, want %v", got, want)
	}
	meet(t, coarseWork)
}

// Helpers sleep when there is no work and wake for a large job, and for many
// small ones.
func TestHelpersSleepAndWake(t *testing.T) {
	defer forWorkers(4)()
	defer rest.Store(0)
	for _, work := range []int{wakeWork, shareWork} {
		meet(t, work)
		for _, h := range *helpers.all.Load() {
			for h.job.Load() != asleep { // or the test never ends
				runtime.Gosched()
			}
		}
	}
}

// A panic in a part leaves the helpers as they were to those who recover from
// it.
func TestPanicInAJob(t *testing.T) {
	defer forWorkers(4)()
	helpersFor(4)
	for _, h := range *helpers.all.Load() {
		for h.job.Load() != asleep { // so that the caller runs all parts
			runtime.Gosched()
		}
	}
	owed.Store(0)
	j := job{part: func(i int) { panic(i) }}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		j.pass(2, shareWork)
	}()
	if n := callers.Load(); n != 0 {
		t.Fatalf("%d callers are left", n)
	}
	meet(t, wakeWork)
}

// meet runs jobs of two parts until in one of them both parts are run at the
// same time, so by two goroutines; if that never happens, it never ends.
func meet(t *testing.T, work int) {
	t.Helper()
	for met := false; !met; {
		var inside, both atomic.Int32
		j := job{part: func(int) {
			inside.Add(1)
			for range 1000 {
				if inside.Load() == 2 {
					both.Store(1)
				}
				runtime.Gosched()
			}
			inside.Add(-1)
		}}
		j.pass(2, work)
		met = both.Load() == 1
	}
}

// Sharing a job out allocates nothing once the helpers are there.
func TestJobsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	defer forWorkers(2)()
	j := job{part: func(int) {}}
	if n := testing.AllocsPerRun(200, func() { j.pass(8, wakeWork) }); n > 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// The progress of an enumeration may use the model: passes inside the parts of
// a job do not wait for helpers that wait for them.
func TestProgressMayUseTheModel(t *testing.T) {
	defer forWorkers(4)()
	m := shape{300, 13, 0, Softmax}.random(1, 0.1)
	e, err := NewEnumeration(m, EvaluationLimit)
	if err != nil {
		t.Fatal(err)
	}
	v := NewBits(300, 300)
	_, err = e.LogZ(context.Background(), func(float64) { m.HiddenMean(NewMatrix(300, 13), v) })
	if err != nil {
		t.Error(err)
	}
}
