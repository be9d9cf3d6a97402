package train

import "cmp"

// In a training step with ins, a row costs stepRow multiply-adds and each of its units stepUnit, besides the
// work of the weights. In models of few units these costs are most of the work.
const stepRow, stepUnit = 24 << 10, 83

// Work returns the multiply-adds of training steps of a model of the given size. In each step the rows of
// the batch go up and the particles down and up, and the gradient sums over both. Budgets are given in this
// number, not in seconds, so that equal runs do the same on any machine. A core with AVX-512 does some
// 2·10¹¹ in a second.
func (s Settings) Work(steps, visible, hidden int) float64 {
	particles := cmp.Or(s.Negative.Count("chains"), s.Batch) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles) * float64(visible*hidden+stepRow+stepUnit*(visible+hidden))
}
