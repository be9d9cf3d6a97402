package tune

import (
	"math"

	"gorbm/negphase/diag"
)

// Area returns the reward of Hamze, Wang & de Freitas (2012) for a series of
// energies, one before each move. A window is the series without its first x
// values, for each x below three quarters of its length. The reward of a window is
// the mean of 1 − |ρ(t)| over lags t ≥ 1, and Area averages over the windows. ρ(t)
// is computed with the mean and variance of the window, has the number of terms at
// lag t as divisor, and is clipped to [−1, 1]. The paper says "area under the
// autocorrelation up to a lag"; the rest follows its authors' program. The reward
// of a constant series is 0. The time per move has no influence.
func Area(energy []float64) float64 {
	n := len(energy)
	windows := max(1, 3*n/4)
	sum := 0.0
	for first := range windows {
		x := energy[first:]
		mean, variance := diag.MeanVariance(x)
		if len(x) < 2 || variance == 0 {
			continue
		}
		area := 0.0
		for t := 1; t < len(x); t++ {
			c := 0.0
			for i := range x[t:] {
				c += (x[i] - mean) * (x[i+t] - mean)
			}
			area += 1 - min(1, math.Abs(c/float64(len(x)-t)/variance))
		}
		sum += area / float64(len(x)-1)
	}
	return sum / float64(windows)
}
