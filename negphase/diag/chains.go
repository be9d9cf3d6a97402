package diag

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Chains summarises equally long series of several chains with one stationary distribution.
type Chains struct {
	// RHat is the split R̂ of Gelman et al. (2013, section 11.4): near 1 if the
	// halves of all chains have the same mean. With chains so short that each is
	// worth few independent values it is above 1 for that reason alone.
	RHat float64
	// Time is the integrated autocorrelation time of one chain, in steps of the
	// series. Its variance is that within and between chains, so that chains that
	// stay apart have no end of it: then StdErr is +Inf.
	Time      Time
	Effective float64 // what all chains are worth together, in independent values
}

// SummarizeChains returns the summary of the series x, one a chain. The
// autocorrelation at lag t is, after Vehtari et al. (2021, equation 10),
//
//	ρ(t) = 1 − (W − mean of sⱼ²ρⱼ(t)) / var⁺,   var⁺ = (n−1)/n·W + B/n,
//
// with W the mean variance within the chains, of n values each, and B/n the
// variance of their means; Time is IntegratedTime of it. It is NaN throughout if a
// value is not finite, and τ is +Inf if nothing moves. It panics if there are not two
// chains, or not four values a chain, or lengths differ.
func SummarizeChains(x [][]float64) Chains {
	if len(x) < 2 || len(x[0]) < 4 {
		panic("diag: chains need a companion and four values")
	}
	n := len(x[0])
	within, between := spread(x, 0, n)
	n64 := float64(n)
	variance := (n64-1)/n64*within + between
	rho := make([]float64, 3*n/4) // many chains make up for the few pairs of values at long lags
	for _, chain := range x {
		_, v := stat.MeanVariance(chain, nil)
		if v == 0 {
			continue // it adds nothing to the covariance within
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
	// The lags of a single chain are summed; the noise in ρ is that of all values.
	c.Time = IntegratedTime(rho, n*len(x))
	c.Effective = c.Time.EffectiveSize(n * len(x))
	return c
}

// spread returns the mean variance within the values lo … hi−1 of the chains, and
// the variance of their means.
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

// Welch tests whether two samples of independent values have the same mean
// (Welch 1947): t = (mean a − mean b)/√(sa²/na + sb²/nb), and the probability p of
// as large a |t| if they have, by Student's t with the degrees of freedom of Welch
// and Satterthwaite. If neither varies, t is 0 and p 1 for equal means; otherwise t is ±Inf
// and p 0. It panics if a sample has fewer than two values.
func Welch(a, b []float64) (t, p float64) {
	if len(a) < 2 || len(b) < 2 {
		panic("diag: Welch's test needs two values a sample")
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
