package rbm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// A Shape describes the units of a model and the constraint on their states, as text. Model files, checkpoints,
// the configuration of a run and the messages of the Python package have it under the same keys. Models of
// equal shapes have parameters of the same sizes, with the same meaning.
type Shape struct {
	Visible     int    `json:"visible"` // number of visible units, label units included
	Hidden      int    `json:"hidden"`
	Classes     int    `json:"classes"`                // number of label units; 0: no label
	Labels      string `json:"labels,omitempty"`       // kind of the label units; "" without a label
	Groups      string `json:"groups,omitempty"`       // visible groups: see RBM.GroupsText
	HiddenUnits string `json:"hidden_units,omitempty"` // kind of the hidden units; "": Bernoulli units
	Constraint  string `json:"constraint,omitempty"`   // text of Constraint.String; "": none
}

// MaxUnits is the largest number of units in a layer of a Shape, and MaxParameters that of weights. So
// many weights take 4 GiB.
const (
	MaxUnits      = 1 << 24
	MaxParameters = 1 << 30
)

// Shape returns the shape of m.
func (m *RBM) Shape() Shape {
	s := Shape{Visible: m.Visible(), Hidden: m.Hidden(), Classes: m.Classes(), Groups: m.GroupsText()}
	if s.Classes > 0 {
		s.Labels = m.LabelKind().String()
	}
	if kind := m.HiddenKind(); kind != Bernoulli {
		s.HiddenUnits = kind.String()
	}
	if m.Constraint != nil {
		s.Constraint = m.Constraint.String()
	}
	return s
}

// CheckSize returns an error unless each layer of s has at least one unit and both are within MaxUnits and
// MaxParameters.
func (s Shape) CheckSize() error {
	// Weights are stored in panels of vec.Block hidden units.
	if s.Visible < 1 || s.Hidden < 1 || s.Visible > MaxUnits || s.Hidden > MaxUnits || s.Visible*vec.Blocks(s.Hidden)*vec.Block > MaxParameters {
		return fmt.Errorf("a model of %d × %d units is out of range", s.Visible, s.Hidden)
	}
	return nil
}

// New returns a model of shape s with all parameters zero, or as their kinds of units start. It returns an
// error unless s is the shape of the result.
func (s Shape) New() (*RBM, error) {
	if err := s.CheckSize(); err != nil {
		return nil, err
	}
	groups, err := s.groups()
	if err != nil {
		return nil, err
	}
	hidden, err := units.ParseHidden(cmp.Or(s.HiddenUnits, Bernoulli.String()))
	if err != nil {
		return nil, fmt.Errorf("hidden units: %w", err)
	}
	if hidden.Support() == units.Real && s.Classes > 0 {
		return nil, fmt.Errorf("a label needs hidden units that are 0 or 1, and the model has %v hidden units and %d classes", hidden, s.Classes)
	}
	m := NewLayers(Group{Kind: hidden, Units: s.Hidden}, groups...)
	if s.Constraint != "" {
		if m.Constraint, err = ParseConstraint(s.Constraint); err != nil {
			return nil, err
		}
		if err := m.Constraint.Check(m); err != nil {
			return nil, err
		}
	}
	if is := m.Shape(); is != s {
		return nil, fmt.Errorf("the units do not fit together: %v are %v", s, is)
	}
	return m, nil
}

// groups returns the visible groups of s.
func (s Shape) groups() (groups []Group, err error) {
	if s.Classes < 0 || s.Classes > s.Visible {
		return nil, fmt.Errorf("the model has %d classes but %d visible units", s.Classes, s.Visible)
	}
	if s.Groups != "" {
		if groups, err = ParseGroups(s.Groups); err != nil {
			return nil, err
		}
		left := s.Visible
		for _, g := range groups {
			if left -= g.Units; left < 0 {
				break // before a sum overflows
			}
		}
		if label := groups[len(groups)-1]; left != 0 || label.Label != (s.Classes > 0) || label.Label && label.Units != s.Classes {
			return nil, fmt.Errorf("the groups %.60q are not of %d units, %d of them labels", s.Groups, s.Visible, s.Classes)
		}
		return groups, nil
	}
	if n := s.Visible - s.Classes; n > 0 {
		groups = append(groups, Group{Kind: Bernoulli, Units: n})
	}
	if s.Classes > 0 {
		kind, err := units.ParseLabel(s.Labels)
		if err != nil {
			return nil, fmt.Errorf("labels: %w", err)
		}
		groups = append(groups, Group{Kind: kind, Units: s.Classes, Label: true})
	}
	return groups, nil
}

// String describes s in a line: "6 visible units (groups softmax:4 softmax:2:label), 5 relu hidden units".
func (s Shape) String() string {
	text := fmt.Sprintf("%d visible units", s.Visible)
	if groups := s.Groups; groups != "" {
		text += fmt.Sprintf(" (groups %.60s)", groups)
	} else if s.Classes > 0 {
		text += fmt.Sprintf(" (%d %s labels)", s.Classes, s.Labels)
	}
	text += fmt.Sprintf(", %d %s hidden units", s.Hidden, cmp.Or(s.HiddenUnits, Bernoulli.String()))
	if s.Constraint != "" {
		text += ", constraint " + s.Constraint
	}
	return text
}

// GroupsText returns the groups of the visible layer in the form of the function GroupsText. The
// text is empty if there are only Bernoulli inputs and perhaps a label, which Classes and
// LabelKind describe.
func (m *RBM) GroupsText() string {
	if n := len(m.visible.groups); m.checkBinaryInputs() == nil && n <= 2 && (n == 1 || m.visible.groups[1].Label) {
		return ""
	}
	return GroupsText(m.visible.groups)
}

// GroupsText formats groups as text, such as "softmax:4 softmax:4 bernoulli:2:label".
func GroupsText(groups []Group) string {
	var b strings.Builder
	for i, g := range groups {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%v:%d", g.Kind, g.Units)
		if g.Label {
			b.WriteString(":label")
		}
	}
	return b.String()
}

// ParseGroups reads the text that GroupsText writes.
func ParseGroups(s string) ([]Group, error) {
	var groups []Group
	for i, text := range strings.Split(s, " ") {
		kind, rest, _ := strings.Cut(text, ":")
		number, role, more := strings.Cut(rest, ":")
		g := Group{Label: more}
		var err1, err2 error
		g.Kind, err1 = units.ParseVisible(kind)
		g.Units, err2 = strconv.Atoi(number)
		if err1 == nil && more && g.Kind.Support() == units.Real {
			return nil, fmt.Errorf("group %.40q is a label of real units; a label is of units that are 0 or 1", text)
		}
		if err1 != nil || err2 != nil || g.Units < 1 || more && (role != "label" || i < strings.Count(s, " ")) {
			return nil, fmt.Errorf("group %.40q is not of the form softmax:3, or softmax:10:label for the last one", text)
		}
		groups = append(groups, g)
	}
	return groups, nil
}
