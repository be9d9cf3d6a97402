// Package diag has diagnostics of Markov chains: tests of whether they leave a
// distribution invariant, and estimates of how fast they mix.
//
// # Where to begin
//
// Read StationarityZ for tests of the correctness of a sampler, and Summarize for its speed. Each
// example is in the test file of its function:
//
//   - ExampleStationarityZ tests draws against a known distribution
//   - ExampleAutocorrelation and ExampleSummarize measure autocorrelation times and the
//     errors of means
//   - ExampleWelch compares two means
//   - ExampleSpectralGap finds the gap of a transition matrix
package diag

import "math"

// minExpected is the least expected count of a cell of Pearson's test. Smaller
// cells are pooled. Cochran 1954 gives 5; with 10 the normal approximation of
// the statistic is good far into its tail.
const minExpected = 10

// StationarityZ tests counts of independent draws against the probabilities p
// by Pearson's χ² with small cells pooled. It returns the statistic as a
// z-score, (χ² − df)/√(2·df), where df is the number of degrees of freedom. The score is near 0 if the
// draws come from p, and large if they do not. Use 6 as the limit of a test. A draw of a state with p = 0
// gives +Inf. If pooling leaves fewer than two cells, the result is 0. It panics if the lengths differ.
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
