package train

import (
	"math"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// An Agreement counts pictures whose nearest training row is of the class that
// they should be of.
type Agreement struct {
	Same int `json:"same"`
	Of   int `json:"of"`
	// Rows is how many of as many training rows, of the same classes, have their
	// nearest other row in their class.
	Rows int `json:"rows"`
}

// leastApart is the least part of the training rows that have their nearest row in
// their class, for the nearest row of a sample to tell of its class.
const leastApart = 0.8

// Agree counts how many samples of m, of Samples(m, set, perClass, seed), are
// nearest to a row of set of the class that they were drawn for. Two pictures are
// as far apart as they have pixels that differ, both cut at ½; of equals the first
// row counts. Neither a training row nor a sample is
// compared with itself, the row that its chain started from: samples whose chains
// have not left it are as good as training rows, not better. ok is false if there are no labels, or if training rows themselves
// lie too near to rows of other classes.
func Agree(m *rbm.RBM, set *data.Set, samples rbm.Matrix, perClass int, seed uint64) (a Agreement, ok bool) {
	if m.Classes() == 0 || set.Y == nil {
		return a, false
	}
	var class, own []int32 // of each picture; the row that it is, or that its chain started from
	var pictures [][]uint64
	for y := range m.Classes() {
		from := rowsOf(set, y)
		if !m.HasClass(y) || len(from) < 2 {
			continue
		}
		key := rbm.NewKey(seed).Child(pictureKey).Child(uint64(y))
		start := pick(from, perClass, key)
		for i, row := range pick(from, perClass, key.Child(sampleReference)) {
			cut := rbm.NewBits(1, samples.Cols)
			for j, x := range samples.Row(y*perClass + i) {
				cut.Set(0, j, x >= 0.5)
			}
			pictures = append(pictures, cut.Row(0), set.X.Row(int(row)))
			class, own = append(class, int32(y), int32(y)), append(own, start[i], row)
		}
	}
	same := make([]bool, len(pictures))
	parallel.Do(len(pictures), func(i int) {
		same[i] = set.Y[nearestRow(set, pictures[i], own[i])] == class[i]
	})
	a.Of = len(pictures) / 2
	for i, s := range same {
		switch {
		case s && i%2 == 0:
			a.Same++
		case s:
			a.Rows++
		}
	}
	return a, a.Of > 0 && float64(a.Rows) >= leastApart*float64(a.Of)
}

// nearestRow returns the row of set, other than but, that differs from x in the
// fewest inputs.
func nearestRow(set *data.Set, x []uint64, but int32) (nearest int) {
	least := math.MaxInt
	for r := range set.Len() {
		if int32(r) == but {
			continue
		}
		if n := differ(set.X.Row(r), x); n < least {
			least, nearest = n, r
		}
	}
	return nearest
}

// leaveSD is the number of standard deviations by which samples must be nearest to
// their class less often than training rows are, for Leave: by chance that happens
// once in 700 times.
const leaveSD = 3

// Leave reports whether samples are of their class clearly less often than
// training rows are.
func (a Agreement) Leave() bool {
	p, q := float64(a.Same)/float64(a.Of), float64(a.Rows)/float64(a.Of)
	both := (p + q) / 2
	return q-p > leaveSD*math.Sqrt(2*both*(1-both)/float64(a.Of))
}
