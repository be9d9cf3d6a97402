//go:build !noasm

package vec

// The kernels in float64, and those that multiply what they add.

//go:noinline
func softplus(l *lanes, x []float64) {
	switch InUse() {
	case AVX512:
		softplusAVX512(&l[0], &x[0], len(x))
	case AVX2:
		softplusAVX2(&l[0], &x[0], len(x))
	default:
		softplusGo(l, x)
	}
}

//go:noinline
func odds(on, off []float64, l *lanes, x []float64) {
	switch InUse() {
	case AVX512:
		oddsAVX512(&on[0], &off[0], &l[0], &x[0], len(x))
	case AVX2:
		oddsAVX2(&on[0], &off[0], &l[0], &x[0], len(x))
	default:
		oddsGo(on, off, l, x)
	}
}

//go:noinline
func exps64(dst, x []float64) {
	switch InUse() {
	case AVX512:
		exps64AVX512(&dst[0], &x[0], len(x))
	case AVX2:
		exps64AVX2(&dst[0], &x[0], len(x))
	default:
		exps64Go(dst, x)
	}
}

//go:noinline
func products(m []float64, e []int64, on, off, table []float64, offsets []uint32) {
	switch InUse() {
	case AVX512:
		productsAVX512(&m[0], &e[0], &on[0], &off[0], len(on)/Wide, &table[0], &offsets[0], len(offsets)/quad)
	case AVX2:
		productsAVX2(&m[0], &e[0], &on[0], &off[0], len(on)/Wide, &table[0], &offsets[0], len(offsets)/quad)
	default:
		productsGo(m, e, on, off, table, offsets)
	}
}

//go:noinline
func quadProducts(m *[quad]float64, e *[quad]int64, on, off, upper, first, second []float64) {
	switch InUse() {
	case AVX512:
		quadProductsAVX512(&m[0], &e[0], &on[0], &off[0], &upper[0], &first[0], &second[0], len(on)/Wide)
	case AVX2:
		quadProductsAVX2(&m[0], &e[0], &on[0], &off[0], &upper[0], &first[0], &second[0], len(on)/Wide)
	default:
		quadProductsGo(m, e, on, off, upper, first, second)
	}
}

//go:noinline
func quadMeans(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64) {
	l := InUse()
	if l == Go {
		quadMeansGo(all, one, two, on, off, upper, first, second, weight)
		return
	}
	var w [quad * Wide]float64
	for i := range w {
		w[i] = weight[i/Wide]
	}
	if l == AVX512 {
		quadMeansAVX512(&all[0], &one[0], &two[0], &on[0], &off[0], &upper[0], &first[0], &second[0], &w[0], len(all)/Wide)
	} else {
		quadMeansAVX2(&all[0], &one[0], &two[0], &on[0], &off[0], &upper[0], &first[0], &second[0], &w[0], len(all)/Wide)
	}
}

//go:noinline
func rowSums64From32(acc []float64, stride int, base []float32, lists []uint32, values []float32, cuts []uint32) {
	l, n := InUse(), len(cuts)-1
	switch {
	case l == Go:
		rowSums64Go(acc, stride, base, lists, values, cuts)
	case l == AVX512 && values == nil:
		rowSums64From32AVX512(&acc[0], stride, &base[0], &lists[0], &cuts[0], n)
	case l == AVX512:
		rowSumsTimes64From32AVX512(&acc[0], stride, &base[0], &lists[0], &cuts[0], n, &values[0])
	case values == nil:
		rowSums64From32AVX2(&acc[0], stride, &base[0], &lists[0], &cuts[0], n)
	default:
		rowSumsTimes64From32AVX2(&acc[0], stride, &base[0], &lists[0], &cuts[0], n, &values[0])
	}
}

//go:noinline
func rowSums64From64(acc []float64, stride int, base []float64, lists []uint32, values []float32, cuts []uint32) {
	l, n := InUse(), len(cuts)-1
	switch {
	case l == Go:
		rowSums64Go(acc, stride, base, lists, values, cuts)
	case l == AVX512 && values == nil:
		rowSums64From64AVX512(&acc[0], stride, &base[0], &lists[0], &cuts[0], n)
	case l == AVX512:
		rowSumsTimes64From64AVX512(&acc[0], stride, &base[0], &lists[0], &cuts[0], n, &values[0])
	case values == nil:
		rowSums64From64AVX2(&acc[0], stride, &base[0], &lists[0], &cuts[0], n)
	default:
		rowSumsTimes64From64AVX2(&acc[0], stride, &base[0], &lists[0], &cuts[0], n, &values[0])
	}
}

//go:noinline
func widen(dst []float64, x []float32) {
	switch InUse() {
	case AVX512:
		widenAVX512(&dst[0], &x[0], len(x))
	case AVX2:
		widenAVX2(&dst[0], &x[0], len(x))
	default:
		widenGo(dst, x)
	}
}

//go:noinline
func rowSumsTimes(acc, base []float32, lists []uint32, values []float32, cuts []uint32) {
	switch InUse() {
	case AVX512:
		rowSumsTimesAVX512(&acc[0], Block, &base[0], &lists[0], &cuts[0], len(cuts)-1, &values[0])
	case AVX2:
		rowSumsTimesAVX2(&acc[0], Block, &base[0], &lists[0], &cuts[0], len(cuts)-1, &values[0])
	default:
		rowSumsTimesGo(acc, base, lists, values, cuts)
	}
}

//go:noinline
func addTimes(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int) {
	switch InUse() {
	case AVX512:
		addTimesAVX512(&dst[0], dstStride, &x[0], xStride, a, rows, width)
	case AVX2:
		addTimesAVX2(&dst[0], dstStride, &x[0], xStride, a, rows, width)
	default:
		addTimesGo(dst, dstStride, x, xStride, a, rows, width)
	}
}

//go:noinline
func addSigned(dst, x []float64, sign float64) {
	switch InUse() {
	case AVX512:
		addSignedAVX512(&dst[0], &x[0], sign, len(x))
	case AVX2:
		addSignedAVX2(&dst[0], &x[0], sign, len(x))
	default:
		addSignedGo(dst, x, sign)
	}
}

//go:noinline
func nonzero(list []uint32, values, x []float32) int {
	if InUse() == AVX512 {
		return nonzeroAVX512(&list[0], &values[0], &x[0], len(x))
	}
	return nonzeroGo(list, values, x) // AVX2 cannot compress
}

//go:noinline
func nonzeroWord(x []float32) uint64 {
	switch l := InUse(); {
	case l == AVX512:
		return nonzeroWordAVX512(&x[0], WordMask(len(x)))
	case l == AVX2 && len(x) == Block:
		return nonzeroWordAVX2(&x[0])
	}
	return nonzeroWordGo(x)
}
