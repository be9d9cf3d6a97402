package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// Energy overwrites dst, len v.Rows, with E(v,h) of every pair of rows, in
// float64 throughout. It panics if the shapes differ.
func (m *RBM) Energy(dst []float64, v, h Bits) {
	m.checkInput(v.Input())
	if h.Cols != m.Hidden() || h.Rows != v.Rows || len(dst) != v.Rows {
		panic("rbm: Energy needs as many rows of h and places of dst as rows of v")
	}
	m.judge(func(j *judging) { j.v, j.h, j.dst = v.Input(), h, dst }, (*judging).takeEnergy)
}

func (j *judging) takeEnergy(s *judged, lo int) {
	for r := range s.n {
		e := -s.field[r]
		a := s.row(r, j.m.Hidden())
		for k, w := range j.h.Row(lo + r) {
			for ; w != 0; w &= w - 1 {
				e -= a[k*vec.Block+bits.TrailingZeros64(w)]
			}
		}
		j.dst[lo+r] = e
	}
}

// FreeEnergy overwrites dst, len v.Rows(), with
//
//	F(v) = −bᵀv − Σⱼ log(1 + exp(cⱼ + (vᵀW)ⱼ))
//
// in nats, so that p(v) = exp(−F(v))/Z, in float64 throughout. Under a
// constraint that leaves h | v so many active units, F(v) = −bᵀv −
// log Σ_h exp(hᵀ(c+Wᵀv)) over these h, +Inf where there are none. Of grey rows exp(−F) is
// no probability; F serves to compare rows, as in software that trains on grey
// values. It panics if the shapes differ, or if v is grey and a constraint is on
// all units.
func (m *RBM) FreeEnergy(dst []float64, v Input) {
	m.checkInput(v)
	if len(dst) != v.Rows() {
		panic("rbm: FreeEnergy needs one place of dst a row")
	}
	m.judge(func(j *judging) { j.v, j.dst = v, dst }, (*judging).takeFreeEnergy)
}

func (j *judging) takeFreeEnergy(s *judged, lo int) {
	if j.m.Constraint != nil {
		j.countFreeEnergy(s, lo)
		return
	}
	for r := range s.n {
		j.dst[lo+r] = -s.field[r] - vec.SoftplusSum(s.row(r, j.m.Hidden()))
	}
}

// maskedSums returns Σ x[i] over the one bits i of words, in float64, ascending.
func maskedSums[T float32 | float64](x []T, words []uint64) float64 {
	sum := 0.0
	for k, w := range words {
		for ; w != 0; w &= w - 1 {
			sum += float64(x[k*vec.Block+bits.TrailingZeros64(w)])
		}
	}
	return sum
}

// clearFrom clears the bits from n on.
func clearFrom(words []uint64, n int) {
	for k := range words {
		words[k] &= vec.WordMask(min(max(n-k*vec.Block, 0), vec.Block))
	}
}
