package diag

import "math"

// FunctionError returns the standard error of a smooth function f of the means of
// several observables. traces[k] is the series of observable k; all were measured at the same steps.
// slopes[k] is the derivative of f with respect to the mean of traces[k], at the estimated means.
//
// To first order the error of f equals the error of the mean of the series Σ slopes[k]·(x_k − mean_k). This
// accounts for autocorrelation and for correlations between observables (Wolff 2004, "Monte Carlo errors
// with less errors", equation 9). Wolff's second-order correction of the bias, of order 1/N, is left out: it
// is far smaller than the error if Summary.Trusted holds.
//
// The result is NaN if there are fewer than two blocks, and 0 if the series is constant. It
// panics if traces differ in length or in their limits.
func FunctionError(slopes []float64, traces ...*Trace) float64 {
	blocks := make([]float64, len(traces[0].blocks))
	for k, t := range traces {
		if t.n != traces[0].n || len(t.blocks) != len(blocks) {
			panic("diag: traces of a function must be measured together, with equal limits")
		}
		for i, x := range t.blocks {
			blocks[i] += float64(slopes[k] * (x - t.first))
		}
	}
	if len(blocks) < 2 {
		return math.NaN()
	}
	s := Summarize(blocks)
	if s.Variance == 0 {
		return 0
	}
	return s.StdErr
}
