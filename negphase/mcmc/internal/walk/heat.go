package walk

import "math"

// Unit is the weight of φ = 1 in a dense layer. A float32 holds all integers up
// to it.
const Unit = 1 << 24

const (
	// heatTop clips the exponent: 2²²⁺¹ < Unit, so that a weight is never 0.
	heatTop = 22
	// heatMagic added to a float32 of up to 2²² rounds it to an integer in its
	// lowest bits.
	heatMagic = 0x1.8p23
	// Coefficients of 2ʳ for |r| ≤ ½: the cubic of least relative error, 1.02e-4,
	// that is 1 at 0. The error of Table is twice as large.
	heat1, heat2, heat3 = 0.693283, 0.242211, 0.055009
)

// Heat returns the heat-bath weight
//
//	unit/(1 + 2ᵗ),  t = field·sign clipped to ±22,
//
// of a unit that has the given preactivation in quanta, where sign·log 2 is γβ
// quanta for a unit that is on and minus that for one that is off. It is a
// pure function of its arguments, the same at every level of instructions.
func Heat(field int32, sign, unit float32) uint32 { return heat(float32(field)*sign, unit) }

// HeatAt is Heat of sign times gamma.
func HeatAt(field int32, sign, gamma, unit float32) uint32 {
	return heat(float32(float32(field)*sign)*gamma, unit)
}

func heat(t, unit float32) uint32 {
	t = min(max(t, -heatTop), heatTop)
	n := t + heatMagic
	r := t - (n - heatMagic)
	p := float32(r*heat3) + heat2
	p = float32(p*r) + heat1
	p = float32(p*r) + 1
	e := math.Float32frombits(math.Float32bits(p) + math.Float32bits(n)<<23) // p·2ⁿ, a normal number
	return uint32(int32(unit / (1 + e)))
}

// addRow adds row, times −1 if down, to field.
func addRow(field, row []int32, down bool) {
	if down {
		subtractRowsGo(field, row, 0, []int32{0})
	} else {
		addRowsGo(field, row, 0, []int32{0})
	}
}

// weighGo adds row, times −1 if down, to field. It writes the weights of the new
// field to leaf, and their sums over units of equal number mod Lanes to sum.
func weighGo(field, row []int32, down bool, sign, unit []float32, leaf []uint32, sum *[Lanes]uint32) {
	*sum = [Lanes]uint32{}
	addRow(field, row, down)
	for i, f := range field {
		w := Heat(f, sign[i], unit[i])
		leaf[i] = w
		sum[i%Lanes] += w
	}
}

// weighTwoGo is weighGo at two biases: the weights of sign times gamma[0] and
// times gamma[1].
func weighTwoGo(field, row []int32, down bool, sign, unit []float32, gamma *[2]float32, leaf0, leaf1 []uint32, sum0, sum1 *[Lanes]uint32) {
	*sum0, *sum1 = [Lanes]uint32{}, [Lanes]uint32{}
	addRow(field, row, down)
	for i, f := range field {
		t := float32(f) * sign[i]
		w0, w1 := heat(float32(t*gamma[0]), unit[i]), heat(float32(t*gamma[1]), unit[i])
		leaf0[i], leaf1[i] = w0, w1
		sum0[i%Lanes] += w0
		sum1[i%Lanes] += w1
	}
}

// weighSidesGo is weighGo with a sum for each of two sides. Units on the second
// side have all bits of side set.
func weighSidesGo(field, row []int32, down bool, sign, unit []float32, side, leaf []uint32, sum0, sum1 *[Lanes]uint32) {
	*sum0, *sum1 = [Lanes]uint32{}, [Lanes]uint32{}
	addRow(field, row, down)
	for i, f := range field {
		w := Heat(f, sign[i], unit[i])
		leaf[i] = w
		sum0[i%Lanes] += w &^ side[i]
		sum1[i%Lanes] += w & side[i]
	}
}
