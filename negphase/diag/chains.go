package diag

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Chains summarises series of equal length from several chains with one stationary distribution.
type Chains struct {
	// RHat is the split R̂ of Gelman et al. (2013, section 11.4): near 1 if the
	// halves of all chains have the same mean. It is also above 1 if the chains are so short that the
	// effective size of each is small.
	RHat float64
	// Time is the integrated autocorrelation time of one chain, in steps of the
	// series. It is computed from the variance within and between chains. If chains stay in different
	// regions, ρ does not decay and StdErr is +Inf.
	Time      Time
	Effective float64 // effective size of all chains together
}

// SummarizeChains returns the summary of the series x[j] of the chains j. The
// autocorrelation at lag t is that of Vehtari et al. (2021, equation 10),
//
//	ρ(t) = 1 − (W − mean of sⱼ²ρⱼ(t)) / var⁺,   var⁺ = (n−1)/n·W + B/n.
//
// Chain j has n values with variance sⱼ² and autocorrelation ρⱼ. W is the mean of sⱼ², and B/n is the
// variance of the chains' means. Time is IntegratedTime of ρ. All results are NaN if a
// value is not finite; τ is +Inf if all values are equal. It panics if there are fewer than two
// chains or fewer than four values per chain, or if lengths differ.
func SummarizeChains(x [][]float64) Chains {
	if len(x) < 2 || len(x[0]) < 4 {
		panic("diag: there must be at least two chains, and four values in each")
	}
	n := len(x[0])
	within, between := spread(x, 0, n)
	n64 := float64(n)
	variance := (n64-1)/n64*within + between
	rho := make([]float64, 3*n/4) // long lags have few pairs of values per chain, but there are many chains
	for _, chain := range x {
		_, v := stat.MeanVariance(chain, nil)
		if v == 0 {
			continue // sⱼ²ρⱼ is 0
		}
		for t, r := range Autocorrelation(chain, len(rho)-1) {
			// The divisor of ρⱼ is n at every lag, and that of v is n − 1.
			rho[t] += v * r * (n64 - 1) / (n64 - float64(t)) / float64(len(x))
		}
	}
	for t := range rho {
		rho[t] = 1 - (within-rho[t])/variance
	}
	c := Chains{RHat: splitRHat(x)}
	if variance == 0 {
		c.Time = Time{Tau: math.Inf(1), StdErr: math.Inf(1)}
		return c
	}
	rho[0] = 1
	// Lags lie within a single chain, but all chains together determine the error of ρ.
	c.Time = IntegratedTime(rho, n*len(x))
	c.Effective = c.Time.EffectiveSize(n * len(x))
	return c
}

// spread returns the mean over chains of the variance of values lo … hi−1, and
// the variance over chains of the means of these values.
func spread(x [][]float64, lo, hi int) (within, between float64) {
	means := make([]float64, len(x))
	for j, chain := range x {
		if len(chain) != len(x[0]) {
			panic("diag: chains of unequal lengths")
		}
		m, v := stat.MeanVariance(chain[lo:hi], nil)
		means[j] = m
		within += v / float64(len(x))
	}
	_, between = stat.MeanVariance(means, nil)
	return within, between
}

// splitRHat returns √(var⁺/W) of the halves of the chains.
func splitRHat(x [][]float64) float64 {
	half := len(x[0]) / 2
	var halves [][]float64
	for _, chain := range x {
		halves = append(halves, chain[:half], chain[len(chain)-half:])
	}
	within, between := spread(halves, 0, half)
	n := float64(half)
	return math.Sqrt(((n-1)/n*within + between) / within)
}

// Welch tests whether two samples of independent values come from distributions with the same mean
// (Welch 1947). It returns t = (mean a − mean b)/√(sa²/na + sb²/nb), where s² are the variances and n
// the sizes of the samples. p is the probability of such a |t| or a larger one if the means are equal.
// It is computed by Student's t with the degrees of freedom of Welch and Satterthwaite. If both
// variances are 0, t is 0 and p is 1 for equal means; otherwise t is ±Inf and p is 0. It panics if a
// sample has fewer than two values.
func Welch(a, b []float64) (t, p float64) {
	if len(a) < 2 || len(b) < 2 {
		panic("diag: Welch's test needs at least two values in each sample")
	}
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	ea, eb := va/float64(len(a)), vb/float64(len(b))
	if ea+eb == 0 {
		if ma == mb {
			return 0, 1
		}
		return math.Inf(int(math.Copysign(1, ma-mb))), 0
	}
	t = (ma - mb) / math.Sqrt(ea+eb)
	df := (ea + eb) * (ea + eb) / (ea*ea/float64(len(a)-1) + eb*eb/float64(len(b)-1))
	return t, 2 * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-math.Abs(t))
}
