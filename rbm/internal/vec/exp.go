package vec

import "math"

// ln 2 = ln2Hi + ln2Lo, where ln2Hi is ln 2 rounded to 32 bits, so that n·ln2Hi is exact for |n| < 2²⁰
// (fdlibm, e_exp.c).
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// Exp returns e^x, bit-identical on every processor, which math.Exp is not. It writes
// x = n·ln 2 + r with |r| ≤ ln(2)/2, and sums the Taylor series of e^r to the 13th power, with a
// remainder below 5·10⁻¹⁸. The relative error is below 4·10⁻¹⁶.
func Exp(x float64) float64 {
	switch {
	case x != x || x > 709.8: // ln(largest float64) = 709.78
		return x * math.Inf(1) // NaN stays NaN
	case x < -745.2: // ln(smallest denormal) = −745.13
		return 0
	}
	n := float64(x*(1/math.Ln2)) + 0x1.8p52 // rounds to an integer
	n -= 0x1.8p52
	r := x - float64(n*ln2Hi) - float64(n*ln2Lo)
	p := float64(1.0/6227020800*r) + 1.0/479001600
	p = float64(p*r) + 1.0/39916800
	p = float64(p*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 1.0/2
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	// 2ⁿ may be out of range although p·2ⁿ is not, so multiply by two factors.
	h := int(n) / 2
	return p * math.Float64frombits(uint64(h+1023)<<52) * math.Float64frombits(uint64(int(n)-h+1023)<<52)
}

// Log returns the natural logarithm of x > 0, −Inf at 0 and NaN below 0. Like Exp it is
// bit-identical on every processor. It writes x = m·2ᵏ with m in [√½, √2), and computes
// log m = 2 artanh((m−1)/(m+1)) by its series to the 23rd power, with a remainder below 10⁻¹⁸.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	s := (m - 1) / (m + 1)
	s2 := s * s
	p := float64(1.0/23*s2) + 1.0/21
	p = float64(p*s2) + 1.0/19
	p = float64(p*s2) + 1.0/17
	p = float64(p*s2) + 1.0/15
	p = float64(p*s2) + 1.0/13
	p = float64(p*s2) + 1.0/11
	p = float64(p*s2) + 1.0/9
	p = float64(p*s2) + 1.0/7
	p = float64(p*s2) + 1.0/5
	p = float64(p*s2) + 1.0/3
	p = float64(p * s2)
	return float64(float64(k)*ln2Hi) + (2*s + (2*float64(s*p) + float64(float64(k)*ln2Lo)))
}

// LogSumExp returns log Σ exp(xᵢ) without overflow. It is −Inf for an empty x.
func LogSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, x := range x {
		top = max(top, x)
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, x := range x {
		sum += Exp(x - top)
	}
	return top + Log(sum)
}

// Constants of exp32. ln 2 = ln2Hi32 + ln2Lo32, and n·ln2Hi32 is exact for |n| ≤ 128.
// The polynomial approximates (eʳ−1−r)/r² on |r| ≤ ln(2)/2. It minimises the largest relative error
// of eʳ, 3·10⁻⁹, which is below the rounding of float32. It was computed by iteratively reweighted
// least squares.
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

// exp32 returns e^x with x clamped to ±expMax. NaN counts as +expMax, because the vector
// instruction for the minimum does so. The relative error is below 2·10⁻⁷.
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
