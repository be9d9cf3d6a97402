package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// Log Z and moments from enumeration of either layer agree with sums over all states.
func TestConstrainedEnumeration(t *testing.T) {
	for name, m := range rbmtest.Constrained() {
		v, h, logw := rbmtest.Allowed(m)
		logZ := rbm.LogSumExp(logw)
		want := rbm.NewMoments(m)
		p := make([]float32, len(logw))
		for r, w := range logw {
			p[r] = float32(math.Exp(w - logZ))
		}
		hidden := rbm.NewMatrix(h.Rows, h.Cols)
		for r := range h.Rows {
			h.Each(r, func(j int) { hidden.Row(r)[j] = 1 })
		}
		want.Set(rbm.Batch{V: v, H: hidden, Weight: p})
		for _, layer := range []bool{true, false} {
			e := newEnumeration(newPlan(m, layer))
			if e.States() == 0 {
				t.Fatalf("%s: no states", name)
			}
			got := rbm.NewMoments(m)
			rbmtest.Near(t, fmt.Sprintf("%s, hidden listed %v: log Z", name, layer), e.Moments(got), logZ, 1e-13*(1+math.Abs(logZ))) // about 10³ roundings
			for _, pair := range [][2][]float32{{got.V, want.V}, {got.H, want.H}, {got.VH.Data, want.VH.Data}} {
				for i := range pair[0] {
					// Sums of up to 2⁹ float32 terms whose total is at most 1.
					rbmtest.Near(t, fmt.Sprintf("%s, hidden listed %v: moment %d", name, layer, i), float64(pair[0][i]), float64(pair[1][i]), 512.0/(1<<24))
				}
			}
		}
		z, err := LogZ(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		rbmtest.Near(t, name+": log Z", z, logZ, 1e-13*(1+math.Abs(logZ)))
	}
}

// There are few sets of 2 or 3 active units, even of many units.
func TestConstrainedEnumerationOfManyUnits(t *testing.T) {
	m := shape{70, 90, 0, rbm.Softmax}.random(3, 0.3)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	if e.States() != 90*89/2 {
		t.Fatalf("%d states, want %d", e.States(), 90*89/2)
	}
	got := rbm.NewMoments(m)
	logZ := e.Moments(got)
	// All pairs (i,j), listed by hand.
	var logs []float64
	a := make([]float64, 70)
	for j := range 90 {
		for i := range j {
			sum := float64(m.HiddenBias[i]) + float64(m.HiddenBias[j])
			for k := range a {
				x := float64(m.VisibleBias[k]) + float64(m.Weight(k, i)) + float64(m.Weight(k, j))
				sum += math.Log1p(math.Exp(x))
			}
			logs = append(logs, sum)
		}
	}
	rbmtest.Near(t, "log Z", logZ, rbm.LogSumExp(logs), 1e-11) // about 10⁴ roundings of numbers near 50
	sum := 0.0
	for _, p := range got.H {
		sum += float64(p)
	}
	rbmtest.Near(t, "active units", sum, 2, 90.0/(1<<24))
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 45}
	if _, err := New(m, EvaluationLimit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

// The gradient, positive minus negative phase, agrees with differences of the exact log-likelihood.
// With the hidden means of an unconstrained model it does not.
func TestConstrainedGradient(t *testing.T) {
	seen := 0
	for name, m := range rbmtest.Constrained() {
		if m.Hidden() < 3 || m.Constraint.Active != 3 {
			continue
		}
		seen++
		v, _, _ := rbmtest.Allowed(m)
		row := v.Slice(v.Rows/3, v.Rows/3+1)
		likelihood := func() float64 {
			f := make([]float64, 1)
			m.FreeEnergy(f, row)
			z, err := LogZ(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			return -f[0] - z
		}
		e, err := New(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		negative, positive, mutant := rbm.NewMoments(m), rbm.NewMoments(m), rbm.NewMoments(m)
		e.Moments(negative)
		mean := rbm.NewMatrix(1, m.Hidden())
		m.HiddenMean(mean, row)
		positive.Set(rbm.Batch{V: row, H: mean})
		free := m.Clone()
		free.Constraint = nil
		free.HiddenMean(mean, row)
		mutant.Set(rbm.Batch{V: row, H: mean})
		off := 0.0
		const step = 1.0 / 64 // exact in float32
		check := func(what string, plus, minus, broken float32, add func(x float32)) {
			add(step)
			up := likelihood()
			add(-2 * step)
			down := likelihood()
			add(step)
			d := (up - down) / (2 * step)
			// The third derivative is a third cumulant of a variable in 0 … 1, at most 0.1 in
			// absolute value, for both terms of the likelihood. Parameters are rounded to float32.
			rbmtest.Near(t, name+": "+what, float64(plus-minus), d, 2*0.1*step*step/6+1e-5)
			off = max(off, math.Abs(float64(broken-minus)-d))
		}
		for i := range m.VisibleBias {
			check(fmt.Sprint("visible bias ", i), positive.V[i], negative.V[i], mutant.V[i], func(x float32) { m.VisibleBias[i] += x })
		}
		for j := range m.HiddenBias {
			check(fmt.Sprint("hidden bias ", j), positive.H[j], negative.H[j], mutant.H[j], func(x float32) { m.HiddenBias[j] += x })
		}
		w := rbm.NewMatrix(m.Visible(), m.Hidden())
		m.Weights(w)
		for i := range w.Data {
			check(fmt.Sprint("weight ", i), positive.VH.Data[i], negative.VH.Data[i], mutant.VH.Data[i], func(x float32) { w.Data[i] += x; m.SetWeights(w) })
		}
		if off < 0.01 {
			t.Errorf("%s: hidden means without the constraint are not seen: off by %v, want at least 0.01", name, off)
		}
	}
	if seen < 4 {
		t.Fatalf("only %d models", seen)
	}
}

// GivenClass has the distribution of the model given the class.
func TestConstrainedGivenClass(t *testing.T) {
	for name, m := range rbmtest.Constrained() {
		if !softmaxLabel(m) {
			continue
		}
		v, _, logw := rbmtest.Allowed(m)
		for y := range m.Classes() {
			var part []float64
			for r, w := range logw {
				if v.Get(r, m.Inputs()+y) {
					part = append(part, w)
				}
			}
			if m.HasClass(y) != (part != nil) {
				t.Errorf("%s: %d states of class %d, but HasClass says %v, want %v", name, len(part), y, m.HasClass(y), part != nil)
			}
			if part == nil || m.Inputs() == 0 {
				continue
			}
			z, err := LogZ(t.Context(), m.GivenClass(y))
			if err != nil {
				t.Fatal(err)
			}
			// The weights of the class are added to the biases in float32.
			rbmtest.Near(t, name, z+float64(m.VisibleBias[m.Inputs()+y]), rbm.LogSumExp(part), 1e-5)
		}
	}
}
