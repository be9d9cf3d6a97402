package exact

import (
	"math"
	"math/bits"
)

const (
	// lowUnits is the largest number of binary units whose states form a base: see listing.
	lowUnits = 6
	// manyStates is the largest count of states; larger counts are set to manyStates. It is above every limit.
	manyStates = 1 << 38
)

// A listing numbers the states of the listed layer in Gray-code order. The layer is a list of variables: binary
// units, then softmax groups. Consecutive states differ in few variables, in one if there is no constraint.
//
// A base is the set of the states that differ only in the first few binary units, the low units. Bases have
// numbers; the caller visits the states within a base. A constraint on the number of active units filters
// the listing: only bases with an allowed state are numbered.
type listing struct {
	low  int        // number of low units
	high []variable // the other variables, the first of which changes fastest

	filtered    bool // there is a constraint on the number of active listed units
	least, most int  // the allowed numbers of active listed units
	// table[k][c] is the number of bases in which the first k high variables are free, and c listed units of the
	// others are active. Without a filter c is always 0.
	table  [][]int
	states int // number of states that are listed
}

// A variable is a binary unit or a softmax group.
type variable struct {
	first int // index of its first listed unit
	size  int // number of states: 2 for a binary unit
	group bool
}

// unit returns the listed unit that is on in state d, or −1 if none is.
func (v variable) unit(d int) int {
	if v.group {
		return v.first + d
	}
	if d == 0 {
		return -1
	}
	return v.first
}

// newListing returns the listing of binary units and of softmax groups of these sizes, in which least … most
// units are active.
func newListing(binary int, groups []int, filtered bool, least, most int) listing {
	l := listing{low: min(binary, lowUnits), filtered: filtered, least: least, most: most}
	for i := l.low; i < binary; i++ {
		l.high = append(l.high, variable{first: i, size: 2})
	}
	at := binary
	for _, n := range groups {
		l.high = append(l.high, variable{first: at, size: n, group: true})
		at += n
	}
	within := func(active int) (n int) {
		for s := range 1 << l.low {
			if l.allows(active + bits.OnesCount(uint(s))) {
				n++
			}
		}
		return n
	}
	l.states = l.count(within)[len(l.high)][0]
	l.table = l.count(func(active int) int { return min(1, within(active)) })
	return l
}

// bases returns the number of bases.
func (l *listing) bases() int { return l.table[len(l.high)][0] }

// log2 returns the binary logarithm of the number of states, for errors. Under a constraint on more than
// manyStates states it is that of manyStates.
func (l *listing) log2() float64 {
	if l.filtered {
		return math.Log2(float64(l.states))
	}
	sum := float64(l.low)
	for _, v := range l.high {
		sum += math.Log2(float64(v.size))
	}
	return sum
}

// allows reports whether the filter lets a state with this number of active listed units pass.
func (l *listing) allows(active int) bool {
	return !l.filtered || active >= l.least && active <= l.most
}

// count returns the table of listing.table, in which a base with c active units above the low ones counts
// of(c) times.
func (l *listing) count(of func(active int) int) [][]int {
	n := len(l.high)
	table := make([][]int, n+1)
	for k := range table {
		columns := 1
		if l.filtered {
			columns += min(n-k, l.most+1) // none is allowed from most+1 on
		}
		table[k] = make([]int, columns)
		for c := range table[k] {
			if k == 0 {
				table[k][c] = of(c)
				continue
			}
			if l.filtered && c > l.most {
				continue
			}
			for d := range l.high[k-1].size {
				table[k][c] = min(table[k][c]+table[k-1][c+l.active(k-1, d)], manyStates)
			}
		}
	}
	return table
}

// active returns the number of active units that count for the filter in state d of high variable k.
func (l *listing) active(k, d int) int {
	if l.filtered && (d > 0 || l.high[k].group) {
		return 1
	}
	return 0
}

// base overwrites state with the states of the high variables in base n. It also returns the number of active
// units among them that count for the filter, and whether the low units are visited backward.
func (l *listing) base(state []int, n int) (active int, backward bool) {
	for k := len(l.high) - 1; k >= 0; k-- {
		// The states of the first k variables are visited forward under an even state of variable k, and backward
		// under an odd one, or the reverse if this variable itself is visited backward.
		d, step := 0, 1
		if backward {
			d, step = l.high[k].size-1, -1
		}
		for ; ; d += step {
			number := l.table[k][active+l.active(k, d)]
			if n < number {
				break
			}
			n -= number
		}
		state[k] = d
		active += l.active(k, d)
		backward = backward != (d&1 != 0)
	}
	return active, backward
}
