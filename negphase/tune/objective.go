package tune

import (
	"math"

	"gorbm/negphase/diag"
)

// Area returns the paper's reward of a series of energies, one before each move:
// the mean of 1 − |ρ(t)| over lags t ≥ 1, averaged over the windows that start in
// the first three quarters of the series and end with it. ρ is about the mean of
// the window, each lag divided by its number of terms, and cut to −1 … 1. The
// paper says "area under the autocorrelation up to a lag"; the rest is what its
// program does. The reward of a constant series is 0. The cost of a move does not
// count.
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

// Rate returns the logarithm of the number of effective samples per second,
// 1/(2τ), of the slowest of several observables. series has the values of each, at
// equal intervals over the given seconds; variance has the variance of each under
// the distribution that is sampled, which is the same for all settings.
//
// A trial is often shorter than τ, and its own mean and variance would then hide
// the slow part. So ρ comes from increments, which the known variance scales:
//
//	ρ(t) = 1 − ⟨(x(i+t) − x(i))²⟩ / (2·variance).
//
// τ is the sum of ρ up to an eighth of the series or Sokal's window of 6τ, and
// beyond that the integral of the exponential through 1 and the last ρ. This is
// exact for exponential decay whatever the length.
//
// A series with many effective samples by its own variance, about its own mean, is divided by that
// variance: its noise cancels against the noise of the increments. With the known variance,
// changes slower than the trial would only add noise.
func Rate(series [][]float64, variance []float64, seconds float64) float64 {
	slowest := 0.0 // τ, in intervals
	for k, x := range series {
		half := increments(x)
		tau := func(variance float64) float64 {
			return integrated(len(half), func(t int) float64 { return half[t-1] / variance })
		}
		_, own := diag.MeanVariance(x)
		time := tau(own)
		if !(own > 0 && float64(len(x)) >= 2*many*time) {
			time = tau(variance[k])
		}
		slowest = max(slowest, time)
	}
	return math.Log(float64(len(series[0])) / (2 * slowest * seconds))
}

// many is the number of effective samples of a series that knows its own variance: the
// mean then takes 1/many of it away, and the 6τ lags of the sum of ρ lose 6/many of τ.
const many = 50

// increments returns half the mean square of the increments of a series over t
// intervals, for t from 1 to an eighth of its length.
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

// leastFall is the least 1 − ρ that is believed: an observable that never
// changed is taken for one that changes this slowly.
const leastFall = 1e-9

// integrated returns τ, in intervals, of 1 − ρ(t) for t from 1 to last.
func integrated(last int, fall func(t int) float64) float64 {
	tau, rho := 0.5, 1.0
	for t := 1; t <= last; t++ {
		rho = 1 - max(leastFall*float64(t), fall(t))
		if rho <= 0 || float64(t) >= 6*tau {
			return tau + max(0, rho)
		}
		tau += rho
	}
	// Of the last term half belongs to the sum and half to what follows.
	return tau - rho/2 + rho*float64(last)/-math.Log(rho)
}
