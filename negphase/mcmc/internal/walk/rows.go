package walk

import "math"

// Lanes is the number of 32-bit numbers in the vectors of the widest kernels.
// Sizes of dense layers are padded to a multiple of it.
const Lanes = 16

// AddRows adds the rows that list names of a matrix of the given stride to acc,
// whose length is a positive multiple of Lanes.
func AddRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		addRows(acc, base, stride, list)
	}
}

// SubtractRows subtracts them.
func SubtractRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		subtractRows(acc, base, stride, list)
	}
}

// Quantize writes x·scale to dst, rounded to integers, ties to even.
func Quantize(dst []int32, x []float32, scale float32) {
	n := len(x) &^ 7 // that the assembly takes
	if n > 0 {
		quantize(dst[:n], x[:n], scale)
	}
	quantizeGo(dst[n:], x[n:], scale)
}

// Square is the number of rows that Take quantizes.
const Square = 8

// Take quantizes Square rows of x, xStride apart, and writes them to rows of dst
// and, transposed, to rows of transposed. The number of columns is the length of
// column, a positive multiple of Square. It adds the magnitudes to column, in the
// order of the rows, and to row, in the order of the columns.
func Take(dst []int32, dstStride int, transposed []int32, transposedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32) {
	take(dst, dstStride, transposed, transposedStride, x, xStride, scale, column, row)
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

func takeGo(dst []int32, dstStride int, transposed []int32, transposedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32) {
	for i := range row {
		from, to := x[i*xStride:][:len(column)], dst[i*dstStride:][:len(column)]
		quantizeGo(to, from, scale)
		for j, x := range from {
			transposed[j*transposedStride+i] = to[j]
			column[j] += max(x, -x)
			row[i] += max(x, -x)
		}
	}
}
