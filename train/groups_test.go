package train

import (
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// categories returns a set of rows of two variables of three states and two bits.
func categories(rows int) *data.Set {
	set := &data.Set{
		Name: "categories", Y: make([]int32, rows), Classes: []string{"a", "b"}, Binarize: data.Binary, Height: 2, Width: 4,
		X:      rbm.NewBits(rows, 8),
		Groups: []rbm.Group{{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Bernoulli, Units: 2}, {Kind: rbm.Softmax, Units: 3}},
	}
	r := rbm.NewKey(1).Rand()
	for row := range rows {
		c := r.IntN(3)
		set.X.Set(row, c, true)
		set.X.Set(row, 3+r.IntN(2), true)
		if r.IntN(4) == 0 {
			c = r.IntN(3)
		}
		set.X.Set(row, 5+c, true)
		set.Y[row] = int32(min(c, 1))
	}
	return set
}

// A model of a set has its groups. A model with other groups does not fit the set, nor do rows in which a
// group does not have exactly one unit on.
func TestModelOfGroups(t *testing.T) {
	set := categories(20)
	for labelled, want := range map[bool]string{false: "softmax:3 bernoulli:2 softmax:3", true: "softmax:3 bernoulli:2 softmax:3 softmax:2:label"} {
		m := NewModel(set, 4, labelled, rbm.Softmax, 1)
		if got := m.GroupsText(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := Fits(m, set); err != nil {
			t.Error(err)
		}
	}
	m := NewModel(set, 4, false, rbm.Softmax, 1)
	plain := *set
	plain.Groups = nil
	if err := Fits(m, &plain); err != nil {
		t.Errorf("rows of a set that names no groups: %v", err)
	}
	if err := Fits(rbm.New(8, 4, 0, rbm.Softmax), set); err == nil || err.Error() != "the inputs of the model are bernoulli:8, but those of categories are softmax:3 bernoulli:2 softmax:3" {
		t.Errorf("a model of bits: %v, want %v", err, "the inputs of the model are bernoulli:8, but those of categories are softmax:3 bernoulli:2 softmax:3")
	}
	plain.X = rbm.NewBits(20, 8)
	plain.X.CopyFrom(set.X)
	for _, on := range []bool{true, false} { // two units on, and none
		for i := range 3 {
			plain.X.Set(7, 5+i, on)
		}
		if err := Fits(m, &plain); err == nil || !strings.Contains(err.Error(), "categories: row 7 has ") || !strings.Contains(err.Error(), " of units 5 … 7 on; a softmax group has one") {
			t.Errorf("got %v", err)
		}
	}
}
