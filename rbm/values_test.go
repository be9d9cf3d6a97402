package rbm

import (
	"math"
	"testing"

	"gorbm/rbm/parallel"
)

// greyOf converts bits to 0 and 1.
func greyOf(v Values) Matrix {
	g := NewMatrix(v.Rows, v.Cols)
	for r := range v.Rows {
		v.Each(r, func(i int) { g.Row(r)[i] = 1 })
	}
	return g
}

// Bits give the same results as grey rows of 0 and 1.
func TestGreyRowsOfBits(t *testing.T) {
	m := shape{130, 75, 3, Softmax}.random(4, 0.5)
	s := NewStates(m, 40)
	s.H.Randomize(NewKey(1))
	m.Step(s, nil, 1, NewKey(1))
	grey := greyOf(s.V)

	mean := NewMatrix(40, 75)
	m.HiddenMean(mean, grey.Values())
	for i, p := range mean.Data {
		if p != s.Mean.Data[i] { // the same additions in the same order
			t.Fatalf("mean %d is %v, want %v", i, p, s.Mean.Data[i])
		}
	}
	f, g := make([]float64, 40), make([]float64, 40)
	m.FreeEnergy(f, s.V)
	m.FreeEnergy(g, grey.Values())
	p, q := make([]float64, 120), make([]float64, 120)
	m.ClassLogProb(p, s.V)
	m.ClassLogProb(q, grey.Values())
	for r := range f {
		near(t, "free energy", g[r], f[r], 1e-10) // 205 terms of size 10 in another order
	}
	for i := range p {
		near(t, "log p(y|x)", q[i], p[i], 1e-10)
	}

	a, b := m.Clone(), m.Clone()
	neg := Phase{Batch: Batch{V: s.V.Slice(0, 10), H: s.Mean.Slice(0, 10)}}
	new(Ascent).Step(a, 0.25, 1, Phase{Batch: Batch{V: s.V, H: s.Mean}}, neg)
	new(Ascent).Step(b, 0.25, 1, Phase{Batch: Batch{V: grey.Values(), H: s.Mean}}, neg)
	compare(t, a, b, 50*0.25*2/(1<<23))
}

func compare(t *testing.T, a, b *RBM, tol float64) {
	t.Helper()
	var want []float64
	eachParameter(a, func(_ int, x float32, _ bool) { want = append(want, float64(x)) })
	eachParameter(b, func(i int, x float32, _ bool) {
		if !(math.Abs(float64(x)-want[i]) <= tol) {
			t.Fatalf("parameter %d is %v, want %v ± %v", i, x, want[i], tol)
		}
	})
}

// Grey values between 0 and 1 agree with the definition, and the fused update agrees with that from
// moments.
func TestGreyRows(t *testing.T) {
	m := shape{9, 70, 2, Softmax}.random(4, 0.5)
	grey := NewMatrix(6, 9)
	for i := range grey.Data {
		grey.Data[i] = float32(i%5) / 4
	}
	mean := NewMatrix(6, 70)
	m.HiddenMean(mean, grey.Values())
	f := make([]float64, 6)
	m.FreeEnergy(f, grey.Values())
	for r := range 6 {
		want := 0.0
		for i, x := range grey.Row(r) {
			want -= float64(x) * float64(m.VisibleBias[i])
		}
		for j := range m.Hidden() {
			a := float64(m.HiddenBias[j])
			for i, x := range grey.Row(r) {
				a += float64(x) * float64(m.Weight(i, j))
			}
			near(t, "mean", float64(mean.Row(r)[j]), 1/(1+math.Exp(-a)), 1e-6)
			want -= math.Log1p(math.Exp(a))
		}
		near(t, "free energy", f[r], want, 1e-11)
	}
	b := Batch{V: grey.Values(), H: mean, Weight: []float32{0.5, 0, -0.25, 1, 0.125, 0.125}}
	plus := NewMoments(m)
	plus.Set(b)
	fused, dense := m.Clone(), m.Clone()
	new(Ascent).Step(fused, 0.5, 1, Phase{Batch: b}, Phase{Moments: NewMoments(m)})
	new(Ascent).Step(dense, 0.5, 1, Phase{Moments: plus}, Phase{Moments: NewMoments(m)})
	compare(t, fused, dense, 20*0.5*2/(1<<23))

	if parallel.Raced() {
		return // a sync.Pool drops elements at random
	}
	var ascent Ascent
	if n := testing.AllocsPerRun(20, func() {
		m.HiddenMean(mean, grey.Values())
		ascent.Step(fused, 0.5, 1, Phase{Batch: b}, Phase{Batch: b})
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// Functions of states refuse real values, with the same text.
func TestStatesAreBits(t *testing.T) {
	m := shape{5, 4, 2, Softmax}.random(1, 1)
	v, h := NewValues(3, 5, true), NewBits(3, 4)
	dst, mean := make([]float64, 3), NewMatrix(3, 4)
	for name, f := range map[string]func(){
		"Energy of v":         func() { m.Energy(dst, v, h) },
		"Energy of h":         func() { m.Energy(dst, NewBits(3, 5), NewValues(3, 4, true)) },
		"HiddenMeanFree":      func() { m.HiddenMeanFree(mean, dst, v) },
		"VisibleMean":         func() { m.VisibleMean(NewMatrix(3, 5), NewValues(3, 4, true)) },
		"PseudoLogLikelihood": func() { m.PseudoLogLikelihood(dst, v) },
		"ImpossibleRow":       func() { m.ImpossibleRow(v) },
		"Base.Draw":           func() { (*Base)(nil).Draw(m, v, h, NewKey(1)) },
		"Base.Energy":         func() { NewBase(m, make([]float32, 5), 1).Energy(m, dst, v, h) },
		"Anneal": func() {
			Anneal(t.Context(), m, nil, []float64{0, 1}, v, NewKey(1), func(int, []float64) {}, nil)
		},
		"Step": func() { s := NewStates(m, 3); s.H = NewValues(3, 4, true); m.Step(s, nil, 1, NewKey(1)) },
	} {
		func() {
			defer func() {
				if got := recover(); got != "rbm: real values where states are bits" {
					t.Errorf("%s: panic %v, want %v", name, got, "rbm: real values where states are bits")
				}
			}()
			f()
		}()
	}
}
