package vec

import (
	"math"
	"math/bits"
)

// Lists writes the offsets of the one bits of n rows of words, in ascending order.
// Each row is count words that are wordStride apart. Bit b of word q has the offset
// first + (q·Block+b)·Block. Row i goes to list[cuts[i]:cuts[i+1]]; cuts[0] is given,
// cuts[1] … cuts[n] are written. list must have room for n·count·Block offsets from
// cuts[0] on. All of these places may be overwritten, and none beyond them, so that
// other goroutines may write those.
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

// onesGo writes the offsets of the one bits of count words, stride apart, to list, as
// Lists does for a row, and returns their number.
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

// NonzeroWord returns a word with a one for each of up to Block values that is
// not zero.
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
