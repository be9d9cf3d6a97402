//go:build !noasm

package vec

// Most functions that call kernels are in asm_amd64.go, which the generator writes. A comment there explains
// why none of them is inlined. This file has the two functions whose AVX2 and AVX-512 kernels have different
// arguments, and functions that compute arguments of kernels.

// keys returns the two Philox keys of each round, then the upper counter words.
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

// orOnes returns the address and the stride of the inverse temperatures of rows. For a nil beta it returns
// the address of a single 1, and stride 0.
func orOnes(beta []float32) (*float32, int) {
	if beta == nil {
		return &one, 0
	}
	return &beta[0], 1
}

var one float32 = 1

// firstOf returns the address of the first value, or nil if there is none.
func firstOf(x []float32) *float32 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// wideWeights repeats each weight Wide times.
func wideWeights(weight *[quad]float64) (w [quad * Wide]float64) {
	for i := range w {
		w[i] = weight[i/Wide]
	}
	return w
}

// secondWord returns the address and the stride of the second words of rows. If rows have one word, it
// returns the address of a single zero word, and stride 0.
func secondWord(words []uint64, stride, count int) (*uint64, int) {
	if count < 2 {
		return &noOnes, 0
	}
	return &words[1], stride
}

var noOnes uint64

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
func nonzeroWord(x []float32) uint64 {
	switch l := InUse(); {
	case l == AVX512:
		return nonzeroWordAVX512(&x[0], WordMask(len(x)))
	case l == AVX2 && len(x) == Block:
		return nonzeroWordAVX2(&x[0])
	}
	return nonzeroWordGo(x)
}
