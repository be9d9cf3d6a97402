package logz

import "gorbm/negphase/diag"

// effective returns how many independent draws x is worth, which holds series
// of equal length of so many independent groups one after the other: their
// number over the statistical inefficiency
//
//	g = 1 + 2·Σ_{t≥1} (1 − t/n)·ρ(t)
//
// of a series of n (Shirts & Chodera 2008, section II.C). The autocorrelation ρ
// is taken about the mean of all groups, so that groups which stay where they
// are count for one draw each; the sum ends by Sokal's rule at the first lag
// of window times the time summed so far.
func effective(x []float64, groups int) float64 {
	n := len(x) / groups
	mean, variance := diag.MeanVariance(x)
	if !(variance > 0) {
		return float64(len(x)) // all draws agree: nothing is uncertain
	}
	const window = 5 // Sokal (1997), section 3: between 4 and 10
	sum := 1.0
	for lag := 1; lag < n && float64(lag) < window*sum; lag++ {
		c := 0.0
		for g := range groups {
			series := x[g*n : (g+1)*n]
			for i, v := range series[lag:] {
				c += float64((series[i] - mean) * (v - mean))
			}
		}
		// c has groups·(n − lag) terms: with the divisor groups·n the factor
		// 1 − t/n is in it.
		sum += 2 * c / (float64(groups*n) * variance)
	}
	// Anticorrelated draws are worth more than their number, which no error
	// should rest on.
	return float64(len(x)) / max(1, sum)
}
