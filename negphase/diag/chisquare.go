// Package diag has diagnostics of Markov chains: tests of whether they leave a
// distribution unchanged, and estimates of how fast they forget their start.
//
// # Where to begin
//
// Read StationarityZ for whether a sampler is right, and Summarize for how fast it is. Each
// example is in the test file of its function:
//
//   - ExampleStationarityZ tests draws against a known distribution
//   - ExampleAutocorrelation and ExampleSummarize measure autocorrelation times and the
//     errors of means
//   - ExampleWelch compares two means
//   - ExampleSpectralGap finds the gap of a transition matrix
package diag

import "math"

// minExpected is the least expected count of a cell of Pearson's test; smaller
// cells are pooled (Cochran 1954 gives 5; 10 keeps the normal approximation of
// the statistic good far into its tail).
const minExpected = 10

// StationarityZ tests counts of independent draws against the probabilities p
// by Pearson's χ² with small cells pooled, and returns the statistic as a
// z-score, (χ² − df)/√(2·df): near 0 if the draws come from p, large if they
// do not. Use 6 as the limit of a test. A draw where p is zero gives +Inf.
// Fewer than two cells after pooling give 0. It panics if the lengths differ.
func StationarityZ(counts []int, p []float64) float64 {
	if len(counts) != len(p) {
		panic("diag: counts and probabilities of different lengths")
	}
	n := 0
	for _, c := range counts {
		n += c
	}
	var x2, pooledCount, pooledP float64
	cells := 0
	add := func(count, expected float64) {
		x2 += (count - expected) * (count - expected) / expected
		cells++
	}
	for i, c := range counts {
		switch expected := p[i] * float64(n); {
		case p[i] == 0 && c > 0:
			return math.Inf(1)
		case expected >= minExpected:
			add(float64(c), expected)
		default:
			pooledCount += float64(c)
			pooledP += p[i]
		}
	}
	if expected := pooledP * float64(n); expected >= 1 {
		add(pooledCount, expected)
	}
	if cells < 2 {
		return 0
	}
	df := float64(cells - 1)
	return (x2 - df) / math.Sqrt(2*df)
}
