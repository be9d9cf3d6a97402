package negphase

import (
	"math"
	"testing"

	"gorbm/rbm"
)

// For group g at temperature k, Excess returns E − E₀ of the particle
// that is assigned there, in any row.
func TestExcess(t *testing.T) {
	m := shape{6, 4, 0, rbm.Softmax}.random(1, 1)
	base := rbm.NewBase(m, []float32{0.1, 0.9, 0.5, 0.3, 0.2, 0.7}, 100)
	for _, path := range []string{"", ":path=data"} {
		const groups, k = 5, 4
		s := parse(t, "pt:chains=5:tau=1/1.5/2/inf:order=evenodd"+path)
		if path != "" {
			s.SetBase(base)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		p := e.(*pt)
		got := make([]float64, groups*k)
		moved := false
		for round := range uint64(20) {
			phase, _, err := p.Estimate(m, rbm.Batch{}, rbm.NewKey(round))
			if err != nil {
				t.Fatal(err)
			}
			p.Excess(got)
			want, far := make([]float64, groups*k), make([]float64, groups*k)
			m.Energy(want, p.states.V, p.states.H)
			if path != "" {
				base.Energy(m, far, p.states.V, p.states.H)
			}
			for i, row := range p.at {
				moved = moved || int(row) != i
				// The energies of Step are sums of float32 preactivations.
				if d := want[row] - far[row]; math.Abs(got[i]-d) > 1e-5 {
					t.Errorf("path %q: group %d at temperature %d: %v, want %v", path, i/k, i%k, got[i], d)
				}
				if cold := i%k == 0; (phase.Weight[row] > 0) != cold {
					t.Errorf("row %d weighs %v", row, phase.Weight[row])
				}
			}
		}
		if !moved {
			t.Error("no particle left its temperature: the test sees nothing")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic before the first call")
		}
	}()
	build[*pt](parse(t, "pt")).Excess(make([]float64, 50))
}
