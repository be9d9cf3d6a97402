package vec

import (
	"math"
	"math/bits"
)

// Lists writes the offsets of the bits that are one in n rows of words, in ascending order.
// A row has count words at a distance of wordStride. Bit b of word q has the offset
// first + (q·Block+b)·Block. The offsets of row i are list[cuts[i]:cuts[i+1]]. The caller sets cuts[0];
// Lists writes cuts[1] … cuts[n]. list must have at least n·count·Block elements from
// cuts[0] on. Lists may overwrite all of these elements, but no others, so goroutines can share list.
func Lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	if n <= 0 || count <= 0 {
		return
	}
	_ = cuts[n]
	_ = words[(n-1)*rowStride+(count-1)*wordStride]
	_ = list[cuts[0]:][:n*count*Block]
	rows := max(1, listsWork/count)
	for lo := 0; lo < n; lo += rows {
		lists(list, cuts[lo:], words[lo*rowStride:], rowStride, wordStride, min(rows, n-lo), count, first)
	}
}

func listsGo(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	p := int(cuts[0])
	for i := range n {
		p += onesGo(list[p:], words[i*rowStride:], wordStride, count, first)
		cuts[i+1] = uint32(p)
	}
}

// onesGo writes the offsets of one row of Lists to list, and returns their number.
func onesGo(list []uint32, words []uint64, stride, count int, first uint32) (ones int) {
	for q := range count {
		o := first + uint32(q*Block*Block)
		for w := words[q*stride]; w != 0; w &= w - 1 {
			list[ones] = o + uint32(bits.TrailingZeros64(w))*Block
			ones++
		}
	}
	return ones
}

// ListSlack is the number of elements that Nonzero may overwrite past the end of its output.
const ListSlack = 16

// Nonzero writes the values x[i] that are not zero, and their offsets i·Block, in ascending
// order. It returns their number. list and values must have at least len(x)+ListSlack elements.
func Nonzero(list []uint32, values, x []float32) int {
	if len(x) == 0 {
		return 0
	}
	_, _ = list[len(x)+ListSlack-1], values[len(x)+ListSlack-1]
	n := 0
	for lo := 0; lo < len(x); lo += nonzeroWork {
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

// NonzeroWord returns a word whose bit i is one if x[i] is not zero. x has at most Block values.
func NonzeroWord(x []float32) uint64 {
	if len(x) == 0 {
		return 0
	}
	if len(x) > Block {
		panic("vec: a word of more values than it has bits")
	}
	return nonzeroWord(x)
}

func nonzeroWordGo(x []float32) uint64 {
	word := uint64(0)
	for b, x := range x {
		if math.Float32bits(x)<<1 != 0 {
			word |= 1 << b
		}
	}
	return word
}
