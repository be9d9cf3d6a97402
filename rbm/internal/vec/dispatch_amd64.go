//go:build !noasm

package vec

// These functions call kernels whose versions for AVX2 and AVX-512 have different
// arguments, or some that are computed here. The functions of the other kernels are
// in asm_amd64.go, which the generator writes. It also says why none is inlined.

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

// first returns the address of the first offset, or a valid address that is not read
// if there is none.
func first(lists []uint32) *uint32 {
	if len(lists) == 0 {
		return &none
	}
	return &lists[0]
}

var none uint32

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
func nonzeroWord(x []float32) uint64 {
	switch l := InUse(); {
	case l == AVX512:
		return nonzeroWordAVX512(&x[0], WordMask(len(x)))
	case l == AVX2 && len(x) == Block:
		return nonzeroWordAVX2(&x[0])
	}
	return nonzeroWordGo(x)
}
