package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// A half is a distribution p(x) ∝ exp(z·x − γx²/2) on x ≥ 0: that of a ReLU unit, and of each side
// of a dReLU unit. With the point a = −z/√γ, (a + √γ·x) is a standard normal number above a.
type half struct{ z, gamma float64 }

// scaledErfc returns e^(x²)·erfc(x) for x ≥ 0, right to some 10⁻¹⁵ of itself.
// Cody, Rational Chebyshev approximations for the error function (Mathematics of Computation 23, 1969).
func scaledErfc(x float64) float64 {
	switch {
	case x <= 0.46875:
		y := float64(x * x)
		return vec.Exp(y) * (1 - float64(x*quotient(y, erfNear[0][:], erfNear[1][:])))
	case x <= 4:
		return quotient(x, erfcMiddle[0][:], erfcMiddle[1][:])
	}
	const rootPi = 1.77245385090551602729816748334 // √π
	y := 1 / float64(x*x)
	return (1/rootPi - float64(y*quotient(y, erfcFar[0][:], erfcFar[1][:]))) / x
}

// quotient is the ratio of two polynomials of equal degree, with coefficients from the highest on.
func quotient(x float64, above, below []float64) float64 {
	a, b := above[0], below[0]
	for i := 1; i < len(above) && i < len(below); i++ {
		a, b = float64(a*x)+above[i], float64(b*x)+below[i]
	}
	return a / b
}

var (
	erfNear = [2][5]float64{
		{0.185777706184603153, 3.16112374387056560, 113.864154151050156, 377.485237685302021, 3209.37758913846947},
		{1, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062},
	}
	erfcMiddle = [2][9]float64{
		{2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295, 298.635138197400131, 881.952221241769090, 1712.04761263407058, 2051.07837782607147, 1230.33935479799725},
		{1, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019, 3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942},
	}
	erfcFar = [2][6]float64{
		{0.0163153871373020978, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246, 0.0160837851487422766, 6.58749161529837803e-4},
		{1, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 0.0605183413124413191, 0.00233520497626869185},
	}
)

// a returns the point above which √γ·x + a is normal.
func (h half) a() float64 { return -h.z / math.Sqrt(h.gamma) }

// logZ returns log ∫ exp(z·x − γx²/2) over x ≥ 0.
func (h half) logZ() float64 {
	a := h.a()
	e := scaledErfc(math.Abs(a) / math.Sqrt2)
	if a >= 0 {
		return vec.Log(e * math.Sqrt(math.Pi/2/h.gamma))
	}
	square := float64(a * a / 2) // beyond e^-745 the other half has no weight
	return square + vec.Log(math.Sqrt(2*math.Pi/h.gamma)*(1-float64(vec.Exp(-square)*e/2)))
}

// manyDeviations is the point from which on moments are taken by their series in 1/a². Before it
// the difference of two large numbers loses less than a²·10⁻¹⁵ of a mean, and beyond it the series
// is right to 8162/a¹⁰.
const manyDeviations = 50

// moments returns ⟨x⟩ and ⟨x²⟩.
func (h half) moments() (mean, square float64) {
	a := h.a()
	m, s := 0.0, 0.0
	switch root := math.Sqrt(2 / math.Pi); {
	case a > manyDeviations:
		y := 1 / float64(a*a)
		m = float64(y*706) - 74
		m = float64(m*y) + 10
		m = float64(m*y) - 2
		m = (float64(m*y) + 1) / a
		s = 706 - float64(y*8162)
		s = float64(s*y) - 74
		s = float64(s*y) + 10
		s = 2 - float64(s*y)
		// ⟨x²⟩ = 1 − a·m, whose first terms cancel.
		s *= y
	case a >= 0:
		m = root/scaledErfc(a/math.Sqrt2) - a
		s = 1 - float64(a*m)
	default:
		e := vec.Exp(-float64(a * a / 2))
		m = float64(root*e)/(2-float64(e*scaledErfc(-a/math.Sqrt2))) - a
		s = 1 - float64(a*m)
	}
	return m / math.Sqrt(h.gamma), s / h.gamma
}

// farDeviations is the point from which on a draw is found by Newton's method in the logarithm of
// the tail. Before it the tail is far within the range of float64.
const farDeviations = 6

// draw returns the point above which x is with probability u, 0 < u < 1.
func (h half) draw(u float64) float64 {
	a := h.a()
	if a <= farDeviations {
		e := float64(scaledErfc(math.Abs(a)/math.Sqrt2) * vec.Exp(-float64(a*a/2)) / 2) // beyond |a|
		above, below := e, 1-e
		if a < 0 {
			above, below = 1-e, e
		}
		x := -normal(float64(u*above), (1-u)+float64(u*below))
		return max(x-a, 0) / math.Sqrt(h.gamma)
	}
	// log Q(a+d) − log Q(a) = log u, with log Q(x) = log e^(x²/2)Q(x) − x²/2.
	log := vec.Log(u)
	d := -2 * log / (a + math.Sqrt(float64(a*a)-float64(2*log)))
	at := scaledErfc(a / math.Sqrt2)
	for range 2 { // the start is right to 1/a² of d
		e := scaledErfc((a + d) / math.Sqrt2)
		miss := vec.Log(e/at) - float64(d*(a+float64(d/2))) - log
		d += float64(miss * e * math.Sqrt(math.Pi/2)) // the derivative is −1/(e·√(π/2))
	}
	return max(d, 0) / math.Sqrt(h.gamma)
}
