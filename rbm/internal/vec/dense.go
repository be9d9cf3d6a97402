package vec

// Rows of real units usually have no zeros, so their lists of nonzero units are complete and equal.
// The dense kernels then compute denseRows sums from each row of base that they read. The sums have the
// same terms and order as those of RowSumsTimes and AddSumsTimes.

// denseRows is the number of sums that a dense kernel computes at once.
const denseRows = 4

// eachDense divides lists of up to whole offsets between dense and other kernels. It calls dense(first) if
// each of the lists first … first+denseRows−1 has length whole, and others(lo, hi) for the lists lo … hi−1
// between these.
func eachDense(cuts []uint32, whole int, dense func(first int), others func(lo, hi int)) {
	count, from := len(cuts)-1, 0
	for i := 0; whole > 0 && i+denseRows <= count; i += denseRows {
		if int(cuts[i+denseRows]-cuts[i]) < denseRows*whole {
			continue
		}
		if from < i {
			others(from, i)
		}
		dense(i)
		from = i + denseRows
	}
	if from < count {
		others(from, count)
	}
}

// denseSumsGo adds to denseRows rows r of dst
//
//	dst[r*Block+c] += values[r*n+k] * base[list[k]+c],  k < n = len(list)
func denseSumsGo(dst, base []float32, list []uint32, values []float32) {
	for r := range denseRows {
		rowSumTimesGo((*[Block]float32)(dst[r*Block:]), base, list, values[r*len(list):][:len(list)])
	}
}

// denseRunGo computes denseRows sums Σ_k values[r*stride+k] * base[list[k]+c], starting with the first
// product. It adds plus to each if plus is not empty, then dst if add is not 0, and writes them to dst.
func denseRunGo(dst, plus, base []float32, list []uint32, values []float32, stride, add int) {
	for r := range denseRows {
		var sum [Block]float32
		x := values[r*stride:][:len(list)]
		for c, w := range (*[Block]float32)(base[list[0]:]) {
			sum[c] = float32(x[0] * w)
		}
		rowSumTimesGo(&sum, base, list[1:], x[1:])
		to := (*[Block]float32)(dst[r*Block:])
		for c := range sum {
			if len(plus) > 0 {
				sum[c] += plus[r*Block+c]
			}
			if add != 0 {
				sum[c] += to[c]
			}
			to[c] = sum[c]
		}
	}
}

// addDense adds two-level sums of the rows in list, times values, to denseRows rows of dst.
func addDense(dst, base []float32, list []uint32, values []float32) {
	n := len(list)
	if n <= Run {
		denseRun(dst, nil, base, list, values, n, 1)
		return
	}
	var total [denseRows * Block]float32
	denseRun(total[:], nil, base, list[:Run], values, n, 0)
	k := Run
	for ; k+Run < n; k += Run {
		denseRun(total[:], total[:], base, list[k:k+Run], values[k:], n, 0)
	}
	denseRun(dst, total[:], base, list[k:], values[k:], n, 1)
}
