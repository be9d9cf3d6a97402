package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// Energy overwrites dst[r] with E(v,h), in nats, for row r of v and row r of h. Sums are in float64. It
// panics if the shapes differ or dst does not have length v.Rows.
func (m *RBM) Energy(dst []float64, v, h Values) {
	m.checkStates(v)
	m.checkHidden(h)
	if h.Rows != v.Rows || len(dst) != v.Rows {
		panic("rbm: Energy needs as many rows of h and elements of dst as rows of v")
	}
	m.evaluate(func(e *evaluation) { e.v, e.h, e.dst = v, h, dst }, (*evaluation).energies)
}

func (e *evaluation) energies(b *rowBlock, first int) {
	for r := range b.n {
		x := -b.field[r]
		a := b.row(r, e.m.Hidden())
		if e.h.IsReal() {
			row := e.h.Matrix().Row(first + r)
			for j, h := range row {
				x -= float64(float64(h) * a[j])
			}
			e.dst[first+r] = x + e.m.hidden.rest(row, &e.m.hidden.dist)
			continue
		}
		for k, w := range e.h.Row(first + r) {
			for ; w != 0; w &= w - 1 {
				x -= a[k*vec.Block+bits.TrailingZeros64(w)]
			}
		}
		e.dst[first+r] = x
	}
}

// FreeEnergy overwrites dst, of length v.Rows, with the free energy of each row,
//
//	F(v) = −bᵀv − Σⱼ log(1 + exp(cⱼ + (vᵀW)ⱼ))
//
// in nats, so that p(v) = exp(−F(v))/Z. Sums are in float64. For a real hidden unit,
// log(1 + exp(…)) is replaced by log Z of the unit given its input; real visible units add Σ U′(v).
// Under a constraint F(v) = −bᵀv − log Σ_h exp(hᵀ(c+Wᵀv)), with the sum over the h that the constraint allows
// with v. F is +Inf if there is no such h. For grey rows exp(−F)/Z is not a probability, but rows can still
// be compared by F. FreeEnergy panics if the shapes differ, or if v is grey and a constraint is on all units.
func (m *RBM) FreeEnergy(dst []float64, v Values) {
	m.checkInput(v)
	if len(dst) != v.Rows {
		panic("rbm: FreeEnergy needs one element of dst for each row")
	}
	m.evaluate(func(e *evaluation) { e.v, e.dst = v, dst }, (*evaluation).freeEnergies)
}

// HiddenFreeEnergy overwrites dst, of length h.Rows, with −log Σ_v exp(−E(v,h)) in nats for each row of h: the
// free energy of a hidden state, with the visible units summed out. Sums are in float64. It makes a transposed
// copy of the weights. It panics if the shapes differ, or if m has a constraint.
func (m *RBM) HiddenFreeEnergy(dst []float64, h Values) {
	if m.Constraint != nil {
		panic("rbm: HiddenFreeEnergy needs a model without a constraint")
	}
	m.checkHidden(h)
	other, _ := m.mirror(nil)
	other.FreeEnergy(dst, h)
}

func (e *evaluation) freeEnergies(b *rowBlock, _ int) {
	e.m.given().sumOut(e, b, b.n, false, freeEnergies{})
}

// freeEnergies are the summedRows of a block of rows. put writes the free energy of a row to e.dst.
type freeEnergies struct{}

func (freeEnergies) row(e *evaluation, b *rowBlock, r int) (z []float64, active int) {
	return b.row(r, e.m.Hidden()), e.m.Constraint.activeHidden(e.v, b.first+r)
}

func (freeEnergies) put(e *evaluation, b *rowBlock, r int, logZ float64, _ []float64) {
	e.dst[b.first+r] = -b.field[r] - logZ
}

// maskedSums returns Σ x[i] over the bits i of words that are one, in ascending order.
func maskedSums[T float32 | float64](x []T, words []uint64) float64 {
	sum := 0.0
	for k, w := range words {
		for ; w != 0; w &= w - 1 {
			sum += float64(x[k*vec.Block+bits.TrailingZeros64(w)])
		}
	}
	return sum
}
