package rbm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm/internal/vec"
)

// visibleMeans returns p(v=1|h) of row r of h from the definition of the down pass: a float32 sum
// of the bias and the weights of active hidden units in ascending order. With descending the order
// is wrong.
func visibleMeans(m *RBM, h Values, r int, descending bool) []float32 {
	var on []int
	h.Each(r, func(j int) { on = append(on, j) })
	if descending {
		slices.Reverse(on)
	}
	acts := make([]float32, vec.Blocks(m.Visible())*vec.Block)
	for i, b := range m.VisibleBias {
		acts[i] = b
		for _, j := range on {
			acts[i] += m.Weight(i, j)
		}
	}
	means := make([]float32, len(acts))
	vec.Sigmoids(means, vec.Block, acts, len(acts)/vec.Block, vec.Block)
	return means[:m.Visible()]
}

// The down pass is bit-identical to its definition at every level, for many rows and for single
// rows. Weights of inactive hidden units do not matter even if they are NaN. Sums in descending
// order differ.
func TestDownPassDefinition(t *testing.T) {
	for level := vec.Go; level <= vec.Best(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			defer vec.SetLevel(level)()
			differ := false
			for _, s := range []shape{{1, 1, 0, Softmax}, {7, 63, 0, Softmax}, {64, 64, 0, Softmax}, {65, 9, 3, Bernoulli}, {130, 200, 0, Softmax}, {200, 66, 0, Softmax}} {
				m := s.random(3, 1)
				w := NewMatrix(m.Visible(), m.Hidden())
				m.Weights(w)
				off := m.Hidden() / 2
				for i := range w.Rows {
					w.Row(i)[off] = float32(math.NaN())
				}
				m.SetWeights(w)
				for _, rows := range []int{1, 9, chunkRows + 3} {
					h := NewBits(rows, m.Hidden())
					h.Randomize(NewKey(uint64(rows)))
					for r := range rows {
						h.Set(r, off, false)
					}
					all, alone := NewMatrix(rows, m.Visible()), NewMatrix(1, m.Visible())
					m.VisibleMean(all, h)
					for r := range rows {
						what := fmt.Sprintf("%v, row %d of %d", s, r, rows)
						want := visibleMeans(m, h, r, false)
						if !slices.Equal(all.Row(r), want) {
							t.Fatalf("%s: means %v, by definition %v", what, all.Row(r), want)
						}
						m.VisibleMean(alone, h.Slice(r, r+1))
						if !slices.Equal(alone.Data, want) {
							t.Fatalf("%s alone: means %v, by definition %v", what, alone.Data, want)
						}
						differ = differ || !slices.Equal(want, visibleMeans(m, h, r, true))
					}
				}
			}
			if !differ {
				t.Error("the order of additions makes no difference: the test could not fail")
			}
		})
	}
}
