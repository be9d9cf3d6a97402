package modelfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// Files store a constraint. Constraints that do not fit are refused. Version 1, whose readers do
// not support constraints, must not have one.
func TestConstraintFiles(t *testing.T) {
	for name, m := range rbmtest.Constrained() {
		var tensors, arrays bytes.Buffer
		if err := errors.Join(WriteSafetensors(&tensors, m, About{}), WriteNPZ(&arrays, m, About{})); err != nil {
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
	m := rbmtest.Random(4, 9, 0, rbm.Softmax, 1, 1)
	two := rbm.NewGroups(9, rbm.Group{Kind: rbm.Bernoulli, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 4})
	two.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	var both bytes.Buffer
	if err := WriteSafetensors(&both, two, About{}); err != nil {
		t.Fatal(err)
	}
	back, _, err := ReadSafetensors(bytes.NewReader(both.Bytes()), int64(both.Len()))
	if err != nil || !back.Equal(two) || back.Constraint == nil || len(back.Groups()) != 2 {
		t.Errorf("two groups of binary inputs and a constraint: %v", err)
	}
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 3}
	if err := WriteSklearnNPZ(new(bytes.Buffer), m, About{}); !errors.Is(err, rbm.ErrConstraint) {
		t.Errorf("scikit-learn: error %v, want %v", err, rbm.ErrConstraint)
	}
	var b bytes.Buffer
	if err := WriteSafetensors(&b, m, About{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{`"hidden=3"`, `"hidden=9"`}, // consistent
		{`"hidden=3"`, `"hidden=-"`},
		{`"hidden=3"`, `"layers=3"`},
		{`"hidden=3"`, `"hidden:3"`},
		{`"version":"2"`, `"version":"1"`},
		{`"constraint":`, `"constrains":`},
		{`"constraint":"hidden=3"`, `"constraint":"hidden=3","constraint_reference":"AQE="`}, // files of earlier builds
	} {
		if !bytes.Contains(b.Bytes(), []byte(c.from)) {
			t.Fatalf("the file has no %s", c.from)
		}
		changed := bytes.Replace(b.Bytes(), []byte(c.from), []byte(c.to), 1)
		_, _, err := ReadSafetensors(bytes.NewReader(changed), int64(len(changed)))
		if good := strings.Contains(c.to, "=9"); good != (err == nil) || err != nil && !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("%s: error %v", c.to, err)
		}
	}
}
