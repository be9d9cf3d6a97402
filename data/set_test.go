package data

import (
	"testing"

	"gorbm/rbm"
)

// randomSet returns a labelled set of fair coin flips.
func randomSet(rows, cols, classes int) *Set {
	var r rng
	r.seed(dataKey(7, uint64(cols)))
	s := &Set{X: rbm.NewBits(rows, cols), Y: make([]int32, rows)}
	for i := range rows {
		for j := range cols {
			s.X.Set(i, j, r.intn(2) == 1)
		}
		s.Y[i] = int32(r.intn(classes))
	}
	return s
}

func TestVisible(t *testing.T) {
	const n = 20
	rows := []int32{3, 0, 19, 3}
	// Label units inside the inputs' last word, across its end, and after it.
	for _, cols := range []int{1, 8, 60, 63, 64, 65, 128, 784} {
		for _, classes := range []int{0, 1, 3, 10, 100} {
			s := randomSet(n, cols, max(classes, 1))
			dst := rbm.NewBits(len(rows), cols+classes)
			for i := range dst.Words {
				dst.Words[i] = ^uint64(0) // must be overwritten
			}
			s.Visible(dst, rows, classes)
			want := rbm.NewBits(len(rows), cols+classes)
			for r, row := range rows {
				for j := range cols {
					want.Set(r, j, s.X.Get(int(row), j))
				}
				if classes > 0 {
					want.Set(r, cols+int(s.Y[row]), true)
				}
			}
			for i := range want.Words {
				if dst.Words[i] != want.Words[i] {
					t.Fatalf("%d inputs, %d classes: word %d is %x, want %x", cols, classes, i, dst.Words[i], want.Words[i])
				}
			}
		}
	}
}

func TestGreyRows(t *testing.T) {
	const cols, classes = 70, 3
	binary := randomSet(20, cols, classes)
	grey := randomSet(20, cols, classes)
	grey.Grey = rbm.NewMatrix(20, cols)
	for i := range grey.Grey.Data {
		grey.Grey.Data[i] = float32(i%256) / 255
	}
	rows := []int32{3, 0, 19, 3}
	for _, s := range []*Set{binary, grey} {
		for _, n := range []int{0, classes} {
			dst := rbm.NewMatrix(len(rows), cols+n)
			for i := range dst.Data {
				dst.Data[i] = 7 // must be overwritten
			}
			s.Visible(dst.Values(), rows, n)
			v := rbm.NewBits(len(rows), cols+n)
			s.Visible(v, rows, n)
			for r, row := range rows {
				for j := range cols + n {
					want := float32(0)
					if v.Get(r, j) {
						want = 1
					}
					if j < cols && s.Grey.Rows > 0 {
						want = s.Grey.Row(int(row))[j]
					}
					if got := dst.Row(r)[j]; got != want {
						t.Fatalf("%d classes: unit %d of row %d is %g, want %g", n, j, r, got, want)
					}
				}
			}
			if n := testing.AllocsPerRun(100, func() { s.Visible(dst.Values(), rows, n) }); n != 0 {
				t.Errorf("%g allocations, want 0", n)
			}
		}
	}
}

func TestVisibleAllocates(t *testing.T) {
	s := randomSet(20, 784, 10)
	dst, rows := rbm.NewBits(3, 794), []int32{1, 2, 3}
	if n := testing.AllocsPerRun(100, func() { s.Visible(dst, rows, 10) }); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

func TestPanics(t *testing.T) {
	s := randomSet(5, 8, 3)
	s.Y[4] = 3
	bare := &Set{X: s.X}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"columns", func() { s.Visible(rbm.NewBits(1, 8), []int32{0}, 3) }},
		{"rows", func() { s.Visible(rbm.NewBits(2, 11), []int32{0}, 3) }},
		{"negative classes", func() { s.Visible(rbm.NewBits(1, 7), []int32{0}, -1) }},
		{"row range", func() { s.Visible(rbm.NewBits(1, 11), []int32{5}, 3) }},
		{"class range", func() { s.Visible(rbm.NewBits(1, 11), []int32{4}, 3) }},
		{"no labels", func() { bare.Visible(rbm.NewBits(1, 11), []int32{0}, 3) }},
		{"grey columns", func() { s.Visible(rbm.NewMatrix(1, 8).Values(), []int32{0}, 3) }},
		{"grey rows", func() { s.Visible(rbm.NewMatrix(2, 11).Values(), []int32{0}, 3) }},
		{"grey negative classes", func() { s.Visible(rbm.NewMatrix(1, 7).Values(), []int32{0}, -1) }},
		{"grey row range", func() { s.Visible(rbm.NewMatrix(1, 11).Values(), []int32{5}, 3) }},
		{"grey class range", func() { s.Visible(rbm.NewMatrix(1, 11).Values(), []int32{4}, 3) }},
		{"grey no labels", func() { bare.Visible(rbm.NewMatrix(1, 11).Values(), []int32{0}, 3) }},
		{"no rows", func() { NewBatches(0, 1, rbm.Key{}) }},
		{"no size", func() { NewBatches(1, 0, rbm.Key{}) }},
		{"batch size", func() { NewBatches(4, 2, rbm.Key{}).Rows(make([]int32, 3), 0) }},
		{"negative step", func() { NewBatches(4, 2, rbm.Key{}).Rows(make([]int32, 2), -1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.do()
		})
	}
}

func TestHash(t *testing.T) {
	base := randomSet(6, 70, 3)
	hash := base.Hash()
	if again := randomSet(6, 70, 3).Hash(); again != hash {
		t.Errorf("equal rows have hashes %s and %s", hash, again)
	}
	base.Name, base.Classes = "other", []string{"a"}
	if base.Hash() != hash {
		t.Error("names change the hash")
	}
	seen := map[string]string{hash: "the original"}
	greyed := func(last float32) func(s *Set) {
		return func(s *Set) {
			s.Grey = rbm.NewMatrix(6, 70)
			s.Grey.Data[6*70-1] = last
		}
	}
	for name, change := range map[string]func(s *Set){
		"grey":      greyed(0),
		"a grey":    greyed(0.25),
		"a bit":     func(s *Set) { s.X.Set(5, 69, !s.X.Get(5, 69)) },
		"a label":   func(s *Set) { s.Y[5] = (s.Y[5] + 1) % 3 },
		"no labels": func(s *Set) { s.Y = nil },
		"cols":      func(s *Set) { s.X.Cols = 71 },
		"fewer":     func(s *Set) { s.X, s.Y = s.X.Slice(0, 5), s.Y[:5] },
	} {
		s := randomSet(6, 70, 3)
		change(s)
		if was := seen[s.Hash()]; was != "" {
			t.Errorf("%s: the hash is that of %s, want nothing", name, was)
		}
		seen[s.Hash()] = name
	}
}

func TestDensity(t *testing.T) {
	s := &Set{X: rbm.NewBits(2, 70)}
	s.X.Set(0, 3, true)
	s.X.Set(1, 69, true)
	if got, want := s.Density(), 2.0/140; got != want {
		t.Errorf("density %g, want %g", got, want)
	}
	if got := (&Set{}).Density(); got != 0 {
		t.Errorf("density of nothing %g, want 0", got)
	}
}

func TestNearSquare(t *testing.T) {
	for n, want := range map[int][2]int{0: {0, 0}, 1: {1, 1}, 7: {1, 7}, 8: {2, 4}, 16: {4, 4}, 1050: {30, 35}} {
		if h, w := NearSquare(n); h != want[0] || w != want[1] {
			t.Errorf("NearSquare(%d) = %d, %d, want %v", n, h, w, want)
		}
	}
}

func BenchmarkVisible(b *testing.B) {
	s := randomSet(1000, 784, 10)
	dst, rows := rbm.NewBits(100, 794), make([]int32, 100)
	batches := NewBatches(1000, 100, rbm.NewKey(1))
	batches.Rows(rows, 0)
	for b.Loop() {
		s.Visible(dst, rows, 10)
	}
}
