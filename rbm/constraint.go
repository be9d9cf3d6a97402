package rbm

import (
	"fmt"
	"strconv"
	"strings"
)

// A Layer names the units to which a Constraint applies.
type Layer string

const (
	AllUnits    Layer = "all"    // visible units, labels included, then hidden units
	HiddenUnits Layer = "hidden" // hidden units
)

// A Constraint restricts a model to the states in which a fixed number of units is
// on, or active, as in models of lateral inhibition (Kappen 1995) and in cardinality
// RBMs (Swersky et al. 2012). All other states have probability zero; energies do not
// change. A softmax label counts as one unit, which is always on.
//
// A constraint is read-only: clones of a model share it.
type Constraint struct {
	On     Layer
	Active int // number of units that are on
}

// ParseConstraint parses the text of String: "hidden=20" or "all=120".
func ParseConstraint(s string) (*Constraint, error) {
	on, number, ok := strings.Cut(s, "=")
	if on := Layer(on); !ok || on != AllUnits && on != HiddenUnits {
		return nil, fmt.Errorf("constraint %.40q; write hidden=20 for 20 active hidden units, or all=120 for 120 active units in both layers", s)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("constraint %.40q: the number of active units must be a whole number from 0 on", s)
	}
	return &Constraint{On: Layer(on), Active: n}, nil
}

// String returns "hidden=20" or "all=120", or "none" for a nil constraint.
func (c *Constraint) String() string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s=%d", c.On, c.Active)
}

// Check returns an error if c does not apply to m or no state of m satisfies it. It returns nil for a nil
// constraint.
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
	least, most := 0, units
	if c.On == AllUnits && m.softmaxLabel() { // the label counts as one unit
		least, most = 1, 1+m.Inputs()+m.Hidden()
	}
	if c.Active < least || c.Active > most {
		return fmt.Errorf("constraint %v: %d … %d units of this model can be active", c, least, most)
	}
	return nil
}

// Equal reports whether c and o are the same constraint, or both nil.
func (c *Constraint) Equal(o *Constraint) bool {
	if c == nil || o == nil {
		return c == o
	}
	return *c == *o
}

// OnAll reports whether c applies to all units. It is false for a nil constraint.
func (c *Constraint) OnAll() bool { return c != nil && c.On == AllUnits }

// CheckSteps returns an error that wraps ErrConstraint if block Gibbs steps do not reach all states
// of m.
func (m *RBM) CheckSteps() error {
	if m.Constraint.OnAll() {
		return fmt.Errorf("%w on all units, as block Gibbs steps never change the number of visible units that are active", ErrConstraint)
	}
	return nil
}

// activeHidden returns the number of active hidden units given row r of visible
// states v. If it is outside 0 … Hidden(), the row has probability zero.
func (c *Constraint) activeHidden(v Values, r int) int { return c.activeBeside(v, r, v.Cols) }

// activeBeside takes the states of the first n visible units from row r of v. It returns how many of the
// other units under the constraint must then be active. It is 0 for a nil constraint.
func (c *Constraint) activeBeside(v Values, r, n int) int {
	if c == nil {
		return 0
	}
	if !c.OnAll() {
		return c.Active
	}
	return c.Active - v.countIn(r, 0, n)
}

// activeWithClass is activeHidden for row r of v with the label of any class instead of its own. The result
// is the same for every class.
func (c *Constraint) activeWithClass(m *RBM, v Values, r int) int {
	active := c.activeBeside(v, r, m.Inputs())
	if c.OnAll() {
		active--
	}
	return active
}

// mustStep panics if block Gibbs steps do not reach all states of m. method is the exported method
// that makes the steps.
func (m *RBM) mustStep(method string) {
	if m.Constraint.OnAll() {
		panic("rbm: " + method + " is not for models with a constraint on all units")
	}
}

// HasClass reports whether m, a classification RBM, has a state of class y.
// A constraint on all units may allow none. It panics if m has no class y.
func (m *RBM) HasClass(y int) bool {
	if y < 0 || y >= m.Classes() {
		panic("rbm: class out of range")
	}
	c := m.Constraint
	if !c.OnAll() {
		return true
	}
	rest := c.Active - 1
	return rest >= 0 && rest <= m.Inputs()+m.Hidden()
}

// ImpossibleRow returns the first row of v that has probability zero, or -1 if there is none. With
// such a row no hidden state satisfies the constraint of m. Whether labels are softmax or Bernoulli, a row
// whose label units are all off counts as unlabelled: it is possible if it is possible in any class.
func (m *RBM) ImpossibleRow(v Values) int {
	m.checkStates(v)
	c := m.Constraint
	if !c.OnAll() {
		return -1
	}
	fits := func(active int) bool { return active >= 0 && active <= m.Hidden() }
	for r := range v.Rows {
		labelled := m.Classes() == 0
		for i := m.Inputs(); i < v.Cols; i++ {
			labelled = labelled || v.Get(r, i)
		}
		active := c.activeHidden(v, r)
		if !labelled {
			active = c.activeWithClass(m, v, r)
		}
		if !fits(active) {
			return r
		}
	}
	return -1
}
