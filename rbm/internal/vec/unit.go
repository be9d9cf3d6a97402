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
