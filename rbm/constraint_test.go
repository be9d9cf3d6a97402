package rbm

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
)

// constrainedModels returns small models under every possible constraint. Either layer is the
// smaller one, and the label is of either kind.
func constrainedModels() map[string]*RBM {
	models := map[string]*RBM{}
	for _, s := range []shape{{4, 5, 0, Softmax}, {6, 3, 0, Softmax}, {6, 4, 3, Softmax}, {4, 6, 2, Bernoulli}, {5, 2, 2, Softmax}, {3, 1, 3, Softmax}} {
		for _, on := range []Layer{HiddenUnits, AllUnits} {
			m := s.random(7, 0.8)
			units := m.Hidden()
			if on == AllUnits {
				units += m.Visible()
			}
			for active := range units + 1 {
				m := m.Clone()
				m.Constraint = &Constraint{On: on, Active: active}
				if m.Constraint.Check(m) == nil {
					models[fmt.Sprintf("%dx%d/%d%v/%v", s.visible, s.hidden, s.classes, s.labels, m.Constraint)] = m
				}
			}
		}
	}
	return models
}

// allowed lists the states that the constraint of m allows, with −E, from the definitions.
func allowed(m *RBM) (v, h Values, logw []float64) {
	n, k := m.Visible(), m.Hidden()
	var states []uint64
	for x := range uint64(1) << (n + k) {
		labels, active := 0, 0
		for i := range n + k {
			bit := x >> i & 1
			if m.softmaxLabel() && i >= m.Inputs() && i < n {
				labels += int(bit)
			}
			if m.Constraint.On == AllUnits || i >= n {
				active += int(bit)
			}
		}
		if active == m.Constraint.Active && (!m.softmaxLabel() || labels == 1) {
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
	for _, s := range []string{"", "hidden", "hidden=", "hidden=x", "all=-3", "visible=2", "hidden=2=3", "hidden=1.5"} {
		if c, err := ParseConstraint(s); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v, want no %q in it", s, c, err, "\n")
		}
	}
	for _, s := range []string{"hidden=0", "hidden=20", "all=120"} {
		if c, err := ParseConstraint(s); err != nil || c.String() != s {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	m := shape{4, 3, 2, Softmax}.random(1, 1)
	for _, c := range []*Constraint{
		{On: HiddenUnits, Active: 4}, {On: HiddenUnits, Active: -1}, {On: AllUnits, Active: 0}, {On: AllUnits, Active: 7}, {On: "some", Active: 1},
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

// A softmax label is one of the active units. A constraint on all units may exclude every class,
// with both kinds of label.
func TestHasClass(t *testing.T) {
	for _, c := range []struct {
		constraint *Constraint
		labels     Kind
		want       bool
	}{
		{nil, Softmax, true},
		{&Constraint{On: HiddenUnits, Active: 2}, Softmax, true},
		{&Constraint{On: AllUnits, Active: 5}, Softmax, true},
		{&Constraint{On: AllUnits, Active: 0}, Bernoulli, false},
		{&Constraint{On: AllUnits, Active: 6}, Bernoulli, false},
	} {
		m := shape{4, 2, 2, c.labels}.random(1, 1)
		m.Constraint = c.constraint
		if err := c.constraint.Check(m); err != nil {
			t.Fatal(err)
		}
		if m.HasClass(0) != c.want || m.HasClass(1) != c.want {
			t.Errorf("%+v: %v, want %v", c.constraint, !c.want, c.want)
		}
	}
}

// A row is impossible if no hidden state satisfies a constraint on all units with it. For a row
// without a label, this must hold in every class.
func TestImpossibleRow(t *testing.T) {
	const inputs, hidden = 4, 2
	seen := map[bool]int{}
	for _, kind := range []shape{{inputs, hidden, 0, Softmax}, {inputs + 3, hidden, 3, Softmax}, {inputs + 3, hidden, 3, Bernoulli}} {
		m := kind.random(1, 1)
		units := m.Visible() + hidden
		r := NewKey(7).Rand()
		for range 40 {
			c := &Constraint{On: AllUnits, Active: 1 + r.IntN(units-1)}
			m.Constraint = c
			fits := func(v int) bool {
				on := bits.OnesCount(uint(v))
				return on <= c.Active && on+hidden >= c.Active
			}
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
						t.Errorf("%v, %v: row %b: got %d, possible is %v, want %d", kind, c, v, got, want, map[bool]int{true: -1, false: 0}[want])
					}
				}
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("%v rows of each sort: nothing is tested", seen)
	}
}
