package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// shift returns t at which Σ 1/(1+e^(t−s)) is near k, 0 < k < len(s), by
// Newton's method on its logarithm, or that of the number of units that are
// off, within a bracket. Any t gives the same law: it need only be so near that
// k is not far out in the law of the number of units on, so sums are in
// float32. It starts at guess, if that is within the bracket.
func (c *conditional) shift(s []float64, k int, guess float64) float64 {
	n := len(s)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range s {
		low, high = min(low, x), max(high, x)
	}
	// Where all s are equal this is the answer; else the answers of the smallest
	// and the largest of them enclose it.
	odds := vec.Log(float64(n-k) / float64(k))
	low, high = low+odds, high+odds
	blocks := vec.Blocks(n)
	x, y := c.x[0][:blocks*vec.Block], c.x[1][:blocks*vec.Block]
	for j := n; j < len(x); j++ {
		x[j] = float32(math.Inf(-1)) // σ is 10⁻³⁸ there
	}
	t := low + (high-low)/2
	if guess > low && guess < high {
		t = guess
	}
	for range shiftSteps {
		for j, s := range s {
			x[j] = float32(s - t)
		}
		vec.Sigmoids(y, vec.Block, x, blocks, vec.Block)
		mean, variance := 0.0, 0.0
		for _, p := range y {
			mean += float64(p)
			variance += float64(p * (1 - p))
		}
		off := mean - float64(k)
		if off*off <= max(variance/4, 1e-6) { // half a standard deviation: e^(−1/8) of the peak
			break
		}
		if off > 0 {
			low = t
		} else {
			high = t
		}
		// d(log Σp)/dt = −Σpq/Σp, and with q for p and + for −.
		step := 0.0
		if 2*k <= n {
			step = vec.Log(mean/float64(k)) * mean / variance
		} else {
			rest := float64(n) - mean
			step = -vec.Log(rest/float64(n-k)) * rest / variance
		}
		if t += step; !(t > low && t < high) {
			t = low + (high-low)/2
		}
	}
	return t
}

// shiftSteps bounds the steps of shift. Newton takes three to eight; halving
// alone brings a bracket of 10⁷, more than weights allow, below 10⁻¹¹.
const shiftSteps = 64
