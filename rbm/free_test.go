package rbm

import (
	"math"
	"slices"
	"testing"
)

// Free energies of a float32 up pass agree with the definition except for the rounding of
// preactivations: n+1 additions for each hidden unit, none of which exceeds size. Several chunks, a
// model of another width in the same pool, and steps agree too.
func TestHiddenMeanFree(t *testing.T) {
	for _, c := range []struct {
		visible, hidden, classes int
		sd                       float64
		constraint               *Constraint
	}{
		{1, 1, 0, 1, nil}, {70, 65, 3, 0.3, nil}, {40, 700, 0, 0.2, nil}, {9, 7, 0, 30, nil},
		{20, 12, 2, 0.5, &Constraint{On: HiddenUnits, Active: 5}},
		{5, 4, 0, 1, &Constraint{On: AllUnits, Active: 4}},
	} {
		m := New(c.visible, c.hidden, c.classes, Softmax)
		m.Randomize(c.sd, NewKey(4))
		m.Constraint = c.constraint
		v := randomRows(m, chunkRows+30)
		if c.constraint != nil && c.constraint.On == AllUnits {
			for r := range v.Rows { // makes every row possible
				v.Row(r)[0] &= 3
			}
		}
		mean, free, want := NewMatrix(v.Rows, c.hidden), make([]float64, v.Rows), NewMatrix(v.Rows, c.hidden)
		m.HiddenMeanFree(mean, free, v)
		m.HiddenMean(want, v)
		if !slices.Equal(mean.Data, want.Data) {
			t.Errorf("%+v: other means than HiddenMean", c)
		}
		exact := make([]float64, v.Rows)
		m.FreeEnergy(exact, v)
		check := func(what string, v Values, free, exact []float64) {
			t.Helper()
			for r, f := range free {
				size := 0.0
				for j := range c.hidden {
					a := math.Abs(float64(m.HiddenBias[j]))
					v.Each(r, func(i int) { a += math.Abs(float64(m.Weight(i, j))) })
					size += a
				}
				tol := float64(c.visible+1)*0x1p-24*size + 1e-9
				if !(math.Abs(f-exact[r]) <= tol) {
					t.Fatalf("%+v, %s: F of row %d is %v, want %v ± %v", c, what, r, f, exact[r], tol)
				}
			}
		}
		check("HiddenMeanFree", v, free, exact)
		if c.constraint != nil && c.constraint.On == AllUnits {
			continue
		}
		// Steps draw v given h and compute means and free energies of the last v.
		s := NewStates(m, v.Rows)
		key := NewKey(5)
		m.HiddenSample(s.H, Batch{V: v, H: mean}, key.Child(0).Child(2))
		m.StepFreeRows(s, 0, s.H.Rows, free, 2, key)
		for t := range uint64(2) {
			h := NewBits(v.Rows, c.hidden)
			m.HiddenSample(h, Batch{V: v, H: want}, key.Child(t).Child(2))
			plain := NewStates(m, v.Rows)
			plain.H = h
			m.Step(plain, nil, 1, key.Child(t)) // also draws h
			v = plain.V
			m.HiddenMean(want, v)
		}
		if !slices.Equal(s.V.Words, v.Words) || !slices.Equal(s.Mean.Data, want.Data) {
			t.Errorf("%+v: StepFreeRows draws other states than its parts", c)
		}
		m.FreeEnergy(exact, v)
		check("StepFreeRows", v, free, exact)
	}
}

// BenchmarkFree measures free energies as a part of an up pass, and free energies in float64.
func BenchmarkFree(b *testing.B) {
	m := New(784, 500, 0, Softmax)
	m.Randomize(0.1, NewKey(4))
	v := randomRows(m, 100)
	mean, free := NewMatrix(100, 500), make([]float64, 100)
	for name, f := range map[string]func(){
		"mean": func() { m.HiddenMean(mean, v) }, "mean-and-free": func() { m.HiddenMeanFree(mean, free, v) },
		"float64": func() { m.FreeEnergy(free, v) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
