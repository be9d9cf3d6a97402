package walk

import "math"

// Lanes is the number of 32-bit numbers in the widest vectors.
// Sizes of dense layers are padded to a multiple of it.
const Lanes = 16

// AddRows adds rows of a matrix to acc, whose length must be a positive multiple of Lanes. list has the
// indices of the rows; row i starts at base[i*stride].
func AddRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		addRows(acc, base, stride, list)
	}
}

// SubtractRows subtracts rows of a matrix from acc; see AddRows.
func SubtractRows(acc, base []int32, stride int, list []int32) {
	if len(list) > 0 {
		subtractRows(acc, base, stride, list)
	}
}

// Quantize writes x·scale to dst, rounded to the nearest integers, ties to even.
func Quantize(dst []int32, x []float32, scale float32) {
	n := len(x) &^ 7 // the assembly needs a multiple of 8
	if n > 0 {
		quantize(dst[:n], x[:n], scale)
	}
	quantizeGo(dst[n:], x[n:], scale)
}

// Square is the number of rows that Take quantizes.
const Square = 8

// Take quantizes Square rows of the matrix x like Quantize. It writes the integers to rows of dst
// and, transposed, to rows of transposed. The strides are the distances between rows of each matrix. The
// number of columns is len(column), a positive multiple of Square. Take adds the magnitudes |x| of each
// column to column[j] and those of each row to row[i], in ascending order of i and j.
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
