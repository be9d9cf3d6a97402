package rbm

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// Every part of a job is run once, however many jobs run beside each other and
// inside each other's parts.
func TestJobs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
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

// A job may be run again and again, and a helper that comes late to one run
// does not disturb the next.
func TestJobRunsAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
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

// The progress of an enumeration may use the model: passes inside the parts of
// a job do not wait for helpers that wait for them.
func TestProgressMayUseTheModel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
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
