package vec

import "math"

// Scaled is the number M·2^E with M in [1,2): a positive number of any size.
type Scaled struct {
	M float64
	E int64
}

// ScaledExp returns eˣ for |x| below 10⁹.
func ScaledExp(x float64) Scaled {
	k := math.Floor(x / math.Ln2)
	// k·ln 2 in two parts, the first exact (fdlibm's split of ln 2).
	r := x - float64(k*6.93147180369123816490e-01) - float64(k*1.90821492927058770002e-10)
	p := Scaled{1, int64(k)}
	p.Times(Exp(r))
	return p
}

// Times multiplies p by x, a positive normal number.
func (p *Scaled) Times(x float64) {
	m, k := Split(x)
	m, l := Split(p.M * m)
	p.M, p.E = m, p.E+k+l
}

// Power returns 2^e, zero below the range of normal numbers; e must not be
// above it.
func Power(e int64) float64 {
	if e < -1022 {
		return 0
	}
	return math.Float64frombits(uint64(e+1023) << 52)
}

// RoundUp returns the smallest multiple of Wide that is not below n.
func RoundUp(n int) int { return (n + Wide - 1) / Wide * Wide }

// LargestSize returns the largest |x|, NaN if there is one: as integers, the
// bits of positive numbers are in their order, infinity next to last.
func LargestSize(x []float64) float64 {
	var top uint64
	for _, x := range x {
		top = max(top, math.Float64bits(x)<<1)
	}
	return math.Float64frombits(top >> 1)
}
