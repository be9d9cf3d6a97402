package vec

import "math/bits"

// RowSumsWords is the largest number of words of RowSums. With two words all accumulators read
// 32 KiB of base from the first-level cache. With one word, sums are 5 to 10 % slower because
// accumulators are loaded and stored more often. With all words of 784 units, whose rows come from the
// second-level cache, they are 60 % slower (Zen 4).
const RowSumsWords = 2

// RowSums adds rows of base to each of n rows of acc. The bits of count ≤ RowSumsWords words select
// the rows of base, in ascending order:
//
//	for i := range n {
//		for q := range count {
//			for each bit b of words[i*stride+q] that is one, ascending {
//				for c := range Block {
//					acc[i*Block+c] += base[(q*Block+b)*Block+c]
//				}
//			}
//		}
//	}
//
// In the up pass acc has the preactivations of hidden units, base has a part of a panel of
// weights, and words has the visible units of the examples. RowSums also prefetches ahead, the memory
// that will be read next: a few cache lines after each row, because a burst would stall the sums. acc
// and base must not overlap. It panics if count is larger or if acc or words is too short. It does not
// check that base has the rows.
func RowSums(acc, base []float32, words []uint64, stride, count, n int, ahead []float32) {
	if n <= 0 || count <= 0 {
		return
	}
	if count > RowSumsWords {
		panic("vec: more words than RowSums takes")
	}
	_, _, _ = acc[n*Block-1], base[Block-1], words[(n-1)*stride+count-1]
	lines := (len(ahead)/lineValues + n - 1) / n
	const rows = rowSumsWork / (RowSumsWords * Block)
	for lo := 0; lo < n; lo += rows {
		from, lines := &base[0], lines
		if at := lo * lines * lineValues; at < len(ahead) {
			from = &ahead[at]
		} else {
			lines = 0
		}
		rowSums(acc[lo*Block:], base, words[lo*stride:], stride, count, min(rows, n-lo), from, lines)
	}
}

// lineValues is the number of values of a cache line.
const lineValues = 16

func rowSumsGo(acc, base []float32, words []uint64, stride, count, n int, _ *float32, _ int) {
	var list [RowSumsWords * Block]uint32
	for i := range n {
		if ones := onesGo(list[:], words[i*stride:], 1, count, 0); ones > 0 {
			rowSumGo((*[Block]float32)(acc[i*Block:]), base, list[:ones])
		}
	}
}

// rowSumGo adds the rows that start at the offsets of list to acc, in that order.
func rowSumGo(acc *[Block]float32, base []float32, list []uint32) {
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

// ColumnSums adds columns of a panel to acc, in ascending order. The bits of word select the columns:
//
//	acc[i] += panel[i·Block+c],  i < n, bit c of word is one
//
// These are the sums of TransposePanel and RowSums for a single row, in half the time. n is
// rounded up to a multiple of Tile.
func ColumnSums(acc, panel []float32, word uint64, n int) {
	if n <= 0 || word == 0 {
		return
	}
	n = (n + Tile - 1) / Tile * Tile
	_, _ = acc[n-1], panel[n*Block-1]
	columnSums(acc, panel, word, n)
}

func columnSumsGo(acc, panel []float32, word uint64, n int) {
	for i := range n {
		row, x := (*[Block]float32)(panel[i*Block:]), acc[i]
		for w := word; w != 0; w &= w - 1 {
			x += row[bits.TrailingZeros64(w)]
		}
		acc[i] = x
	}
}

// maskedLanes is the number of lanes of MaskedSums.
const maskedLanes = 16

// MaskedSums overwrites dst[r·dstStride] with Σ x[r·xStride+c], in float64, over the bits
// c of words[r·stride] that are one, for each of n rows r of Block values. Column c is added in
// lane c mod 16, in ascending order. Then lanes l and l+8, l and l+4, … 0 and 1 are added.
func MaskedSums(dst []float64, dstStride int, x []float32, xStride int, words []uint64, stride, n int) {
	if n <= 0 {
		return
	}
	_, _, _ = dst[(n-1)*dstStride], x[(n-1)*xStride+Block-1], words[(n-1)*stride]
	for lo := 0; lo < n; lo += rowsWork {
		maskedSums(dst[lo*dstStride:], dstStride, x[lo*xStride:], xStride, words[lo*stride:], stride, min(rowsWork, n-lo))
	}
}

func maskedSumsGo(dst []float64, dstStride int, x []float32, xStride int, words []uint64, stride, n int) {
	for r := range n {
		var sum [maskedLanes]float64
		row := (*[Block]float32)(x[r*xStride:])
		for w := words[r*stride]; w != 0; w &= w - 1 {
			c := bits.TrailingZeros64(w)
			sum[c%maskedLanes] += float64(row[c])
		}
		for half := maskedLanes / 2; half > 0; half /= 2 {
			for l := range half {
				sum[l] += sum[l+half]
			}
		}
		dst[r*dstStride] = sum[0]
	}
}
