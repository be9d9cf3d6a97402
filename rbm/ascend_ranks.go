package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/ranks"
)

// AscendRanks is AscendBy by all ranks of g together, to the same bits: each rank moves
// the weights and biases of its panels of hidden units, and then the panels of all
// models that have moved are gathered. It saves time where the particles of both phases are many: the
// ranks exchange all parameters. Every rank must give the same arguments. After an error
// the parameters have no meaning.
func (m *RBM) AscendRanks(g *ranks.Group, rate, share float32, pos, neg Phase, rule *Rule) error {
	panels := vec.Blocks(m.Hidden())
	lo, hi := g.Rows(panels)
	m.ascend(lo, hi, rate, share, pos, neg, rule)
	if g.Size() == 1 {
		return nil
	}
	ends := make([]int, g.Size())
	for r := range ends {
		ends[r] = min((r+1)*panels/g.Size()*vec.Block, m.Hidden())
	}
	for _, x := range []*RBM{m, rule.Velocity, rule.Rest, rule.Average, rule.AverageRest} {
		if x == nil {
			continue
		}
		if err := ranks.GatherRows(g, x.w, panels); err != nil {
			return err
		}
		if err := ranks.Gather(g, x.HiddenBias, ends); err != nil {
			return err
		}
	}
	return nil
}
