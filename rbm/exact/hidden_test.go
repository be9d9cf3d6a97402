package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/units"
)

// hiddenModel returns a model of real hidden units with parameters of all kinds.
func hiddenModel(kind rbm.Kind, hidden int, visible ...rbm.Group) *rbm.RBM {
	m := rbm.NewLayers(rbm.Group{Kind: kind, Units: hidden}, visible...)
	m.Randomize(0.5, rbm.NewKey(3))
	for k, p := range m.HiddenParams() {
		for j := range p {
			p[j] = [3]float32{0.7, 0.4, -0.5}[k] + [3]float32{0.3, -0.5, 0.7}[k]*float32(j%4)
		}
	}
	return m
}

// Log Z is the sum of exp(−F) over all visible states, and moments are its derivatives. One value
// of log Z is from SciPy.
func TestRealHidden(t *testing.T) {
	m := rbm.NewLayers(rbm.Group{Kind: units.ReLU, Units: 2}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	copy(m.VisibleBias, []float32{0.1, -0.2})
	copy(m.HiddenBias, []float32{-0.5, 0.2})
	copy(m.HiddenParams()[0], []float32{1, 2})
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 2, Data: []float32{0.8, -0.5, -0.3, 1.2}})
	logZ, err := LogZ(context.Background(), m)
	if err != nil || math.Abs(logZ-1.703285165855) > 1e-7 { // parameters are float32
		t.Errorf("log Z %v, %v, want 1.703285165855 ± 1e-7", logZ, err)
	}
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		for _, c := range []struct {
			hidden  int
			visible []rbm.Group
		}{
			{70, []rbm.Group{{Kind: rbm.Bernoulli, Units: 11}}},
			{3, []rbm.Group{{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Bernoulli, Units: 2}, {Kind: rbm.Softmax, Units: 2}}},
			{3, []rbm.Group{{Kind: rbm.Softmax, Units: 5}, {Kind: rbm.Softmax, Units: 2}}},
		} {
			m := hiddenModel(kind, c.hidden, c.visible...)
			if c.hidden > 3 {
				m.Parameters().Shrink(0.8)
				for j := range m.HiddenParams()[0] {
					m.HiddenParams()[0][j] = 1
				}
			}
			value := func() float64 {
				var logs []float64
				for state := range 1 << m.Visible() {
					v, f := rbm.NewBits(1, m.Visible()), make([]float64, 1)
					v.Words[0] = uint64(state)
					if m.CheckSoftmax(v) == nil {
						m.FreeEnergy(f, v)
						logs = append(logs, -f[0])
					}
				}
				return rbm.LogSumExp(logs)
			}
			what := fmt.Sprintf("%v under %s", kind, rbm.GroupsText(m.Groups()))
			e, err := New(m, EvaluationLimit)
			if err != nil {
				t.Fatal(err)
			}
			moments := rbm.NewMoments(m)
			logZ := e.Moments(moments)
			if want := value(); math.Abs(logZ-want) > 1e-11*(1+math.Abs(want)) {
				t.Errorf("%s: log Z %v, want %v", what, logZ, want)
			}
			again := rbm.NewMoments(m)
			before := runtime.GOMAXPROCS(1)
			e.Set(m)
			if e.Moments(again) != logZ || again.VH.Data[1] != moments.VH.Data[1] || again.H[2] != moments.H[2] {
				t.Errorf("%s: depends on the processors", what)
			}
			runtime.GOMAXPROCS(before)
			if n := testing.AllocsPerRun(3, func() { e.Set(m); e.Moments(again) }); n != 0 {
				t.Errorf("%s: %v allocations, want 0", what, n)
			}
			w := rbm.NewMatrix(m.Visible(), m.Hidden())
			m.Weights(w)
			check := func(name string, x *float32, got float32) {
				const h = 0x1p-7
				was := *x
				at := func(shift float32) float64 {
					*x = was + shift
					m.SetWeights(w)
					e.Set(m)
					z, _ := e.LogZ(context.Background(), nil)
					return z
				}
				slope, wide := (at(h)-at(-h))/(2*h), (at(2*h)-at(-2*h))/(4*h)
				slope += (slope - wide) / 3
				at(0)
				if math.Abs(slope-float64(got)) > 1e-5*(1+math.Abs(slope)) {
					t.Errorf("%s: ∂log Z by %s is %v, want %v", what, name, got, slope)
				}
			}
			for i := 0; i < m.Visible(); i += 1 + m.Visible()/4 {
				check(fmt.Sprintf("visible bias %d", i), &m.VisibleBias[i], moments.V[i])
				check(fmt.Sprintf("weight %d,2", i), &w.Row(i)[2], moments.VH.Row(i)[2])
			}
			j := m.Hidden() - 1
			check("hidden bias", &m.HiddenBias[j], moments.H[j])
			for k, x := range moments.Slopes {
				if x != nil {
					check(m.Params()[k].Name, &m.HiddenParams()[k][j], x[j])
				}
			}
		}
	}
	for _, visible := range []rbm.Group{{Kind: rbm.Bernoulli, Units: 23}, {Kind: rbm.Gaussian, Units: 2}} {
		m := rbm.NewLayers(rbm.Group{Kind: units.ReLU, Units: 2}, visible)
		if _, err := New(m, EvaluationLimit); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want %v", rbm.GroupsText(m.Groups()), err, ErrTooLarge)
		}
		if err := CheckDraws(m); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("draws: %v, want %v", err, rbm.ErrUnits)
		}
	}
}
