package train

import "cmp"

// RowWork returns the multiply-adds of a row that goes once through a model of the given size in training.
// In models of few units what the row itself and its units cost is most of the work.
func RowWork(visible, hidden int) float64 {
	const row, unit = 24 << 10, 83 // with ins
	return float64(visible*hidden + row + unit*(visible+hidden))
}

// Work returns the multiply-adds of training steps of a model of the given size. In each step the rows of
// the batch go up and the particles down and up, and the gradient sums over both. Budgets are given in this
// number, not in seconds, so that equal runs do the same on any machine. A core with AVX-512 does some
// 2·10¹¹ in a second.
func (s Settings) Work(steps, visible, hidden int) float64 {
	particles := cmp.Or(s.Negative.Count("chains"), s.Batch) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles) * RowWork(visible, hidden)
}
