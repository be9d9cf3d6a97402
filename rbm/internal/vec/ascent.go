package vec

import "math/bits"

// This file has the sums of the ascent step. The step of a weight is a sum over many rows. The sum is
// computed separately and added to the weight once, because adding small terms to a large weight one by one
// would round each term.
//
// A sum over rows has two levels. The rows are divided into runs of length Run. Each run is
// summed in order, starting with its first row, and the sums of the runs are added
// in order. With n terms of different values the relative rounding error of such a
// sum is about √(Run/n + n/Run)·10⁻⁸; with a single accumulator it would be √n·10⁻⁸.
// If all terms are equal, they round in the same direction, and the relative error is up to 5·10⁻⁷.

// Run is the number of rows that are summed in one accumulator.
const Run = 32

// SumsWords is the largest number of words of Sums.
const SumsWords = 4

// Sums overwrites each of n ≤ Block rows of dst with a two-level sum of rows of base, in ascending
// order. Bit b of words[q*Block+i] selects row q·Block+b of base for the sum of row i, q < count ≤
// SumsWords. The sum of no rows is zero. Sums panics if n or count is larger, or if dst or words is
// too short. It does not check that base has the rows. dst and base must not overlap.
func Sums(dst, base []float32, words []uint64, count, n int) {
	if checkSums(dst, words, count, n) {
		sums(dst, base, words, count, n)
	}
}

// AddSums adds to each row of dst what Sums would write. With each row it prefetches the row of dst
// that is ahead rows later, perhaps beyond dst, unless ahead is 0.
func AddSums(dst, base []float32, words []uint64, count, n, ahead int) {
	if checkSums(dst, words, count, n) {
		addSums(dst, base, words, count, n, ahead)
	}
}

// AddSumsTo adds rows of part and the sums Σ of Sums to rows of dst:
//
//	dst += part + Σ
//
// It prefetches like AddSums.
func AddSumsTo(dst, part, base []float32, words []uint64, count, n, ahead int) {
	if checkSums(dst, words, count, n) {
		_ = part[n*Block-1]
		addSumsTo(dst, part, base, words, count, n, ahead)
	}
}

// AddCentred adds the sums Σ of Sums, after Centre, to rows of dst:
//
//	dst[i] += (Σ − mu[i]·gc) − gb[i]·lambda
//
// It prefetches like AddSums. It panics if mu or gb has fewer than n values.
func AddCentred(dst, base []float32, words []uint64, count, n, ahead int, mu, gb []float32, gc, lambda *[Block]float32) {
	if checkSums(dst, words, count, n) {
		_, _ = mu[n-1], gb[n-1]
		addCentred(dst, base, words, count, n, ahead, mu, gb, gc, lambda)
	}
}

// checkSums panics if the arguments of Sums are not valid, and reports whether there is any row.
func checkSums(dst []float32, words []uint64, count, n int) bool {
	if n <= 0 {
		return false
	}
	if n > Block || count < 1 || count > SumsWords {
		panic("vec: more rows or words than sums take")
	}
	_, _ = dst[n*Block-1], words[(count-1)*Block+n-1]
	return true
}

// AddSumsTimes adds a two-level sum to row i of dst. The terms are values[k] times the row of base
// that starts at lists[k], for cuts[i] ≤ k < cuts[i+1]. Each product is rounded before it is added.
// For whole see RowSumsTimes.
func AddSumsTimes(dst, base []float32, lists []uint32, values []float32, cuts []uint32, whole int) {
	eachPiece(lists, values, cuts, func(lo, hi int) {
		_ = dst[hi*Block-1]
		cuts := cuts[lo : hi+1]
		eachDense(cuts, whole, func(i int) {
			addDense(dst[(lo+i)*Block:], base, lists[cuts[i]:cuts[i+1]], values[cuts[i]:])
		}, func(i, j int) {
			addSumsTimes(dst[(lo+i)*Block:], base, lists, values, cuts[i:j+1])
		})
	})
}

func sumsGo(dst, base []float32, words []uint64, count, n int) {
	for i := range n {
		row := (*[Block]float32)(dst[i*Block:])
		if !wordsGo(row, base, words[i:], count) {
			clear(row[:])
		}
	}
}

func addSumsGo(dst, base []float32, words []uint64, count, n, _ int) {
	var sum [Block]float32
	for i := range n {
		if wordsGo(&sum, base, words[i:], count) {
			row := (*[Block]float32)(dst[i*Block:])
			for c := range row {
				row[c] += sum[c]
			}
		}
	}
}

func addSumsToGo(dst, part, base []float32, words []uint64, count, n, _ int) {
	var sum [Block]float32
	for i := range n {
		row, more := (*[Block]float32)(dst[i*Block:]), (*[Block]float32)(part[i*Block:])
		if !wordsGo(&sum, base, words[i:], count) {
			for c := range row {
				row[c] += more[c]
			}
			continue
		}
		for c := range row {
			row[c] += more[c] + sum[c]
		}
	}
}

func addCentredGo(dst, base []float32, words []uint64, count, n, _ int, mu, gb []float32, gc, lambda *[Block]float32) {
	var sum [Block]float32
	for i := range n {
		if !wordsGo(&sum, base, words[i:], count) {
			clear(sum[:])
		}
		centreGo(sum[:], mu[i:i+1], gb[i:i+1], gc, lambda)
		row := (*[Block]float32)(dst[i*Block:])
		for c := range row {
			row[c] += sum[c]
		}
	}
}

// wordsGo overwrites sum with the two-level sum of the rows that words 0, Block,
// … select, and reports whether there is any.
func wordsGo(sum *[Block]float32, base []float32, words []uint64, count int) bool {
	var list [SumsWords * Block]uint32
	return treeGo(sum, base, list[:onesGo(list[:], words, Block, count, 0)])
}

// treeGo overwrites sum with the two-level sum of the rows in list, and reports whether there is any.
func treeGo(sum *[Block]float32, base []float32, list []uint32) bool {
	if len(list) == 0 {
		return false
	}
	runGo(sum, base, list[:min(Run, len(list))])
	var run [Block]float32
	for list = list[min(Run, len(list)):]; len(list) > 0; list = list[min(Run, len(list)):] {
		runGo(&run, base, list[:min(Run, len(list))])
		for c := range sum {
			sum[c] += run[c]
		}
	}
	return true
}

func runGo(sum *[Block]float32, base []float32, list []uint32) {
	*sum = *(*[Block]float32)(base[list[0]:])
	rowSumGo(sum, base, list[1:])
}

func addSumsTimesGo(dst, base []float32, lists []uint32, values []float32, cuts []uint32) {
	var sum, run [Block]float32
	for i := range len(cuts) - 1 {
		list, x := lists[cuts[i]:cuts[i+1]], values[cuts[i]:cuts[i+1]]
		if len(list) == 0 {
			continue
		}
		for k := 0; k < len(list); k += Run {
			n := min(Run, len(list)-k)
			row := (*[Block]float32)(base[list[k]:])
			for c := range run {
				run[c] = float32(x[k] * row[c])
			}
			rowSumTimesGo(&run, base, list[k+1:k+n], x[k+1:k+n])
			if k == 0 {
				sum = run
				continue
			}
			for c := range sum {
				sum[c] += run[c]
			}
		}
		row := (*[Block]float32)(dst[i*Block:])
		for c := range row {
			row[c] += sum[c]
		}
	}
}

// Tiny is the limit for terms of a step: terms of smaller absolute value count as zero. Smaller terms could
// become subnormal, below 2⁻¹²⁶, and many processors take a hundred times as long for subnormal numbers.
// Numbers of at least 2⁻¹⁰⁰ are multiples of 2⁻¹²³, so their differences are zero or normal.
const Tiny = 0x1p-100

// flush returns x, or zero if |x| < Tiny. NaN remains NaN.
func flush(x float32) float32 {
	if x < Tiny && x > -Tiny {
		return 0
	}
	return x
}

// Scale multiplies each row r of x, of width ≤ Block, by a[r]:
//
//	dst[r·Block+c] = x[r·stride+c]·a[r],  c < width
//
// Products below Tiny in absolute value, and elements of dst beyond width, are zero.
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

func scaleGo(dst, x []float32, stride int, a []float32, width int) {
	for r, a := range a {
		to := dst[r*Block:][:Block]
		for c, x := range x[r*stride:][:width] {
			to[c] = flush(float32(x * a))
		}
		clear(to[width:])
	}
}

// AddWhere adds coef[s] to acc[c] if bit c of words[s] is one, for each s in ascending order.
func AddWhere(acc *[Block]float64, words []uint64, coef []float32) {
	for words = words[:len(coef)]; len(words) > 0; {
		n := min(len(words), addWork)
		addWhere(acc, words[:n], coef[:n])
		words, coef = words[n:], coef[n:]
	}
}

func addWhereGo(acc *[Block]float64, words []uint64, coef []float32) {
	for s, w := range words {
		x := float64(coef[s])
		for ; w != 0; w &= w - 1 {
			acc[bits.TrailingZeros64(w)] += x
		}
	}
}

// AddWide adds x to dst in float64. It panics unless their lengths are equal and
// a multiple of Wide.
func AddWide(dst []float64, x []float32) {
	checkWide(len(dst), len(x))
	for len(x) > 0 {
		n := min(len(x), wideWork)
		addWide(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

// AddNarrow rounds x to float32 and adds it to dst. It panics like AddWide.
func AddNarrow(dst []float32, x []float64) {
	checkWide(len(dst), len(x))
	for len(x) > 0 {
		n := min(len(x), wideWork)
		addNarrow(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

func checkWide(n, m int) {
	if n != m || n%Wide != 0 {
		panic("vec: numbers of values that differ or are not multiples of eight")
	}
}

func addWideGo(dst []float64, x []float32) {
	for i, x := range x {
		dst[i] += float64(x)
	}
}

func addNarrowGo(dst []float32, x []float64) {
	for i, x := range x {
		dst[i] += float32(x)
	}
}
