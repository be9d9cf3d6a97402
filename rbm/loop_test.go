package rbm

import (
	"math/rand/v2"
	"testing"
)

// Every part is run once, at any width, and a kept loop allocates nothing.
func TestLoop(t *testing.T) {
	counts := make([]int, 100)
	l := NewLoop(func(i int) { counts[i]++ })
	for _, wide := range []bool{false, true} {
		clear(counts)
		l.Run(len(counts), wide)
		for i, n := range counts {
			if n != 1 {
				t.Errorf("wide %v: part %d was run %d times", wide, i, n)
			}
		}
	}
	if n := testing.AllocsPerRun(20, func() { l.Run(len(counts), true) }); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

func TestSeedIsThatOfRand(t *testing.T) {
	k := NewKey(3).Child(5)
	var p rand.PCG
	p.Seed(1, 2)
	k.Seed(&p)
	want := k.Rand()
	for range 10 {
		if got, want := p.Uint64(), want.Uint64(); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	if n := testing.AllocsPerRun(20, func() { k.Child(1).Seed(&p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
