package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// Values holds the units of a layer in rows, one for each chain or example. It has one of two
// forms. Bits: column j of a row is bit j%64 of its word j/64, and bits past Cols must be zero.
// Real values, if Real is not nil: the states of a layer with real units, or grey
// values of data in [0,1], each the probability that its unit is on. Grey values occur only
// in the positive phase and in evaluation. Methods for bits panic on real values.
type Values struct {
	Rows, Cols int
	Stride     int       // words per row of bits
	Words      []uint64  // len Rows·Stride; nil if the values are real
	Real       []float32 // len Rows·Cols; nil if the values are bits
}

// NewBits returns rows × cols bits, all zero. It panics if either number is negative.
func NewBits(rows, cols int) Values {
	if rows < 0 || cols < 0 {
		panic("rbm: negative bit matrix size")
	}
	stride := (cols + 63) / 64
	return Values{Rows: rows, Cols: cols, Stride: stride, Words: make([]uint64, rows*stride)}
}

// NewValues returns rows × cols zeros: real values if real is true, else bits. It panics if either
// number is negative.
func NewValues(rows, cols int, real bool) Values {
	if real {
		return NewMatrix(rows, cols).Values()
	}
	return NewBits(rows, cols)
}

// IsReal reports whether the values are real.
func (b Values) IsReal() bool { return b.Real != nil }

// Matrix converts real values to a Matrix, which shares memory with b.
func (b Values) Matrix() Matrix { return Matrix{Rows: b.Rows, Cols: b.Cols, Data: b.Real} }

// Row returns the words of row i, which share memory with b.
func (b Values) Row(i int) []uint64 {
	return b.Words[i*b.Stride : (i+1)*b.Stride : (i+1)*b.Stride]
}

// Slice returns rows lo … hi−1, which share memory with b.
func (b Values) Slice(lo, hi int) Values {
	if b.IsReal() {
		return b.Matrix().Slice(lo, hi).Values()
	}
	return Values{Rows: hi - lo, Cols: b.Cols, Stride: b.Stride, Words: b.Words[lo*b.Stride : hi*b.Stride]}
}

// Get reports whether bit (i, j) is one. It panics if (i, j) is out of range.
func (b Values) Get(i, j int) bool {
	if uint(j) >= uint(b.Cols) {
		panic("rbm: bit index out of range")
	}
	return b.Row(i)[j/64]>>(j%64)&1 != 0
}

// Set sets value (i, j) to 1 if on, else to 0. It panics if (i, j) is out of range.
func (b Values) Set(i, j int, on bool) {
	if uint(j) >= uint(b.Cols) {
		panic("rbm: bit index out of range")
	}
	if b.IsReal() {
		b.Matrix().Row(i)[j] = 0
		if on {
			b.Matrix().Row(i)[j] = 1
		}
		return
	}
	w := &b.Row(i)[j/64]
	if on {
		*w |= 1 << (j % 64)
	} else {
		*w &^= 1 << (j % 64)
	}
}

// At returns value (i, j). For bits it is 0 or 1.
func (b Values) At(i, j int) float32 {
	switch {
	case b.IsReal():
		return b.Real[i*b.Cols+j]
	case b.Get(i, j):
		return 1
	}
	return 0
}

// Put sets value (i, j) to x. Bits are set to 1 if x is not 0.
func (b Values) Put(i, j int, x float32) {
	if b.IsReal() {
		b.Real[i*b.Cols+j] = x
		return
	}
	b.Set(i, j, x != 0)
}

// check panics unless b is bits with the stride that its columns need and zeros beyond the last
// column. The kernels rely on this form.
func (b Values) check() {
	if b.IsReal() {
		panic("rbm: real values where states are bits")
	}
	if b.Stride != (b.Cols+63)/64 || len(b.Words) < b.Rows*b.Stride {
		panic("rbm: bit matrix of another stride than its columns need")
	}
	if b.Cols%64 == 0 {
		return
	}
	for i := b.Stride - 1; i < b.Rows*b.Stride; i += b.Stride {
		if b.Words[i]>>(b.Cols%64) != 0 {
			panic("rbm: bits beyond the last column")
		}
	}
}

// Count returns the number of ones in b, which must be bits.
func (b Values) Count() int {
	n := 0
	for _, w := range b.Words {
		n += bits.OnesCount64(w)
	}
	return n
}

// countIn returns the number of ones of row i in columns lo … hi−1. If a real value there is neither
// 0 nor 1, it returns hi − lo + 1.
func (b Values) countIn(i, lo, hi int) (n int) {
	if b.IsReal() {
		for _, x := range b.Matrix().Row(i)[lo:hi] {
			switch x {
			case 0:
			case 1:
				n++
			default:
				return hi - lo + 1
			}
		}
		return n
	}
	row := b.Row(i)
	for k := lo / 64; 64*k < hi; k++ {
		w := row[k] & vec.WordMask(min(hi-64*k, 64))
		if 64*k < lo {
			w &^= vec.WordMask(lo - 64*k)
		}
		n += bits.OnesCount64(w)
	}
	return n
}

// addColumns adds the number of ones of each column j to n[j].
func (b Values) addColumns(n []float64) {
	var words [vec.Block]uint64
	for k := range b.Stride {
		var sum [vec.Block]float64
		for lo := 0; lo < b.Rows; lo += vec.Block {
			rows := min(vec.Block, b.Rows-lo)
			for r := range rows {
				words[r] = b.Words[(lo+r)*b.Stride+k]
			}
			vec.AddWhere(&sum, words[:rows], ones[:rows])
		}
		for i := range min(vec.Block, b.Cols-k*vec.Block) {
			n[k*vec.Block+i] += sum[i]
		}
	}
}

// Hamming returns the number of columns in which two rows of equal width differ.
func Hamming(a, b []uint64) (n int) {
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}

// CopyFrom copies src over b. It panics unless both have the same shape and form, bits or real.
func (b Values) CopyFrom(src Values) {
	if b.Rows != src.Rows || b.Cols != src.Cols || b.IsReal() != src.IsReal() {
		panic("rbm: values of different shapes")
	}
	copy(b.Words, src.Words)
	copy(b.Real, src.Real)
}

// CopyRow copies row i of src over row r. It panics unless both have the same width and form, bits
// or real.
func (b Values) CopyRow(r int, src Values, i int) {
	if b.Cols != src.Cols || b.IsReal() != src.IsReal() {
		panic("rbm: rows of different shapes")
	}
	if b.IsReal() {
		copy(b.Matrix().Row(r), src.Matrix().Row(i))
		return
	}
	copy(b.Row(r), src.Row(i))
}

// Merge copies, from row i of src to row r, the units whose bits in mask are one. src may have
// another number of columns. It panics unless both are bits or both are real.
func (b Values) Merge(r int, src Values, i int, mask []uint64) {
	if b.IsReal() != src.IsReal() {
		panic("rbm: rows of different kinds")
	}
	for k, m := range mask {
		if !b.IsReal() {
			to, from := b.Row(r), src.Row(i)
			to[k] = to[k]&^m | from[k]&m
			continue
		}
		to, from := b.Matrix().Row(r), src.Matrix().Row(i)
		for ; m != 0; m &= m - 1 {
			at := 64*k + bits.TrailingZeros64(m)
			to[at] = from[at]
		}
	}
}

// Each calls f for every column of row i whose bit is one, in ascending order.
func (b Values) Each(i int, f func(j int)) {
	for k, w := range b.Row(i) {
		for ; w != 0; w &= w - 1 {
			f(64*k + bits.TrailingZeros64(w))
		}
	}
}

// Nonzero calls f for every unit of row i that is not zero, in ascending order, with its value.
func (b Values) Nonzero(i int, f func(j int, value float32)) {
	if !b.IsReal() {
		b.Each(i, func(j int) { f(j, 1) })
		return
	}
	for j, value := range b.Matrix().Row(i) {
		if value != 0 {
			f(j, value)
		}
	}
}

// Dense returns the values as numbers: 0 or 1 for bits.
func (b Values) Dense() Matrix {
	a := NewMatrix(b.Rows, b.Cols)
	for r := range a.Rows {
		b.Nonzero(r, func(j int, value float32) { a.Row(r)[j] = value })
	}
	return a
}

// clearFrom clears the bits of a row from column n on.
func clearFrom(row []uint64, n int) {
	for k := range row {
		row[k] &= vec.WordMask(min(max(n-k*vec.Block, 0), vec.Block))
	}
}

// checkStates panics if v is not states of m's visible layer.
func (m *RBM) checkStates(v Values) {
	if v.Cols != m.Visible() {
		panic("rbm: rows of another width than the visible layer")
	}
	if !m.visible.isReal {
		v.check()
	} else if !v.IsReal() {
		panic("rbm: bits where states are real values")
	}
}

// checkHidden panics if h is not states of m's hidden layer.
func (m *RBM) checkHidden(h Values) {
	if h.Cols != m.Hidden() {
		panic("rbm: rows of another width than the hidden layer")
	}
	if !m.hidden.isReal {
		h.check()
	} else if !h.IsReal() {
		panic("rbm: bits where hidden states are real values")
	}
}

// checkInput panics if x has another width than m's visible layer, or if x is grey and a constraint is on all
// units: a grey row has no number of active units.
func (m *RBM) checkInput(x Values) {
	switch {
	case x.Cols != m.Visible():
		panic("rbm: rows of another width than the visible layer")
	case !x.IsReal():
		x.check()
	case m.Constraint.OnAll():
		panic("rbm: grey rows under a constraint on all units")
	}
}
