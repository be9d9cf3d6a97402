package diag

import "math"

// A Summary is what a stationary series tells of the mean of its law.
type Summary struct {
	N         int64
	Mean      float64
	StdErr    float64 // of Mean, autocorrelation counted; NaN if the series does not tell
	Variance  float64 // of one value
	Time      Time    // in steps of the series
	Effective float64 // independent values that would tell Mean as well
	// Slow tells that the autocorrelation has a tail, small but long, beyond
	// the window of τ: the means of 32 long batches scatter more than the
	// window says. StdErr, τ and Effective are then those of the batches, which
	// may be too small and too large still.
	Slow bool
}

// MinEffective is the number of independent values below which neither the
// mean's error nor τ can be trusted: the sum of ρ then ends in its own noise.
// (The emcee package asks for 50 of its autocorrelation times, which are 2τ.)
const MinEffective = 50

// Trusted reports whether the series is long enough for its own errors.
func (s Summary) Trusted() bool {
	return s.Effective >= MinEffective && !math.IsInf(s.Time.StdErr, 1) && !s.Slow
}

// Summarize summarises a series. The variance of the mean is 2τ·Variance/N. A
// series with a value that is not finite has NaN throughout, and so has an
// empty one. A constant series has Variance 0, τ +Inf, no effective values and
// StdErr NaN: a chain that never moved does not say where else it might go.
func Summarize(x []float64) Summary {
	t := NewTrace(2 * (len(x)/2 + 1)) // never full: blocks of one value
	for _, v := range x {
		t.Add(v)
	}
	return t.Summary()
}

// Z returns how many standard errors the means of two independent series lie
// apart, with the sign of a − b; NaN if one of them has no error.
func Z(a, b Summary) float64 { return (a.Mean - b.Mean) / math.Hypot(a.StdErr, b.StdErr) }
