package rbm_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// logProbabilities returns log p(v,h) of all states of m that its constraint allows, and log Z, by
// enumeration. The key is the name of the state.
func logProbabilities(m *rbm.RBM) (map[string]float64, float64) {
	if m.Constraint == nil {
		m = m.Clone()
		m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 0}
		all := map[string]float64{}
		for m.Constraint.Active = range m.Hidden() + 1 {
			some, _ := logProbabilities(m)
			maps.Copy(all, some)
		}
		return all, rbm.LogSumExp(slices.Sorted(maps.Values(all)))
	}
	v, h, logw := rbmtest.Allowed(m)
	all := map[string]float64{}
	for r, w := range logw {
		all[stateName(v, h, r, func(int) bool { return true })] = w
	}
	return all, rbm.LogSumExp(logw)
}

// stateName returns a name of row r: the visible units for which keep is true, and the hidden
// units.
func stateName(v, h rbm.Values, r int, keep func(i int) bool) (name string) {
	for i := range v.Cols {
		if keep(i) {
			name += fmt.Sprint(v.Get(r, i))[:1]
		}
	}
	name += "|"
	for j := range h.Cols {
		name += fmt.Sprint(h.Get(r, j))[:1]
	}
	return name
}

// Given has the conditional distribution, which is computed by listing the states of the whole
// model. The test clamps the units in every way, with labels of both kinds and under constraints on
// either layer.
func TestGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	models := rbmtest.Constrained()
	models["plain"] = rbmtest.Random(4, 3, 0, rbm.Softmax, 3, 1)
	models["softmax"] = rbmtest.Random(6, 3, 3, rbm.Softmax, 4, 1)
	models["bernoulli"] = rbmtest.Random(5, 3, 2, rbm.Bernoulli, 5, 1)
	models["groups"] = rbm.NewGroups(3, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 1}, rbm.Group{Kind: rbm.Softmax, Units: 2})
	models["groups"].Randomize(1, rbm.NewKey(6))
	for name, m := range models {
		all, _ := logProbabilities(m)
		ways := 1
		for range m.Inputs() {
			ways *= 3
		}
		for way := range ways {
			inputs, rest := make([]float32, m.Inputs()), way
			for i := range inputs {
				if inputs[i] = float32(rest%3) - 1; inputs[i] < 0 {
					inputs[i] = rbm.FreeInput
				}
				rest /= 3
			}
			for class := rbm.Free; class < m.Classes(); class++ {
				checkGiven(t, fmt.Sprintf("%s given %v and class %d", name, inputs, class), m, all, inputs, class)
			}
		}
	}
}

func checkGiven(t *testing.T, what string, m *rbm.RBM, all map[string]float64, inputs []float32, class int) {
	t.Helper()
	want := map[string]float64{}
	given := inputs
	if filled, err := m.FillGroups(inputs); err == nil {
		given = filled
	}
	for name, w := range all {
		if key, meets := conditioned(m, name, given, class); meets {
			want[key] = w
		}
	}
	g, err := m.Given(inputs, class)
	if err != nil {
		if full := !slices.Contains(given, rbm.FreeInput) && (m.Classes() == 0 || class != rbm.Free); !full && len(want) > 0 {
			t.Errorf("%s: %d states, but the error %v", what, len(want), err)
		}
		return
	}
	got, z := logProbabilities(g)
	wantZ := rbm.LogSumExp(slices.Sorted(maps.Values(want)))
	if len(got) != len(want) {
		t.Errorf("%s: %d states, want %d", what, len(got), len(want))
		return
	}
	for name, w := range want {
		x, ok := got[name]
		// Each hidden bias, below 8 in absolute value, is rounded once to float32.
		if tol := float64(m.Hidden()) * 2 * 8 * 0x1p-24; !ok || math.Abs(x-z-(w-wantZ)) > tol {
			t.Errorf("%s: log p of %s is %v, want %v", what, name, x-z, w-wantZ)
			return
		}
	}
}

// conditioned returns the name of a state without its clamped units, and whether these have the
// given values.
func conditioned(m *rbm.RBM, name string, inputs []float32, class int) (key string, meets bool) {
	meets = true
	for i := range m.Visible() {
		on := name[i] == 't'
		switch {
		case i >= m.Inputs() && class == rbm.Free, i < m.Inputs() && inputs[i] == rbm.FreeInput:
			key += name[i : i+1]
		case i >= m.Inputs():
			meets = meets && on == (i-m.Inputs() == class)
		default:
			meets = meets && on == (inputs[i] == 1)
		}
	}
	return key + name[m.Visible():], meets
}

// In a softmax group a unit that is on switches the others off, and the last possible unit is on.
func TestFillGroups(t *testing.T) {
	const free = rbm.FreeInput
	m := rbm.NewGroups(2, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 2, Label: true})
	for _, c := range []struct {
		given, want []float32
		err         string
	}{
		{nil, nil, ""},
		{[]float32{free, free, free, free, 1}, []float32{free, free, free, free, 1}, ""},
		{[]float32{free, 1, free, free, free}, []float32{0, 1, 0, free, free}, ""},
		{[]float32{0, free, 0, 0, 0}, []float32{0, 1, 0, 0, 0}, ""},
		{[]float32{0, free, free, 1, 1}, []float32{0, free, free, 1, 1}, ""},
		{[]float32{1, free, 1, 1, 1}, nil, "2 of units 0 … 2 are given as 1; a softmax group has one"},
		{[]float32{0, 0, 0, 1, 1}, nil, "all of units 0 … 2 are given as 0; a softmax group has one on"},
	} {
		got, err := m.FillGroups(c.given)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%v: got %v, %v, want %v and %v", c.given, got, err, c.want, c.err)
		}
		if _, e := m.Given(c.given, rbm.Free); c.err != "" && (e == nil || e.Error() != c.err) {
			t.Errorf("Given %v: %v", c.given, e)
		}
	}
}

// Given refuses to clamp all units, and wrong arguments panic.
func TestGivenRefuses(t *testing.T) {
	m := rbmtest.Random(5, 3, 2, rbm.Softmax, 1, 1)
	if _, err := m.Given([]float32{0, 1, 1}, 1); err == nil || err.Error() != "all 5 visible units are given; leave some of them free" {
		t.Errorf("nothing is free: %v, want %v", err, "all 5 visible units are given; leave some of them free")
	}
	if g, err := m.Given([]float32{0, 1, 1}, rbm.Free); err != nil || g.Inputs() != 0 || g.Classes() != 2 {
		t.Errorf("a free label: %v, %v", g, err)
	}
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 8 - 1 - 1}
	if _, err := m.Given([]float32{0, 0, rbm.FreeInput}, 1); err == nil {
		t.Error("a constraint that cannot be met passes")
	}
	for name, call := range map[string]func(){
		"too few inputs": func() { m.Given([]float32{0, 1}, 0) },
		"another value":  func() { m.Given([]float32{0, 1, 2}, 0) },
		"no such class":  func() { m.Given(nil, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			call()
		}()
	}
}
