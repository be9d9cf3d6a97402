package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// A Matrix is a dense row-major matrix of float32. Each row is an example.
type Matrix struct {
	Rows, Cols int
	Data       []float32 // len Rows·Cols
}

// NewMatrix returns a zero matrix of rows × cols. It panics if either is
// negative.
func NewMatrix(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic("rbm: negative matrix size")
	}
	return Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
}

// Row returns row i, which shares memory with a.
func (a Matrix) Row(i int) []float32 {
	return a.Data[i*a.Cols : (i+1)*a.Cols : (i+1)*a.Cols]
}

// Slice returns rows lo … hi−1, which share memory with a.
func (a Matrix) Slice(lo, hi int) Matrix {
	return Matrix{Rows: hi - lo, Cols: a.Cols, Data: a.Data[lo*a.Cols : hi*a.Cols]}
}

// Bits is a dense matrix of binary values. Each row is an example; column j of a row
// is bit j%64 of its word j/64. Stride is the number of words of a row. Bits past
// Cols are zero: every function here relies on it and keeps it so.
type Bits struct {
	Rows, Cols, Stride int
	Words              []uint64 // len Rows·Stride
}

// NewBits returns an all-zero bit matrix of rows × cols. It panics if either
// is negative.
func NewBits(rows, cols int) Bits {
	if rows < 0 || cols < 0 {
		panic("rbm: negative bit matrix size")
	}
	stride := (cols + 63) / 64
	return Bits{Rows: rows, Cols: cols, Stride: stride, Words: make([]uint64, rows*stride)}
}

// Row returns the words of row i, which share memory with b.
func (b Bits) Row(i int) []uint64 {
	return b.Words[i*b.Stride : (i+1)*b.Stride : (i+1)*b.Stride]
}

// Slice returns rows lo … hi−1, which share memory with b.
func (b Bits) Slice(lo, hi int) Bits {
	return Bits{Rows: hi - lo, Cols: b.Cols, Stride: b.Stride, Words: b.Words[lo*b.Stride : hi*b.Stride]}
}

// Get reports whether bit (i, j) is one. It panics if (i, j) is out of range.
func (b Bits) Get(i, j int) bool {
	if uint(j) >= uint(b.Cols) {
		panic("rbm: bit index out of range")
	}
	return b.Row(i)[j/64]>>(j%64)&1 != 0
}

// Set makes bit (i, j) one or zero. It panics if (i, j) is out of range.
func (b Bits) Set(i, j int, on bool) {
	if uint(j) >= uint(b.Cols) {
		panic("rbm: bit index out of range")
	}
	w := &b.Row(i)[j/64]
	if on {
		*w |= 1 << (j % 64)
	} else {
		*w &^= 1 << (j % 64)
	}
}

// check panics if the stride does not fit the columns, or if there are ones beyond
// the last column. The kernels rely on both.
func (b Bits) check() {
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

// Count returns the number of ones in b.
func (b Bits) Count() int {
	n := 0
	for _, w := range b.Words {
		n += bits.OnesCount64(w)
	}
	return n
}

// addColumns adds to each of n, one for each column, the number of ones of its column.
func (b Bits) addColumns(n []float64) {
	var words [vec.Block]uint64
	var ones [vec.Block]float32
	for i := range ones {
		ones[i] = 1
	}
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

// CopyFrom copies src, which must have b's rows and columns, over b.
func (b Bits) CopyFrom(src Bits) {
	if b.Rows != src.Rows || b.Cols != src.Cols {
		panic("rbm: bit matrices of different shapes")
	}
	copy(b.Words, src.Words)
}

// Each calls f for every one bit of row i, in ascending order.
func (b Bits) Each(i int, f func(j int)) {
	for k, w := range b.Row(i) {
		for ; w != 0; w &= w - 1 {
			f(64*k + bits.TrailingZeros64(w))
		}
	}
}

// clearFrom clears the bits of a row from column n on.
func clearFrom(row []uint64, n int) {
	for k := range row {
		row[k] &= vec.WordMask(min(max(n-k*vec.Block, 0), vec.Block))
	}
}
