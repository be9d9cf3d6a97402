package diag

import "math"

// A Time is an integrated autocorrelation time in steps of its series,
//
//	τ = ½ + Σ_{t≥1} ρ(t),
//
// so that n values are worth n/(2τ) independent ones (Sokal, "Monte Carlo
// methods in statistical mechanics", 1997, section 3; other authors call 2τ by
// this name). Independent values have τ = ½.
type Time struct {
	Tau    float64
	StdErr float64 // one standard error of Tau; +Inf if the series is too short to tell
	Window int     // lags that were summed
}

// windowFactor is Sokal's c: the sum ends at the first window of c·τ lags.
// What is cut off is e⁻ᶜ of τ if ρ decays exponentially; he advises "at least
// 6" as it may decay slower.
const windowFactor = 6

// IntegratedTime returns the integrated autocorrelation time of a series of n
// values from its ρ as Autocorrelation returns it. The sum of ρ ends at the
// smallest W ≥ 6·τ(W) (Madras & Sokal 1988, appendix C), where τ(W) for this
// purpose adds |ρ|: a series that overshoots, with ρ below zero, is not cut off
// at its first lag. The bias that comes of taking the mean from the series
// itself is taken out (Wolff 2004, equation 49). The standard error is that of a
// sum of covariances of a Gaussian series (Bartlett's formula),
//
//	1/(2n) · Σₛ (Σ_{|t|≤W} ρ(s−t))²,
//
// squared, with ρ = 0 beyond W: Madras and Sokal's τ√(2(2W+1)/n) where W ≫ τ,
// and right for series that overshoot too.
//
// If no W in rho will do, all of rho is summed and the error is +Inf: the
// series is too short, or it is constant, for which τ is +Inf as well. NaN in
// rho gives NaN. τ is at least 1/(2·log₁₀ n), as sums over noise may fall below
// zero (the bound of Vehtari et al. 2021, section 3.2). It panics if rho has
// more lags than n or none.
func IntegratedTime(rho []float64, n int) Time {
	if len(rho) == 0 || len(rho) > n {
		panic("diag: no lags, or more lags than values")
	}
	if constant(rho) && (len(rho) > 1 || n == 1) {
		return Time{Tau: math.Inf(1), StdErr: math.Inf(1), Window: len(rho) - 1}
	}
	sum, size := 0.5, 0.5
	w, settled := 0, false
	for t := 1; t < len(rho) && !settled; t++ {
		r := rho[t] * float64(n) / float64(n-t)
		sum += r
		size += math.Abs(r)
		w, settled = t, float64(t) >= windowFactor*size
	}
	if math.IsNaN(rho[0]) || math.IsNaN(sum) {
		return Time{Tau: math.NaN(), StdErr: math.NaN(), Window: w}
	}
	per := 1 / float64(n)
	least := 1 / (2 * math.Log10(max(float64(n), 10))) // no less than ½ below ten values
	tau := max(least, sum*(1+float64(2*w+1)*per)/(1+2*sum*per))
	stdErr := math.Inf(1)
	if settled {
		stdErr = sumError(rho[:w+1], n)
	}
	return Time{Tau: tau, StdErr: stdErr, Window: w}
}

// sumError returns the standard error of ½ + Σρ(t) over all of rho.
func sumError(rho []float64, n int) float64 {
	w := len(rho) - 1
	inner := -rho[0] // Σ ρ(s−t) over |t| ≤ W, here s = 0
	for _, r := range rho {
		inner += 2 * r
	}
	sum := inner * inner
	for s := 1; s <= 2*w; s++ {
		inner -= rho[max(s-1-w, w+1-s)]
		sum += 2 * inner * inner // and −s
	}
	return math.Sqrt(sum / (2 * float64(n)))
}

// constant reports whether rho is that of a constant series: 1 at every lag.
func constant(rho []float64) bool {
	for _, r := range rho {
		if r != 1 {
			return false
		}
	}
	return true
}

// EffectiveSize returns what n values are worth in independent ones, n/(2τ).
func (t Time) EffectiveSize(n int) float64 { return float64(n) / (2 * t.Tau) }
