package diag

// MeanVariance returns the mean of x, not empty, and the mean squared
// deviation from it. Sums run in order and products do not fuse, so that the
// bits are the same on every processor, which those of a library are not.
func MeanVariance(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += float64((v - mean) * (v - mean))
	}
	return mean, variance / float64(len(x))
}
