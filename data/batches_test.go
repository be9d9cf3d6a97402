package data

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

func TestBatchesDealEachRowOnceAnEpoch(t *testing.T) {
	for _, c := range []struct{ n, size int }{{1, 1}, {1, 3}, {7, 3}, {10, 10}, {10, 25}, {100, 7}} {
		const epochs = 5
		b := NewBatches(c.n, c.size, rbm.NewKey(3))
		var dealt []int32
		row := make([]int32, c.size)
		for step := 0; len(dealt) < epochs*c.n; step++ {
			b.Rows(row, step)
			dealt = append(dealt, row...)
		}
		var orders [][]int32
		for e := range epochs {
			order := dealt[e*c.n : (e+1)*c.n]
			sorted := slices.Sorted(slices.Values(order))
			for i, r := range sorted {
				if int(r) != i {
					t.Fatalf("n %d, size %d: epoch %d deals %v, got %v, want %v", c.n, c.size, e, order, int(r), i)
				}
			}
			orders = append(orders, order)
		}
		if c.n == 100 && slices.Equal(orders[0], orders[1]) {
			t.Error("two epochs have the same order")
		}
	}
}

func TestBatchesAnyStepAnyTime(t *testing.T) {
	key := rbm.NewKey(5)
	inOrder := NewBatches(50, 8, key)
	var want [][]int32
	for step := range 40 {
		row := make([]int32, 8)
		inOrder.Rows(row, step)
		want = append(want, row)
	}
	backwards := NewBatches(50, 8, key)
	row := make([]int32, 8)
	for step := 39; step >= 0; step-- {
		backwards.Rows(row, step)
		if !slices.Equal(row, want[step]) {
			t.Errorf("step %d gives %v alone, %v in order", step, row, want[step])
		}
	}
	other := NewBatches(50, 8, rbm.NewKey(6))
	if other.Rows(row, 0); slices.Equal(row, want[0]) {
		t.Error("two keys deal the same")
	}
	// A step of a very long run.
	backwards.Rows(row, math.MaxInt32)
}

func TestBatchesAllocate(t *testing.T) {
	b := NewBatches(10, 7, rbm.NewKey(1))
	row, step := make([]int32, 7), 0
	if n := testing.AllocsPerRun(100, func() { b.Rows(row, step); step++ }); n != 0 {
		t.Errorf("%g allocations a step, want 0", n)
	}
}

// Every order of four rows is equally likely: χ² over the 24 of them.
func TestShuffleUniform(t *testing.T) {
	const epochs = 24000
	b := NewBatches(4, 4, rbm.NewKey(11))
	row := make([]int32, 4)
	count := map[[4]int32]int{}
	for e := range epochs {
		b.Rows(row, e)
		count[[4]int32(row)]++
	}
	const df, want = 23, epochs / 24
	if len(count) != 24 {
		t.Fatalf("%d orders of 24", len(count))
	}
	x2 := 0.0
	for _, n := range count {
		d := float64(n - want)
		x2 += d * d / want
	}
	if z := (x2 - df) / math.Sqrt(2*df); z > 6 {
		t.Errorf("orders are not uniform: χ² = %.1f of %d degrees, z = %.1f, want at most 6", x2, df, z)
	}
}
