package diag

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Autocorrelation returns ρ(0) … ρ(lags) of the series x about its own mean,
//
//	ρ(t) = c(t)/c(0),   c(t) = 1/n · Σ_{i<n−t} (xᵢ − x̄)(xᵢ₊ₜ − x̄),
//
// by fast Fourier transform of the series with zeros appended, in O(n log n).
// The divisor n, also at lags t > 0, biases ρ(t) towards zero by the factor
// (n−t)/n and keeps |ρ| ≤ 1. There are at most n − 1 lags; an empty series has
// no ρ. The ρ of a constant series is 1 at every lag. A series with a value that
// is not finite has ρ NaN. It panics if lags < 0.
func Autocorrelation(x []float64, lags int) []float64 {
	if lags < 0 {
		panic("diag: negative lags")
	}
	n := len(x)
	if n == 0 {
		return nil
	}
	lags = min(lags, n-1)
	// The zeros keep the two ends of the series apart. A power of two is fastest.
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
// largest of them so that no square overflows, and returns the largest. It
// returns exactly 0 for a constant series, and NaN if a value is not finite.
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
// The rest of the sum is e⁻ᶜ of τ if ρ decays exponentially. He advises "at
// least 6" because it may decay slower.
const windowFactor = 6

// IntegratedTime returns the integrated autocorrelation time of a series of n
// values from its ρ as Autocorrelation returns it. The sum of ρ ends at the
// smallest W ≥ 6·τ(W) (Madras & Sokal 1988, appendix C). This τ(W) sums |ρ|,
// because otherwise a series with ρ < 0 would be cut off at its first lag. The
// bias of using the series' own mean is subtracted (Wolff 2004, equation 49).
// The standard error is that of a sum of covariances of a Gaussian series
// (Bartlett's formula),
//
//	1/(2n) · Σₛ (Σ_{|t|≤W} ρ(s−t))²,
//
// squared, with ρ = 0 beyond W. For W ≫ τ it is Madras and Sokal's τ√(2(2W+1)/n).
//
// If no W in rho is large enough, all of rho is summed and the error is +Inf:
// the series is too short, or it is constant, and then τ is +Inf too. NaN in
// rho gives NaN. τ is at least 1/(2·log₁₀ n), because sums over noise may be
// negative (the bound of Vehtari et al. 2021, section 3.2). It panics if rho has
// more lags than n or none.
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

// EffectiveSize returns what n values are worth in independent ones, n/(2τ).
func (t Time) EffectiveSize(n int) float64 { return float64(n) / (2 * t.Tau) }
