package walk

import "math"

// Lanes is what the sizes of dense layers are padded to with zeros: the
// vector of 16 32-bit numbers that the widest kernels work on.
const Lanes = 16

// AddRows adds rows of a matrix of the given stride, those that list names, to
// acc, whose length is a positive multiple of Lanes.
func AddRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		addRows(acc, base, stride, list)
	}
}

// SubtractRows takes them off.
func SubtractRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		subtractRows(acc, base, stride, list)
	}
}

// Quantize writes x·scale to dst, rounded to whole numbers, ties to even.
func Quantize(dst []int32, x []float32, scale float32) { quantize(dst, x, scale) }

// Square is the side of the squares that Take takes.
const Square = 8

// Take is Quantize of Square rows of x, xStride apart and of as many columns as
// column has, a positive multiple of Square: to rows of dst and, transposed, to
// rows of turned. It adds magnitudes to the sums of the columns, in the order
// of rows, and to the sums of the rows, in the order of columns.
func Take(dst []int32, dstStride int, turned []int32, turnedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32) {
	take(dst, dstStride, turned, turnedStride, x, xStride, scale, column, row)
}

func addRowsGo(acc, base []int32, stride int, list []int32) {
	for _, i := range list {
		row := base[int(i)*stride:][:len(acc)]
		for j, w := range row {
			acc[j] += w
		}
	}
}

func subtractRowsGo(acc, base []int32, stride int, list []int32) {
	for _, i := range list {
		row := base[int(i)*stride:][:len(acc)]
		for j, w := range row {
			acc[j] -= w
		}
	}
}

func quantizeGo(dst []int32, x []float32, scale float32) {
	for i, x := range x {
		dst[i] = int32(math.RoundToEven(float64(x * scale)))
	}
}

func takeGo(dst []int32, dstStride int, turned []int32, turnedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32) {
	for i := range row {
		from, to := x[i*xStride:][:len(column)], dst[i*dstStride:][:len(column)]
		quantizeGo(to, from, scale)
		for j, x := range from {
			turned[j*turnedStride+i] = to[j]
			column[j] += max(x, -x)
			row[i] += max(x, -x)
		}
	}
}
