package rbm

import (
	"bytes"
	"fmt"
	"testing"

	"gorbm/rbm/ranks"
)

// Any number of ranks, more than there are panels too, moves the parameters to the bits of
// one process.
func TestAscendRanks(t *testing.T) {
	const panels = 3
	for _, rows := range []int{40, 5000} { // of one chunk, and of several
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
				// All that a rule may move beside, from other parameters each.
				ruleOf := func(m *RBM) (*Rule, []*RBM) {
					r := &Rule{Mu: make([]float32, m.Visible()), Lambda: make([]float32, m.Hidden()), Velocity: m.Clone(), Friction: 0.1,
						L1: 1e-4, L2: 1e-3, Sparse: 1e-3, Average: m.Clone(), Share: 1e-3, Rest: m.Clone(), AverageRest: m.Clone()}
					for i := range r.Mu {
						r.Mu[i] = float32(i) / 100
					}
					if !centred {
						r.Mu, r.Lambda = nil, nil
					}
					r.Rest.Zero()
					r.AverageRest.Zero()
					return r, []*RBM{m, r.Velocity, r.Rest, r.Average, r.AverageRest}
				}
				bytesOf := func(all []*RBM) (b []byte) {
					for _, m := range all {
						b = m.AppendParameters(b)
					}
					return b
				}
				one := start.Clone()
				rule, all := ruleOf(one)
				one.AscendBy(0.3, 0.7, pos, neg, rule)
				want := bytesOf(all)
				for _, n := range []int{1, 3, 4, 11} {
					if err := ranks.Each(n, func(g *ranks.Group) error {
						m := start.Clone()
						rule, moved := ruleOf(m)
						if err := m.AscendRanks(g, 0.3, 0.7, pos, neg, rule); err != nil {
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
