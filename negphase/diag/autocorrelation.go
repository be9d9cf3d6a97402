package diag

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Autocorrelation returns ρ(0) … ρ(lags) of the series x about its own mean,
//
//	ρ(t) = c(t)/c(0),   c(t) = 1/n · Σ_{i<n−t} (xᵢ − x̄)(xᵢ₊ₜ − x̄),
//
// by fast Fourier transform of the series with zeros appended, in O(n log n).
// The divisor n, also at lags t > 0, biases ρ(t) towards zero by the factor
// (n−t)/n and keeps |ρ| ≤ 1; Unbias takes the factor out. lags is cut to n − 1;
// an empty series has no ρ. A constant series never forgets where it is, as
// far as it tells: its ρ is 1 at every lag. A series with a value that is not
// finite has ρ NaN. It panics if lags < 0.
func Autocorrelation(x []float64, lags int) []float64 {
	if lags < 0 {
		panic("diag: negative lags")
	}
	n := len(x)
	if n == 0 {
		return nil
	}
	lags = min(lags, n-1)
	rho := make([]float64, lags+1)
	fill := func(v float64) []float64 {
		for t := range rho {
			rho[t] = v
		}
		return rho
	}
	// The zeros keep the ends from meeting; a power of two is quickest.
	size := 1
	for size < n+lags {
		size *= 2
	}
	d := make([]float64, size)
	if scale := deviations(d[:n], x); math.IsNaN(scale) {
		return fill(math.NaN())
	} else if scale == 0 {
		return fill(1)
	}
	fft := fourier.NewFFT(size)
	c := fft.Coefficients(nil, d)
	for k, z := range c {
		c[k] = complex(real(z)*real(z)+imag(z)*imag(z), 0)
	}
	fft.Sequence(d, c)
	for t := range rho {
		rho[t] = d[t] / d[0]
	}
	return rho
}

// deviations overwrites d with the deviations of x from its mean, over the
// largest of them, and returns that one: no square overflows. It returns 0 for
// a constant series, which rounding of the mean must not hide, and NaN if a
// value is not finite.
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

// Unbias multiplies each ρ(t) of a series of n values by n/(n−t) in place: then
// the divisor of c(t) is the number of its terms, and the only bias left is of
// order τ/n, from the mean. It panics if there are more lags than values.
func Unbias(rho []float64, n int) {
	if len(rho) > n {
		panic("diag: more lags than values")
	}
	for t := range rho {
		rho[t] *= float64(n) / float64(n-t)
	}
}
