package vec

import (
	"math"
	"math/bits"
)

// Lists writes the offsets of the one bits of n rows of words, each row count
// words that are wordStride apart, ascending: bit b of word q is offset
// first + (q·Block+b)·Block. Row i goes to list[cuts[i]:cuts[i+1]], one after
// the other; cuts[0] is given, cuts[1] … cuts[n] are written. list must have
// room for n·count·Block offsets from cuts[0] on, which may all be overwritten,
// and no more, so that others may write what follows.
func Lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	if n <= 0 || count <= 0 {
		return
	}
	_ = cuts[n]
	_ = words[(n-1)*rowStride+(count-1)*wordStride]
	_ = list[cuts[0]:][:n*count*Block] // reads nothing
	rows := max(1, listsWork/count)
	for lo := 0; lo < n; lo += rows {
		lists(list, cuts[lo:], words[lo*rowStride:], rowStride, wordStride, min(rows, n-lo), count, first)
	}
}

// listsWork is the number of words, some 6 ns each, that one call of assembly
// lists.
const listsWork = 1 << 14

func listsGo(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	p := int(cuts[0])
	for i := range n {
		for q := range count {
			o := first + uint32(q*Block*Block)
			for w := words[i*rowStride+q*wordStride]; w != 0; w &= w - 1 {
				list[p] = o + uint32(bits.TrailingZeros64(w))*Block
				p++
			}
		}
		cuts[i+1] = uint32(p)
	}
}

// ListSlack is the number of places past the end of its output that Nonzero may
// overwrite.
const ListSlack = 16

// Nonzero writes the offsets i·Block of the values of x that are not zero, and
// the values, in order, and returns their number. list and values must have
// room for all of x and ListSlack more.
func Nonzero(list []uint32, values, x []float32) int {
	if len(x) == 0 {
		return 0
	}
	_, _ = list[len(x)+ListSlack-1], values[len(x)+ListSlack-1]
	n := 0
	for lo := 0; lo < len(x); lo += nonzeroWork { // no call may take long
		hi := min(lo+nonzeroWork, len(x))
		count := nonzero(list[n:], values[n:], x[lo:hi])
		for i := range list[n : n+count] {
			if lo > 0 {
				list[n+i] += uint32(lo) * Block
			}
		}
		n += count
	}
	return n
}

// nonzeroWork is the number of values, sixteen in some 3 ns, of one call.
const nonzeroWork = 1 << 16

func nonzeroGo(list []uint32, values, x []float32) int {
	n := 0
	for i, x := range x {
		list[n], values[n] = uint32(i)*Block, x
		if math.Float32bits(x)<<1 != 0 {
			n++
		}
	}
	return n
}

// Scale writes rows of x, stride apart and width ≤ Block wide, times a to the
// rows of dst: x[r·stride+c]·a[r] goes to dst[r·Block+c], and zeros beyond
// width.
func Scale(dst, x []float32, stride int, a []float32, width int) {
	if len(a) == 0 || width <= 0 {
		return
	}
	_ = dst[len(a)*Block-1]
	_ = x[(len(a)-1)*stride+width-1]
	for lo := 0; lo < len(a); lo += scaleWork {
		n := min(scaleWork, len(a)-lo)
		scale(dst[lo*Block:], x[lo*stride:], stride, a[lo:lo+n], width)
	}
}

// scaleWork is the number of rows, some 5 ns each, that one call of assembly
// scales.
const scaleWork = 1 << 14

func scaleGo(dst, x []float32, stride int, a []float32, width int) {
	for r, a := range a {
		to := dst[r*Block:][:Block]
		for c, x := range x[r*stride:][:width] {
			to[c] = x * a
		}
		clear(to[width:])
	}
}

// AddWhere adds coef[s] to acc[c] for each s, ascending, where bit c of
// words[s] is one.
func AddWhere(acc *[Block]float32, words []uint64, coef []float32) {
	for words = words[:len(coef)]; len(words) > 0; {
		n := min(len(words), addWork)
		addWhere(acc, words[:n], coef[:n])
		words, coef = words[n:], coef[n:]
	}
}

// addWork is the number of words, up to 10 ns each, that one call of assembly
// adds.
const addWork = 1 << 14

func addWhereGo(acc *[Block]float32, words []uint64, coef []float32) {
	for s, w := range words {
		for ; w != 0; w &= w - 1 {
			acc[bits.TrailingZeros64(w)] += coef[s]
		}
	}
}
