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

// Magnitudes adds |x| to column, and the elements whose numbers are equal mod
// Lanes to lane too. The length of x is a positive multiple of Lanes.
func Magnitudes(column []float32, lane *[Lanes]float32, x []float32) { magnitudes(column, lane, x) }

// Transpose writes the transpose of Lanes rows of src, of so many columns, a
// positive multiple of Lanes, to dst.
func Transpose(dst []int32, dstStride int, src []int32, srcStride, columns int) {
	transpose(dst, dstStride, src, srcStride, columns)
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

func magnitudesGo(column []float32, lane *[Lanes]float32, x []float32) {
	for j, x := range x {
		x = max(x, -x)
		column[j] += x
		lane[j%Lanes] += x
	}
}

func transposeGo(dst []int32, dstStride int, src []int32, srcStride, columns int) {
	for i := range Lanes {
		for j, x := range src[i*srcStride:][:columns] {
			dst[j*dstStride+i] = x
		}
	}
}
