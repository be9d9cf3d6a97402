package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// scaled is the number m·2^e with m in [1,2): a positive number of any size.
type scaled struct {
	m float64
	e int64
}

// scaledExp returns eˣ for |x| below 10⁹.
func scaledExp(x float64) scaled {
	k := math.Floor(x / math.Ln2)
	// k·ln 2 in two parts, the first exact (fdlibm's split of ln 2).
	r := x - float64(k*6.93147180369123816490e-01) - float64(k*1.90821492927058770002e-10)
	p := scaled{1, int64(k)}
	p.times(vec.Exp(r))
	return p
}

// times multiplies p by x, a positive normal number.
func (p *scaled) times(x float64) {
	m, k := vec.Split(x)
	m, l := vec.Split(p.m * m)
	p.m, p.e = m, p.e+k+l
}

// power returns 2^e, zero below the range of normal numbers; e must not be
// above it.
func power(e int64) float64 {
	if e < -1022 {
		return 0
	}
	return math.Float64frombits(uint64(e+1023) << 52)
}

// scaledSum is a sum of terms m·2^e·e^base that come in runs of one base, each
// run taken together before its logarithm is.
type scaledSum struct {
	base float64 // of the run
	top  int64   // the power of two that the run's sum is in units of
	sum  float64 // of the run; zero if there is none
	part float64 // sum of the earlier runs, in units of e^high
	high float64
}

// add adds terms to the sum.
func (s *scaledSum) add(m []float64, e []int64, base float64) {
	if s.sum != 0 && base != s.base {
		s.close()
	}
	if s.sum == 0 {
		s.base, s.top = base, e[0]
	}
	for i, x := range m {
		if e[i] > s.top+900 { // the run's sum stays below 2⁹⁶⁰
			s.sum *= power(s.top - e[i])
			s.top = e[i]
		}
		s.sum += x * power(e[i]-s.top)
	}
}

// close adds the run to the earlier ones.
func (s *scaledSum) close() {
	l := s.base + vec.LogSplit(s.sum, s.top)
	switch {
	case s.part == 0:
		s.part, s.high = 1, l
	case l > s.high:
		s.part = float64(s.part*vec.Exp(s.high-l)) + 1
		s.high = l
	default:
		s.part += vec.Exp(l - s.high)
	}
	s.sum = 0
}

// log returns the logarithm of the sum of at least one term.
func (s *scaledSum) log() float64 {
	if s.sum != 0 {
		s.close()
	}
	return s.high + vec.Log(s.part)
}
