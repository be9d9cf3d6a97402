package vec

// Rows of real units usually have no zeros, so that their lists of nonzero places are complete and the same for all
// rows. Then denseRows sums share each row of the base that they read. The sums are identical, term by term, to
// those of RowSumsTimes and AddSumsTimes.

// denseRows is the number of sums that share the rows of the base.
const denseRows = 4

// eachDense divides lists, of at most whole offsets each: it calls dense with the first of denseRows lists of whole offsets, and
// others with the numbers of the first list and the one after the last of those in between.
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

// denseSumsGo adds to each of denseRows rows of dst, with n the length of the list,
//
//	dst[r*Block+c] += values[r*n+k] * base[list[k]+c],  k < n
func denseSumsGo(dst, base []float32, list []uint32, values []float32) {
	for r := range denseRows {
		rowSumTimesGo((*[Block]float32)(dst[r*Block:]), base, list, values[r*len(list):][:len(list)])
	}
}

// denseRunGo overwrites dst with such sums that begin with their first product, of values stride apart. It adds
// plus to a sum, if there is any, and then dst, if add is not 0.
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

// addDense adds to each of denseRows rows of dst the two-level sum of a list.
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
