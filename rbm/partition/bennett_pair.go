package partition

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// startFromPairs sets f to the cumulative sums of the log ratios of neighbours. Each ratio comes from the
// draws at two temperatures alone. It returns the smallest overlap, and the
// index of the lower β of that pair.
func (s *mbar) startFromPairs() (overlap float64, at int) {
	overlap = math.Inf(1)
	for k := range len(s.f) - 1 {
		ratio := s.ratio(k)
		s.f[k+1] = s.f[k] + ratio
		if o := s.pairOverlap(k, ratio); o < overlap {
			overlap, at = o, k
		}
	}
	return overlap, at
}

// ratio returns f_j − f_i for neighbours i and j = i+1 by Bennett's acceptance
// ratio (Bennett 1976). With t = log(n_j/n_i) + f_j − f_i − (β_j−β_i)D it solves
//
//	Σ σ(t) over the draws of i = Σ σ(−t) over the draws of j
//
// The difference of the sums increases with f_j − f_i, so ratio can bracket the root. A Newton step
// that leaves the bracket is replaced by bisection.
func (s *mbar) ratio(i int) float64 {
	j := i + 1
	db, shift := s.beta[j]-s.beta[i], s.logn[j]-s.logn[i]
	lo, hi := math.Inf(1), math.Inf(-1) // range of (β_j−β_i)D
	for _, d := range [2][]float64{s.d[i], s.d[j]} {
		for _, x := range d {
			x = float64(db * (x - s.centre))
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	// Beyond these bounds one sum is below e^−margin of its largest value,
	// and the other is near its largest value. No number of draws compensates e^−60.
	const margin = 60
	lo, hi = lo-shift-margin-math.Abs(shift), hi-shift+margin+math.Abs(shift)
	at := (lo + hi) / 2
	for range 200 { // bisection reaches the resolution of float64 in fewer steps
		excess, slope := 0.0, 0.0
		for side, k := range [2]int{i, j} {
			sign := float64(1 - 2*side)
			sum, rise := 0.0, 0.0
			for _, d := range s.d[k] {
				p := logistic(sign * (shift + at - float64(db*(d-s.centre))))
				sum += p
				rise += float64(p * (1 - p))
			}
			excess += float64(sign * sum)
			slope += rise
		}
		if excess > 0 {
			hi = at
		} else {
			lo = at
		}
		next := at - excess/slope
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-at) <= 1e-12*max(1, math.Abs(at)) { // several rounding errors
			return next
		}
		at = next
	}
	return at
}

// pairOverlap returns the overlap of temperatures i and j = i+1 for the log ratio f. It is the smaller
// of the mean of 2p_j/(p_i+p_j) over the draws of i and the mean of
// 2p_i/(p_i+p_j) over the draws of j.
func (s *mbar) pairOverlap(i int, f float64) float64 {
	db := s.beta[i+1] - s.beta[i]
	overlap := 1.0
	for side, d := range [2][]float64{s.d[i], s.d[i+1]} {
		sign, mean := float64(1-2*side), 0.0
		for _, x := range d {
			mean += 2 * logistic(sign*(f-float64(db*(x-s.centre)))) / float64(len(d))
		}
		overlap = min(overlap, mean)
	}
	return overlap
}

// logistic returns 1/(1+e^−x) without overflow.
func logistic(x float64) float64 {
	e := vec.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
