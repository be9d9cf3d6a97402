package rbm

import (
	"bytes"
	"fmt"
	"testing"

	"gorbm/rbm/ranks"
)

// An ascent of any number of ranks, even more than there are panels, is bit-identical to that of
// one process.
func TestAscendRanks(t *testing.T) {
	const panels = 3
	for _, rows := range []int{40, 5000} { // one chunk, and several
		for _, withMoments := range []bool{false, true} {
			for _, centred := range []bool{false, true} {
				start := shape{135, 64*panels - 20, 3, Softmax}.random(5, 0.6)
				batch := func(seed uint64) Phase {
					b := Batch{V: NewBits(rows, start.Visible()), H: NewMatrix(rows, start.Hidden())}
					b.V.Randomize(NewKey(seed))
					start.HiddenMean(b.H, b.V)
					return Phase{Batch: b}
				}
				pos, neg := batch(1), batch(2)
				if withMoments {
					neg.Moments = NewMoments(start)
					neg.Moments.Set(neg.Batch)
				}
				// Everything that an ascent can update, each with other initial values.
				ascentOf := func(m *RBM) (*Ascent, []*Parameters) {
					a := new(Ascent)
					allOf(a, m)
					if centred {
						a.Mu, a.Lambda = make([]float32, m.Visible()), make([]float32, m.Hidden())
						for i := range a.Mu {
							a.Mu[i] = float32(i) / 100
						}
					}
					return a, append(extras(a), m.Parameters())
				}
				bytesOf := func(all []*Parameters) (b []byte) {
					for _, p := range all {
						b = p.AppendTo(b)
					}
					return b
				}
				one := start.Clone()
				a, all := ascentOf(one)
				a.Step(one, 0.3, 0.7, pos, neg)
				want := bytesOf(all)
				for _, n := range []int{1, 3, 4, 11} {
					if err := ranks.Each(n, func(g *ranks.Group) error {
						m := start.Clone()
						a, moved := ascentOf(m)
						a.Group = g
						if err := a.Step(m, 0.3, 0.7, pos, neg); err != nil {
							return err
						}
						if !bytes.Equal(bytesOf(moved), want) {
							return fmt.Errorf("%d rows, moments %v, centred %v: other bits", rows, withMoments, centred)
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}
