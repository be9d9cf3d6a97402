package parallel

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Every iteration goes through all parts in ascending order, however many workers,
// iterations and parts there are, and whether helpers come or not.
func TestPipelineOrder(t *testing.T) {
	for _, processors := range []int{1, 2, 4} {
		restore := SetProcessors(processors)
		r := rand.New(rand.NewPCG(1, uint64(processors)))
		var got [40][]int // written without locks: the race detector sees a part that overtakes
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

// Two stages run at the same time, and each iteration's second one after its first: with a
// pipeline of one stage a worker would go through both.
func TestPipelineHasStages(t *testing.T) {
	defer SetProcessors(2)()
	for met := false; !met && !t.Failed(); {
		noPause()
		var mu sync.Mutex
		stages := [2]int{} // how far each has come
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

// A panic in a part leaves nobody waiting for it, and the next run is whole.
func TestPanicInAPipeline(t *testing.T) {
	defer SetProcessors(2)()
	// One helper, which has the second stage: it comes to what is left of the first one only
	// after the panic, so that the caller panics.
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
	for met := 0; met < 10; { // panics while the helper is at work: it comes to iteration 7 and waits
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
