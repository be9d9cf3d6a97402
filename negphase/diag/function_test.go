package diag

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFunctionError compares the errors of the ratio of two correlated means, and of a
// variance, with the spread of the function over independent chains. The chain is
// x ← ρx + √(1−ρ²)ξ, whose autocorrelation time is known.
func TestFunctionError(t *testing.T) {
	const chains, n, rho = 400, 4000, 0.8
	r := rand.New(rand.NewPCG(7, 1))
	kinds := []struct {
		name string
		f    func(x, square float64) (value, byX, bySquare float64)
	}{
		{"variance", func(x, s float64) (float64, float64, float64) { return s - x*x, -2 * x, 1 }},
		{"ratio", func(x, s float64) (float64, float64, float64) { return s / x, -s / (x * x), 1 / x }},
	}
	values, errors := make([][]float64, len(kinds)), make([]float64, len(kinds))
	for range chains {
		first, second := NewTrace(1024), NewTrace(1024) // blocks of several values
		x := r.NormFloat64()
		for range n {
			x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
			y := 3 + x // far from 0, so that the two means vary together
			first.Add(y)
			second.Add(y * y)
		}
		for k, c := range kinds {
			v, a, b := c.f(first.Summary().Mean, second.Summary().Mean)
			values[k] = append(values[k], v)
			e := FunctionError([]float64{a, b}, first, second)
			errors[k] += e * e / chains
		}
	}
	// The variance over chains has a relative error of √(2/400), 7 %. That of the mean of the
	// squared errors is smaller. The tolerance is four times 7 %.
	tolerance := 4 * math.Sqrt(2./chains)
	for k, c := range kinds {
		_, variance := MeanVariance(values[k])
		if ratio := errors[k] / (variance * chains / (chains - 1)); math.Abs(ratio-1) > tolerance {
			t.Errorf("%s: the mean squared error is %.3f times the variance over chains; allowed is 1 ± %.2f", c.name, ratio, tolerance)
		}
	}
	constant := NewTrace(16)
	for range 5 {
		constant.Add(2)
	}
	if e := FunctionError([]float64{3}, constant); e != 0 {
		t.Errorf("a constant has the error %v, want 0", e)
	}
}
