package vec

// RowSums64 adds rows of base, times values, to rows of acc in float64. lists has the offsets of the
// rows of base, and cuts the range of lists for each row of acc. A nil values means 1 for all:
//
//	for i := range len(cuts)-1 {
//		for k := cuts[i]; k < cuts[i+1]; k++ {
//			for c := range Block {
//				acc[i*stride+c] += float64(values[k]) * float64(base[lists[k]+c])
//			}
//		}
//	}
//
// The caller may convert base to float64 first, by Widen. The result is identical, and RowSums64 is then
// faster if each row is added often. Products of two float32 are exact in float64. RowSums64 panics if acc or
// values is too short. It does not check offsets.
func RowSums64[T float32 | float64](acc []float64, stride int, base []T, lists []uint32, values []float32, cuts []uint32) {
	eachPiece(lists, values, cuts, func(lo, hi int) {
		_ = acc[(hi-1)*stride+Block-1]
		switch base := any(base).(type) {
		case []float32:
			rowSums64From32(acc[lo*stride:], stride, base, lists, values, cuts[lo:hi+1])
		case []float64:
			rowSums64From64(acc[lo*stride:], stride, base, lists, values, cuts[lo:hi+1])
		}
	})
}

// RowSumsTimes adds rows of base, times values, to rows of acc. lists has the offsets of the rows of
// base, and cuts the range of lists for each row of acc:
//
//	acc[i*Block+c] += values[k] * base[lists[k]+c],  cuts[i] ≤ k < cuts[i+1]
//
// in float32, with product and sum rounded separately. If whole is not 0, each range must have at most whole
// offsets, and all ranges with that number of offsets must be equal. RowSumsTimes then computes several of
// their sums at once, which saves time.
func RowSumsTimes(acc, base []float32, lists []uint32, values []float32, cuts []uint32, whole int) {
	eachPiece(lists, values, cuts, func(lo, hi int) {
		_ = acc[hi*Block-1]
		cuts := cuts[lo : hi+1]
		eachDense(cuts, whole, func(i int) {
			denseSums(acc[(lo+i)*Block:], base, lists[cuts[i]:cuts[i+1]], values[cuts[i]:])
		}, func(i, j int) {
			rowSumsTimes(acc[(lo+i)*Block:], base, lists, values, cuts[i:j+1])
		})
	})
}

// eachPiece divides the rows of acc into pieces lo … hi−1 with at most rowSumsWork offsets, and calls f
// for each. It skips pieces without offsets.
func eachPiece(lists []uint32, values []float32, cuts []uint32, f func(lo, hi int)) {
	n := len(cuts) - 1
	if n <= 0 {
		return
	}
	_ = lists[:cuts[n]]
	if values != nil {
		_ = values[:cuts[n]]
	}
	for lo := 0; lo < n; {
		hi := n
		for hi-lo > 1 && int(cuts[hi]-cuts[lo]+uint32(hi-lo)) > rowSumsWork {
			hi = lo + (hi-lo)/2
		}
		if cuts[hi] > cuts[lo] {
			f(lo, hi)
		}
		lo = hi
	}
}

func rowSums64Go[T float32 | float64](acc []float64, stride int, base []T, lists []uint32, values []float32, cuts []uint32) {
	for i := range len(cuts) - 1 {
		a := (*[Block]float64)(acc[i*stride:])
		for k := cuts[i]; k < cuts[i+1]; k++ {
			row := (*[Block]T)(base[lists[k]:])
			// Four at a time, because one at a time takes up to twice as long, depending on code alignment.
			if values == nil {
				for c := 0; c < Block; c += 4 {
					a[c] += float64(row[c])
					a[c+1] += float64(row[c+1])
					a[c+2] += float64(row[c+2])
					a[c+3] += float64(row[c+3])
				}
				continue
			}
			x := float64(values[k])
			for c := 0; c < Block; c += 4 {
				a[c] += float64(x * float64(row[c]))
				a[c+1] += float64(x * float64(row[c+1]))
				a[c+2] += float64(x * float64(row[c+2]))
				a[c+3] += float64(x * float64(row[c+3]))
			}
		}
	}
}

func rowSumsTimesGo(acc, base []float32, lists []uint32, values []float32, cuts []uint32) {
	for i := range len(cuts) - 1 {
		rowSumTimesGo((*[Block]float32)(acc[i*Block:]), base, lists[cuts[i]:cuts[i+1]], values[cuts[i]:cuts[i+1]])
	}
}

func rowSumTimesGo(a *[Block]float32, base []float32, list []uint32, x []float32) {
	for ; len(list) >= 4; list, x = list[4:], x[4:] {
		r0 := (*[Block]float32)(base[list[0]:])
		r1 := (*[Block]float32)(base[list[1]:])
		r2 := (*[Block]float32)(base[list[2]:])
		r3 := (*[Block]float32)(base[list[3]:])
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		for c := range a {
			a[c] = a[c] + float32(x0*r0[c]) + float32(x1*r1[c]) + float32(x2*r2[c]) + float32(x3*r3[c])
		}
	}
	for k, o := range list {
		row, x := (*[Block]float32)(base[o:]), x[k]
		for c, w := range row {
			a[c] += float32(x * w)
		}
	}
}

// AddTimes adds a·x to rows of dst:
//
//	dst[r*dstStride+i] += a * x[r*xStride+i],  r < rows, i < width
//
// with product and sum rounded separately. A product below Tiny in absolute value counts as
// zero. dst and x must not overlap.
func AddTimes(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int) {
	if rows <= 0 || width <= 0 {
		return
	}
	_ = dst[(rows-1)*dstStride+width-1]
	_ = x[(rows-1)*xStride+width-1]
	step := max(1, addTimesWork/width)
	for r := 0; r < rows; r += step {
		addTimes(dst[r*dstStride:], dstStride, x[r*xStride:], xStride, a, min(step, rows-r), width)
	}
}

func addTimesGo(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int) {
	for r := range rows {
		to := dst[r*dstStride:][:width]
		for i, x := range x[r*xStride:][:width] {
			to[i] += flush(float32(a * x))
		}
	}
}

// Widen converts x to float64. It panics if len(x) is not a multiple of Wide or dst
// is shorter.
func Widen(dst []float64, x []float32) {
	if len(x)%Wide != 0 {
		panic("vec: Widen of a number of values that is not a multiple of eight")
	}
	dst = dst[:len(x)]
	for len(x) > 0 {
		n := min(len(x), wideWork)
		widen(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

func widenGo(dst []float64, x []float32) {
	for i, x := range x {
		dst[i] = float64(x)
	}
}
