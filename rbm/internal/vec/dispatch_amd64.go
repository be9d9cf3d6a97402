//go:build !noasm

package vec

// Assembly has no points at which the garbage collector can stop it. These
// functions are not inlined, so that each call of one is such a point.

//go:noinline
func rowSums(acc, base []float32, lists, cuts []uint32) {
	switch InUse() {
	case AVX512:
		rowSumsAVX512(&acc[0], &base[0], &lists[0], &cuts[0], len(cuts)-1)
	case AVX2:
		rowSumsAVX2(&acc[0], &base[0], &lists[0], &cuts[0], len(cuts)-1)
	default:
		rowSumsGo(acc, base, lists, cuts)
	}
}

//go:noinline
func turn(dst, panel []float32, down, across int) {
	if InUse() == Go {
		turnGo(dst, panel, down, across)
		return
	}
	turnAVX2(&dst[0], &panel[0], down, across)
}

//go:noinline
func lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	if InUse() == AVX512 {
		listsAVX512(&list[0], &cuts[0], &words[0], rowStride, wordStride, n, count, first, Block*Block)
		return
	}
	listsGo(list, cuts, words, rowStride, wordStride, n, count, first) // AVX2 cannot compress
}

//go:noinline
func sigmoids(dst []float32, stride int, x []float32, n, width int) {
	switch InUse() {
	case AVX512:
		sigmoidsAVX512(&dst[0], stride, &x[0], n, width)
	case AVX2:
		sigmoidsAVX2(&dst[0], stride, &x[0], n, width)
	default:
		sigmoidsGo(dst, stride, x, n, width)
	}
}

var one = [1]float32{1}

//go:noinline
func (s Stream) draws(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	l := InUse()
	if l == Go {
		s.drawsGo(words, stride, x, beta, first, j, n, width)
		return
	}
	b, bStride := &one[0], 0
	if beta != nil {
		b, bStride = &beta[0], 1
	}
	keys := s.keys()
	if l == AVX512 {
		drawsAVX512(&words[0], stride, &x[0], Block, b, bStride, &keys, int(16*j), int(first), n, WordMask(width))
	} else {
		drawsAVX2(&words[0], stride, &x[0], Block, b, bStride, &keys, int(16*j), int(first), n, WordMask(width))
	}
}

//go:noinline
func (s Stream) drawMeans(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	l := InUse()
	if l == Go {
		s.drawMeansGo(words, stride, p, pStride, first, j, n, width)
		return
	}
	keys := s.keys()
	if l == AVX512 {
		drawMeansAVX512(&words[0], stride, &p[0], pStride, &keys, int(16*j), int(first), n, WordMask(width))
	} else {
		drawMeansAVX2(&words[0], stride, &p[0], pStride, &keys, int(16*j), int(first), n, WordMask(width))
	}
}

//go:noinline
func (s Stream) uniforms(dst *[Block]float32, row, j uint32) {
	l := InUse()
	if l == Go {
		s.uniformsGo(dst, row, j, Block)
		return
	}
	keys := s.keys()
	if l == AVX512 {
		uniformsAVX512(&dst[0], &keys, int(16*j), int(row))
	} else {
		uniformsAVX2(&dst[0], &keys, int(16*j), int(row))
	}
}

// keys returns the two keys of each round, then the upper counter words.
func (s Stream) keys() (k [22]uint32) {
	k0, k1 := s.K0, s.K1
	for i := range 10 {
		k[2*i], k[2*i+1] = k0, k1
		k0 += philoxW0
		k1 += philoxW1
	}
	k[20], k[21] = s.C2, s.C3
	return k
}

//go:noinline
func exps(dst, x []float32, scale, shift float32) {
	switch InUse() {
	case AVX512:
		expsAVX512(&dst[0], &x[0], len(x), scale, shift)
	case AVX2:
		expsAVX2(&dst[0], &x[0], len(x), scale, shift)
	default:
		expsGo(dst, x, scale, shift)
	}
}

//go:noinline
func blend(dst, x, beta []float32, base *[Block]float32, n int) {
	switch InUse() {
	case AVX512:
		blendAVX512(&dst[0], &x[0], &beta[0], &base[0], n)
	case AVX2:
		blendAVX2(&dst[0], &x[0], &beta[0], &base[0], n)
	default:
		blendGo(dst, x, beta, base, n)
	}
}

//go:noinline
func rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int) {
	switch InUse() {
	case AVX512:
		risesAVX512(&factor[0], &part[0], &x[0], from, to, &fromShift[0], &toShift[0], n)
	case AVX2:
		risesAVX2(&factor[0], &part[0], &x[0], from, to, &fromShift[0], &toShift[0], n)
	default:
		risesGo(factor, part, x, from, to, fromShift, toShift, n)
	}
}

//go:noinline
func transpose(m *[Block]uint64) {
	if InUse() == AVX512 {
		transposeAVX512(&m[0])
		return
	}
	transposeGo(m)
}

//go:noinline
func spread(dst, src []Quad, p, q *Quad) {
	if InUse() == Go {
		spreadGo(dst, src, p, q)
		return
	}
	spreadAVX2(&dst[0][0], &src[0][0], &p[0], &q[0], len(dst))
}

//go:noinline
func join(sum *Quad, f, b []Quad, p, q *Quad) {
	if InUse() == Go {
		joinGo(sum, f, b, p, q)
		return
	}
	joinAVX2(&sum[0], &f[0][0], &b[0][0], &p[0], &q[0], len(b))
}

//go:noinline
func chances(p, q, x []float64) {
	n := 0
	if InUse() != Go {
		n = len(x) &^ 7
	}
	if n > 0 {
		chancesAVX2(&p[0], &q[0], &x[0], n)
	}
	chancesGo(p[n:], q[n:], x[n:])
}
