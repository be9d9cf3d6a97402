//go:build !amd64 || noasm

package walk

func weigh(field, row []int32, down bool, sign, unit []float32, leaf []uint32, sum *[Lanes]uint32) {
	weighGo(field, row, down, sign, unit, leaf, sum)
}

func weighTwo(field, row []int32, down bool, sign, unit []float32, gamma *[2]float32, leaf0, leaf1 []uint32, sum0, sum1 *[Lanes]uint32) {
	weighTwoGo(field, row, down, sign, unit, gamma, leaf0, leaf1, sum0, sum1)
}

func weighSides(field, row []int32, down bool, sign, unit []float32, side, leaf []uint32, sum0, sum1 *[Lanes]uint32) {
	weighSidesGo(field, row, down, sign, unit, side, leaf, sum0, sum1)
}

func quantize(dst []int32, x []float32, scale float32) { quantizeGo(dst, x, scale) }
