package rbm

import (
	"math/rand/v2"
	"testing"
)

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
		t.Errorf("%v allocations, want 0", n)
	}
}
