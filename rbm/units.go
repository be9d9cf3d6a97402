package rbm

import (
	"fmt"
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// A Kind says how the units of a group behave.
type Kind int

const (
	// Softmax units together are one variable with as many values as units:
	// exactly one of them is on.
	Softmax Kind = iota
	// Bernoulli units are independent binary units, given the other layer.
	Bernoulli
)

// String returns "softmax" or "bernoulli".
func (k Kind) String() string {
	if k == Bernoulli {
		return "bernoulli"
	}
	return "softmax"
}

// ParseKind returns the kind whose String is s.
func ParseKind(s string) (Kind, error) {
	switch s {
	case "softmax":
		return Softmax, nil
	case "bernoulli":
		return Bernoulli, nil
	}
	return 0, fmt.Errorf("unknown label kind %q; it is softmax or bernoulli", s)
}

// A Group is a range of visible units of one kind. The visible layer is a list of
// groups: the inputs and, in a classification RBM, the label.
type Group struct {
	Kind  Kind
	First int // index of its first unit
	Units int
}

// Label returns the group of units that holds the class of an example, and
// whether there is one.
func (m *RBM) Label() (Group, bool) {
	if !m.labelled {
		return Group{First: m.Visible()}, false
	}
	return m.groups[len(m.groups)-1], true
}

// SetLabel makes the last classes visible units a label of the given kind, and
// all others Bernoulli inputs; 0 classes make all units inputs. It panics if
// classes is negative or exceeds the visible units.
func (m *RBM) SetLabel(classes int, kind Kind) {
	inputs := m.Visible() - classes
	if classes < 0 || inputs < 0 {
		panic("rbm: classes out of range")
	}
	m.groups, m.labelled = nil, classes > 0
	if inputs > 0 {
		m.groups = append(m.groups, Group{Bernoulli, 0, inputs})
	}
	if m.labelled {
		m.groups = append(m.groups, Group{kind, inputs, classes})
	}
}

// Classes returns the number of label units, 0 if there is no label.
func (m *RBM) Classes() int {
	label, _ := m.Label()
	return label.Units
}

// Inputs returns the number of visible units that are not label units.
func (m *RBM) Inputs() int {
	label, _ := m.Label()
	return label.First
}

// SoftmaxGroups returns the groups of softmax units, in each of which one unit is
// on. They come after the Bernoulli units. The caller must not change them.
func (m *RBM) SoftmaxGroups() []Group {
	for i, g := range m.groups {
		if g.Kind == Softmax {
			return m.groups[i:]
		}
	}
	return nil
}

// CheckSoftmax returns an error that names the first row of v in which a softmax
// group does not have exactly one unit on.
func (m *RBM) CheckSoftmax(v Values) error {
	for _, g := range m.SoftmaxGroups() {
		for r := range v.Rows {
			on := 0
			for i := range g.Units {
				if v.Get(r, g.First+i) {
					on++
				}
			}
			if on != 1 {
				return fmt.Errorf("row %d has %d classes on; a softmax label has one", r, on)
			}
		}
	}
	return nil
}

// binary returns the number of visible units that are Bernoulli units. They come
// before the softmax units.
func (m *RBM) binary() int {
	if g := m.SoftmaxGroups(); len(g) > 0 {
		return g[0].First
	}
	return m.Visible()
}

// softmaxLabel reports whether the label is a softmax group. Enumeration and
// constraints assume that there is no other softmax group.
func (m *RBM) softmaxLabel() bool { return len(m.SoftmaxGroups()) > 0 }

// value returns which unit of g, counted from its first, is on in a row of visible
// units. One must be on.
func (g Group) value(row []uint64) int {
	k := g.First / vec.Block
	for w := row[k] &^ vec.WordMask(g.First%vec.Block); ; w = row[k] {
		if w != 0 {
			return k*vec.Block + bits.TrailingZeros64(w) - g.First
		}
		k++
	}
}

// of returns the part of x, one value for each visible unit, that belongs to g.
func (g Group) of(x []float32) []float32 { return x[g.First : g.First+g.Units] }

// clear makes the units of g zero in row r of v.
func (g Group) clear(v Values, r int) {
	for i := range g.Units {
		v.Set(r, g.First+i, false)
	}
}

// LabelKind returns the kind of the label units. It has no meaning if there are
// none.
func (m *RBM) LabelKind() Kind {
	label, _ := m.Label()
	return label.Kind
}
