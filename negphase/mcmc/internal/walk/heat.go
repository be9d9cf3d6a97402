package walk

import "math"

// Unit is the integer that represents the weight φ = 1 in a dense layer. float32 is exact for all integers
// up to it.
const Unit = 1 << 24

const (
	// heatTop is the largest exponent. Unit/(1 + 2²²) is above 1, so no weight is rounded to 0.
	heatTop = 22
	// heatMagic rounds to integers: the lowest bits of t + heatMagic are the integer nearest to t, for
	// |t| up to 2²².
	heatMagic = 0x1.8p23
	// The coefficients of a cubic that approximates 2ʳ for |r| ≤ ½. Among the cubics that are 1 at 0
	// it has the least relative error, 1.02e-4. The error of Table is twice as large.
	heat1, heat2, heat3 = 0.693283, 0.242211, 0.055009
)

// Heat returns the heat-bath weight
//
//	unit/(1 + 2ᵗ),  t = field·sign clipped to ±22,
//
// of a unit. field is its preactivation in quanta. sign is γβ times the quantum, divided by log 2,
// and negated for a unit that is off. Results are identical with all instruction sets (see Level).
func Heat(field int32, sign, unit float32) uint32 { return heat(float32(field)*sign, unit) }

// HeatAt is Heat with sign times gamma.
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

// addRow adds row to field, or subtracts it if down is set.
func addRow(field, row []int32, down bool) {
	if down {
		subtractRowsGo(field, row, 0, []int32{0})
	} else {
		addRowsGo(field, row, 0, []int32{0})
	}
}

// weighGo adds row to field, or subtracts it if down is set. It writes the weights of the units to leaf,
// and their sums over units with equal index modulo Lanes to sum.
func weighGo(field, row []int32, down bool, sign, unit []float32, leaf []uint32, sum *[Lanes]uint32) {
	*sum = [Lanes]uint32{}
	addRow(field, row, down)
	for i, f := range field {
		w := Heat(f, sign[i], unit[i])
		leaf[i] = w
		sum[i%Lanes] += w
	}
}

// weighTwoGo is weighGo for two biases. It computes weights with sign times gamma[0] and with sign
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

// weighSidesGo is weighGo with separate sums for the units that are off and those that are on: the
// two sides of an intracluster move. side has all bits of an element set for a unit that is on, and
// none for a unit that is off.
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
