package vec

// RowSums adds rows of base to the n = len(cuts)−1 rows of acc. Accumulator i
// takes the rows that start at the offsets lists[cuts[i]:cuts[i+1]], in that
// order:
//
//	for i := range n {
//		for _, o := range lists[cuts[i]:cuts[i+1]] {
//			for c := range Block {
//				acc[i*Block+c] += base[o+c]
//			}
//		}
//	}
//
// In the up pass acc is the hidden units of a number of examples, base a panel of
// weights, and lists holds the active visible units. acc and base must not overlap.
// It panics if a slice is too short for the accumulators. Offsets are not checked.
func RowSums(acc, base []float32, lists, cuts []uint32) {
	eachPiece(lists, nil, cuts, false, func(lo, hi int) {
		_, _ = acc[hi*Block-1], base[Block-1]
		rowSums(acc[lo*Block:], base, lists, cuts[lo:hi+1])
	})
}

// ListWords is the number of words of units for whose lists one call of RowSums is
// fastest: all accumulators then read 32 KiB of base from the first-level cache.
// With one word, sums are 5 to 10 % slower because accumulators are loaded and
// stored more often. With all 784 rows, which come from the second-level cache, they
// are 60 % slower (Zen 4).
const ListWords = 2

func rowSumsGo(acc, base []float32, lists, cuts []uint32) {
	for i := range len(cuts) - 1 {
		if list := lists[cuts[i]:cuts[i+1]]; len(list) > 0 {
			rowSumGo((*[Block]float32)(acc[i*Block:]), base, list)
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
