package vec

import (
	"math/bits"
	"testing"
)

// subsetWeights returns weights of n members between 0 and 1, some of them tiny.
func (s *source) subsetWeights(t *testing.T, n int) []float64 {
	a := fenced[float64](t, n*n, s.IntN(2) == 0)
	for i := range a {
		a[i] = s.Float64()
		switch s.IntN(8) {
		case 0:
			a[i] = 0
		case 1:
			a[i] *= 0x1p-600
		}
	}
	return a
}

// Fill is bit-identical to its definition, with subsets in the order of their members.
func TestSubsetsDefinition(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, MaxSubset} {
			s := newSource(uint64(n), false)
			a, sums := s.subsetWeights(t, n), NewSubsets(n)
			want := make([]float64, 1<<n)
			place := make([]uint, 1<<n) // index in the table
			want[0] = 1
			for set := uint(1); set < 1<<n; set++ {
				for r := set; r != 0; r &= r - 1 {
					k := bits.TrailingZeros(r)
					place[set] |= sums.Member(k)
					want[set] += float64(a[(n-bits.OnesCount(set))*n+k] * want[set&^(1<<k)])
				}
			}
			table := fenced[float64](t, 1<<n, n%2 == 0)
			for range 2 { // the second time over an old table
				at(func() { sums.Fill(table, a) })
				for set, x := range want {
					if table[place[set]] != x {
						t.Fatalf("%d members: subset %b has %v, want %v", n, set, table[place[set]], x)
					}
				}
			}
		}
	})
}

func BenchmarkSubsets(b *testing.B) {
	for _, n := range []int{8, 10, 14, 16} {
		a, table, sums := make([]float64, n*n), make([]float64, 1<<n), NewSubsets(n)
		for i := range a {
			a[i] = 1 / float64(i+1)
		}
		b.Run("members="+string([]byte{byte('0' + n/10), byte('0' + n%10)}), func(b *testing.B) {
			for b.Loop() {
				sums.Fill(table, a)
			}
		})
	}
}
