package diag

import "math"

// An Agreement says how far parallel chains agree on the law of one quantity.
type Agreement struct {
	RHat float64 // split R̂: near 1 if every half of every chain has seen the same law
	// Tau is the integrated autocorrelation time over all chains, in steps of the
	// series, as Time has it: independent values have ½. It counts what chains
	// disagree about as correlation. Of series shorter than some 20·Tau it is no
	// more than a lower bound.
	Tau float64
}

// Compare compares equally long series of the same quantity, one a chain, by the
// potential scale reduction of Gelman & Rubin (1992). Each series is cut into
// halves, so that a drift shows as a difference between them (Gelman et al.,
// Bayesian Data Analysis, 3rd edition, section 11.4):
//
//	R̂ = √(var⁺/W),  var⁺ = (n−1)/n·W + B/n,
//
// with W the mean variance within the halves and B/n the variance of their means.
// The autocorrelation at lag t is 1 − (W − mean autocovariance)/var⁺ (Vehtari et
// al. 2021, equation 10), summed as IntegratedTime does. If the halves never move, R̂
// is +Inf where they differ, and NaN, like Tau, where all values are equal. Both are
// NaN if there are fewer than four values in a series, or none.
func Compare(series [][]float64) Agreement {
	nan := Agreement{math.NaN(), math.NaN()}
	if len(series) == 0 || len(series[0]) < 4 {
		return nan
	}
	half := len(series[0]) / 2
	var parts [][]float64
	for _, s := range series {
		parts = append(parts, s[:half], s[len(s)-half:])
	}
	n, count := float64(half), float64(len(parts))
	means, within := make([]float64, len(parts)), 0.0
	covariance := make([]float64, half) // of each lag, summed over the parts, with the divisor n
	for i, p := range parts {
		var variance float64
		means[i], variance = MeanVariance(p)
		within += variance * n / (n - 1) / count
		for t := range covariance {
			for j := range half - t {
				covariance[t] += float64((p[j]-means[i])*(p[j+t]-means[i])) / n
			}
		}
	}
	_, between := MeanVariance(means)
	between *= count / (count - 1)
	total := (n-1)/n*within + between
	if total == 0 || math.IsNaN(total) {
		return nan
	}
	rho := make([]float64, half)
	for t := range rho {
		rho[t] = 1 - (within-covariance[t]/count*n/(n-1))/total
	}
	rho[0] = 1
	sum, size := 0.5, 0.5
	for t := 1; t < half && float64(t) < windowFactor*size; t++ {
		sum += rho[t]
		size += math.Abs(rho[t])
	}
	return Agreement{RHat: math.Sqrt(total / within), Tau: max(sum, 1/(2*math.Log10(max(n*count, 10))))}
}
