package rbm

import (
	"errors"
	"math"
	"testing"
)

// In units of 0 and 1 the model has the log Z of two spins on each side, computed with SciPy, minus
// K, and every state the same probability. Converting back gives the same parameters.
func TestSpins(t *testing.T) {
	s := Spins{Matrix{Rows: 2, Cols: 2, Data: []float32{0.3, -0.2, 0.1, 0.4}}, []float32{0.05, -0.15}, []float32{0.2, -0.1}}
	m := New(2, 2, 0, Softmax)
	if err := m.SetSpins(s); err != nil {
		t.Fatal(err)
	}
	back, k, err := m.Spins()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want []float32 }{{back.Weights.Data, s.Weights.Data}, {back.Visible, s.Visible}, {back.Hidden, s.Hidden}} {
		for i, x := range c.got {
			if math.Abs(float64(x-c.want[i])) > 1e-7 {
				t.Errorf("a parameter is %v after there and back, want %v", x, c.want[i])
			}
		}
	}
	var bits, spins []float64
	for state := range 16 {
		v, h := NewBits(1, 2), NewBits(1, 2)
		v.Row(0)[0], h.Row(0)[0] = uint64(state&3), uint64(state>>2)
		energy := make([]float64, 1)
		m.Energy(energy, v, h)
		of := func(b Values, i int) float64 { return 2*float64(b.Row(0)[0]>>i&1) - 1 }
		x := 0.0
		for i := range 2 {
			x += float64(s.Visible[i])*of(v, i) + float64(s.Hidden[i])*of(h, i)
			for j := range 2 {
				x += float64(s.Weights.Row(i)[j]) * of(v, i) * of(h, j)
			}
		}
		bits, spins = append(bits, -energy[0]), append(spins, x)
	}
	logZ, logZSpins := LogSumExp(bits), LogSumExp(spins)
	if math.Abs(logZSpins-2.962601404567) > 1e-7 || math.Abs(logZ-k-logZSpins) > 1e-6 {
		t.Errorf("log Z is %.12f in spins, %v in bits, and K is %v", logZSpins, logZ, k)
	}
	for i := range bits {
		if math.Abs(bits[i]-logZ-spins[i]+logZSpins) > 1e-6 {
			t.Errorf("state %d has log p %v in bits and %v in spins", i, bits[i]-logZ, spins[i]-logZSpins)
		}
	}
	if _, _, err := New(5, 2, 3, Softmax).Spins(); !errors.Is(err, ErrUnits) {
		t.Errorf("a softmax label: %v, want %v", err, ErrUnits)
	}
	m.Constraint = &Constraint{On: HiddenUnits, Active: 1}
	if err := m.SetSpins(s); !errors.Is(err, ErrConstraint) {
		t.Errorf("a constraint: %v, want %v", err, ErrConstraint)
	}
}
