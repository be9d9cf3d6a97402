package walk

import (
	"fmt"
	"testing"
)

// BenchmarkWeigh measures the three kernels on the layers of an RBM
// of 784 × 500 units, with all data in the first-level cache.
func BenchmarkWeigh(b *testing.B) {
	for l := Go; l <= Best(); l++ {
		for _, units := range []int{500, 784} {
			x := randomLayer(units, 1)
			n := len(x.field)
			clear(x.row)
			one, pair, sides := NewDense(n), [2]Dense{NewDense(n), NewDense(n)}, [2]Sums{NewSums(n), NewSums(n)}
			name := func(kind string) string { return fmt.Sprintf("kind=%s/units=%d/level=%v", kind, units, l) }
			defer SetLevel(l)()
			b.Run(name("one"), func(b *testing.B) {
				for b.Loop() {
					one.Weigh(x.field, x.row, false, x.sign, x.unit)
				}
			})
			b.Run(name("two"), func(b *testing.B) {
				for b.Loop() {
					WeighTwo(&pair, x.field, x.row, false, x.sign, x.unit, &[2]float32{.9, 1})
				}
			})
			b.Run(name("sides"), func(b *testing.B) {
				for b.Loop() {
					WeighSides(&sides, x.field, x.row, false, x.sign, x.unit, x.side, one.Leaf)
				}
			})
		}
	}
}
