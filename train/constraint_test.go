package train

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
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
		want       string // of the error; "" for none
	}{
		{nil, ""},
		{&rbm.Constraint{On: rbm.HiddenUnits, Active: 3}, ""},
		{&rbm.Constraint{On: rbm.AllUnits, Active: 11}, ""},
		{&rbm.Constraint{On: rbm.AllUnits, Active: 13}, "probability zero"}, // of the row without a bar
		{&rbm.Constraint{On: rbm.AllUnits, Active: 5}, "probability zero"},
		{&rbm.Constraint{On: rbm.HiddenUnits, Active: 13}, "can be active"},
	} {
		m.Constraint = c.constraint
		s := DefaultSettings("exact")
		_, err := New(s, set, m)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: error %v", c.constraint, err)
		}
	}
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 11}
	pcd, err := New(DefaultSettings("pcd"), set, m)
	if err == nil {
		_, err = pcd.Step()
	}
	if err == nil || !strings.Contains(err.Error(), "pcd cannot keep") {
		t.Errorf("error %v", err)
	}
	grey := *set
	grey.Grey = rbm.NewMatrix(set.Len(), set.X.Cols)
	if err := Allows(m, &grey); err == nil || !strings.Contains(err.Error(), "grey") {
		t.Errorf("error %v", err)
	}
}

// samples returns Samples, which must not fail.
func samples(t *testing.T, m *rbm.RBM, set *data.Set, perClass int, seed uint64) rbm.Matrix {
	t.Helper()
	x, err := Samples(m, set, perClass, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Samples under a constraint on all units tell when their moves fail.
func TestShellSamplesFail(t *testing.T) {
	m := rbm.New(3, 2, 0, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 2}
	if _, err := Samples(m, nil, negphase.MaxChains/10+1, 1); err == nil {
		t.Error("more chains than are allowed, and no error")
	}
	m.VisibleBias[0] = float32(math.Inf(1))
	if _, err := Samples(m, nil, 1, 1); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("an infinite bias: %v", err)
	}
}

// Samples under a constraint on all units have the means of its law; a chain
// that stands still at its random start would not.
func TestShellSamples(t *testing.T) {
	for _, reference := range [][]uint8{nil, {1, 0, 0, 1, 0, 1, 0}} {
		m := rbm.New(4, 3, 0, rbm.Softmax)
		m.Randomize(1.5, rbm.NewKey(4))
		m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3, Reference: reference}
		flat := rbm.New(4, 3, 0, rbm.Softmax)
		flat.Constraint = m.Constraint
		want, still := exactMean(t, m), exactMean(t, flat)
		p := samples(t, m, nil, 200, 1)
		off := 0.0
		for i, want := range want {
			sum, squares := 0.0, 0.0
			for r := range p.Rows {
				x := float64(p.Row(r)[i])
				sum += x
				squares += x * x
			}
			mean := sum / float64(p.Rows)
			stdErr := math.Sqrt((squares/float64(p.Rows) - mean*mean) / float64(p.Rows))
			if d := math.Abs(mean - want); d > 6*stdErr {
				t.Errorf("reference %v: unit %d has the mean %.3f ± %.3f, exact is %.3f", reference, i, mean, stdErr, want)
			}
			off = max(off, math.Abs(want-still[i])/stdErr)
		}
		if off < 12 {
			t.Errorf("reference %v: the start is %.1f standard errors away: it is not told apart", reference, off)
		}
	}
}

// exactMean returns the means of the visible units.
func exactMean(t *testing.T, m *rbm.RBM) (mean []float64) {
	t.Helper()
	e, err := exact.New(m, exact.GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	moments := rbm.NewMoments(m)
	e.Moments(moments)
	for _, x := range moments.V {
		mean = append(mean, float64(x))
	}
	return mean
}

// Where a constraint has a single state, or none of a class, samples say so.
func TestSamplesOfFewStates(t *testing.T) {
	m := rbm.New(3, 2, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 5}
	for _, p := range samples(t, m, nil, 1, 1).Data {
		if p != 1 {
			t.Errorf("all units on have a mean of %v", p)
		}
	}
	m = rbm.New(4, 2, 2, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 0, Reference: []uint8{1, 0, 0, 1, 0, 0}}
	if want := []float32{0, 0, 1, 0}; !slices.Equal(samples(t, m, nil, 1, 1).Data, want) {
		t.Errorf("class 1 has the state %v, class 0 none: %v", want[2:], samples(t, m, nil, 1, 1).Data)
	}
}

// Under a constraint the metrics that are taken unasked have the number of
// units that are on, and no pseudo-likelihood where that takes long.
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

// Samples of a model that knows one number of units stay within it, given a
// class too.
func TestConstrainedSamples(t *testing.T) {
	set := rowsOfSpec(t, "toy:4,4,10,0.2")
	for _, c := range []*rbm.Constraint{{On: rbm.HiddenUnits, Active: 2}, {On: rbm.AllUnits, Active: 11}} {
		for _, labelled := range []bool{false, true} {
			m := NewModel(set, 12, labelled, rbm.Softmax, 1)
			m.Constraint = c
			for _, from := range []*data.Set{set, nil} {
				for _, p := range samples(t, m, from, 2, 3).Data {
					if !(p >= 0 && p <= 1) {
						t.Fatalf("%v: a mean is %v", c, p)
					}
				}
			}
		}
	}
}

// A saved run goes on under its own constraint alone.
func TestSavedConstraint(t *testing.T) {
	set := rowsOfSpec(t, "bars:3")
	trainer := func(c *rbm.Constraint) *Trainer {
		m := NewModel(set, 6, false, rbm.Softmax, 1)
		m.Constraint = c
		s := DefaultSettings("pcd")
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
	for _, c := range []*rbm.Constraint{nil, {On: rbm.HiddenUnits, Active: 3}, {On: rbm.HiddenUnits, Active: 2, Reference: []uint8{0, 0, 0, 0, 0, 1}}} {
		if _, err := trainer(c).Load(bytes.NewReader(saved.Bytes())); err == nil || !strings.Contains(err.Error(), "constraint") {
			t.Errorf("%v: error %v", c, err)
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
