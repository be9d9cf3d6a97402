package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// A half is the truncated normal distribution p(x) ∝ exp(z·x − γx²/2) on x ≥ 0. A ReLU unit has this
// distribution, and a dReLU unit has one on each side of 0. With a = −z/√γ, the number a + √γ·x is
// standard normal, conditioned on being above a.
type half struct {
	a     float64
	scale float64 // 1/√γ
	tail  float64 // e^(a²/2)·√(2/π)·∫ e^(−x²/2) over x ≥ |a|
	fall  float64 // e^(−a²/2), at least e⁻⁷⁰⁰
}

// halves holds the half of each unit of a block, for one row.
type halves struct{ a, scale, tail, fall [vec.Block]float64 }

// set sets the input z and the precision gamma of unit c. The caller sets all units, then calls compute.
func (h *halves) set(c int, z, gamma float64) {
	h.scale[c] = 1 / math.Sqrt(gamma)
	h.a[c] = float64(-z * h.scale[c])
}

// compute computes tail and fall of all units.
func (h *halves) compute() {
	for c, a := range h.a {
		h.tail[c] = float64(math.Abs(a) * (1 / math.Sqrt2))
		h.fall[c] = -float64(a * a / 2)
	}
	vec.ScaledErfcs(h.tail[:], h.tail[:])
	vec.Exps(h.fall[:], h.fall[:])
}

// at returns the half of unit c.
func (h *halves) at(c int) half { return half{h.a[c], h.scale[c], h.tail[c], h.fall[c]} }

// halfOf returns the half of one unit.
func halfOf(z, gamma float64) half {
	h := half{scale: 1 / math.Sqrt(gamma)}
	h.a = float64(-z * h.scale)
	h.tail = vec.ScaledErfc(float64(math.Abs(h.a) * (1 / math.Sqrt2)))
	h.fall = vec.Exp(max(-float64(h.a*h.a/2), -700))
	return h
}

// z returns I/e^lift and lift, where I is the integral of exp(z·x − γx²/2) over x ≥ 0.
func (h half) z() (z, lift float64) {
	if h.a >= 0 {
		return float64(float64(math.Sqrt(math.Pi/2)*h.scale) * h.tail), 0
	}
	// fall at its limit e⁻⁷⁰⁰ is negligible against 1.
	return float64(float64(math.Sqrt(2*math.Pi)*h.scale) * (1 - float64(h.fall*h.tail/2))), float64(h.a * h.a / 2)
}

// A product is a product of many factors. Its logarithm is sum + log rest, which needs few calls of log.
type product struct{ sum, rest float64 }

var one = product{rest: 1}

// multiply multiplies p by z·e^lift.
func (p *product) multiply(z, lift float64) {
	p.sum += lift
	if p.rest *= z; p.rest < 0x1p-500 || p.rest > 0x1p500 {
		p.sum, p.rest = p.sum+vec.Log(p.rest), 1
	}
}

func (p *product) divide(z, lift float64) { p.multiply(1/z, -lift) }

func (p *product) log() float64 { return p.sum + vec.Log(p.rest) }

// manyDeviations is the value of a above which moments uses a series in 1/a². At smaller a the
// difference of two large numbers has a relative error below a²·10⁻¹⁵. At larger a the relative
// error of the series is 8162/a¹⁰.
const manyDeviations = 50

// moments returns ⟨x⟩ and ⟨x²⟩.
func (h half) moments() (mean, square float64) {
	a := h.a
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
		// This is the series of 1 − a·m without its first terms, which cancel.
		s *= y
	case a >= 0:
		m = root/h.tail - a
		s = 1 - float64(a*m)
	default:
		m = float64(root*h.fall)/(2-float64(h.fall*h.tail)) - a
		s = 1 - float64(a*m)
	}
	return float64(m * h.scale), float64(float64(s*h.scale) * h.scale)
}

// farDeviations is the value of a above which a draw uses Newton's method on the logarithm of the
// tail probability. At smaller a the tail probability is far within the range of float64.
const farDeviations = 6

// draw returns the value that x exceeds with probability u, 0 < u < 1.
func (h half) draw(u float64) float64 {
	if h.a > farDeviations {
		return h.drawFar(u)
	}
	return h.from(normal(h.chances(u)))
}

// chances returns the probabilities of the standard normal distribution above and below a + √γ·x,
// where x is the draw. Both have a small relative error. It requires a ≤ farDeviations.
func (h half) chances(u float64) (above, below float64) {
	beyond := float64(h.tail * h.fall / 2) // probability above |a|
	if h.a < 0 {
		return float64(u * (1 - beyond)), (1 - u) + float64(u*beyond)
	}
	return float64(u * beyond), (1 - u) + float64(u*(1-beyond))
}

// from returns the draw x for which a + √γ·x = −mirrored.
func (h half) from(mirrored float64) float64 { return float64(max(-mirrored-h.a, 0) * h.scale) }

// drawFar is draw for a above farDeviations. It solves log Q(a+d) − log Q(a) = log u for d = √γ·x, where
// Q is the tail probability of the standard normal distribution, from log(e^(x²/2)·Q(x)) − x²/2.
func (h half) drawFar(u float64) float64 {
	a, log := h.a, vec.Log(u)
	d := -2 * log / (a + math.Sqrt(float64(a*a)-float64(2*log)))
	for range 2 { // the start has a relative error of about 1/a²
		e := vec.ScaledErfc(float64((a + d) * (1 / math.Sqrt2)))
		miss := vec.Log(e/h.tail) - float64(d*(a+float64(d/2))) - log
		d += float64(miss * e * math.Sqrt(math.Pi/2)) // the derivative is −1/(e·√(π/2))
	}
	return float64(max(d, 0) * h.scale)
}

// places computes the draws of the units of a block for one row. normal has the standard normal
// numbers of the draws, with the sign reversed.
type places struct{ above, below, normal [vec.Block]float64 }

// set prepares the draw of unit c, whose distribution is h, from the uniform number u.
func (p *places) set(c int, h half, u float64) {
	if p.above[c], p.below[c] = 0.5, 0.5; h.a <= farDeviations {
		p.above[c], p.below[c] = h.chances(u)
	}
}

// draw returns the draw of unit c for the h and u that were given to set. The caller calls compute before.
func (p *places) draw(c int, h half, u float64) float64 {
	if h.a > farDeviations {
		return h.drawFar(u)
	}
	return h.from(p.normal[c])
}

// compute computes normal for units from … width−1.
func (p *places) compute(from, width int) {
	vec.CentralNormals(p.normal[:], p.above[:])
	for c := from; c < width; c++ {
		if math.Abs(p.above[c]-0.5) > vec.CentralHalf {
			p.normal[c] = tailNormal(p.above[c], p.below[c])
		}
	}
}
