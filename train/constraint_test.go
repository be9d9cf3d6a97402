package train

import (
	"bytes"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
)

// rowsOfSpec returns the training rows of spec.
func rowsOfSpec(t *testing.T, spec string) *data.Set {
	t.Helper()
	set, _, err := data.Load(t.Context(), spec, data.Options{Binarize: data.Threshold})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestAllows(t *testing.T) {
	set := rowsOfSpec(t, "bars:3")
	m := NewModel(set, 12, false, rbm.Softmax, 1)
	for _, c := range []struct {
		constraint *rbm.Constraint
		want       string // part of the error; "": none
	}{
		{nil, ""},
		{&rbm.Constraint{On: rbm.HiddenUnits, Active: 3}, ""},
		{&rbm.Constraint{On: rbm.AllUnits, Active: 11}, ""},
		{&rbm.Constraint{On: rbm.AllUnits, Active: 13}, "probability zero"}, // the row without a bar
		{&rbm.Constraint{On: rbm.AllUnits, Active: 5}, "probability zero"},
		{&rbm.Constraint{On: rbm.HiddenUnits, Active: 13}, "can be active"},
	} {
		m.Constraint = c.constraint
		s := PaperSettings("exact")
		_, err := New(s, set, m)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: error %v", c.constraint, err)
		}
	}
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 11}
	pcd, err := New(PaperSettings("pcd"), set, m)
	if err == nil {
		_, err = pcd.Step()
	}
	if err == nil || !strings.Contains(err.Error(), "pcd cannot keep") {
		t.Errorf("error %v, want %q in it", err, "pcd cannot keep")
	}
	grey := *set
	grey.Grey = rbm.NewMatrix(set.Len(), set.X.Cols)
	if err := Allows(m, &grey); err == nil || !strings.Contains(err.Error(), "grey") {
		t.Errorf("error %v, want %q in it", err, "grey")
	}
}

// Under a constraint, the metrics of "auto" include the number of units that are on. They have no
// pseudo-likelihood if that takes long.
func TestConstrainedMetrics(t *testing.T) {
	set := rowsOfSpec(t, "bars:3")
	for _, c := range []struct {
		hidden, active int
		want           string
	}{{12, 4, "log_likelihood pseudo_likelihood active_hidden"}, {4000, 400, "active_hidden"}} {
		m := NewModel(set, c.hidden, false, rbm.Softmax, 1)
		m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: c.active}
		metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range metrics {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v of %d: %s, want %s", m.Constraint, c.hidden, got, c.want)
		}
	}
}

// A saved run continues only under the same constraint.
func TestSavedConstraint(t *testing.T) {
	set := rowsOfSpec(t, "bars:3")
	trainer := func(c *rbm.Constraint) *Trainer {
		m := NewModel(set, 6, false, rbm.Softmax, 1)
		m.Constraint = c
		s := PaperSettings("pcd")
		s.Negative = negphase.DefaultSettings("pcd")
		tr, err := New(s, set, m)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	two := &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	a := trainer(two)
	for range 5 {
		if _, err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	var saved bytes.Buffer
	if err := a.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*rbm.Constraint{nil, {On: rbm.HiddenUnits, Active: 3}} {
		if _, err := trainer(c).Load(bytes.NewReader(saved.Bytes())); err == nil || !strings.Contains(err.Error(), "constraint") {
			t.Errorf("%v: error %v, want %q in it", c, err, "constraint")
		}
	}
	b := trainer(two)
	if _, err := b.Load(bytes.NewReader(saved.Bytes())); err != nil {
		t.Fatal(err)
	}
	for _, tr := range []*Trainer{a, b} {
		if _, err := tr.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if !a.Model().Equal(b.Model()) {
		t.Error("it goes on to other bits")
	}
}
