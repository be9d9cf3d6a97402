package rbm

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Layer names the units that a Constraint is on.
type Layer string

const (
	AllUnits    Layer = "all"    // visible units, labels included, then hidden units
	HiddenUnits Layer = "hidden" // hidden units
)

// A Constraint restricts a model to the states at Hamming distance Active from
// Reference, on all units or on the hidden layer. Without a reference these are the
// states of a fixed number of active units, as in models of lateral inhibition
// (Kappen 1995) and in cardinality RBMs (Swersky et al. 2012). With one they are the
// shells that intracluster moves keep (Hamze & de Freitas). Energies do not change;
// all other states have probability zero.
//
// Nothing writes to a model's constraint, and clones of a model share it.
type Constraint struct {
	On        Layer
	Active    int
	Reference []uint8 // 0 or 1 for each unit; nil: all zero, so that Active is the number of units that are on
}

// ParseConstraint reads a constraint without a reference, as String writes it:
// "hidden=20" or "all=120".
func ParseConstraint(s string) (*Constraint, error) {
	on, number, ok := strings.Cut(s, "=")
	if on := Layer(on); !ok || on != AllUnits && on != HiddenUnits {
		return nil, fmt.Errorf("constraint %.40q; it is hidden=20, that number of hidden units on, or all=120, that number of all units", s)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("constraint %.40q: the number of active units must be a whole number from 1 on", s)
	}
	return &Constraint{On: Layer(on), Active: n}, nil
}

// String returns "hidden=20" or "all=120", or "none" for a nil constraint. It does
// not show the reference.
func (c *Constraint) String() string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s=%d", c.On, c.Active)
}

// Text returns c as String writes it and, if it has a reference, a slash and the
// bits of the reference in base64, eight units a byte.
func (c *Constraint) Text() string {
	if c.Reference == nil {
		return c.String()
	}
	b := make([]byte, ceilDiv(len(c.Reference), 8))
	for i, x := range c.Reference {
		b[i/8] |= x << (i % 8)
	}
	return c.String() + "/" + base64.StdEncoding.EncodeToString(b)
}

// MarshalText returns Text as bytes, for JSON.
func (c *Constraint) MarshalText() ([]byte, error) { return []byte(c.Text()), nil }

// Check returns an error that says why no state of m meets c. A nil constraint
// always fits.
func (c *Constraint) Check(m *RBM) error {
	if c == nil {
		return nil
	}
	if err := m.CheckBinary(); err != nil {
		return fmt.Errorf("constraint %v: %w", c, err)
	}
	var units int
	switch c.On {
	case HiddenUnits:
		units = m.Hidden()
	case AllUnits:
		units = m.Visible() + m.Hidden()
	default:
		return fmt.Errorf("a constraint is on %q or %q units, not on %.20q", AllUnits, HiddenUnits, string(c.On))
	}
	if c.Reference != nil && len(c.Reference) != units {
		return fmt.Errorf("constraint %v: the reference has %d units, the model has %d", c, len(c.Reference), units)
	}
	if i := slices.IndexFunc(c.Reference, func(x uint8) bool { return x > 1 }); i >= 0 {
		return fmt.Errorf("constraint %v: unit %d of the reference is %d; it must be 0 or 1", c, i, c.Reference[i])
	}
	least, most := 0, units
	if c.On == AllUnits && m.softmaxLabel() { // the label is one unit of Classes states
		least, most = c.LabelRange(m)
		most += m.Inputs() + m.Hidden()
	}
	if c.Active < least || c.Active > most {
		return fmt.Errorf("constraint %v: %d … %d units of this model can be active", c, least, most)
	}
	return nil
}

// LabelRange returns the smallest and the largest distance of a softmax
// label's states from the reference.
func (c *Constraint) LabelRange(m *RBM) (least, most int) {
	least = m.Classes()
	for y := range m.Classes() {
		d := c.ClassDistance(m, y)
		least, most = min(least, d), max(most, d)
	}
	return least, most
}

// ClassDistances returns ClassDistance of each class of a softmax label of m; nil
// if it has none.
func (c *Constraint) ClassDistances(m *RBM) []int {
	var d []int
	for _, g := range m.SoftmaxGroups() {
		for y := range g.Units {
			d = append(d, c.ClassDistance(m, y))
		}
	}
	return d
}

// ClassDistance returns the distance of the label units from the reference if only
// that of class y is on.
func (c *Constraint) ClassDistance(m *RBM, y int) int {
	if c.Reference == nil {
		return 1
	}
	d := 0
	for k, x := range c.Reference[m.Inputs():m.Visible()] {
		if (k == y) != (x == 1) {
			d++
		}
	}
	return d
}

// Equal reports whether c and o restrict models to the same states. nil is
// equal to nil only.
func (c *Constraint) Equal(o *Constraint) bool {
	if c == nil || o == nil {
		return c == o
	}
	same := slices.Equal(c.Reference, o.Reference)
	if c.Reference == nil || o.Reference == nil { // nil is all zeros
		same = !slices.Contains(c.Reference, 1) && !slices.Contains(o.Reference, 1)
	}
	return same && c.On == o.On && c.Active == o.Active
}

// OnAll reports whether c is on all units. Of a nil constraint it is false.
func (c *Constraint) OnAll() bool { return c != nil && c.On == AllUnits }

// CheckSteps returns an error that wraps ErrConstraint if block Gibbs steps do not reach all states
// of m.
func (m *RBM) CheckSteps() error {
	if m.Constraint.OnAll() {
		return fmt.Errorf("%w on all units, as block Gibbs steps never change the number of visible units that are active", ErrConstraint)
	}
	return nil
}

// onInReference reports whether unit i of those that c is on is 1 in the reference.
func (c *Constraint) onInReference(i int) bool { return c.Reference != nil && c.Reference[i] == 1 }

// HiddenReference returns the reference of the hidden units of m. nil means zeros.
func (c *Constraint) HiddenReference(m *RBM) []uint8 {
	if c.On == AllUnits && c.Reference != nil {
		return c.Reference[m.Visible():]
	}
	return c.Reference
}

// VisibleReference returns the reference of the visible units of m. nil
// means zeros, or that the constraint leaves the visible units free.
func (c *Constraint) VisibleReference(m *RBM) []uint8 {
	if c.On == HiddenUnits || c.Reference == nil {
		return nil
	}
	return c.Reference[:m.Visible()]
}

// activeHidden returns the number of hidden units that differ from the
// reference given row r of visible states v. It is out of 0 … Hidden()
// if v has probability zero.
func (c *Constraint) activeHidden(v Values, r int) int { return c.activeBeside(v, r, v.Cols) }

// activeBeside returns how many of the other units differ from the reference, given
// the states of the first n visible units in row r of v; 0 of a nil constraint.
func (c *Constraint) activeBeside(v Values, r, n int) int {
	if c == nil {
		return 0
	}
	if !c.OnAll() {
		return c.Active
	}
	return c.Active - c.distance(v, r, n, 0)
}

// Distance returns how many units of row r of x differ from the reference. The first unit of x is
// number first of those that c is on.
func (c *Constraint) Distance(x Values, r, first int) int { return c.distance(x, r, x.Cols, first) }

// distance is Distance of the first n units of x.
func (c *Constraint) distance(x Values, r, n, first int) (d int) {
	for i := range n {
		if x.Get(r, i) != c.onInReference(first+i) {
			d++
		}
	}
	return d
}

// activeWithClass is activeHidden if the label in row r of v is class y instead.
func (c *Constraint) activeWithClass(m *RBM, v Values, r, y int) int {
	active := c.activeBeside(v, r, m.Inputs())
	if c.OnAll() {
		active -= c.ClassDistance(m, y)
	}
	return active
}

// mustStep panics if block Gibbs steps, as in the method of this name, do not reach all
// states of m.
func (m *RBM) mustStep(method string) {
	if m.Constraint.OnAll() {
		panic("rbm: " + method + " is not for models with a constraint on all units")
	}
}

// HasClass reports whether m, a classification RBM, has a state of class y.
// A constraint on all units may leave none. It panics if m has no class y.
func (m *RBM) HasClass(y int) bool {
	if y < 0 || y >= m.Classes() {
		panic("rbm: class out of range")
	}
	c := m.Constraint
	if !c.OnAll() {
		return true
	}
	rest := c.Active - c.ClassDistance(m, y)
	return rest >= 0 && rest <= m.Inputs()+m.Hidden()
}

// ImpossibleRow returns the first row of v that has probability zero because no
// hidden state together with it meets the constraint of m, or -1 if there is none. With
// both kinds of label, a row whose label units are all off counts as one without a
// label: it is possible if it is so in any class.
func (m *RBM) ImpossibleRow(v Values) int {
	m.checkStates(v)
	c := m.Constraint
	if !c.OnAll() {
		return -1
	}
	fits := func(active int) bool { return active >= 0 && active <= m.Hidden() }
	least, most := c.LabelRange(m)
	for r := range v.Rows {
		labelled := m.Classes() == 0
		for i := m.Inputs(); i < v.Cols; i++ {
			labelled = labelled || v.Get(r, i)
		}
		rest := c.activeBeside(v, r, m.Inputs())
		if labelled && !fits(c.activeHidden(v, r)) || !labelled && !fits(rest-least) && !fits(rest-most) {
			return r
		}
	}
	return -1
}
