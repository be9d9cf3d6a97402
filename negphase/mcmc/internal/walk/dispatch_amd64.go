//go:build !noasm

package walk

// Assembly has no points at which the garbage collector can stop it. These
// functions are not inlined, so that each call of one is such a point.

//go:noinline
func weigh(field, row []int32, down bool, sign, unit []float32, leaf []uint32, sum *[Lanes]uint32) {
	switch l := InUse(); {
	case l == Go:
		weighGo(field, row, down, sign, unit, leaf, sum)
	case l == AVX512 && !down:
		weighUpAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &leaf[0], &sum[0])
	case l == AVX512:
		weighDownAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &leaf[0], &sum[0])
	case !down:
		weighUpAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &leaf[0], &sum[0])
	default:
		weighDownAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &leaf[0], &sum[0])
	}
}

//go:noinline
func weighTwo(field, row []int32, down bool, sign, unit []float32, gamma *[2]float32, leaf0, leaf1 []uint32, sum0, sum1 *[Lanes]uint32) {
	switch l := InUse(); {
	case l == Go:
		weighTwoGo(field, row, down, sign, unit, gamma, leaf0, leaf1, sum0, sum1)
	case l == AVX512 && !down:
		weighTwoUpAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &gamma[0], &leaf0[0], &leaf1[0], &sum0[0], &sum1[0])
	case l == AVX512:
		weighTwoDownAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &gamma[0], &leaf0[0], &leaf1[0], &sum0[0], &sum1[0])
	case !down:
		weighTwoUpAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &gamma[0], &leaf0[0], &leaf1[0], &sum0[0], &sum1[0])
	default:
		weighTwoDownAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &gamma[0], &leaf0[0], &leaf1[0], &sum0[0], &sum1[0])
	}
}

//go:noinline
func weighSides(field, row []int32, down bool, sign, unit []float32, side, leaf []uint32, sum0, sum1 *[Lanes]uint32) {
	switch l := InUse(); {
	case l == Go:
		weighSidesGo(field, row, down, sign, unit, side, leaf, sum0, sum1)
	case l == AVX512 && !down:
		weighSidesUpAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &side[0], &leaf[0], &sum0[0], &sum1[0])
	case l == AVX512:
		weighSidesDownAVX512(&field[0], &row[0], &sign[0], &unit[0], len(field), &side[0], &leaf[0], &sum0[0], &sum1[0])
	case !down:
		weighSidesUpAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &side[0], &leaf[0], &sum0[0], &sum1[0])
	default:
		weighSidesDownAVX2(&field[0], &row[0], &sign[0], &unit[0], len(field), &side[0], &leaf[0], &sum0[0], &sum1[0])
	}
}

//go:noinline
func quantize(dst []int32, x []float32, scale float32) {
	n := 0
	if InUse() != Go {
		n = len(x) &^ 7
	}
	if n > 0 {
		quantizeAVX2(&dst[0], &x[0], scale, n)
	}
	quantizeGo(dst[n:], x[n:], scale)
}

//go:noinline
func take(dst []int32, dstStride int, turned []int32, turnedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32) {
	if InUse() == Go {
		takeGo(dst, dstStride, turned, turnedStride, x, xStride, scale, column, row)
	} else {
		takeAVX2(&dst[0], dstStride, &turned[0], turnedStride, &x[0], xStride, scale, &column[0], &row[0], len(column)/Square)
	}
}
