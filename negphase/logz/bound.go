package logz

import (
	"math"
	"slices"

	"gorbm/rbm"
)

// LowerBound returns log Σ exp(−free[r]) over the distinct rows of v, where
// free[r] is the free energy of row r: what these states alone have of Z, and so
// a bound that log Z cannot be below. −Inf for no rows. It panics if there are
// not as many free energies as rows.
func LowerBound(free []float64, v rbm.Bits) float64 {
	if len(free) != v.Rows {
		panic("logz: LowerBound needs one free energy a row")
	}
	order := make([]int, v.Rows)
	for r := range order {
		order[r] = r
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(v.Row(a), v.Row(b)) })
	var weight []float64
	for i, r := range order {
		if i == 0 || !slices.Equal(v.Row(r), v.Row(order[i-1])) {
			weight = append(weight, -free[r])
		}
	}
	return rbm.LogSumExp(weight)
}

// impossible reports whether log Z cannot be x because it is at least bound.
// Free energies and log weights are sums of up to some million terms in
// float64, which a billionth of their size allows for; an error bar is no excuse.
func impossible(x, bound float64) bool {
	return x < bound-1e-9*max(1, math.Abs(bound))
}
