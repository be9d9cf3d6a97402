package sample

import (
	"math"
	"math/bits"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// A Comparison compares pictures with the training rows nearest to them, and as many
// training rows, of the same classes, with the other rows nearest to these. The
// distance of two pictures is the number of inputs in which they differ, where a softmax group
// counts once: that of two sequences is the number of sites.
type Comparison struct {
	Of                    int     // pictures
	Distance, RowDistance float64 // mean distance to the nearest row: of the pictures, of the rows
	// Copies is the number of pictures that are nearer to a row than each of the
	// training rows is to another. Of draws from the distribution of the data it is about one.
	Copies int
	// Classes counts pictures by the class of the nearest row. It is nil if no class
	// was asked for, or if the training rows themselves lie too near to rows of other
	// classes for that to tell.
	Classes *Agreement
}

// An Agreement counts pictures whose nearest training row has the class that
// they should have.
type Agreement struct {
	Same int `json:"same"`
	Of   int `json:"of"`
	// Rows is how many of as many training rows, of the same classes, have their
	// nearest other row in their class.
	Rows int `json:"rows"`
}

// leastApart is the least part of the training rows that have their nearest row in
// their class, for the nearest row of a picture to tell of its class.
const leastApart = 0.8

// Compare compares pictures, rows of the inputs of set whose values are cut at ½,
// with the rows of set. class has the class of each picture, or rbm.Free. Rows without a label
// count only for distances.
// start, if not nil, has the row at which the chain of each picture started. A picture is not compared
// with that row, so that a chain which has not left it looks like a training row, not nearer than one.
// Pictures of a class with fewer than two rows are left out. The training rows to compare with are
// drawn by key.
func Compare(set *data.Set, pictures rbm.Matrix, class, start []int32, key rbm.Key) Comparison {
	byClass := map[int32][]int32{}
	for r := range set.Len() {
		byClass[rbm.Free] = append(byClass[rbm.Free], int32(r))
		if set.Y != nil && set.Y[r] != data.NoClass {
			byClass[set.Y[r]] = append(byClass[set.Y[r]], int32(r))
		}
	}
	type pair struct{ picture, row, class, start int32 } // the row of the set, the class or rbm.Free, the row the chain started at
	var pairs []pair
	for i, y := range class {
		rows := byClass[y]
		if len(rows) < 2 {
			continue
		}
		p := pair{int32(i), rows[int(key.Uniform(uint64(i))*float64(len(rows)))], y, rbm.Free}
		if start != nil {
			p.start = start[i]
		}
		pairs = append(pairs, p)
	}
	single := singleUnits(set)
	found := make([][2]int32, len(pairs)) // the nearest row with a label: of the picture, of the row
	away := make([][2]int, len(pairs))    // how far the nearest row of all is
	parallel.Do(2*len(pairs), func(k int) {
		p, side := pairs[k/2], k%2
		x, but := set.X.Row(int(p.row)), p.row
		if side == 0 {
			x, but = cut(pictures.Row(int(p.picture))), p.start
		}
		found[k/2][side], away[k/2][side] = nearestRow(set, single, x, but)
	})
	c := Comparison{Of: len(pairs)}
	a, least := Agreement{}, math.MaxInt
	for i, p := range pairs {
		c.Distance += float64(away[i][0]) // whole numbers: their sums are exact
		c.RowDistance += float64(away[i][1])
		least = min(least, away[i][1])
		if p.class == rbm.Free {
			continue
		}
		a.Of++
		if set.Y[found[i][0]] == p.class {
			a.Same++
		}
		if set.Y[found[i][1]] == p.class {
			a.Rows++
		}
	}
	for _, d := range away {
		if d[0] < least {
			c.Copies++
		}
	}
	c.Distance /= float64(max(1, c.Of))
	c.RowDistance /= float64(max(1, c.Of))
	if a.Of > 0 && float64(a.Rows) >= leastApart*float64(a.Of) {
		c.Classes = &a
	}
	return c
}

// cut returns the bits of a picture, ones from ½ up.
func cut(picture []float32) []uint64 {
	b := rbm.NewBits(1, len(picture))
	for j, x := range picture {
		b.Set(0, j, x >= 0.5)
	}
	return b.Row(0)
}

// singleUnits returns the bits of the inputs that are variables by themselves, not units of a
// softmax group, or nil if all of them are.
func singleUnits(set *data.Set) []uint64 {
	if set.Groups == nil {
		return nil
	}
	b, unit := rbm.NewBits(1, set.X.Cols), 0
	for _, g := range set.Groups {
		for j := range g.Units {
			b.Set(0, unit+j, g.Kind != rbm.Softmax)
		}
		unit += g.Units
	}
	return b.Row(0)
}

// distance returns the number of variables in which the rows differ. Where they differ in a softmax
// group, the unit that is on in x is off in row.
func distance(row, x, single []uint64) int {
	if single == nil {
		return rbm.Hamming(row, x)
	}
	n := 0
	for i, w := range x {
		n += bits.OnesCount64((row[i] ^ w) & (w | single[i]))
	}
	return n
}

// nearestRow returns the distance of x from the nearest row of set, and the nearest row that
// has a label. Of rows at equal distances it takes the first. The row but is left out.
func nearestRow(set *data.Set, single, x []uint64, but int32) (labelled int32, least int) {
	least = math.MaxInt
	leastLabelled := math.MaxInt
	for r := range set.Len() {
		if int32(r) == but {
			continue
		}
		n := distance(set.X.Row(r), x, single)
		least = min(least, n)
		if n < leastLabelled && set.Y != nil && set.Y[r] != data.NoClass {
			leastLabelled, labelled = n, int32(r)
		}
	}
	return labelled, least
}

// Leave holds if pictures are nearest to their class less often than training rows are, by more than
// leaveSD standard deviations, which happens by chance once in 700 times.
const leaveSD = 3

// Leave reports whether pictures have their class clearly less often than
// training rows are.
func (a Agreement) Leave() bool {
	p, q := float64(a.Same)/float64(a.Of), float64(a.Rows)/float64(a.Of)
	both := float64((p + q) / 2)
	return q-p > leaveSD*math.Sqrt(2*both*(1-both)/float64(a.Of))
}
