package rbm

import (
	"bytes"
	"sync"
	"testing"

	"gorbm/rbm/ranks"
)

// Any number of ranks, more than there are panels too, moves the parameters to the bits of
// one process.
func TestAscendRanks(t *testing.T) {
	const panels = 3
	for _, rows := range []int{40, 5000} { // of one chunk, and of several
		for _, withMoments := range []bool{false, true} {
			start := shape{70, 64*panels - 20, 3, Softmax}.random(5, 0.6)
			batch := func(seed uint64) Phase {
				b := Batch{V: NewBits(rows, start.Visible()).Input(), H: NewMatrix(rows, start.Hidden())}
				b.V.Bits.Randomize(NewKey(seed))
				start.HiddenMean(b.H, b.V)
				return Phase{Batch: b}
			}
			pos, neg := batch(1), batch(2)
			if withMoments {
				neg.Moments = NewMoments(start)
				neg.Moments.Set(neg.Batch)
			}
			one := start.Clone()
			one.AscendShare(0.3, 0.7, pos, neg)
			want := one.AppendParameters(nil)
			for _, n := range []int{1, 2, 3, 7} {
				var all sync.WaitGroup
				for _, g := range ranks.Goroutines(n) {
					all.Go(func() {
						m := start.Clone()
						if err := m.AscendRanks(g, 0.3, 0.7, pos, neg); err != nil {
							t.Error(err)
						}
						if !bytes.Equal(m.AppendParameters(nil), want) {
							t.Errorf("%d rows, moments %v: rank %d of %d has other bits", rows, withMoments, g.Rank(), n)
						}
					})
				}
				all.Wait()
			}
		}
	}
}
