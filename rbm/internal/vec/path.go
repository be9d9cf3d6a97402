package vec

// Blend writes, for each of n rows of Block units, the preactivations at
// beta[r] on the straight path from independent units of biases base to x:
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
