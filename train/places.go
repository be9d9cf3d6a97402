package train

import (
	"math"

	"gorbm/rbm"
)

// mostPlaces bounds the number of chains whose states are kept.
const mostPlaces = 200

// pastStates are the visible states of the first mostPlaces chains at an earlier measurement, each a row of
// 64-bit words.
type pastStates [][]uint64

// placesOf returns the states v as pastStates, or nil if v is real.
func placesOf(v rbm.Values) (p pastStates) {
	if v.IsReal() {
		return nil
	}
	for r := range min(v.Rows, mostPlaces) {
		p = append(p, append([]uint64(nil), v.Row(r)...))
	}
	return p
}

// left returns how far the chains have moved from their earlier states p to the states now. It is near 0 if
// each chain is where it was, and 1 on average if the chains have forgotten p. For each chain, all states
// in p are ranked by their Hamming distance from the chain's present state; equal distances share their
// ranks. left is twice the mean rank of the chain's own earlier state, divided by the number of other
// chains. Once p is forgotten all ranks are equally likely, which gives the mean 1. Chains that never leave M
// modes of equal mass have 1/M. left is NaN for fewer than two chains, or if their number has changed.
func (p pastStates) left(now pastStates) float64 {
	n := len(now)
	if n < 2 || len(p) != n {
		return math.NaN()
	}
	for g := range p {
		if len(p[g]) != len(now[0]) { // possible in a forged checkpoint
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
