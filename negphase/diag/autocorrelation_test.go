package diag

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
)

// autoregression returns n values of the process xₜ = φxₜ₋₁ + √(1−φ²)·εₜ in equilibrium, a
// standard normal distribution, with ρ(t) = φᵗ and τ = ½ + φ/(1−φ).
func autoregression(phi float64, n int, key rbm.Key) []float64 {
	r := key.Rand()
	x := make([]float64, n)
	last := r.NormFloat64()
	for i := range x {
		last = float64(phi*last) + float64(math.Sqrt(1-phi*phi)*r.NormFloat64())
		x[i] = last
	}
	return x
}

func tauOf(phi float64) float64 { return 0.5 + phi/(1-phi) }

// direct computes Autocorrelation by its definition.
func direct(x []float64, lags int) []float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	c := make([]float64, lags+1)
	for t := range c {
		for i := range len(x) - t {
			c[t] += (x[i] - mean) * (x[i+t] - mean)
		}
	}
	for t := lags; t >= 0; t-- {
		c[t] /= c[0]
	}
	return c
}

func farthest(a, b []float64) (d float64) {
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

func TestAutocorrelationIsItsDefinition(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 64, 65, 1000, 1025} {
		for _, lags := range []int{0, 1, n / 2, n - 1} {
			x := autoregression(0.8, n, rbm.NewKey(uint64(n)))
			got, want := Autocorrelation(x, lags), direct(x, lags)
			if len(got) != lags+1 {
				t.Fatalf("%d values, %d lags: %d results, want %d", n, lags, len(got), lags+1)
			}
			// Rounding errors relative to c(0) are at most n·2⁻⁵³ for each of the sums of n terms of
			// size ≤ 1, and log₂ n·2⁻⁵³ for the transform.
			if d := farthest(got, want); d > 4*float64(n)*0x1p-53 {
				t.Errorf("%d values, %d lags: off by %v, want at most %v", n, lags, d, 4*float64(n)*0x1p-53)
			}
		}
	}
	x := autoregression(0.8, 500, rbm.NewKey(1))
	want := Autocorrelation(x, 100)
	// Scaling by powers of two has no rounding error. Squares of such values would overflow.
	for _, factor := range []float64{0x1p900, 0x1p-900} {
		y := append([]float64(nil), x...)
		for i := range y {
			y[i] *= factor
		}
		if d := farthest(Autocorrelation(y, 100), want); d > 1e-13 {
			t.Errorf("scaled by %g: off by %v, want at most 1e-13", factor, d)
		}
	}
	// Without appended zeros the correlation would be circular.
	wrapped := append(append([]float64(nil), x...), x...)
	if d := farthest(direct(wrapped, 100), want); d < 1e-3 {
		t.Errorf("a circular series has the same ρ, to %v: the test is blind, want at least 1e-3", d)
	}
}

func TestAutocorrelationOfOddSeries(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		x    []float64
		lags int
		want []float64
	}{
		{"empty", nil, 5, nil},
		{"one value", []float64{3}, 5, []float64{1}},
		{"constant", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 2, []float64{1, 1, 1}},
		{"two values", []float64{1, 2}, 9, []float64{1, -0.5}},
		{"not a number", []float64{1, nan, 2}, 1, []float64{nan, nan}},
		{"infinite", []float64{1, inf, 2}, 1, []float64{nan, nan}},
		{"infinite throughout", []float64{inf, inf}, 1, []float64{nan, nan}},
		{"too far apart", []float64{math.MaxFloat64, -math.MaxFloat64, 0}, 1, []float64{nan, nan}},
	} {
		got := Autocorrelation(c.x, c.lags)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAutocorrelationOfAutoregression(t *testing.T) {
	const n, series, lags, phi = 20000, 60, 40, 0.9
	sum := make([]float64, lags+1)
	for k := range series {
		rho := Autocorrelation(autoregression(phi, n, rbm.NewKey(7).Child(uint64(k))), lags)
		for i, r := range rho {
			sum[i] += r * n / float64(n-i) / series // without the bias of the divisor n
		}
	}
	for i := 1; i <= lags; i++ {
		f := math.Pow(phi, float64(i))
		// Bartlett's variance of ρ(t) for an autoregression, and the bias of
		// order 2τ/n due to the estimated mean.
		v := ((1+phi*phi)*(1-f*f)/(1-phi*phi) - 2*float64(i)*f*f) / n
		bias := 2 * tauOf(phi) / n
		if d := math.Abs(sum[i] - f); d > 5*math.Sqrt(v/series)+bias {
			t.Errorf("ρ(%d) is %v, want %v ± %v", i, sum[i], f, math.Sqrt(v/series))
		}
	}
}

func ExampleAutocorrelation() {
	// A series that repeats every four values.
	x := []float64{1, 0, -1, 0, 1, 0, -1, 0}
	rho := Autocorrelation(x, 4)
	for t, r := range rho {
		unbiased := r * 8 / float64(8-t) // the sum has 8 − t terms
		fmt.Printf("ρ(%d) = %+.2f\n", t, unbiased)
	}
	// Output:
	// ρ(0) = +1.00
	// ρ(1) = +0.00
	// ρ(2) = -1.00
	// ρ(3) = +0.00
	// ρ(4) = +1.00
}

// IntegratedTime corrects the divisor n of each lag by n/(n−t), and the bias due to the estimated mean. The expected
// value is computed by hand, for a ρ that is 0 after one lag.
func TestIntegratedTimeOfFewValues(t *testing.T) {
	rho := make([]float64, 12)
	rho[0], rho[1] = 1, 0.5
	// The sum is ½ + ½·20/19 = 39/38. The window is the first W ≥ 6·39/38, which is 7.
	// Wolff's factor for the bias is (1 + 15/20) / (1 + 2·39/38/20).
	want := 39.0 / 38 * (1 + 15.0/20) / (1 + 2*39.0/38/20)
	if got := IntegratedTime(rho, 20); math.Abs(got.Tau-want) > 1e-12 || got.Window != 7 {
		t.Errorf("τ is %v over %d lags, want %v over 7", got.Tau, got.Window, want)
	}
}
