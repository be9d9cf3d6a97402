package vec

import "math"

// Constants of exp32. ln 2 is split so that n·ln2Hi is exact for |n| ≤ 128;
// the polynomial is the minimax approximation of (eʳ−1−r)/r² on |r| ≤ ln(2)/2
// in relative error of eʳ (3·10⁻⁹, found by iteratively reweighted least
// squares), below float32 rounding.
const (
	expMax  = 87 // e⁸⁷ and e⁻⁸⁷ are normal float32 numbers
	log2E   = 1.44269504
	ln2Hi32 = 0.693359375 // 355/512
	ln2Lo32 = -2.12194440e-4
	expC2   = 0.49999994
	expC3   = 0.16666521
	expC4   = 0.04166839
	expC5   = 0.008368717
	expC6   = 0.0013814599
	// Adding and subtracting 1.5·2²³ rounds to the nearest integer, ties to even.
	roundMagic = 0x1.8p23
)

// exp32 returns e^x for x clamped to ±expMax; NaN counts as +expMax, as the
// vector minimum gives it. Its relative error is below 2·10⁻⁷.
func exp32(x float32) float32 {
	if !(x < expMax) {
		x = expMax
	}
	if !(x > -expMax) {
		x = -expMax
	}
	n := float32(x*log2E) + roundMagic
	n -= roundMagic
	r := x - float32(n*ln2Hi32)
	r -= float32(n * ln2Lo32)
	p := float32(expC6*r) + expC5
	p = float32(p*r) + expC4
	p = float32(p*r) + expC3
	p = float32(p*r) + expC2
	p = float32(p*float32(r*r)) + r
	p++
	return p * math.Float32frombits(uint32(int32(n)+127)<<23)
}

// Sigmoid writes 1/(1+e^−x) to dst, which may be x. The length is that of dst.
func Sigmoid(dst, x []float32) {
	for i, x := range x[:len(dst)] {
		dst[i] = 1 / (1 + exp32(-x))
	}
}

// Draw returns a word whose bit i is one with probability 1/(1+e^(−beta·x[i])):
// the uniform u[i], from Stream.Uniforms, is below 2²⁴ times that. No division
// is needed: the test is u·(1+e^(−beta·x)) < 2²⁴.
func Draw(x, u *[Block]float32, beta float32) uint64 {
	var w uint64
	for i := range x {
		if u[i]*(1+exp32(-(beta*x[i]))) < 1<<24 {
			w |= 1 << i
		}
	}
	return w
}

// DrawMean returns a word whose bit i, for i < len(p) ≤ Block, is one with
// probability p[i].
func DrawMean(p []float32, u *[Block]float32) uint64 {
	var w uint64
	for i, p := range p {
		if u[i] < p*(1<<24) {
			w |= 1 << i
		}
	}
	return w
}

// DrawOne returns index k with probability proportional to e^(beta·x[k]), by
// the inverse of the distribution function at the uniform u of
// Stream.Uniforms. Exponentials are taken relative to the largest beta·x and
// added in order. It panics if x is empty.
func DrawOne(x []float32, u, beta float32) int {
	top := beta * x[0]
	for _, x := range x[1:] {
		if z := beta * x; z > top {
			top = z
		}
	}
	var sum float32
	for _, x := range x {
		sum += exp32(float32(beta*x) - top)
	}
	u *= 0x1p-24 * sum
	sum = 0
	for k, x := range x {
		if sum += exp32(float32(beta*x) - top); u < sum {
			return k
		}
	}
	return len(x) - 1 // u reached the total by rounding
}

// Softmax writes e^x[k] / Σ e^x to dst, which may be x; both have the same
// length, at least 1. Exponentials are taken relative to the largest x and
// added in order.
func Softmax(dst, x []float32) {
	top := x[0]
	for _, x := range x[1:] {
		if x > top {
			top = x
		}
	}
	var sum float32
	for k, x := range x {
		dst[k] = exp32(x - top)
		sum += dst[k]
	}
	for k := range dst {
		dst[k] /= sum
	}
}
