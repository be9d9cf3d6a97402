package negphase

import (
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
)

// The negative phase of Gaussian units, by each estimator that has them, has the exact moments
// of v and v², within the standard error of its groups. Weights at another precision do not.
func TestGaussianNegativePhases(t *testing.T) {
	m := rbm.NewGroups(2, rbm.Group{Kind: rbm.Gaussian, Units: 2})
	copy(m.VisibleBias, []float32{0.3, -0.2})
	copy(m.HiddenBias, []float32{-0.1, 0.4})
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 2, Data: []float32{0.5, -1, 0.25, 0.75}})
	copy(m.VisibleParams()[0], []float32{2, 0.5})
	want := [2][2]float64{{-0.067426846506, 0.571414573414}, {0.904421382128, 3.366590164119}} // ⟨v⟩, ⟨v²⟩
	base := rbm.NewBase(m, []float32{0.2, 1}, 100)
	base.VisibleParams[0][1] = 0.4
	const groups = 4000
	for _, text := range []string{"pcd:chains=4000", "pt:chains=4000:tau=1/2/inf", "ins:chains=4000:tau=1/2/inf", "pins:chains=4000:tau=1/2/4/inf", "ins:chains=4000:tau=1/2/inf:path=data"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsBase() {
			s.SetBase(base)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		var phase rbm.Phase
		for i := range 30 {
			if phase, _, err = e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		each := phase.V.Rows / groups
		for i := range want {
			for power, want := range want[i] {
				z := func(want float64) float64 {
					sum, squares := 0.0, 0.0
					for g := range groups {
						x := 0.0
						for r := g * each; r < (g+1)*each; r++ {
							w := 1.0
							if phase.Weight != nil {
								w = float64(phase.Weight[r]) * groups
							}
							x += w * math.Pow(float64(phase.V.Matrix().Row(r)[i]), float64(power+1))
						}
						sum, squares = sum+x, squares+x*x
					}
					mean := sum / groups
					return (mean - want) / math.Sqrt((squares/groups-mean*mean)/groups)
				}
				if x := z(want); math.Abs(x) > 6 {
					t.Errorf("%s: ⟨v%d^%d⟩ is off by %.1f standard errors", text, i, power+1, x)
				}
				if x := z(want + 0.35*math.Sqrt(want+1)); math.Abs(x) < 6 {
					t.Errorf("%s: ⟨v%d^%d⟩ passes for another", text, i, power+1)
				}
			}
		}
	}
}

// Estimators that keep states as bits, or flip them, refuse real units in one line.
func TestRealUnitsRefused(t *testing.T) {
	m := rbm.NewGroups(4, rbm.Group{Kind: rbm.Gaussian, Units: 3})
	for _, kind := range []string{"ptt", "sardonics", "im", "walk"} {
		s := DefaultSettings(kind)
		if _, err := s.CheckModel(m); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: %v", kind, err)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		batch := rbm.Batch{V: m.NewVisible(2), H: rbm.NewMatrix(2, 4)}
		if _, _, err := e.Estimate(m, batch, rbm.NewKey(1)); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: Estimate: %v", kind, err)
		}
	}
}
