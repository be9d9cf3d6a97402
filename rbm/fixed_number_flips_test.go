package rbm

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm/internal/vec"
)

// Pseudo-likelihoods agree with free energies of flipped rows. In some models all factors are
// small, in others every flip needs a separate distribution. Before or after a flip no hidden unit
// may be on, or all of them.
func TestConstrainedFlips(t *testing.T) {
	for _, sd := range []float64{0.3, 3, 8, 40} {
		for _, c := range []Constraint{
			{On: HiddenUnits, Active: 1}, {On: HiddenUnits, Active: 20}, {On: HiddenUnits, Active: 69}, {On: HiddenUnits, Active: 70},
			{On: AllUnits, Active: 9}, {On: AllUnits, Active: 10}, {On: AllUnits, Active: 40}, {On: AllUnits, Active: 80},
		} {
			m := shape{20, 70, 0, Softmax}.random(3, sd)
			m.Constraint = &c
			v := NewBits(19, m.Visible())
			v.Randomize(NewKey(6))
			for i := range 10 { // rows with ten units on and with none
				v.Set(0, i, true)
				v.Set(0, 10+i, false)
			}
			for i := range 20 {
				v.Set(1, i, false)
			}
			f, flipped, score := make([]float64, v.Rows), make([]float64, v.Rows), make([]float64, v.Rows)
			m.FreeEnergy(f, v)
			m.PseudoLogLikelihood(score, v)
			want := make([]float64, v.Rows)
			size := 0.0
			for i := range m.Visible() {
				for r := range v.Rows {
					v.Set(r, i, !v.Get(r, i))
				}
				m.FreeEnergy(flipped, v)
				for r := range v.Rows {
					v.Set(r, i, !v.Get(r, i))
					if math.IsInf(f[r], 1) {
						want[r] = math.Inf(-1)
						continue
					}
					size = max(size, math.Abs(f[r]))
					want[r] -= vec.Softplus(f[r] - flipped[r])
				}
			}
			for r := range v.Rows {
				if math.IsInf(want[r], -1) && math.IsInf(score[r], -1) {
					continue
				}
				// Each term has the roundings of two sums of 70 numbers.
				near(t, fmt.Sprintf("sd %v, %v, row %d", sd, &c, r), score[r], want[r], 20*200*size*0x1p-53)
			}
		}
	}
}

// Single factors exceed the range of exponentials, but their product is small. Of two units that
// stay on, one has the weight 750 and the other −720.
func TestConstrainedFlipOfLargeWeights(t *testing.T) {
	m := shape{5, 30, 0, Softmax}.random(3, 0.3)
	w := NewMatrix(5, 30)
	m.Weights(w)
	w.Row(0)[3], w.Row(0)[8] = 750, -720
	m.SetWeights(w)
	m.HiddenBias[3], m.HiddenBias[8] = 2000, 2000
	m.Constraint = &Constraint{On: HiddenUnits, Active: 2}
	v, other := NewBits(1, 5), NewBits(1, 5)
	got, f, flipped := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	m.PseudoLogLikelihood(got, v)
	m.FreeEnergy(f, v)
	want := 0.0
	for i := range 5 {
		other.Set(0, i, true)
		m.FreeEnergy(flipped, other)
		other.Set(0, i, false)
		want -= vec.Softplus(f[0] - flipped[0])
	}
	near(t, "pseudo-likelihood", got[0], want, 5*100*4000*0x1p-53) // F is about −4000
	if !(want < -25) {
		t.Errorf("the flip of unit 0 is worth %v nats, want some 30", want)
	}
}
