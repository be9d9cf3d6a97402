package tune

import (
	"math"
	"testing"

	"gorbm/rbm"
)

// The windows of 0 1 0 1 by hand: for 0101 every |ρ| is 1; for 101, with mean ⅔ and
// variance 2/9, |ρ| is 1 and ½; for 01 it is 1.
func TestArea(t *testing.T) {
	if got, want := Area([]float64{0, 1, 0, 1}), (0+(0+0.5)/2+0)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Area([]float64{3, 3, 3, 3, 3}); got != 0 {
		t.Errorf("constant energy: %v, want 0", got)
	}
	r := rbm.NewKey(1).Rand()
	noise, slow := make([]float64, 100), make([]float64, 100)
	for i := range noise {
		noise[i] = r.NormFloat64()
		slow[i] = noise[i]
		if i > 0 {
			slow[i] += 0.95 * slow[i-1]
		}
	}
	if a, b := Area(noise), Area(slow); !(a > b) {
		t.Errorf("independent energies %v, correlated ones %v", a, b)
	}
}

// An autoregression x' = φx + noise has τ = (1+φ)/(2(1−φ)). Rate estimates it from
// series much longer and much shorter than τ.
func TestRate(t *testing.T) {
	r := rbm.NewKey(2).Rand()
	for _, c := range []struct {
		phi       float64
		n, series int
	}{{0, 4000, 40}, {0.9, 8000, 40}, {0.999, 64, 4000}, {0.9999, 512, 1000}} {
		tau := (1 + c.phi) / (2 * (1 - c.phi))
		variance := 1 / (1 - c.phi*c.phi)
		sum, square := 0.0, 0.0
		for range c.series {
			x := make([]float64, c.n)
			x[0] = math.Sqrt(variance) * r.NormFloat64()
			for i := 1; i < c.n; i++ {
				x[i] = c.phi*x[i-1] + r.NormFloat64()
			}
			const seconds = 5
			// τ in intervals of seconds/n, divided by its true value
			y := 1 / (math.Exp(Rate([][]float64{x}, []float64{variance}, seconds)) * 2 * seconds / float64(c.n)) / tau
			sum += 1 / y
			square += 1 / (y * y)
		}
		n := float64(c.series)
		mean := sum / n
		stdErr := math.Sqrt((square/n - mean*mean) / n)
		// For series much longer than τ there are two errors in addition to noise: a window of 6τ omits e⁻⁶ of the
		// sum, and the mean of 1/τ is too high by the squared
		// relative error, which square/mean² − 1 estimates. For short series 1/τ is linear
		// in the mean square of increments, which has no bias.
		limit := 4 * stdErr
		if float64(c.n) > tau {
			limit += math.Exp(-6) + (square/n - mean*mean)
		}
		if math.Abs(mean-1) > limit {
			t.Errorf("φ = %v, %d values: rate %.4f ± %.4f of the true one, want 1 ± %.3g", c.phi, c.n, mean, stdErr, limit)
		}
	}
}

// The rate is that of the slowest observable. An observable that never changes is the slowest of all.
func TestRateIsOfTheSlowest(t *testing.T) {
	r := rbm.NewKey(3).Rand()
	fast, slow := make([]float64, 1000), make([]float64, 1000)
	for i := range fast {
		fast[i] = r.NormFloat64()
		slow[i] = fast[i]
		if i > 0 {
			slow[i] += 0.9 * slow[i-1]
		}
	}
	v := []float64{1, 1 / (1 - 0.81)}
	alone := Rate([][]float64{slow}, v[1:], 2)
	if both := Rate([][]float64{fast, slow}, v, 2); both != alone || !(Rate([][]float64{fast}, v[:1], 2) > alone) {
		t.Errorf("both %v, the slow one alone %v", both, alone)
	}
	if still := Rate([][]float64{fast, make([]float64, 1000)}, v, 2); !(still < alone-3) || math.IsInf(still, 0) {
		t.Errorf("an observable that stands still gives %v", still)
	}
}

// For a series with many effective samples Rate uses the variance of the series, and for a short series the given
// one.
func TestRateOfManySamples(t *testing.T) {
	r := rbm.NewKey(4).Rand()
	for _, c := range []struct {
		n    int
		same bool
	}{{4000, true}, {60, false}} {
		x := autoregression(c.n, 0.5, r.NormFloat64)
		one, five := Rate([][]float64{x}, []float64{1}, 1), Rate([][]float64{x}, []float64{5}, 1)
		if (one == five) != c.same {
			t.Errorf("%d values: rate %v with a variance of 1, %v with one of 5", c.n, one, five)
		}
	}
}

// For ρ = exp(−t/τ), the sum over few lags plus the tail gives τ. The sum is the trapezoidal
// rule, whose error is at most 1/(12τ) here (its remainder is (f'(last) − f'(0))/12).
func TestTailOfAnExponential(t *testing.T) {
	for _, want := range []float64{20, 1000} {
		got := integrated(15, func(t int) float64 { return -math.Expm1(-float64(t) / want) })
		if math.Abs(got-want) > 1/(12*want)+1e-9 {
			t.Errorf("τ is %v, want %v", got, want)
		}
	}
}
