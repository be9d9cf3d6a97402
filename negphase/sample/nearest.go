package sample

import (
	"math"
	"math/bits"

	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// A Comparison has statistics of the distances between pictures and their nearest training rows. For reference,
// the same statistics are computed for randomly drawn training rows of the same classes, one per picture, and
// their nearest other rows. The
// distance of two pictures is the number of inputs in which they differ. A softmax group
// counts once, so the distance of two sequences is the number of differing sites.
type Comparison struct {
	Of                    int     // number of pictures
	Distance, RowDistance float64 // mean distance to the nearest row, of the pictures and of the drawn rows
	// Copies is the number of pictures that are nearer to a training row than any of the drawn
	// rows is to another row. If pictures have the distribution of the data, Copies is about one.
	Copies int
	// Classes counts pictures by the class of the nearest row. It is nil if no picture should have a
	// class, or if the nearest row does not predict the class of training rows well enough either.
	Classes *Agreement
}

// An Agreement counts pictures whose nearest training row has the class that
// they should have.
type Agreement struct {
	Same int `json:"same"` // number of pictures with this class
	Of   int `json:"of"`   // number of pictures
	// Rows is the number of drawn training rows, one of the same class per picture, whose nearest other
	// row has their class.
	Rows int `json:"rows"`
}

// leastApart is the least fraction of training rows that must have the class of their nearest row. Below it, the
// nearest row of a picture says too little about its class.
const leastApart = 0.8

// Compare compares pictures with the rows of set. Each picture has a value for each input of set. These
// values are rounded to bits. class has the class that each picture should have, or rbm.Free. Rows
// without a label count only for distances. start, if not nil, has the row at which the chain of each
// picture started. A picture is not compared with this row, so that a chain that has not moved does not
// count as a copy. Pictures of a class with fewer than two rows are left out. key determines the drawn
// training rows.
func Compare(set *data.Set, pictures rbm.Matrix, class, start []int32, key rbm.Key) Comparison {
	byClass := map[int32][]int32{}
	for r := range set.Len() {
		byClass[rbm.Free] = append(byClass[rbm.Free], int32(r))
		if set.Y != nil && set.Y[r] != data.NoClass {
			byClass[set.Y[r]] = append(byClass[set.Y[r]], int32(r))
		}
	}
	type pair struct{ picture, row, class, start int32 } // a picture, the drawn row, their class or rbm.Free, and the row where the chain started
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
	found := make([][2]int32, len(pairs)) // nearest rows with a label, of the picture and of the drawn row
	away := make([][2]int, len(pairs))    // distances to their nearest rows, with or without a label
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
		c.Distance += float64(away[i][0]) // sums of whole numbers are exact
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

// cut returns the bits of a picture; values of ½ or more become 1.
func cut(picture []float32) []uint64 {
	b := rbm.NewBits(1, len(picture))
	for j, x := range picture {
		b.Set(0, j, x >= 0.5)
	}
	return b.Row(0)
}

// singleUnits returns bits that are on for inputs outside of softmax groups. It returns nil if set has no
// groups.
func singleUnits(set *data.Set) []uint64 {
	if set.Groups == nil {
		return nil
	}
	b, unit := rbm.NewBits(1, set.X.Cols), 0
	for _, g := range set.Groups {
		for j := range g.Units {
			b.Set(0, unit+j, !g.Joint())
		}
		unit += g.Units
	}
	return b.Row(0)
}

// distance returns the number of variables in which the rows differ. single is the result of singleUnits. In a
// softmax group that differs, one unit is on in x and off in row.
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

// nearestRow returns the distance of x from the nearest row of set, and the nearest row with a label,
// the first of rows at equal distances. It leaves out row `but`.
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

// Leave reports whether the nearest row has the class of a picture significantly less often than
// it has the class of a training row.
func (a Agreement) Leave() bool {
	p, q := float64(a.Same)/float64(a.Of), float64(a.Rows)/float64(a.Of)
	both := float64((p + q) / 2)
	err := math.Sqrt(both * (1 - both) / float64(a.Of))
	return diag.Above(q, err, p, err)
}
