package diag

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Autocorrelation returns the autocorrelation function ρ(0) … ρ(lags) of the series x,
//
//	ρ(t) = c(t)/c(0),   c(t) = 1/n · Σ_{i<n−t} (xᵢ − x̄)(xᵢ₊ₜ − x̄),
//
// where n is the length of x and x̄ its mean. It takes O(n log n) operations, by fast Fourier transform.
// The divisor n at every lag biases ρ(t) towards zero by the factor
// (n−t)/n, and keeps |ρ| ≤ 1. The result has at most n − 1 lags, and is nil for an empty
// series. For a constant series ρ is 1 at every lag. If a value is not finite, ρ is NaN. It panics if
// lags < 0.
func Autocorrelation(x []float64, lags int) []float64 {
	if lags < 0 {
		panic("diag: negative lags")
	}
	n := len(x)
	if n == 0 {
		return nil
	}
	lags = min(lags, n-1)
	// Appended zeros make the correlation of the transform linear instead of circular. A power of two
	// is fastest.
	size := 1
	for size < n+lags {
		size *= 2
	}
	d := make([]float64, size)
	if scale := deviations(d[:n], x); math.IsNaN(scale) {
		return slices.Repeat([]float64{scale}, lags+1)
	} else if scale == 0 {
		return slices.Repeat([]float64{1}, lags+1)
	}
	fft := fourier.NewFFT(size)
	c := fft.Coefficients(nil, d)
	for k, z := range c {
		c[k] = complex(real(z)*real(z)+imag(z)*imag(z), 0)
	}
	fft.Sequence(d, c)
	rho := make([]float64, lags+1)
	for t := range rho {
		rho[t] = d[t] / d[0]
	}
	return rho
}

// deviations overwrites d with the deviations of x from its mean, divided by the
// largest |deviation| so that no square overflows. It returns the largest |deviation|: exactly 0 for a
// constant series, and NaN if a value is not finite.
func deviations(d, x []float64) (scale float64) {
	constant := true
	mean := 0.0
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.NaN()
		}
		constant = constant && v == x[0]
		mean += (v - x[0]) / float64(len(x))
	}
	if constant {
		return 0
	}
	for i, v := range x {
		d[i] = v - x[0] - mean
		scale = max(scale, math.Abs(d[i]))
	}
	if math.IsInf(scale, 0) {
		return math.NaN()
	}
	floats.Scale(1/scale, d)
	return scale
}

// A Time is an estimate of an integrated autocorrelation time in steps of its series,
//
//	τ = ½ + Σ_{t≥1} ρ(t).
//
// The effective size of n values is n/(2τ) (Sokal, "Monte Carlo
// methods in statistical mechanics", 1997, section 3; other authors give this name to 2τ).
// Independent values have τ = ½.
type Time struct {
	Tau    float64
	StdErr float64 // standard error of Tau; +Inf if the series is too short to estimate it
	Window int     // number of lags in the sum
}

// windowFactor is Sokal's c: the sum over t ends at the first lag W ≥ c·τ.
// If ρ decays exponentially, the omitted lags contribute the fraction e⁻ᶜ of τ. Sokal advises c of "at
// least 6", because ρ may decay more slowly.
const windowFactor = 6

// IntegratedTime returns the integrated autocorrelation time of a series of n
// values. rho is the result of Autocorrelation. The sum of ρ ends at the
// smallest lag W ≥ 6·τ(W), where τ(W) is the sum up to W (Madras & Sokal 1988, appendix C). This τ(W) sums
// |ρ|, because otherwise a series with ρ < 0 would be cut off at its first lag. The
// bias due to the estimated mean is subtracted (Wolff 2004, equation 49).
// The square of the standard error is that of a sum of covariances of a Gaussian series
// (Bartlett's formula),
//
//	1/(2n) · Σₛ (Σ_{|t|≤W} ρ(s−t))²,
//
// with ρ = 0 beyond W. For W ≫ τ the error is Madras and Sokal's τ√(2(2W+1)/n).
//
// If no W in rho is large enough, the series is too short: all of rho is summed and the error is +Inf.
// For a constant series both τ and the error are +Inf. NaN in
// rho gives NaN. τ is at least 1/(2·log₁₀ n), because sums of noise may be
// negative (this bound is that of Vehtari et al. 2021, section 3.2). It panics if rho is empty or has
// more elements than n.
func IntegratedTime(rho []float64, n int) Time {
	if len(rho) == 0 || len(rho) > n {
		panic("diag: no lags, or more lags than values")
	}
	constant := !slices.ContainsFunc(rho, func(r float64) bool { return r != 1 })
	if constant && (len(rho) > 1 || n == 1) {
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
	least := 1 / (2 * math.Log10(max(float64(n), 10))) // ½ for ten values or fewer
	tau := max(least, sum*(1+float64(2*w+1)*per)/(1+2*sum*per))
	stdErr := math.Inf(1)
	if settled {
		stdErr = sumError(rho[:w+1], n)
	}
	return Time{Tau: tau, StdErr: stdErr, Window: w}
}

// sumError returns the standard error of ½ + Σ_{t≥1} ρ(t) over all lags in rho.
func sumError(rho []float64, n int) float64 {
	w := len(rho) - 1
	inner := -rho[0] // Σ ρ(s−t) over |t| ≤ W, here s = 0
	for _, r := range rho {
		inner += 2 * r
	}
	sum := inner * inner
	for s := 1; s <= 2*w; s++ {
		inner -= rho[max(s-1-w, w+1-s)]
		sum += 2 * inner * inner // the terms for s and −s
	}
	return math.Sqrt(sum / (2 * float64(n)))
}

// EffectiveSize returns n/(2τ), the number of independent values whose mean has the same variance as the
// mean of n values of the series.
func (t Time) EffectiveSize(n int) float64 { return float64(n) / (2 * t.Tau) }
