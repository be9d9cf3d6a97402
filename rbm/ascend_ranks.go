package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/ranks"
)

// gather exchanges the updated parameters among the ranks of the group. Biases and other parameters
// of units are those of the rank with the first part that contains the units.
func (a *Ascent) gather(m *RBM) error {
	parts, blocks, size := a.parts(m), vec.Blocks(m.Visible()), a.Group.Size()
	var ends [tensorCount][]int // for each rank: the end of its parameters in each tensor
	for r := range size {
		end := (r + 1) * parts / size
		ends[Weights] = append(ends[Weights], (end/blocks*m.rows+min(end%blocks*vec.Block, m.rows))*vec.Block)
		ends[VisibleBias] = append(ends[VisibleBias], min(end*vec.Block, m.Visible()))
		ends[HiddenBias] = append(ends[HiddenBias], min((end+blocks-1)/blocks*vec.Block, m.Hidden()))
	}
	for k := range m.VisibleParams() {
		ends[VisibleParam+Tensor(k)] = ends[VisibleBias]
	}
	for k := range m.HiddenParams() {
		ends[HiddenParam+Tensor(k)] = ends[HiddenBias]
	}
	for _, p := range append([]*Parameters{m.Parameters(), a.Rest, a.Average, a.AverageRest}, a.Slots...) {
		if p == nil {
			continue
		}
		for t, x := range p.tensors {
			if x == nil {
				continue
			}
			if err := ranks.Gather(a.Group, x, ends[t]); err != nil {
				return err
			}
		}
	}
	return nil
}
