package train

import (
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// clusters returns rows of three classes around patterns of 12 pixels of their own,
// each with one more pixel on.
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

// Samples are counted by the class of the training row that is nearest.
func TestAgree(t *testing.T) {
	set := clusters()
	m := rbm.New(39, 2, 3, rbm.Softmax)
	const per = 10
	samples := rbm.NewMatrix(3*per, 36)
	draw := func(row, class int) {
		for i := range 36 {
			samples.Row(row)[i] = 0.4 // below ½
			if i/12 == class {
				samples.Row(row)[i] = 0.6
			}
		}
	}
	for r := range 3 * per {
		draw(r, r/per)
	}
	check := func(what string, want Agreement, leaves bool) {
		t.Helper()
		got, ok := Agree(m, set, samples, per, 1)
		if !ok || got != want || got.Leave() != leaves {
			t.Errorf("%s: %+v, %v, leaves %v; want %+v, %v", what, got, ok, got.Leave(), want, leaves)
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

	// Training rows are compared with other rows than themselves: alone in its
	// class, a row is never near it.
	lone := clusters()
	for r := range 90 {
		lone.Y[r] = int32(r % 3)
	}
	if a, ok := Agree(m, lone, samples, per, 1); ok {
		t.Errorf("rows of mixed classes: %+v", a)
	}
	if _, ok := Agree(rbm.New(36, 2, 0, rbm.Softmax), set, samples, per, 1); ok {
		t.Error("a model without labels")
	}
	set.Y = nil
	if _, ok := Agree(m, set, samples, per, 1); ok {
		t.Error("a set without labels")
	}
}
