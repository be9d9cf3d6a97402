package train

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/diag"
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
	if _, err := New(DefaultSettings("pcd"), set, m); err == nil || !strings.Contains(err.Error(), "pcd cannot keep") {
		t.Errorf("error %v", err)
	}
	grey := *set
	grey.Grey = rbm.NewMatrix(set.Len(), set.X.Cols)
	if err := Allows(m, &grey); err == nil || !strings.Contains(err.Error(), "grey") {
		t.Errorf("error %v", err)
	}
}

// Steps of samples under a constraint on all units leave its law as it is: from
// exact draws many states stay exact, and exchanges at a wrong cost do not.
func TestShellStepIsStationary(t *testing.T) {
	const rows = 6000
	for _, reference := range [][]uint8{nil, {1, 0, 0, 1, 0, 1, 0}} {
		m := rbm.New(4, 3, 0, rbm.Softmax)
		m.Randomize(1.5, rbm.NewKey(4))
		m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3, Reference: reference}
		all := rbm.NewBits(0, 4)
		hidden := rbm.NewBits(0, 3)
		for x := range uint64(1 << 7) {
			active := 0
			for i := range 7 {
				bit := x >> i & 1
				if reference != nil {
					bit ^= uint64(reference[i])
				}
				active += int(bit)
			}
			if active == 3 {
				all.Words, hidden.Words = append(all.Words, x&15), append(hidden.Words, x>>4)
				all.Rows, hidden.Rows = all.Rows+1, hidden.Rows+1
			}
		}
		law := func(of *rbm.RBM) []float64 {
			p := make([]float64, all.Rows)
			of.Energy(p, all, hidden)
			sum := 0.0
			for k := range p {
				p[k] = math.Exp(-p[k])
				sum += p[k]
			}
			for k := range p {
				p[k] /= sum
			}
			return p
		}
		p := law(m)
		b := rbm.Batch{V: rbm.NewBits(rows, 4), H: rbm.NewMatrix(rows, 3)}
		h := rbm.NewBits(rows, 3)
		for r := range rows {
			u, k := rbm.NewKey(5).Uniform(uint64(r)), 0
			for ; k < len(p)-1 && u >= p[k]; k++ {
				u -= p[k]
			}
			b.V.Words[r], h.Words[r] = all.Words[k], hidden.Words[k]
		}
		for step := range 2 {
			shellStep(m, b, h, rbm.NewKey(6).Child(uint64(step)))
		}
		counts := make([]int, len(p))
		for r := range rows {
			for k := range p {
				if b.V.Words[r] == all.Words[k] && h.Words[r] == hidden.Words[k] {
					counts[k]++
				}
			}
		}
		if z := diag.StationarityZ(counts, p); z > 6 {
			t.Errorf("reference %v: z = %.1f", reference, z)
		}
		other := m.Clone() // one weight less, as where units that meet are forgotten
		w := rbm.NewMatrix(4, 3)
		m.Weights(w)
		for i := range w.Data {
			w.Data[i] *= 0.7
		}
		other.SetWeights(w)
		if z := diag.StationarityZ(counts, law(other)); z < 6 {
			t.Errorf("reference %v: another law is not told apart: z = %.1f", reference, z)
		}
		// The cost of an exchange against the two energies.
		for r := range 50 {
			for i := range 7 {
				for j := range i {
					e := make([]float64, 2)
					v2, h2 := rbm.NewBits(2, 4), rbm.NewBits(2, 3)
					for side := range 2 {
						x := b.V.Words[r] | h.Words[r]<<4
						if side == 1 {
							x ^= 1<<i | 1<<j
						}
						v2.Words[side], h2.Words[side] = x&15, x>>4
					}
					m.Energy(e, v2, h2)
					// Flips of two units of one layer do not meet; all sums are of ten terms.
					near(t, "cost", exchangeCost(m, b.V, h, r, i, j), e[1]-e[0], 1e-13)
				}
			}
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
				for _, p := range Samples(m, from, 2, 3).Data {
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
