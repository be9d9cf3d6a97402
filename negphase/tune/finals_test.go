package tune

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
)

// autoregression returns n values of the process x' = φx + noise, with a variance of 1.
func autoregression(n int, phi float64, normal func() float64) []float64 {
	x := make([]float64, n)
	x[0] = normal()
	for i := 1; i < n; i++ {
		x[i] = phi*x[i-1] + math.Sqrt(1-phi*phi)*normal()
	}
	return x
}

// TestRise checks that the difference of two contestants is that of the logarithms of their τ,
// within the error by the jackknife. The jackknife variance is on average not too
// small (Efron & Stein 1981). The series differ in length and in the time per value.
func TestRise(t *testing.T) {
	const n = 200
	r := rbm.NewKey(5).Rand()
	tau := func(phi float64) float64 { return (1 + phi) / (2 * (1 - phi)) }
	run := &tuner{Problem: &Problem{Energy: true}}
	contest := func(phi, interval float64) *contestant {
		c := new(contestant)
		for i := range 2 * lanes {
			length := values << (i / lanes)
			x := autoregression(length, phi, r.NormFloat64)
			floats.Scale(3, x) // the scale must have no influence
			c.read(Trial{series: [][]float64{x}, Seconds: interval * float64(length)})
		}
		return c
	}
	want := math.Log(2 * tau(0.8) / tau(0.9)) // the first contestant has half the time per value
	var mean, square, claimed, rate, rateSquare float64
	for range n {
		slow, fast := contest(0.9, 0.5), contest(0.8, 1)
		r := run.rate(slow, -1)
		rate += r / n
		rateSquare += r * r / n
		d := run.rise(slow, fast)
		mean += d.mean / n
		square += d.mean * d.mean / n
		claimed += d.stdErr * d.stdErr / n
	}
	variance := square - mean*mean
	// In addition to noise, a window of 6τ omits e⁻⁶ of the sum, and the logarithm of an
	// estimate is low by half its relative variance.
	if limit := 4*math.Sqrt(variance/n) + math.Exp(-6) + variance/2; !(math.Abs(mean-want) <= limit) {
		t.Errorf("difference %.4f, want %.4f ± %.4f", mean, want, limit)
	}
	// The variance about the mean of 512 values is low by 2τ/512, and so is ρ at
	// each of the 6τ lags.
	rateVariance := rateSquare - rate*rate
	limit := 4*math.Sqrt(rateVariance/n) + math.Exp(-6) + rateVariance/2 + 6*2*tau(0.9)/values
	if want := math.Log(1 / (2 * tau(0.9) * 0.5)); !(math.Abs(rate-want) <= limit) {
		t.Errorf("rate %.4f, want %.4f ± %.4f", rate, want, limit)
	}
	// A variance from n values has a relative error of √(2/n).
	if ratio := claimed / variance; !(ratio >= 1-4*math.Sqrt(2./n) && ratio <= 2) {
		t.Errorf("the jackknife's variance is %.3f of the true one, %.4f, want %.3g to 2", ratio, variance, 1-4*math.Sqrt(2./n))
	}
}
