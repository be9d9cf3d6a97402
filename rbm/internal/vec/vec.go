// Package vec holds the kernels of the batched layers of an RBM, as plain Go.
// Each states its order of additions, so that a vector version can give the
// same bits: one accumulator a unit in list order (RowSum), a written tree of
// sixteen partial sums (Dot), no fused multiply-add anywhere. Products are
// written float32(x*y) because Go may otherwise fuse them.
//
// Weights are stored in panels of Block columns. A panel is a row-major matrix
// of Block columns and one row a visible unit, then at least one zero row, to
// a multiple of Tile rows.
package vec

import "math/bits"

const (
	// Block is the number of units that a kernel works on at once: the
	// columns of a panel of weights, the bits of a word of states.
	Block = 64
	// Tile is the number of rows that Dot sums at once.
	Tile = 8
	// Lanes is the number of partial sums of Dot.
	Lanes = 16
)

// Blocks returns the number of blocks that hold n units.
func Blocks(n int) int { return (n + Block - 1) / Block }

// PanelRows returns the number of rows of a panel for n visible units.
func PanelRows(n int) int { return (n + 1 + Tile - 1) / Tile * Tile }

// Active appends to list the panel offsets, 64·j, of the one bits j of words
// in ascending order, and pads the list to an even length with the offset of
// the zero row n: vector kernels read two at a time.
func Active(list []uint32, words []uint64, n int) []uint32 {
	for k, w := range words {
		for ; w != 0; w &= w - 1 {
			list = append(list, uint32(k*Block+bits.TrailingZeros64(w))*Block)
		}
	}
	if len(list)%2 != 0 {
		list = append(list, uint32(n)*Block)
	}
	return list
}

// RowSum adds to acc the rows of base that start at the offsets in list, in
// the order of the list:
//
//	for _, o := range list {
//		for c := range acc {
//			acc[c] += base[o+c]
//		}
//	}
//
// It is the up pass (acc a block of hidden biases, base a panel of weights,
// list the active visible units) and the ascent step (acc a row of the panel,
// base the scaled hidden means, list the examples in which the unit is on).
func RowSum(acc *[Block]float32, base []float32, list []uint32) {
	for len(list) >= 4 {
		r0 := (*[Block]float32)(base[list[0]:])
		r1 := (*[Block]float32)(base[list[1]:])
		r2 := (*[Block]float32)(base[list[2]:])
		r3 := (*[Block]float32)(base[list[3]:])
		for c := range acc {
			acc[c] = acc[c] + r0[c] + r1[c] + r2[c] + r3[c]
		}
		list = list[4:]
	}
	for _, o := range list {
		r := (*[Block]float32)(base[o:])
		for c := range acc {
			acc[c] += r[c]
		}
	}
}

// A LaneList holds the active columns of one example, sorted for Dot: the
// offsets of lane l are Offsets[End[l-1]:End[l]], ascending.
type LaneList struct {
	Offsets []uint32
	End     [Lanes]uint32
}

// Set fills the list with the offsets, in weights whose panels are stride
// apart, of the one bits of words. Column j belongs to lane j%16.
func (l *LaneList) Set(words []uint64, stride int) {
	l.Offsets = l.Offsets[:0]
	for lane := range l.End {
		for k, w := range words {
			for w = w >> lane & 0x0001_0001_0001_0001; w != 0; w &= w - 1 {
				l.Offsets = append(l.Offsets, uint32(k*stride+lane+bits.TrailingZeros64(w)))
			}
		}
		l.End[lane] = uint32(len(l.Offsets))
	}
}

// Dot writes to dst the sums of Tile consecutive rows of the weights over the
// active columns; base starts at the first of the rows. Lane l sums its
// columns in ascending order from zero, in every row:
//
//	for each active column j: lane[j%16] += w[j]
//
// and the sixteen lanes are added as four quads t, then across the quads:
//
//	t[q] = (lane[4q]+lane[4q+2]) + (lane[4q+1]+lane[4q+3])
//	dst  = (t[0]+t[2]) + (t[1]+t[3])
//
// A dense vector product by 0/1 values gives the same bits if the weights are
// finite, because adding a zero to a sum that began at +0 changes nothing.
func Dot(dst *[Tile]float32, base []float32, l *LaneList) {
	var lanes [Lanes][Tile]float32
	lo := uint32(0)
	for lane, hi := range l.End {
		var a0, a1, a2, a3, a4, a5, a6, a7 float32
		for _, o := range l.Offsets[lo:hi] {
			w := (*[7*Block + 1]float32)(base[o:])
			a0 += w[0]
			a1 += w[Block]
			a2 += w[2*Block]
			a3 += w[3*Block]
			a4 += w[4*Block]
			a5 += w[5*Block]
			a6 += w[6*Block]
			a7 += w[7*Block]
		}
		lanes[lane] = [Tile]float32{a0, a1, a2, a3, a4, a5, a6, a7}
		lo = hi
	}
	for r := range dst {
		var t [4]float32
		for q := range t {
			t[q] = (lanes[4*q][r] + lanes[4*q+2][r]) + (lanes[4*q+1][r] + lanes[4*q+3][r])
		}
		dst[r] = (t[0] + t[2]) + (t[1] + t[3])
	}
}

// Transpose transposes a 64×64 bit matrix in place: bit j of word i becomes
// bit i of word j. Blocks of halving size are exchanged across the diagonal
// (Warren, Hacker's Delight, section 7-3).
func Transpose(m *[Block]uint64) {
	mask := uint64(0x00000000FFFFFFFF)
	for s := 32; s != 0; s >>= 1 {
		for k := 0; k < Block; k = (k + s + 1) &^ s {
			t := (m[k]>>s ^ m[k+s]) & mask
			m[k] ^= t << s
			m[k+s] ^= t
		}
		mask ^= mask << (s >> 1)
	}
}
