package rbm

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The gradient, positive less negative phase, against differences of the exact
// log-likelihood; with the hidden means of an unconstrained model it is wrong.
func TestConstrainedGradient(t *testing.T) {
	seen := 0
	for name, m := range constrainedModels() {
		if !strings.Contains(name, "true") || m.Hidden() < 3 || m.Constraint.Active != 3 {
			continue
		}
		seen++
		v, _, _ := allowed(m)
		row := v.Slice(v.Rows/3, v.Rows/3+1)
		likelihood := func() float64 {
			f := make([]float64, 1)
			m.FreeEnergy(f, row.Input())
			z, err := m.LogZ(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return -f[0] - z
		}
		e, err := NewEnumeration(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		negative, positive, mutant := NewMoments(m), NewMoments(m), NewMoments(m)
		e.Moments(negative)
		mean := NewMatrix(1, m.Hidden())
		m.HiddenMean(mean, row.Input())
		positive.Set(Batch{V: row.Input(), H: mean})
		free := m.Clone()
		free.Constraint = nil
		free.HiddenMean(mean, row.Input())
		mutant.Set(Batch{V: row.Input(), H: mean})
		off := 0.0
		const step = 1.0 / 64 // exact in float32
		check := func(what string, plus, minus, broken float32, add func(x float32)) {
			add(step)
			up := likelihood()
			add(-2 * step)
			down := likelihood()
			add(step)
			d := (up - down) / (2 * step)
			// A third derivative is a third cumulant of a variable in 0 … 1, at
			// most 0.1 in size, and both terms of the likelihood have one; float32
			// rounds the parameters.
			near(t, name+": "+what, float64(plus-minus), d, 2*0.1*step*step/6+1e-5)
			off = max(off, math.Abs(float64(broken-minus)-d))
		}
		for i := range m.VisibleBias {
			check(fmt.Sprint("visible bias ", i), positive.V[i], negative.V[i], mutant.V[i], func(x float32) { m.VisibleBias[i] += x })
		}
		for j := range m.HiddenBias {
			check(fmt.Sprint("hidden bias ", j), positive.H[j], negative.H[j], mutant.H[j], func(x float32) { m.HiddenBias[j] += x })
		}
		w := NewMatrix(m.Visible(), m.Hidden())
		m.Weights(w)
		for i := range w.Data {
			check(fmt.Sprint("weight ", i), positive.VH.Data[i], negative.VH.Data[i], mutant.VH.Data[i], func(x float32) { w.Data[i] += x; m.SetWeights(w) })
		}
		if off < 0.01 {
			t.Errorf("%s: hidden means without the constraint are not seen: off by %v", name, off)
		}
	}
	if seen < 4 {
		t.Fatalf("only %d models", seen)
	}
}

// AIS and its reverse from exact draws bracket log Z under a constraint on the
// hidden units; on all units they refuse.
func TestConstrainedAIS(t *testing.T) {
	for _, m := range hiddenConstrained() {
		want, err := m.LogZ(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		base := uniformBase(m)
		for i := range base.VisibleBias {
			base.VisibleBias[i] = 0.5
		}
		base.HiddenBias[0] = -1
		v, _, logw := allowed(m)
		p := make([]float64, len(logw))
		for r, w := range logw {
			p[r] = math.Exp(w - want)
		}
		start := NewBits(400, m.Visible())
		for r, k := range picks(p, start.Rows, NewKey(7)) {
			copy(start.Row(r), v.Row(k))
		}
		for _, b := range []*Base{nil, base} {
			s := Annealing{Chains: 400, Temperatures: 60, Base: b}
			up, err := m.AIS(t.Context(), s, NewKey(6), nil)
			if err != nil {
				t.Fatal(err)
			}
			down, err := m.ReverseAIS(t.Context(), s, start, NewKey(8), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []Annealed{up, down} {
				if d := math.Abs(a.LogZ - want); !(d <= 6*a.StdErr+1e-6) { // float32 preactivations
					t.Errorf("%v, base %v: %v ± %v, exact is %v", m.Constraint, b != nil, a.LogZ, a.StdErr, want)
				}
			}
		}
	}
	m := shape{4, 3, 0, Softmax}.random(1, 1)
	m.Constraint = &Constraint{On: AllUnits, Active: 3}
	if _, err := m.AIS(t.Context(), DefaultAnnealing(), NewKey(1), nil); !errors.Is(err, ErrConstraint) {
		t.Errorf("error %v", err)
	}
}

// The model given a class has the law of the model given the class.
func TestConstrainedGivenClass(t *testing.T) {
	for name, m := range constrainedModels() {
		if !m.softmaxLabel() {
			continue
		}
		v, _, logw := allowed(m)
		for y := range m.Classes() {
			var part []float64
			for r, w := range logw {
				if v.Get(r, m.Inputs()+y) {
					part = append(part, w)
				}
			}
			if m.HasClass(y) != (part != nil) {
				t.Errorf("%s: %d states of class %d, but HasClass says %v", name, len(part), y, m.HasClass(y))
			}
			if part == nil || m.Inputs() == 0 {
				continue
			}
			z, err := m.GivenClass(y).LogZ(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// W of the class is folded into the biases in float32.
			near(t, name, z+float64(m.VisibleBias[m.Inputs()+y]), LogSumExp(part), 1e-5)
		}
	}
}

// A reference may leave a class no state.
func TestHasClass(t *testing.T) {
	m := shape{4, 2, 2, Softmax}.random(1, 1)
	for _, c := range []struct {
		constraint *Constraint
		want       [2]bool
	}{
		{nil, [2]bool{true, true}},
		{&Constraint{On: HiddenUnits, Active: 2}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 5}, [2]bool{true, true}},
		{&Constraint{On: AllUnits, Active: 1, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{false, true}},
		{&Constraint{On: AllUnits, Active: 6, Reference: []uint8{1, 0, 0, 1, 0, 0}}, [2]bool{true, false}},
	} {
		m.Constraint = c.constraint
		if err := c.constraint.Check(m); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{m.HasClass(0), m.HasClass(1)}; got != c.want {
			t.Errorf("%+v: %v", c.constraint, got)
		}
	}
}

// The means of the visible units given the hidden ones, under a constraint on
// all units.
func TestConstrainedVisibleMean(t *testing.T) {
	for name, m := range constrainedModels() {
		if m.Constraint.On != AllUnits {
			continue
		}
		v, h, logw := allowed(m)
		dst := NewMatrix(1<<m.Hidden(), m.Visible())
		rows := NewBits(dst.Rows, m.Hidden())
		for r := range rows.Rows {
			rows.Row(r)[0] = uint64(r)
		}
		m.VisibleMean(dst, rows)
		for x := range rows.Rows {
			total, want := 0.0, make([]float64, m.Visible())
			for r, w := range logw {
				if h.Row(r)[0] == uint64(x) {
					total += math.Exp(w)
					v.Each(r, func(i int) { want[i] += math.Exp(w) })
				}
			}
			for i, p := range dst.Row(x) {
				if total == 0 && !math.IsNaN(float64(p)) {
					t.Errorf("%s: mean %v given an impossible state", name, p)
				}
				if total > 0 {
					near(t, name, float64(p), want[i]/total, 2.0/(1<<24))
				}
			}
		}
	}
}
