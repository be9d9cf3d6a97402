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

// Rate returns the logarithm of the number of effective samples per second, 1/(2τ) with τ in seconds, of
// the slowest of several observables. series has the values of each observable, at equal
// intervals over the given seconds. variance has the equilibrium variance of each, which does not depend
// on the settings.
//
// A trial is often shorter than τ. Its mean and variance would then hide the
// slow modes. So ρ is estimated from increments and the known variance:
//
//	ρ(t) = 1 − ⟨(x(i+t) − x(i))²⟩ / (2·variance).
//
// τ is ½ plus the sum of ρ up to Sokal's window of 6τ. If the window is longer than an eighth of the
// series, the sum ends at the eighth. An exponential through ρ(0) = 1 and the last ρ then replaces the
// remaining terms. The replacement is exact for exponential decay.
//
// If the number of effective samples by the variance of the series is at least the constant many, this
// variance replaces the known one, because its noise partly cancels the noise of the increments.
func Rate(series [][]float64, variance []float64, seconds float64) float64 {
	slowest := 0.0 // τ, in intervals
	for k, x := range series {
		half := increments(x)
		tau := func(variance float64) float64 {
			return integrated(len(half), func(t int) float64 { return half[t-1] / variance })
		}
		_, sample := diag.MeanVariance(x)
		time := tau(sample)
		if !(sample > 0 && float64(len(x)) >= 2*many*time) {
			time = tau(variance[k])
		}
		slowest = max(slowest, time)
	}
	return math.Log(float64(len(series[0])) / (2 * slowest * seconds))
}

// many is the smallest number of effective samples for which Rate uses the variance of the series.
// Because the mean is estimated, the variance is then too small by a fraction of 1/many. So τ, a sum of
// ρ over 6τ lags, is too small by a fraction of 6/many.
const many = 50

// increments returns half the mean square of x(i+t) − x(i) at index t−1, for t from 1 to an eighth of the
// length of x.
func increments(x []float64) []float64 {
	half := make([]float64, max(1, len(x)/8))
	for t := range half {
		sum := 0.0
		for i, y := range x[t+1:] {
			d := y - x[i]
			sum += float64(d * d)
		}
		half[t] = sum / (2 * float64(len(x)-t-1))
	}
	return half
}

// leastFall is the lower bound of (1 − ρ(t))/t. With it, τ is finite for an observable that
// never changed.
const leastFall = 1e-9

// integrated returns τ in intervals; see Rate. fall(t) is 1 − ρ(t), for t from 1 to last.
func integrated(last int, fall func(t int) float64) float64 {
	tau, rho := 0.5, 1.0
	for t := 1; t <= last; t++ {
		rho = 1 - max(leastFall*float64(t), fall(t))
		if rho <= 0 || float64(t) >= 6*tau {
			return tau + max(0, rho)
		}
		tau += rho
	}
	// By the trapezoidal rule, half of the last term belongs to the sum and half to the integral of the
	// exponential.
	return tau - rho/2 + rho*float64(last)/-math.Log(rho)
}
