package rbm

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Files keep a constraint; those that do not fit are refused, and version 1,
// whose readers know of none, goes without.
func TestConstraintFiles(t *testing.T) {
	for name, m := range constrainedModels() {
		var tensors, arrays bytes.Buffer
		if err := errors.Join(m.WriteSafetensors(&tensors, About{}), m.WriteNPZ(&arrays, About{})); err != nil {
			t.Fatal(err)
		}
		a, _, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len()))
		if err != nil || !a.Equal(m) {
			t.Fatalf("%s as safetensors: %v", name, err)
		}
		b, _, err := ReadNPZ(bytes.NewReader(arrays.Bytes()), int64(arrays.Len()))
		if err != nil || !b.Equal(m) || !m.Clone().Equal(m) {
			t.Fatalf("%s as npz: %v", name, err)
		}
		if b.Constraint = nil; b.Equal(m) {
			t.Fatalf("%s: equal without its constraint", name)
		}
	}
	m := shape{4, 9, 0, Softmax}.random(1, 1)
	m.Constraint = &Constraint{On: HiddenUnits, Active: 3, Reference: []uint8{1, 0, 0, 0, 0, 0, 0, 0, 1}}
	if err := m.WriteSklearnNPZ(new(bytes.Buffer), About{}); !errors.Is(err, ErrConstraint) {
		t.Errorf("scikit-learn: error %v", err)
	}
	var b bytes.Buffer
	if err := m.WriteSafetensors(&b, About{}); err != nil {
		t.Fatal(err)
	}
	const reference = `"constraint_reference":"AQE="`
	for _, c := range []struct{ from, to string }{
		{`"hidden=3"`, `"hidden=9"`}, // fits
		{`"hidden=3"`, `"hidden=-"`},
		{`"hidden=3"`, `"layers=3"`},
		{`"hidden=3"`, `"hidden:3"`},
		{`"version":"2"`, `"version":"1"`},
		{`"constraint":`, `"constrains":`},
		{reference, `"constraint_reference":"AQI="`},
		{reference, `"constraint_reference":"!QE="`},
		{reference, `"constraint_reference":"AQEB"`},
	} {
		if !bytes.Contains(b.Bytes(), []byte(c.from)) {
			t.Fatalf("the file has no %s", c.from)
		}
		changed := bytes.Replace(b.Bytes(), []byte(c.from), []byte(c.to), 1)
		_, _, err := ReadSafetensors(bytes.NewReader(changed), int64(len(changed)))
		if good := strings.Contains(c.to, "=9"); good != (err == nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", c.to, err)
		}
	}
}

func TestConstraintSettings(t *testing.T) {
	for _, s := range []string{"", "hidden", "hidden=", "hidden=x", "hidden=0", "all=-3", "visible=2", "hidden=2=3", "hidden=1.5"} {
		if c, err := ParseConstraint(s); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v", s, c, err)
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
