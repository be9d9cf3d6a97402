package partition

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/units"
)

// AIS from a base with the means of the data and from standard normal units, and the reverse from
// draws of the model, agree with the exact log Z of Gaussian and of visible ReLU units. If log Z₀ is that of a
// base with other precisions, they do not.
func TestGaussianAIS(t *testing.T) {
	for _, kind := range []rbm.Kind{rbm.Gaussian, units.ReLU} {
		t.Run(kind.String(), func(t *testing.T) { realAIS(t, kind) })
	}
}

func realAIS(t *testing.T, kind rbm.Kind) {
	m := rbm.NewGroups(6, rbm.Group{Kind: kind, Units: 5}, rbm.Group{Kind: rbm.Bernoulli, Units: 3})
	m.Randomize(0.5, rbm.NewKey(4))
	copy(m.VisibleParams()[0], []float32{0.8, 1.2, 1, 2, 0.6})
	want, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	data := rbm.NewBase(m, []float32{0.5, -0.5, 0, 1, 0.2, 0.3, 0.5, 0.9}, 100)
	states := rbm.NewStates(m, 2000)
	m.Step(states, nil, 200, rbm.NewKey(9))
	for name, b := range map[string]*rbm.Base{"normal": nil, "data": data} {
		s := Annealing{Chains: 2000, Temperatures: 200, Pilot: 50, Base: b}
		up, err := AIS(context.Background(), m, s, rbm.NewKey(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		down, err := ReverseAIS(context.Background(), m, s, states.V, rbm.NewKey(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		for way, a := range map[string]Annealed{"AIS": up, "reverse": down} {
			if z := (a.LogZ - want) / a.StdErr; !(math.Abs(z) < 6) || a.StdErr > 0.05 {
				t.Errorf("%s from %s: %v ± %v, want %v", way, name, a.LogZ, a.StdErr, want)
			}
		}
		wrong := m.Clone()
		wrong.VisibleParams()[0][0] = 2.5
		if a, err := AIS(context.Background(), wrong, s, rbm.NewKey(1), nil); err != nil || math.Abs(a.LogZ-want)/a.StdErr < 6 {
			t.Errorf("from %s: another precision passes: %v; %v", name, a.LogZ, err)
		}
	}
}
