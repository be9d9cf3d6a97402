package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/ranks"
)

// AscendRanks is AscendBy by all ranks of g together, to the same bits: each rank moves
// the weights and biases of its parts, of which there is one for each 64 hidden and 64 visible
// units, and then the parts of all models that have moved are gathered. It saves time where the
// particles of both phases are many: the ranks exchange all parameters. Every rank must give the
// same arguments. After an error the parameters have no meaning.
func (m *RBM) AscendRanks(g *ranks.Group, rate, share float32, pos, neg Phase, rule *Rule) error {
	parts, blocks := m.ascentParts(), vec.Blocks(m.Visible())
	lo, hi := g.Rows(parts)
	m.ascend(lo, hi, rate, share, pos, neg, rule)
	if g.Size() == 1 {
		return nil
	}
	// Where the parameters of each rank's parts end. The biases of units are those of the rank that has
	// the first of their parts.
	weights, visible, hidden := make([]int, g.Size()), make([]int, g.Size()), make([]int, g.Size())
	for r := range g.Size() {
		end := (r + 1) * parts / g.Size()
		weights[r] = (end/blocks*m.rows + min(end%blocks*vec.Block, m.rows)) * vec.Block
		visible[r] = min(end*vec.Block, m.Visible())
		hidden[r] = min((end+blocks-1)/blocks*vec.Block, m.Hidden())
	}
	for _, x := range []*RBM{m, rule.Velocity, rule.Rest, rule.Average, rule.AverageRest} {
		if x == nil {
			continue
		}
		for _, t := range []struct {
			parameters []float32
			ends       []int
		}{{x.w, weights}, {x.VisibleBias, visible}, {x.HiddenBias, hidden}} {
			if err := ranks.Gather(g, t.parameters, t.ends); err != nil {
				return err
			}
		}
	}
	return nil
}
