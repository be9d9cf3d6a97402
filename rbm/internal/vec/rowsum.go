package vec

// RowSums adds rows of base to n = len(cuts)−1 consecutive rows of acc in each
// of a number of panels. Accumulator i takes the rows that start at the
// offsets lists[cuts[i]:cuts[i+1]], in that order:
//
//	for p := range panels {
//		for i := range n {
//			for _, o := range lists[cuts[i]:cuts[i+1]] {
//				for c := range Block {
//					acc[p*accStride+i*Block+c] += base[p*baseStride+o+c]
//				}
//			}
//		}
//	}
//
// It is the up pass (acc the hidden units of a number of examples, base panels
// of weights, lists the active visible units) and the ascent step (acc rows of
// panels, base the scaled hidden means, lists the examples in which each
// visible unit is on). acc and base must not overlap. It panics if a slice is
// too short for the accumulators; offsets are trusted.
func RowSums(acc []float32, accStride int, base []float32, baseStride, panels int, lists, cuts []uint32) {
	n := len(cuts) - 1
	if n <= 0 || panels <= 0 {
		return
	}
	_ = acc[(panels-1)*accStride+n*Block-1]
	_ = base[(panels-1)*baseStride+Block-1]
	_ = lists[:cuts[n]]
	// A call of assembly cannot be interrupted: it gets a bounded piece.
	for lo := 0; lo < n; {
		hi := n
		for hi-lo > 1 && int(cuts[hi]-cuts[lo]+uint32(hi-lo))*panels > rowSumsWork {
			hi = lo + (hi-lo)/2
		}
		if cuts[hi] > cuts[lo] {
			rowSums(acc[lo*Block:], accStride, base, baseStride, panels, lists, cuts[lo:hi+1])
		}
		lo = hi
	}
}

// rowSumsWork is the number of rows of Block, some 3 ns each, that one call
// of assembly adds; a list that alone is longer is not divided.
const rowSumsWork = 1 << 14

func rowSumsGo(acc []float32, accStride int, base []float32, baseStride, panels int, lists, cuts []uint32) {
	for p := range panels {
		base := base[p*baseStride:]
		for i := range len(cuts) - 1 {
			if list := lists[cuts[i]:cuts[i+1]]; len(list) > 0 {
				rowSumGo((*[Block]float32)(acc[p*accStride+i*Block:]), base, list)
			}
		}
	}
}

func rowSumGo(acc *[Block]float32, base []float32, list []uint32) {
	for len(list) >= 4 {
		r0 := (*[Block]float32)(base[list[0]:])
		r1 := (*[Block]float32)(base[list[1]:])
		r2 := (*[Block]float32)(base[list[2]:])
		r3 := (*[Block]float32)(base[list[3]:])
		for c := range acc {
			acc[c] = acc[c] + r0[c] + r1[c] + r2[c] + r3[c]
		}
		list = list[4:]
	}
	for _, o := range list {
		r := (*[Block]float32)(base[o:])
		for c := range acc {
			acc[c] += r[c]
		}
	}
}
