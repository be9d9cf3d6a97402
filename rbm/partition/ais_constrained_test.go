package partition

import (
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/internal/rbmtest"
)

// AIS and its reverse from exact draws bracket log Z under a constraint on the hidden units. They
// refuse a constraint on all units.
func TestConstrainedAIS(t *testing.T) {
	for _, m := range hiddenConstrained() {
		want, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		base := uniformBase(m)
		for i := range base.VisibleBias {
			base.VisibleBias[i] = 0.5
		}
		base.HiddenBias[0] = -1
		v, _, logw := rbmtest.Allowed(m)
		p := make([]float64, len(logw))
		for r, w := range logw {
			p[r] = math.Exp(w - want)
		}
		start := rbm.NewBits(400, m.Visible())
		for r, k := range picks(p, start.Rows, rbm.NewKey(7)) {
			copy(start.Row(r), v.Row(k))
		}
		for _, b := range []*rbm.Base{nil, base} {
			s := Annealing{Chains: 400, Temperatures: 60, Base: b}
			up, err := AIS(t.Context(), m, s, rbm.NewKey(6), nil)
			if err != nil {
				t.Fatal(err)
			}
			down, err := ReverseAIS(t.Context(), m, s, start, rbm.NewKey(8), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []Annealed{up, down} {
				if d := math.Abs(a.LogZ - want); !(d <= 6*a.StdErr+1e-6) { // preactivations are float32
					t.Errorf("%v, base %v: %v ± %v, exact is %v, got %v, want at most %v", m.Constraint, b != nil, a.LogZ, a.StdErr, want, d, 6*a.StdErr+1e-6)
				}
			}
		}
	}
	m := shape{4, 3, 0, rbm.Softmax}.random(1, 1)
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3}
	if _, err := AIS(t.Context(), m, DefaultAnnealing(), rbm.NewKey(1), nil); !errors.Is(err, rbm.ErrConstraint) {
		t.Errorf("error %v, want %v", err, rbm.ErrConstraint)
	}
}
