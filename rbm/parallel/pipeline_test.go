package parallel

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Every iteration processes all parts in ascending order, for any number of workers, iterations and
// parts, with and without helpers.
func TestPipelineOrder(t *testing.T) {
	for _, processors := range []int{1, 2, 4} {
		restore := SetProcessors(processors)
		r := rand.New(rand.NewPCG(1, uint64(processors)))
		var got [40][]int // written without locks, so that the race detector finds parts out of order
		p := Pipeline{Body: func(i, lo, hi int) {
			for part := lo; part < hi; part++ {
				got[i] = append(got[i], part)
			}
		}}
		for range 2000 {
			clear(got[:])
			n, parts := r.IntN(len(got)), 1+r.IntN(9)
			p.Run(n, parts, []int{0, shareCost, wakeCost, Always}[r.IntN(4)])
			for i, got := range got {
				want := 0
				if i < n {
					want = parts
				}
				if len(got) != want || !slices.IsSorted(got) {
					t.Fatalf("%d processors, iteration %d of %d: parts %v of %d", processors, i, n, got, parts)
				}
			}
		}
		restore()
	}
}

// Two stages run at the same time, and the second stage of each iteration follows its first. With a
// single stage one worker would run both.
func TestPipelineHasStages(t *testing.T) {
	defer SetProcessors(2)()
	for met := false; !met && !t.Failed(); {
		noPause()
		var mu sync.Mutex
		stages := [2]int{} // the number of iterations that each stage has begun
		p := Pipeline{Body: func(i, lo, hi int) {
			if hi != lo+1 {
				t.Errorf("parts %d … %d at once: got %v, want %v", lo, hi-1, hi, lo+1)
			}
			mu.Lock()
			defer mu.Unlock()
			if lo == 1 && stages[0] < i+1 {
				t.Errorf("part 1 of iteration %d before part 0", i)
			}
			met = met || lo == 0 && stages[1] > 0
			stages[lo]++
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
		}}
		p.Run(20, 2, Always)
	}
}

// After a panic in a part no worker waits for it, and the next run is complete.
func TestPanicInAPipeline(t *testing.T) {
	defer SetProcessors(2)()
	// There is one helper, which has the second stage. It takes iterations of the first stage only
	// after the panic, so the caller panics.
	all := helpersFor(2)
	one := all[:1]
	helpers.all.Store(&one)
	defer helpers.all.Store(&all)
	fails := true
	var helped atomic.Bool
	count := [20]int{}
	p := Pipeline{Body: func(i, lo, hi int) {
		if lo > 0 {
			helped.Store(true)
		}
		if fails && i == 7 && lo == 0 {
			for look := 0; look < 1000 && !helped.Load(); look++ {
				runtime.Gosched()
			}
			panic(i)
		}
		count[i] += hi - lo
	}}
	for met := 0; met < 10; { // panics while the helper is at work and waits in iteration 7
		fails = true
		helped.Store(false)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			p.Run(len(count), 4, Always)
		}()
		if helped.Load() {
			met++
		}
		fails = false
		clear(count[:])
		p.Run(len(count), 4, Always)
		for i, n := range count {
			if n != 4 {
				t.Fatalf("after a panic: iteration %d has %d of 4 parts", i, n)
			}
		}
	}
}

func TestPipelinesAllocateNothing(t *testing.T) {
	if Raced() {
		t.Skip("the race detector allocates")
	}
	defer SetProcessors(2)()
	p := Pipeline{Body: func(i, lo, hi int) {}}
	if n := testing.AllocsPerRun(200, func() { p.Run(8, 4, wakeCost) }); n > 0 {
		t.Errorf("%v allocations a run, want 0", n)
	}
}
