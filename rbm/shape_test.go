package rbm

import (
	"encoding/json"
	"strings"
	"testing"

	"gorbm/rbm/units"
)

// shapedModels are models with each feature of a Shape.
func shapedModels() []*RBM {
	constrained := New(6, 4, 2, Softmax)
	constrained.Constraint = &Constraint{On: HiddenUnits, Active: 2}
	none := New(3, 4, 0, Softmax)
	none.Constraint = &Constraint{On: HiddenUnits}
	return []*RBM{
		New(5, 3, 0, Softmax), New(5, 3, 2, Softmax), New(5, 3, 5, Bernoulli), constrained, none,
		grouped(), grouped(Group{Kind: Bernoulli, Units: 2, Label: true}),
		NewGroups(2, Group{Kind: Bernoulli, Units: 3}, Group{Kind: Bernoulli, Units: 1}),
		NewLayers(Group{Kind: units.ReLU, Units: 3}, Group{Kind: Gaussian, Units: 2}, Group{Kind: Softmax, Units: 3}),
		NewLayers(Group{Kind: Gaussian, Units: 3}, Group{Kind: Bernoulli, Units: 2}),
	}
}

// A shape, and its JSON, give a model of the same units and constraint. A shape with one field of another model is
// refused, or is that of the model that it gives.
func TestShape(t *testing.T) {
	models := shapedModels()
	for _, m := range models {
		s := m.Shape()
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Shape
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Fatalf("%s is read as %v: %v", text, back, err)
		}
		n, err := s.New()
		if err != nil || !n.SameShape(m) || !n.Constraint.Equal(m.Constraint) || n.Shape() != s {
			t.Errorf("%s: %v", text, err)
		}
		for _, o := range models {
			o := o.Shape()
			for i, change := range []func(s *Shape){
				func(s *Shape) { s.Visible = o.Visible }, func(s *Shape) { s.Hidden = o.Hidden }, func(s *Shape) { s.Classes = o.Classes },
				func(s *Shape) { s.Labels = o.Labels }, func(s *Shape) { s.Groups = o.Groups },
				func(s *Shape) { s.HiddenUnits = o.HiddenUnits }, func(s *Shape) { s.Constraint = o.Constraint },
			} {
				mixed := s
				change(&mixed)
				n, err := mixed.New()
				if err == nil && n.Shape() != mixed {
					t.Errorf("%v, field %d: the model has the shape %v", mixed, i, n.Shape())
				}
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("%v: %q", mixed, err)
				}
			}
		}
	}
}

func TestShapeRefuses(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		want string
	}{
		{Shape{Visible: 0, Hidden: 3}, "out of range"},
		{Shape{Visible: 3, Hidden: MaxUnits + 1}, "out of range"},
		{Shape{Visible: MaxUnits, Hidden: MaxUnits}, "out of range"},
		{Shape{Visible: 3, Hidden: 3, Classes: 4, Labels: "softmax"}, "4 classes but 3 visible"},
		{Shape{Visible: 3, Hidden: 3, Classes: -1}, "-1 classes"},
		{Shape{Visible: 3, Hidden: 3, Classes: 2}, "labels"},
		{Shape{Visible: 3, Hidden: 3, Labels: "softmax"}, "do not fit together"},
		{Shape{Visible: 3, Hidden: 3, Classes: 2, Labels: "gaussian"}, "labels"},
		{Shape{Visible: 4, Hidden: 3, Groups: "softmax:3"}, "not of 4 units"},
		{Shape{Visible: 4, Hidden: 3, Groups: "softmax:9223372036854775807 softmax:9223372036854775807 softmax:6"}, "not of 4 units"},
		{Shape{Visible: 5, Hidden: 3, Groups: "softmax:3 softmax:2:label"}, "0 of them labels"},
		{Shape{Visible: 5, Hidden: 3, Classes: 2, Labels: "bernoulli", Groups: "softmax:3 softmax:2:label"}, "do not fit together"},
		{Shape{Visible: 5, Hidden: 3, Groups: "bernoulli:5"}, "do not fit together"},
		{Shape{Visible: 5, Hidden: 3, HiddenUnits: "softmax"}, "hidden units"},
		{Shape{Visible: 5, Hidden: 3, HiddenUnits: "bernoulli"}, "do not fit together"},
		{Shape{Visible: 5, Hidden: 3, Classes: 2, Labels: "softmax", HiddenUnits: "relu"}, "0 or 1"},
		{Shape{Visible: 5, Hidden: 3, Constraint: "hidden=4"}, "hidden=4"},
		{Shape{Visible: 5, Hidden: 3, Constraint: "hidden=+2"}, "do not fit together"},
		{Shape{Visible: 5, Hidden: 3, HiddenUnits: "relu", Constraint: "hidden=2"}, "units"},
	} {
		if m, err := c.s.New(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: model %v, error %v, want %q", c.s, m != nil, err, c.want)
		}
	}
}
