package logz

import (
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/units"
)

// For models with real hidden units, AIS, its reverse and Bennett's estimate agree with the exact log Z, with either
// base. The exact value is a sum over the visible states or, with Gaussian units in both layers, a closed form. The
// estimates differ from log Z for another precision.
func TestRealHidden(t *testing.T) {
	bits := rbm.Group{Kind: rbm.Bernoulli, Units: 11}
	type machine struct {
		m     *rbm.RBM
		want  float64
		wrong float64 // log Z for twice the precision of a hidden unit
	}
	cases := map[string]machine{}
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		m := rbm.NewLayers(rbm.Group{Kind: kind, Units: 4}, bits)
		m.Randomize(0.7, rbm.NewKey(4))
		for k, p := range m.HiddenParams() {
			for j := range p {
				p[j] = [3]float32{0.8, 0.5, -0.5}[k] + [3]float32{0.3, -0.4, 0.5}[k]*float32(j)
			}
		}
		want, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		c := m.Clone()
		c.HiddenParams()[0][0] *= 2
		wrong, err := exact.LogZ(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		cases[kind.String()] = machine{m, want, wrong}
	}
	m := rbm.NewLayers(rbm.Group{Kind: units.Gaussian, Units: 1}, rbm.Group{Kind: units.Gaussian, Units: 2})
	copy(m.VisibleBias, []float32{0.1, -0.2})
	copy(m.VisibleParams()[0], []float32{2, 3})
	m.HiddenBias[0], m.HiddenParams()[0][0] = 0.3, 1.5
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 1, Data: []float32{0.4, -0.6}})
	cases["Gaussian units on both sides"] = machine{m, 1.788766553279, 1.5} // computed by SciPy
	for name, c := range cases {
		mean := make([]float32, c.m.Visible())
		for i := range mean {
			mean[i] = float32(i+1) / float32(len(mean)+1)
		}
		for _, base := range []*rbm.Base{nil, rbm.NewBase(c.m, mean, 1000)} {
			s := small(base)
			s.Annealing.Chains, s.Groups, s.Rounds = 1000, 20, 1000
			b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(8), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []Method{ByAIS, ByReverse, ByBennett} {
				got, stdErr := b.By(by)
				if z := math.Abs(got-c.want) / stdErr; !(z < 6) || stdErr > 0.08 {
					t.Errorf("%s, %s: %v ± %v, want %v", name, by, got, stdErr, c.want)
				}
				if math.Abs(got-c.wrong)/stdErr < 3 {
					t.Errorf("%s, %s: %v ± %v is that of another precision, %v", name, by, got, stdErr, c.wrong)
				}
			}
		}
	}
}
