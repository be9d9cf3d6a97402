package walk

import "math"

// Lanes is what the sizes of dense layers are padded to with zeros: the
// vector of 16 32-bit numbers that the widest kernels work on.
const Lanes = 16

// AddRows adds rows of a matrix of the given stride, those that list names, to
// acc, whose length is a multiple of Lanes.
func AddRows(acc, base []int32, stride int, list []int32) {
	for _, i := range list {
		row := base[int(i)*stride:][:len(acc)]
		for j, w := range row {
			acc[j] += w
		}
	}
}

// SubtractRows takes them off.
func SubtractRows(acc, base []int32, stride int, list []int32) {
	for _, i := range list {
		row := base[int(i)*stride:][:len(acc)]
		for j, w := range row {
			acc[j] -= w
		}
	}
}

// Quantize writes x·scale to dst, rounded to whole numbers, ties to even.
func Quantize(dst []int32, x []float32, scale float32) {
	for i, x := range x {
		dst[i] = int32(math.RoundToEven(float64(x * scale)))
	}
}

// Transpose writes the transpose of src, of the given strides and both their
// multiples of Lanes, to dst: the rows of one are as many as the other's stride.
func Transpose(dst []int32, dstStride int, src []int32, srcStride int) {
	for i := range dstStride {
		for j, x := range src[i*srcStride : (i+1)*srcStride] {
			dst[j*dstStride+i] = x
		}
	}
}
