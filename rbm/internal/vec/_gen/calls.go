package main

// calls are the Go functions of the kernels that have a version for AVX2 and one
// for AVX-512 with the same arguments; see kernel.Write. The functions of the
// other kernels are in dispatch_amd64.go of package vec.
var calls = [][2]string{
	{"rowSums(acc, base []float32, lists, cuts []uint32)", "&acc[0], &base[0], &lists[0], &cuts[0], len(cuts)-1"},
	{"sigmoids(dst []float32, stride int, x []float32, n, width int)", "&dst[0], stride, &x[0], n, width"},
	{"exps(dst, x []float32, scale, shift float32)", "&dst[0], &x[0], len(x), scale, shift"},
	{"blend(dst, x, beta []float32, base *[Block]float32, n int)", "&dst[0], &x[0], &beta[0], &base[0], n"},
	{"rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int)", "&factor[0], &part[0], &x[0], from, to, &fromShift[0], &toShift[0], n"},
	{"sums(dst, base []float32, lists, cuts []uint32)", "&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1"},
	{"addSums(dst, base []float32, lists, cuts []uint32)", "&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1"},
	{"addSumsTo(dst, part, base []float32, lists, cuts []uint32)", "&dst[0], &part[0], &base[0], first(lists), &cuts[0], len(cuts)-1"},
	{"addSumsTimes(dst, base []float32, lists []uint32, values []float32, cuts []uint32)", "&dst[0], &base[0], &lists[0], &cuts[0], &values[0], len(cuts)-1"},
	{"addWhere(acc *[Block]float64, words []uint64, coef []float32)", "&acc[0], &words[0], &coef[0], len(words)"},
	{"addWide(dst []float64, x []float32)", "&dst[0], &x[0], len(x)"},
	{"addNarrow(dst []float32, x []float64)", "&dst[0], &x[0], len(x)"},
	{"centre(panel, mu, gb []float32, gc, lambda *[Block]float32, dots []float32, sum *[Block]float64)", "&panel[0], &mu[0], &gb[0], &gc[0], &lambda[0], &dots[0], &sum[0], len(mu)"},
	{"softplus(l *lanes, x []float64)", "&l[0], &x[0], len(x)"},
	{"odds(on, off []float64, l *lanes, x []float64)", "&on[0], &off[0], &l[0], &x[0], len(x)"},
	{"exps64(dst, x []float64)", "&dst[0], &x[0], len(x)"},
	{"products(m []float64, e []int64, on, off, table []float64, offsets []uint32)", "&m[0], &e[0], &on[0], &off[0], len(on)/Wide, &table[0], &offsets[0], len(offsets)/quad"},
	{"quadProducts(m *[quad]float64, e *[quad]int64, on, off, upper, first, second []float64)", "&m[0], &e[0], &on[0], &off[0], &upper[0], &first[0], &second[0], len(on)/Wide"},
	{"widen(dst []float64, x []float32)", "&dst[0], &x[0], len(x)"},
	{"rowSumsTimes(acc, base []float32, lists []uint32, values []float32, cuts []uint32)", "&acc[0], Block, &base[0], &lists[0], &cuts[0], len(cuts)-1, &values[0]"},
	{"addTimes(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int)", "&dst[0], dstStride, &x[0], xStride, a, rows, width"},
	{"addSigned(dst, x []float64, sign float64)", "&dst[0], &x[0], sign, len(x)"},
}
