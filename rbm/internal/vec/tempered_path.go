package vec

import "math"

// Blend writes the preactivations of n rows r of Block units at inverse temperature
// beta[r]. x has those at β = 1, and base those at β = 0, the biases of independent units:
//
//	dst[r·Block+i] = beta[r]·x[r·Block+i] + (1−beta[r])·base[i]
//
// in float32, both products rounded before they are added. dst may be x.
func Blend(dst, x, beta []float32, base *[Block]float32, n int) {
	if n <= 0 {
		return
	}
	_ = dst[n*Block-1]
	_ = x[n*Block-1]
	_ = beta[n-1]
	for lo := 0; lo < n; lo += rowsWork {
		blend(dst[lo*Block:], x[lo*Block:], beta[lo:], base, min(rowsWork, n-lo))
	}
}

func blendGo(dst, x, beta []float32, base *[Block]float32, n int) {
	for r := range n {
		b := beta[r]
		from, to := (*[Block]float32)(x[r*Block:]), (*[Block]float32)(dst[r*Block:])
		for i, a := range base {
			to[i] = float32(b*from[i]) + float32((1-b)*a)
		}
	}
}

// Rises writes the increase of Σ log(1+e^z) over the Block units of each of n rows from one
// inverse temperature to another. With
//
//	yᵢ = from·x[i] + fromShift[i],  zᵢ = to·x[i] + toShift[i]
//
// in float64,
//
//	part[r]   = Σ max(zᵢ,0) − max(yᵢ,0)
//	factor[r] = Π (1+e^−|zᵢ|) / Π (1+e^−|yᵢ|)
//
// and the increase is part[r] + log factor[r]. Lane l of eight adds and multiplies the terms of units
// l, l+8, … in order. Then lanes q and q+4 are combined,
// then q and q+2, then 0 and 1. A NaN makes part NaN and factor undefined.
func Rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int) {
	if n <= 0 {
		return
	}
	_ = factor[n-1]
	_ = part[n-1]
	_ = x[n*Block-1]
	for lo := 0; lo < n; lo += rowsWork {
		rises(factor[lo:], part[lo:], x[lo*Block:], from, to, fromShift, toShift, min(rowsWork, n-lo))
	}
}

func risesGo(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int) {
	for r := range n {
		var sum [8]float64
		low, high := [8]float64{1, 1, 1, 1, 1, 1, 1, 1}, [8]float64{1, 1, 1, 1, 1, 1, 1, 1}
		for i, x := range x[r*Block:][:Block] {
			y := float64(from*float64(x)) + fromShift[i]
			z := float64(to*float64(x)) + toShift[i]
			sum[i%8] += max(z, 0) - max(y, 0)
			low[i%8] *= 1 + Exp(-math.Abs(y))
			high[i%8] *= 1 + Exp(-math.Abs(z))
		}
		for half := 4; half > 0; half /= 2 {
			for q := range half {
				sum[q] += sum[q+half]
				low[q] *= low[q+half]
				high[q] *= high[q+half]
			}
		}
		part[r], factor[r] = sum[0], high[0]/low[0]
	}
}
