package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// Energies and what follows from them are computed in float64 throughout from
// the float32 parameters: they judge models, and may not add noise of their own.

// Energy overwrites dst, len v.Rows, with E(v,h) of every pair of rows. It
// panics if the shapes differ.
func (m *RBM) Energy(dst []float64, v, h Bits) {
	m.checkVisible(v)
	if h.Cols != m.Hidden() || h.Rows != v.Rows || len(dst) != v.Rows {
		panic("rbm: Energy needs as many rows of h and places of dst as rows of v")
	}
	a := make([]float64, m.Hidden())
	for r := range v.Rows {
		m.preactivate(a, v.Row(r))
		e := -m.visibleField(v.Row(r))
		for j, x := range a {
			if h.Get(r, j) {
				e -= x
			}
		}
		dst[r] = e
	}
}

// FreeEnergy overwrites dst, len v.Rows, with
//
//	F(v) = −bᵀv − Σⱼ log(1 + exp(cⱼ + (vᵀW)ⱼ))
//
// in nats, so that p(v) = exp(−F(v))/Z. Under a constraint that leaves h | v so
// many active units, F(v) = −bᵀv − log Σ_h exp(hᵀ(c+Wᵀv)) over these h, +Inf
// where there are none. It panics if the shapes differ.
func (m *RBM) FreeEnergy(dst []float64, v Bits) {
	m.checkVisible(v)
	if len(dst) != v.Rows {
		panic("rbm: FreeEnergy needs one place of dst a row")
	}
	if m.Constraint != nil {
		m.countFreeEnergy(dst, func(r int, a []float64) (float64, int) {
			m.preactivate(a, v.Row(r))
			return m.visibleField(v.Row(r)), m.Constraint.activeHidden(m, v.Row(r))
		})
		return
	}
	m.eachRow(v.Rows, func(r int, a []float64) {
		m.preactivate(a, v.Row(r))
		dst[r] = -m.visibleField(v.Row(r)) - vec.SoftplusSum(a)
	})
}

// ClassLogProb overwrites dst, v.Rows × Classes row by row, with log p(y|x)
// in nats of each class, where x are the inputs in v; the label units in v are
// ignored. Both kinds of label give
//
//	p(y|x) = exp(−F(x,e_y)) / Σ_k exp(−F(x,e_k))
//
// (Larochelle & Bengio 2008, eq. 2; the infinite-swapping paper, section 4.1);
// NaN where a constraint leaves x no state in any class. It panics if the shapes differ or m has no classes.
func (m *RBM) ClassLogProb(dst []float64, v Bits) {
	m.checkVisible(v)
	if m.Classes == 0 || len(dst) != v.Rows*m.Classes {
		panic("rbm: ClassLogProb needs a classification RBM and v.Rows × classes places")
	}
	nx := m.Inputs()
	if m.Constraint != nil {
		m.countClassLogProb(dst, func(r int, a []float64) int {
			x := append([]uint64(nil), v.Row(r)...)
			clearFrom(x, nx)
			m.preactivate(a, x)
			return m.Constraint.activeBeside(x, nx)
		})
		return
	}
	labels := m.labelRows()
	m.eachRow(v.Rows, func(r int, a []float64) {
		x := make([]uint64, v.Stride)
		copy(x, v.Row(r))
		clearFrom(x, nx)
		m.preactivate(a, x)
		m.classLogProb(dst[r*m.Classes:(r+1)*m.Classes], a, labels)
	})
}

// classLogProb overwrites dst with log p(y|x) given the hidden preactivations
// a of the inputs alone and the label rows of W.
func (m *RBM) classLogProb(dst, a []float64, labels [][]float64) {
	nx := m.Inputs()
	with := make([]float64, len(a))
	for y := range dst {
		for j, w := range labels[y] {
			with[j] = a[j] + w
		}
		dst[y] = float64(m.VisibleBias[nx+y]) + vec.SoftplusSum(with)
	}
	z := vec.LogSumExp(dst)
	for y := range dst {
		dst[y] -= z
	}
}

// labelRows returns the rows of W that belong to the label units.
func (m *RBM) labelRows() [][]float64 {
	rows := make([][]float64, m.Classes)
	for y := range rows {
		rows[y] = make([]float64, m.Hidden())
		for j := range rows[y] {
			rows[y][j] = float64(m.Weight(m.Inputs()+y, j))
		}
	}
	return rows
}

// eachRow calls f for every row, in parallel by blocks of rows; a is scratch of
// the size of the hidden layer.
func (m *RBM) eachRow(rows int, f func(r int, a []float64)) {
	parallel(rowBlocks(rows), func(i int) {
		a := make([]float64, m.Hidden())
		for r := i * rowBlock; r < min((i+1)*rowBlock, rows); r++ {
			f(r, a)
		}
	})
}

// preactivate overwrites a with cⱼ + (vᵀW)ⱼ.
func (m *RBM) preactivate(a []float64, v []uint64) {
	for j, c := range m.HiddenBias {
		a[j] = float64(c)
	}
	for p := range vec.Blocks(len(a)) {
		panel := m.panel(p)
		part := a[p*vec.Block : min((p+1)*vec.Block, len(a))]
		for k, w := range v {
			for ; w != 0; w &= w - 1 {
				row := panel[(k*vec.Block+bits.TrailingZeros64(w))*vec.Block:]
				row = row[:len(part)]
				for j, x := range row {
					part[j] += float64(x)
				}
			}
		}
	}
}

// visibleField returns bᵀv.
func (m *RBM) visibleField(v []uint64) float64 { return maskedSums(m.VisibleBias, v) }

// maskedSums returns Σ x[i] over the one bits i of words, in float64, ascending.
func maskedSums(x []float32, words []uint64) float64 {
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
