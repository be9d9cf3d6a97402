package rbm

import (
	"fmt"
	"strings"
	"testing"
)

// constrainedModels are small models under constraints of every kind: both
// layers the smaller one, both kinds of label, with a reference and without.
func constrainedModels() map[string]*RBM {
	models := map[string]*RBM{}
	for _, s := range []shape{{4, 5, 0, Softmax}, {6, 3, 0, Softmax}, {6, 4, 3, Softmax}, {4, 6, 2, Bernoulli}, {5, 2, 2, Softmax}, {3, 1, 3, Softmax}} {
		for _, on := range []Layer{HiddenUnits, AllUnits} {
			for _, referenced := range []bool{false, true} {
				m := s.random(7, 0.8)
				units := m.Hidden()
				if on == AllUnits {
					units += m.Visible()
				}
				c := &Constraint{On: on}
				if referenced {
					r := NewKey(uint64(units)).Rand()
					c.Reference = make([]uint8, units)
					for i := range c.Reference {
						c.Reference[i] = uint8(r.IntN(2))
					}
				}
				for c.Active = range units + 1 {
					if c.Check(m) != nil {
						continue
					}
					m := m.Clone()
					constraint := *c
					m.Constraint = &constraint
					models[fmt.Sprintf("%dx%d/%d%v/%v/%v", s.visible, s.hidden, s.classes, s.labels, c, referenced)] = m
				}
			}
		}
	}
	return models
}

// allowed lists the states of a small model that its constraint allows, with
// −E, by the definitions alone.
func allowed(m *RBM) (v, h Values, logw []float64) {
	n, k := m.Visible(), m.Hidden()
	var states []uint64
	for x := range uint64(1) << (n + k) {
		labels, away := 0, 0
		for i := range n + k {
			bit := x >> i & 1
			if m.softmaxLabel() && i >= m.Inputs() && i < n {
				labels += int(bit)
			}
			c := m.Constraint
			j := i
			if c.On == HiddenUnits {
				if j -= n; j < 0 {
					continue
				}
			}
			if c.Reference != nil {
				bit ^= uint64(c.Reference[j])
			}
			away += int(bit)
		}
		if away == m.Constraint.Active && (!m.softmaxLabel() || labels == 1) {
			states = append(states, x)
		}
	}
	v, h = NewBits(len(states), n), NewBits(len(states), k)
	for r, x := range states {
		for i := range n + k {
			if on := x>>i&1 != 0; i < n {
				v.Set(r, i, on)
			} else {
				h.Set(r, i-n, on)
			}
		}
	}
	logw = make([]float64, len(states))
	m.Energy(logw, v, h)
	for r := range logw {
		logw[r] = -logw[r]
	}
	return v, h, logw
}

func TestConstraintSettings(t *testing.T) {
	for _, s := range []string{"", "hidden", "hidden=", "hidden=x", "hidden=0", "all=-3", "visible=2", "hidden=2=3", "hidden=1.5"} {
		if c, err := ParseConstraint(s); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v, want no %q in it", s, c, err, "\n")
		}
	}
	for _, s := range []string{"hidden=20", "all=120"} {
		if c, err := ParseConstraint(s); err != nil || c.String() != s {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	m := shape{4, 3, 2, Softmax}.random(1, 1)
	for _, c := range []*Constraint{
		{On: HiddenUnits, Active: 4}, {On: HiddenUnits, Active: -1}, {On: AllUnits, Active: 0}, {On: AllUnits, Active: 7}, {On: "some", Active: 1},
		{On: HiddenUnits, Active: 1, Reference: make([]uint8, 4)}, {On: HiddenUnits, Active: 1, Reference: []uint8{0, 2, 0}},
	} {
		if c.Check(m) == nil {
			t.Errorf("%+v fits", c)
		}
	}
	for _, c := range []*Constraint{nil, {On: HiddenUnits}, {On: HiddenUnits, Active: 3}, {On: AllUnits, Active: 1}, {On: AllUnits, Active: 6}} {
		if err := c.Check(m); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A reference may leave a class no state.
func TestHasClass(t *testing.T) {
	m := shape{4, 2, 2, Softmax}.random(1, 1)
	for _, c := range []struct {
		constraint *Constraint
		want       [2]bool
	}{
		{nil, [2]bool{true, true}},
		{&Constraint{On: HiddenUnits, Active: 2}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 5}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 1, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{false, true}},
		{&Constraint{On: AllUnits, Active: 6, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{true, false}},
	} {
		m.Constraint = c.constraint
		if err := c.constraint.Check(m); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{m.HasClass(0), m.HasClass(1)}; got != c.want {
			t.Errorf("%+v: %v, want %v", c.constraint, got, c.want)
		}
	}
}

// Rows that a constraint on all units makes impossible are those beside which
// no hidden state, and of rows without a label no class, meets it.
func TestImpossibleRow(t *testing.T) {
	const inputs, hidden = 4, 2
	seen := map[bool]int{}
	for _, kind := range []shape{{inputs, hidden, 0, Softmax}, {inputs + 3, hidden, 3, Softmax}, {inputs + 3, hidden, 3, Bernoulli}} {
		m := kind.random(1, 1)
		units := m.Visible() + hidden
		r := NewKey(7).Rand()
		for trial := range 40 {
			c := &Constraint{On: AllUnits, Active: 1 + r.IntN(units-1)}
			if trial%2 == 1 {
				c.Reference = make([]uint8, units)
				for i := range c.Reference {
					c.Reference[i] = uint8(r.IntN(2))
				}
			}
			m.Constraint = c
			distance := func(v int) (d int) { // of visible states from the reference
				for i := range m.Visible() {
					if (v>>i&1 == 1) != (c.Reference != nil && c.Reference[i] == 1) {
						d++
					}
				}
				return d
			}
			fits := func(v int) bool { d := distance(v); return d <= c.Active && d+hidden >= c.Active }
			for x := range 1 << inputs {
				for y := -1; y < m.Classes(); y++ {
					v, want := x, fits(x)
					switch {
					case y >= 0:
						v |= 1 << (inputs + y)
						want = fits(v)
					case m.Classes() > 0:
						want = false
						for y := range m.Classes() {
							want = want || fits(x|1<<(inputs+y))
						}
					}
					row := NewBits(2, m.Visible())
					for i := range m.Visible() {
						row.Set(0, i, v>>i&1 == 1)
						row.Set(1, i, v>>i&1 == 1)
					}
					seen[want]++
					if got := m.ImpossibleRow(row); got != map[bool]int{true: -1, false: 0}[want] {
						t.Errorf("%v, %v, reference %v: row %b: got %d, possible is %v, want %d", kind, c, c.Reference, v, got, want, map[bool]int{true: -1, false: 0}[want])
					}
				}
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("%v rows of each sort: nothing is tested", seen)
	}
}
