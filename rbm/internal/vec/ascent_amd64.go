//go:build !noasm

package vec

// The kernels of the ascent step and of the sweeps over all parameters.

//go:noinline
func sums(dst, base []float32, lists, cuts []uint32) {
	switch InUse() {
	case AVX512:
		sumsAVX512(&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	case AVX2:
		sumsAVX2(&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	default:
		sumsGo(dst, base, lists, cuts)
	}
}

// first returns the address of the first offset, which is not read if there is
// none.
func first(lists []uint32) *uint32 {
	if len(lists) == 0 {
		return &none
	}
	return &lists[0]
}

var none uint32

//go:noinline
func addSums(dst, base []float32, lists, cuts []uint32) {
	switch InUse() {
	case AVX512:
		addSumsAVX512(&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	case AVX2:
		addSumsAVX2(&dst[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	default:
		addSumsGo(dst, base, lists, cuts)
	}
}

//go:noinline
func addSumsTo(dst, part, base []float32, lists, cuts []uint32) {
	switch InUse() {
	case AVX512:
		addSumsToAVX512(&dst[0], &part[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	case AVX2:
		addSumsToAVX2(&dst[0], &part[0], &base[0], first(lists), &cuts[0], len(cuts)-1)
	default:
		addSumsToGo(dst, part, base, lists, cuts)
	}
}

//go:noinline
func addSumsTimes(dst, base []float32, lists []uint32, values []float32, cuts []uint32) {
	switch InUse() {
	case AVX512:
		addSumsTimesAVX512(&dst[0], &base[0], &lists[0], &cuts[0], &values[0], len(cuts)-1)
	case AVX2:
		addSumsTimesAVX2(&dst[0], &base[0], &lists[0], &cuts[0], &values[0], len(cuts)-1)
	default:
		addSumsTimesGo(dst, base, lists, values, cuts)
	}
}

//go:noinline
func scale(dst, x []float32, stride int, a []float32, width int) {
	switch l := InUse(); {
	case l == AVX512:
		scaleAVX512(&dst[0], &x[0], stride, &a[0], len(a), WordMask(width))
	case l == AVX2 && width == Block:
		scaleAVX2(&dst[0], &x[0], stride, &a[0], len(a))
	default:
		scaleGo(dst, x, stride, a, width)
	}
}

//go:noinline
func addWhere(acc *[Block]float64, words []uint64, coef []float32) {
	switch InUse() {
	case AVX512:
		addWhereAVX512(&acc[0], &words[0], &coef[0], len(words))
	case AVX2:
		addWhereAVX2(&acc[0], &words[0], &coef[0], len(words))
	default:
		addWhereGo(acc, words, coef)
	}
}

//go:noinline
func addWide(dst []float64, x []float32) {
	switch InUse() {
	case AVX512:
		addWideAVX512(&dst[0], &x[0], len(x))
	case AVX2:
		addWideAVX2(&dst[0], &x[0], len(x))
	default:
		addWideGo(dst, x)
	}
}

//go:noinline
func addNarrow(dst []float32, x []float64) {
	switch InUse() {
	case AVX512:
		addNarrowAVX512(&dst[0], &x[0], len(x))
	case AVX2:
		addNarrowAVX2(&dst[0], &x[0], len(x))
	default:
		addNarrowGo(dst, x)
	}
}

// whole returns the number of the n values that fill whole blocks, which the
// assembly of sweeps takes; plain Go takes the others.
func whole(n int) int {
	if InUse() == Go {
		return 0
	}
	return n / Block * Block
}

//go:noinline
func shrink(m []float32, a float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		shrinkAVX512(&m[0], n, a)
	} else if n > 0 {
		shrinkAVX2(&m[0], n, a)
	}
	shrinkGo(m[n:], a)
}

//go:noinline
func advance(m, x []float32, a float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		advanceAVX512(&m[0], &x[0], n, a)
	} else if n > 0 {
		advanceAVX2(&m[0], &x[0], n, a)
	}
	advanceGo(m[n:], x[n:], a)
}

//go:noinline
func approach(m, x []float32, a float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		approachAVX512(&m[0], &x[0], n, a)
	} else if n > 0 {
		approachAVX2(&m[0], &x[0], n, a)
	}
	approachGo(m[n:], x[n:], a)
}

//go:noinline
func decay(m []float32, l1, l2 float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		decayAVX512(&m[0], n, l1, l2)
	} else if n > 0 {
		decayAVX2(&m[0], n, l1, l2)
	}
	decayGo(m[n:], l1, l2)
}

//go:noinline
func advanceRest(m, x, rest []float32, a float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		advanceRestAVX512(&m[0], &x[0], &rest[0], n, a)
	} else if n > 0 {
		advanceRestAVX2(&m[0], &x[0], &rest[0], n, a)
	}
	advanceRestGo(m[n:], x[n:], rest[n:], a)
}

//go:noinline
func approachRest(m, x, rest []float32, a float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		approachRestAVX512(&m[0], &x[0], &rest[0], n, a)
	} else if n > 0 {
		approachRestAVX2(&m[0], &x[0], &rest[0], n, a)
	}
	approachRestGo(m[n:], x[n:], rest[n:], a)
}

//go:noinline
func decayRest(m, rest []float32, l1, l2 float32) {
	n := whole(len(m))
	if n > 0 && InUse() == AVX512 {
		decayRestAVX512(&m[0], &rest[0], n, l1, l2)
	} else if n > 0 {
		decayRestAVX2(&m[0], &rest[0], n, l1, l2)
	}
	decayRestGo(m[n:], rest[n:], l1, l2)
}

//go:noinline
func centre(panel, mu, gb []float32, gc, lambda *[Block]float32, dots []float32, sum *[Block]float64) {
	switch InUse() {
	case AVX512:
		centreAVX512(&panel[0], &mu[0], &gb[0], &gc[0], &lambda[0], &dots[0], &sum[0], len(mu))
	case AVX2:
		centreAVX2(&panel[0], &mu[0], &gb[0], &gc[0], &lambda[0], &dots[0], &sum[0], len(mu))
	default:
		centreGo(panel, mu, gb, gc, lambda, dots, sum)
	}
}
