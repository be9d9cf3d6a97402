package train

import (
	"math"

	"gorbm/rbm"
)

// mostPlaces bounds the number of chains whose places are remembered.
const mostPlaces = 200

// pastStates are the visible states of chains at a measurement, for the next one: a row of
// words for each of the first mostPlaces.
type pastStates [][]uint64

// placesVariance returns the variance of places.left of n chains that have forgotten:
// that of 2·rank/(n−1) with n equally likely ranks, for each chain. That chains share
// the places makes it a little smaller: simulated, n times the variance is 0.93, 0.53,
// 0.40 and 0.33 for 2, 4, 10 and 100 chains, where this has 1, 0.56, 0.41 and 0.34.
func placesVariance(n int) float64 {
	return float64(n+1) / (3 * float64(n) * float64(n-1))
}

// placesOf returns those of bits, and none of real values.
func placesOf(v rbm.Values) (p pastStates) {
	if v.IsReal() {
		return nil
	}
	for r := range min(v.Rows, mostPlaces) {
		p = append(p, append([]uint64(nil), v.Row(r)...))
	}
	return p
}

// left returns how far chains have left where they were at an earlier measurement: 1 if
// they have forgotten it, and near 0 if each is still where it was. For each chain the earlier places
// of all chains are ranked by their distance from its present state. left is twice the mean rank of a
// chain's own place, as a fraction of the other chains; equal distances share their ranks. Of
// chains that have forgotten, own place and others are exchangeable, so that the mean
// is 1 and the variance placesVariance. M modes of equal mass that no chain leaves make it
// 1/M. It is NaN for fewer than two chains, or if their number has changed.
func (p pastStates) left(now pastStates) float64 {
	n := len(now)
	if n < 2 || len(p) != n {
		return math.NaN()
	}
	for g := range p {
		if len(p[g]) != len(now[0]) { // as a forged checkpoint may have it
			return math.NaN()
		}
	}
	sum := 0.0
	for g, state := range now {
		own := rbm.Hamming(state, p[g])
		for other := range p {
			if other == g {
				continue
			}
			switch d := rbm.Hamming(state, p[other]); {
			case d < own:
				sum++
			case d == own:
				sum += 0.5
			}
		}
	}
	return 2 * sum / float64(n*(n-1))
}
