package vec

import "math/bits"

// MaxSubset is the largest number of members of a Subsets.
const MaxSubset = 16

// Subsets computes the permanent of a matrix of weights by a recursion over the subsets of its
// columns, the members. A subset is a number with bit Member(k) for each of its members k.
//
// The last six members have the lowest bits, so a block of 64 consecutive subsets differs only in these six.
// Sums add members in ascending order, so the terms of these six come last.
type Subsets struct {
	n    int
	coef []float64 // factors for the assembly: see setSubsets
}

// NewSubsets returns a Subsets for n members, 1 ≤ n ≤ MaxSubset.
func NewSubsets(n int) *Subsets {
	if n < 1 || n > MaxSubset {
		panic("vec: Subsets of more than MaxSubset members, or none")
	}
	s := &Subsets{n: n}
	if n >= 2*subsetLanes {
		s.coef = make([]float64, (n-subsetLanes+1)*subsetStride*Wide)
	}
	return s
}

const (
	// subsetLanes is the number of members whose subsets are the lanes of a vector. The subsets of as
	// many other members are the vectors of a block.
	subsetLanes = 3

	// subsetStride is the number of vectors of coef for one number p of setSubsets: subsetInner
	// within a vector, then one for each member of a block and one for each other member.
	subsetInner  = 6
	subsetStride = subsetInner + subsetLanes + MaxSubset - 2*subsetLanes
)

// Member returns the bit of member k.
func (s *Subsets) Member(k int) uint {
	switch n := s.n; {
	case n < 2*subsetLanes:
		return 1 << k
	case k < n-2*subsetLanes:
		return 1 << (k + 2*subsetLanes)
	case k < n-subsetLanes:
		return 1 << (k - (n - 2*subsetLanes) + subsetLanes)
	default:
		return 1 << (k - (n - subsetLanes))
	}
}

// Fill overwrites table, of length 2ⁿ, with the permanents of submatrices of a, an n×n matrix row by row.
// The entry of subset S is the permanent of the last |S| rows of a with the columns S, and that of the
// empty subset is 1:
//
//	table[S] = Σ_{k in S, ascending} a[(n−|S|)·n+k]·table[S−{k}]
//
// Weights must be +0 or positive and finite, and so small that no sum overflows. It panics if
// a slice has another length.
func (s *Subsets) Fill(table, a []float64) {
	if len(table) != 1<<s.n || len(a) != s.n*s.n {
		panic("vec: Subsets.Fill needs a table of 2ⁿ elements and n×n weights")
	}
	if s.coef == nil {
		fillSubsetsGo(table, a, s.coef, s.n)
		return
	}
	fillSubsets(table, a, s.coef, s.n)
}

func fillSubsetsGo(table, a, _ []float64, n int) {
	order := [...]struct{ mask, lowest uint }{{1<<n - 1, 0}, {}, {}} // groups of bits, in ascending order of members
	shift := [...]int{0, 0, 0}                                       // member minus bit number, for each group
	if n >= 2*subsetLanes {
		const lanes = 1<<subsetLanes - 1
		order[0].mask &^= lanes<<subsetLanes | lanes
		order[1].mask, order[2].mask = lanes<<subsetLanes, lanes
		shift = [...]int{-2 * subsetLanes, n - 3*subsetLanes, n - subsetLanes}
	}
	table[0] = 1
	for s := uint(1); s < 1<<n; s++ {
		row := a[(n-bits.OnesCount(s))*n:][:n]
		sum := 0.0
		for i := range order {
			for t := s & order[i].mask; t != 0; t &= t - 1 {
				k := bits.TrailingZeros(t)
				sum += float64(row[k+shift[i]] * table[s&^(1<<k)])
			}
		}
		table[s] = sum
	}
}

// setSubsets overwrites coef with weights in the layout of the assembly: vectors of eight lanes, for each
// number p of members of a subset that are not members of the lanes. A lane without the member has
// weight zero, because adding +0 changes no sum.
func setSubsets(coef, a []float64, n int) {
	inner, outer := n-subsetLanes, n-2*subsetLanes
	row := func(p int) []float64 { return a[(n-p)*n:][:n] } // the row of a for subsets of p members
	for p := range inner + 1 {
		c := coef[p*subsetStride*Wide:][:subsetStride*Wide]
		// Terms within a vector: a lane with one member has a term from lane 0. A lane with two members has a
		// term for the first member, from the lane of the second alone, then the reverse. Lane 7 has three terms.
		one, two, three := row(p + 1)[inner:], row(p + 2)[inner:], row(p + 3)[inner:]
		c[1], c[2], c[4] = one[0], one[1], one[2]
		c[Wide+3], c[Wide+5], c[Wide+6] = two[0], two[0], two[1]
		c[2*Wide+3], c[2*Wide+5], c[2*Wide+6] = two[1], two[2], two[2]
		c[3*Wide+7], c[4*Wide+7], c[5*Wide+7] = three[0], three[1], three[2]
		if p == 0 {
			continue // no other member
		}
		// Terms of the other members, first those within a block.
		none, one, two, three := row(p), row(p+1), row(p+2), row(p+3)
		for i := range inner {
			k := outer + i
			if i >= subsetLanes {
				k = i - subsetLanes
			}
			w0, w1, w2, w3 := none[k], one[k], two[k], three[k]
			*(*[Wide]float64)(c[(subsetInner+i)*Wide:]) = [Wide]float64{w0, w1, w1, w2, w1, w2, w2, w3}
		}
	}
}
