package diag

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Series of an AR(1) process with coefficient φ around a level of their own.
func parallelSeries(chains, n int, phi, spread float64) [][]float64 {
	r := rand.New(rand.NewPCG(1, 2))
	series := make([][]float64, chains)
	for i := range series {
		level, x := spread*r.NormFloat64(), r.NormFloat64()
		for range n {
			series[i] = append(series[i], level+x)
			x = phi*x + math.Sqrt(1-phi*phi)*r.NormFloat64()
		}
	}
	return series
}

// Of long chains that agree R̂ is 1 and τ = ½(1+φ)/(1−φ), the value of the process.
// Chains with levels of their own have the R̂ of the variances: √(1+spread²). The
// standard errors are those of variances and of τ over this many values.
func TestCompare(t *testing.T) {
	const chains, n = 50, 2000
	for _, phi := range []float64{0, 0.5, 0.9} {
		tau := 0.5 * (1 + phi) / (1 - phi)
		got := Compare(parallelSeries(chains, n, phi, 0))
		effective := chains * n / (2 * tau)
		if math.Abs(got.RHat-1) > 5*tau/n+5*math.Sqrt(2/effective) {
			t.Errorf("φ = %v: R-hat is %.4f, want 1", phi, got.RHat)
		}
		// The window of 6τ lags gives τ a relative error of √(2(2·6τ+1)/(chains·n)).
		if limit := 5 * tau * math.Sqrt(2*(12*tau+1)/(chains*n)); math.Abs(got.Tau-tau) > limit {
			t.Errorf("φ = %v: τ is %.3f, want %.3f ± %.3f", phi, got.Tau, tau, limit)
		}
	}
	got := Compare(parallelSeries(chains, n, 0, 2))
	if want := math.Sqrt(5); math.Abs(got.RHat-want) > 5*want*math.Sqrt(1./2/(chains-1)) {
		t.Errorf("of chains with other levels R-hat is %.3f, want %.3f", got.RHat, want)
	}
	if got.Tau < n/8 {
		t.Errorf("of chains with other levels τ is %.3f: they do not mix", got.Tau)
	}
	drift := Compare([][]float64{{0, 0, 1, 1}, {0, 0, 1, 1}})
	if !math.IsInf(drift.RHat, 1) {
		t.Errorf("of chains that drift as one R-hat is %v, want +Inf", drift.RHat)
	}
	for _, x := range [][][]float64{nil, {{1, 2, 3}}, {{1, 1, 1, 1}, {1, 1, 1, 1}}} {
		if got := Compare(x); !math.IsNaN(got.RHat) || !math.IsNaN(got.Tau) {
			t.Errorf("%v give %+v, want NaN", x, got)
		}
	}
}
