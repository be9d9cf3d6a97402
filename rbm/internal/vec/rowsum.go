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
// It is the up pass (acc the hidden units of a number of examples, base a panel
// of weights, lists the active visible units) and the ascent step (acc rows of
// a panel, base the scaled hidden means, lists the examples in which each
// visible unit is on). acc and base must not overlap. It panics if a slice is
// too short for the accumulators; offsets are trusted.
func RowSums(acc, base []float32, lists, cuts []uint32) {
	n := len(cuts) - 1
	if n <= 0 {
		return
	}
	_ = acc[n*Block-1]
	_ = base[Block-1]
	_ = lists[:cuts[n]]
	// A call of assembly cannot be interrupted: it gets a bounded piece.
	for lo := 0; lo < n; {
		hi := n
		for hi-lo > 1 && int(cuts[hi]-cuts[lo])+hi-lo > rowSumsWork {
			hi = lo + (hi-lo)/2
		}
		if cuts[hi] > cuts[lo] {
			rowSums(acc[lo*Block:], base, lists, cuts[lo:hi+1])
		}
		lo = hi
	}
}

// ListWords is the number of words of units whose lists RowSums is best given
// at once: 32 KiB of base then serve all accumulators from the first-level
// cache. With one word the ends of lists and the accumulators' ways to memory
// and back make sums 5 to 10 % slower; with all 784 rows, which then come from
// the second-level cache, they are 60 % slower (Zen 4).
const ListWords = 2

// rowSumsWork is the number of rows of Block, some 2 ns each, that one call
// of assembly adds; a list that alone is longer is not divided.
const rowSumsWork = 1 << 14

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
