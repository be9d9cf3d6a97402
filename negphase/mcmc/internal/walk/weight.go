package walk

import (
	"math/bits"

	"gorbm/rbm"
)

// A Family is a form of the weight φ of a flip that raises the energy by ΔE,
// as a function of x = γβΔE, where γ is the bias of the walk.
type Family uint8

const (
	HeatBath  Family = iota // φ = 1/(1 + eˣ)
	Boltzmann               // φ = e⁻ˣ
)

// MaxSpan is the largest value of 2·γβ·max|ΔE| for Boltzmann weights. The largest weight that can be
// represented is 2⁴⁴ = e³⁰·⁵ times the smallest one. Heat-bath weights need no bound: weights
// below the smallest one are rounded up to it.
const MaxSpan = 30

// unitBits makes the largest weight 2⁴⁴. All weights are exact in float64, and
// the sum over 2¹⁷ sites is at most 2⁶¹.
const unitBits = 44

// A Bias computes the integer weight of a flip from x = γβΔE.
type Bias struct {
	family Family
	unit   float64 // the integer that represents φ = 1
	top    float64 // largest |x|; Boltzmann weights are divided by e^top
}

// NewBias returns the weights for a system of the given number of sites, whose flips have |x| of at
// most top.
func NewBias(family Family, sites int, top float64) Bias {
	return Bias{family, float64(uint64(1) << min(unitBits, 61-bits.Len(uint(sites)))), top}
}

// Weight returns the weight of a flip, from 1 to 2⁴⁴.
func (b Bias) Weight(x float64) uint64 {
	var phi float64
	if b.family == HeatBath {
		phi = 1 / (1 + rbm.Exp(x))
	} else {
		phi = rbm.Exp(min(-x-b.top, 0))
	}
	return max(1, uint64(float64(b.unit*phi)+0.5))
}

// A Table approximates the weights of a Bias by linear interpolation between knots. A lookup is some
// ten times as fast as Bias.Weight. Its relative error of 2e-4 does not bias the chain; see the package
// comment.
type Table struct {
	knot [tableKnots + 1]float64 // integer values
}

const (
	tableStep = 32 // knots per unit of x; the relative error of interpolation is up to 32⁻²/8
	// tableTop is the largest |x| of the table. e⁻³² is less than the smallest weight.
	tableTop   = 32
	tableKnots = 2 * tableTop * tableStep
)

// NewTable tabulates b.
func NewTable(b Bias) *Table {
	t := new(Table)
	for i := range t.knot {
		t.knot[i] = float64(b.Weight(float64(float64(i)/tableStep) - tableTop))
	}
	return t
}

// Weight returns the weight of a flip.
func (t *Table) Weight(x float64) uint64 {
	x = float64(x*tableStep) + tableTop*tableStep
	if !(x > 0) {
		return uint64(int64(t.knot[0]))
	}
	if x >= tableKnots {
		return uint64(int64(t.knot[tableKnots]))
	}
	i := int(x)
	a, b := t.knot[i], t.knot[i+1]
	return uint64(int64(a) - int64(float64((x-float64(i))*(a-b))))
}
