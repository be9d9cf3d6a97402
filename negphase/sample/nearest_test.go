package sample

import (
	"slices"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// clusters returns rows of three classes. Each class has a pattern of 12 pixels, and each row
// has one more pixel on.
func clusters() *data.Set {
	s := &data.Set{Name: "clusters", X: rbm.NewBits(90, 36), Y: make([]int32, 90), Classes: []string{"a", "b", "c"}, Height: 6, Width: 6, Binarize: data.Binary}
	for r := range 90 {
		y := r / 30
		s.Y[r] = int32(y)
		for i := range 12 {
			s.X.Set(r, 12*y+i, true)
		}
		s.X.Set(r, (12*y+12+r%24)%36, true)
	}
	return s
}

// The distance of two sequences is the number of sites with different letters.
func TestCompareSites(t *testing.T) {
	const sites, q = 30, 3
	s := &data.Set{Name: "sequences", X: rbm.NewBits(3, sites*q+2), Binarize: data.Binary,
		Groups: slices.Concat(slices.Repeat([]rbm.Group{{Kind: rbm.Softmax, Units: q}}, sites), []rbm.Group{{Kind: rbm.Bernoulli, Units: 2}})}
	put := func(r, differ int, bits ...int) { // the first differ sites have another letter
		for i := range sites {
			letter := 0
			if i < differ {
				letter = r
			}
			s.X.Set(r, q*i+letter, true)
		}
		for _, b := range bits {
			s.X.Set(r, sites*q+b, true)
		}
	}
	put(0, 0, 0)
	put(1, 7, 1)     // 7 sites and 2 bits from row 0
	put(2, 25, 0, 1) // 25 sites and a bit from row 0, and as many from row 1
	single := singleUnits(s)
	for _, c := range []struct{ a, b, want int }{{0, 1, 9}, {1, 0, 9}, {0, 2, 26}, {1, 2, 26}, {2, 2, 0}} {
		if got := distance(s.X.Row(c.a), s.X.Row(c.b), single); got != c.want {
			t.Errorf("rows %d and %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	x := rbm.NewMatrix(1, s.X.Cols)
	s.X.Each(1, func(j int) { x.Data[j] = 1 })
	got := Compare(s, x, []int32{rbm.Free}, []int32{1}, rbm.NewKey(1))
	if got.Distance != 9 {
		t.Errorf("a copy of row 1, which is left out, is %v from the nearest; want 9", got.Distance)
	}
}

// Compare counts pictures by the class of the nearest training row, and
// averages the distances.
func TestCompare(t *testing.T) {
	set := clusters()
	const per = 10
	pictures := rbm.NewMatrix(3*per, 36)
	class := make([]int32, 3*per)
	draw := func(row, class int) {
		for i := range 36 {
			pictures.Row(row)[i] = 0.4 // below ½
			if i/12 == class {
				pictures.Row(row)[i] = 0.6
			}
		}
	}
	for r := range 3 * per {
		draw(r, r/per)
		class[r] = int32(r / per)
	}
	check := func(what string, want Agreement, leaves bool) {
		t.Helper()
		got := Compare(set, pictures, class, nil, rbm.NewKey(1)).Classes
		if got == nil || *got != want || got.Leave() != leaves {
			t.Errorf("%s: %+v; want %+v, leaves %v", what, got, want, leaves)
		}
	}
	check("all of their class", Agreement{30, 30, 30}, false)
	draw(0, 1)
	draw(per, 2)
	check("two of another", Agreement{28, 30, 30}, false)
	for r := range 10 {
		draw(r, 2)
	}
	check("a class of another", Agreement{19, 30, 30}, true)

	// A pattern has distance one from its rows. Rows, which have one more pixel
	// each, have distance two from each other, or none for six of thirty.
	for r := range 3 * per {
		draw(r, r/per)
	}
	c := Compare(set, pictures, class, nil, rbm.NewKey(1))
	if c.Of != 30 || c.Distance != 1 || !(c.RowDistance < 2) || c.Copies != 0 {
		t.Errorf("patterns: %+v", c)
	}
	// Training rows as pictures count as copies, except if their chains started there.
	alone := clusters()
	for r := range 90 { // all rows differ
		for i := range 6 {
			alone.X.Set(r, 30+i, r>>i&1 == 1)
		}
	}
	start := make([]int32, 3*per)
	for r := range 3 * per {
		start[r] = int32(3 * r)
		alone.X.Each(3*r, func(i int) { pictures.Row(r)[i] = 1 })
		for i := range 36 {
			if !alone.X.Get(3*r, i) {
				pictures.Row(r)[i] = 0
			}
		}
		class[r] = rbm.Free
	}
	if c := Compare(alone, pictures, class, nil, rbm.NewKey(1)); c.Copies != 30 || c.Distance != 0 || c.Classes != nil {
		t.Errorf("copies: %+v", c)
	}
	if c := Compare(alone, pictures, class, start, rbm.NewKey(1)); c.Copies > 3 || c.Distance == 0 {
		t.Errorf("rows without themselves: %+v", c)
	}

	// A training row is not compared with itself. A row that is alone in its
	// class has its nearest row in another class.
	lone := clusters()
	for r := range 90 {
		lone.Y[r] = int32(r % 3)
	}
	for r := range class {
		class[r] = int32(r / per)
	}
	if c := Compare(lone, pictures, class, nil, rbm.NewKey(1)); c.Classes != nil {
		t.Errorf("rows of mixed classes: %+v", c.Classes)
	}
	set.Y = nil
	for r := range class {
		class[r] = rbm.Free
	}
	if c := Compare(set, pictures, class, nil, rbm.NewKey(1)); c.Classes != nil || c.Of != 30 {
		t.Errorf("a set without labels: %+v, got %v, want 30", c, c.Of)
	}
}

// Rows without a label do not count for classes, but copies of them count as
// copies.
func TestCompareRowsWithoutLabel(t *testing.T) {
	set := clusters()
	for r := range 90 { // all rows differ
		for i := range 6 {
			set.X.Set(r, 30+i, r>>i&1 == 1)
		}
	}
	const n = 10
	pictures, class := rbm.NewMatrix(n, 36), make([]int32, n)
	for r := range n {
		set.X.Each(3*r, func(i int) { pictures.Row(r)[i] = 1 })
		set.Y[3*r] = data.NoClass
	}
	c := Compare(set, pictures, class, nil, rbm.NewKey(1))
	if want := (Agreement{n, n, n}); c.Classes == nil || *c.Classes != want {
		t.Errorf("classes by the rows that have one: %+v, want %+v", c.Classes, want)
	}
	if c.Copies != n || c.Distance != 0 {
		t.Errorf("copies of rows without a label: %+v", c)
	}
	for r := range n {
		class[r] = rbm.Free
	}
	// Distances are to all rows, including those without a label.
	unlabelled := *set
	unlabelled.Y = nil
	if got, want := Compare(set, pictures, class, nil, rbm.NewKey(1)), Compare(&unlabelled, pictures, class, nil, rbm.NewKey(1)); got != want {
		t.Errorf("no class asked for: %+v, without labels at all %+v", got, want)
	}
}

// With a free label chains start at rows that have a label, with a given class
// at rows of this class, and for a model without labels at all rows.
func TestTargetRowsWithoutLabel(t *testing.T) {
	set := clusters()
	for r := range 90 {
		if r%3 != 0 {
			set.Y[r] = data.NoClass
		}
	}
	for name, c := range map[string]struct {
		classes int
		q       Query
		want    int
	}{
		"free label":     {3, Query{Class: rbm.Free}, 30},
		"class":          {3, Query{Class: 1}, 10},
		"without labels": {0, Query{Class: rbm.Free}, 90},
	} {
		m := model(36+c.classes, 3, c.classes, rbm.Softmax, nil)
		target, err := c.q.Target(m, set)
		if err != nil {
			t.Fatal(err)
		}
		if target.Data.Rows != c.want || len(target.Row) != c.want {
			t.Errorf("%s: %d rows, want %d", name, target.Data.Rows, c.want)
		}
		for to, from := range target.Row {
			on := -1 // the unit of the free label
			for y := range target.Model.Classes() {
				if target.Data.Get(to, 36+y) {
					on = y
				}
			}
			if target.Model.Classes() > 0 && on != int(set.Y[from]) || c.q.Class != rbm.Free && set.Y[from] != int32(c.q.Class) {
				t.Errorf("%s: row %d of class %d starts a chain with label %d", name, from, set.Y[from], on)
			}
		}
	}
}
