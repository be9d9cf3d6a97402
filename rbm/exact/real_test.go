package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// gaussianModel has two Gaussian and two hidden units. Its log Z and moments were computed with
// SciPy.
func gaussianModel() *rbm.RBM {
	m := rbm.NewGroups(2, rbm.Group{Kind: rbm.Gaussian, Units: 2})
	copy(m.VisibleBias, []float32{0.3, -0.2})
	copy(m.HiddenBias, []float32{-0.1, 0.4})
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 2, Data: []float32{0.5, -1, 0.25, 0.75}})
	copy(m.VisibleParams()[0], []float32{2, 0.5})
	return m
}

func TestGaussianMoments(t *testing.T) {
	m := gaussianModel()
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	s := rbm.NewMoments(m)
	if logZ := e.Moments(s); math.Abs(logZ-3.783298430669) > 1e-7 { // parameters are float32
		t.Errorf("log Z is %.12f", logZ)
	}
	row, free := rbm.Matrix{Rows: 1, Cols: 2, Data: []float32{0.4, -1.1}}, make([]float64, 1)
	if m.FreeEnergy(free, row.Values()); math.Abs(-free[0]-e.Moments(s)+2.932911337879) > 2e-7 {
		t.Errorf("log p of a row is %.12f", -free[0]-e.Moments(s))
	}
	p := []float64{0.152144984972, 0.326142340940, 0.152144984972, 0.369567689116} // probabilities of h = 00, 01, 10, 11
	near := func(what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("E v0", s.V[0], -0.067426846506)
	near("E v1", s.V[1], 0.904421382128)
	near("E v0²", s.Squares[0], 0.571414573414)
	near("E v1²", s.Squares[1], 3.366590164119)
	near("E h0", s.H[0], p[2]+p[3])
	near("E h1", s.H[1], p[1]+p[3])
	near("E v0h0", s.VH.Row(0)[0], (p[2]*0.8+p[3]*-0.2)/2)
	near("E v0h1", s.VH.Row(0)[1], (p[1]*-0.7+p[3]*-0.2)/2)
	near("E v1h1", s.VH.Row(1)[1], (p[1]*0.55+p[3]*0.8)/0.5)
}

// Log Z and moments, with visible units of all kinds and more hidden units than a block, agree with
// sums over the hidden states. Their weights are free energies F(h), from log Z of each visible
// unit.
func TestMixedMoments(t *testing.T) {
	groups := []rbm.Group{{Kind: rbm.Bernoulli, Units: 2}, {Kind: rbm.Gaussian, Units: 3}, {Kind: rbm.Softmax, Units: 3, Label: true}}
	m := rbm.NewGroups(12, groups...)
	m.Randomize(0.6, rbm.NewKey(3))
	for i := 2; i < 5; i++ {
		m.VisibleParams()[0][i] = 0.5 + float32(i)/2
	}
	const n = 8
	var logs []float64
	want, squares := make([]float64, n), make([]float64, n)
	cross := rbm.NewMatrix(n, 12)
	shift := 0.0
	for pass := range 2 {
		for h := range 1 << 12 {
			z, logw := make([]float64, n), 0.0
			for i := range z {
				z[i] = float64(m.VisibleBias[i])
				for j := range 12 {
					z[i] += float64(h>>j&1) * float64(m.Weight(i, j))
				}
			}
			for j := range 12 {
				logw += float64(h>>j&1) * float64(m.HiddenBias[j])
			}
			mean := make([]float64, n)
			for i := range 2 {
				logw += math.Log1p(math.Exp(z[i]))
				mean[i] = 1 / (1 + math.Exp(-z[i]))
			}
			for i := 2; i < 5; i++ {
				p := float64(m.VisibleParams()[0][i])
				logw += z[i]*z[i]/(2*p) + math.Log(2*math.Pi/p)/2
				mean[i] = z[i] / p
			}
			l := rbm.LogSumExp(z[5:])
			logw += l
			for i := 5; i < n; i++ {
				mean[i] = math.Exp(z[i] - l)
			}
			if pass == 0 {
				logs = append(logs, logw)
				continue
			}
			w := math.Exp(logw - shift)
			for i, x := range mean {
				want[i] += w * x
				if i >= 2 && i < 5 {
					x = x*x + 1/float64(m.VisibleParams()[0][i])
				}
				squares[i] += w * x
				x = mean[i]
				for j := range 12 {
					cross.Row(i)[j] += float32(w * x * float64(h>>j&1))
				}
			}
		}
		shift = rbm.LogSumExp(logs)
	}
	logZ, err := LogZ(context.Background(), m)
	if err != nil || math.Abs(logZ-shift) > 1e-11*math.Abs(shift) {
		t.Errorf("log Z is %v, want %v; %v", logZ, shift, err)
	}
	e, _ := New(m, GradientLimit)
	s := rbm.NewMoments(m)
	e.Moments(s)
	for i, x := range want {
		if math.Abs(float64(s.V[i])-x) > 1e-5*(1+math.Abs(x)) {
			t.Errorf("⟨v%d⟩ is %v, want %v", i, s.V[i], x)
		}
		if x := squares[i]; math.Abs(float64(s.Squares[i])-x) > 1e-5*(1+math.Abs(x)) {
			t.Errorf("⟨v%d²⟩ is %v, want %v", i, s.Squares[i], x)
		}
		for j := range 12 {
			if got, x := float64(s.VH.Row(i)[j]), float64(cross.Row(i)[j]); math.Abs(got-x) > 1e-4*(1+math.Abs(x)) { // the sums of the test are float32
				t.Errorf("⟨v%dh%d⟩ is %v, want %v", i, j, got, x)
			}
		}
	}
}

// The number of Gaussian units is not limited; that of hidden units is.
func TestRealLimits(t *testing.T) {
	if _, err := New(rbm.NewGroups(18, rbm.Group{Kind: rbm.Gaussian, Units: 1000}), GradientLimit); err != nil {
		t.Error(err)
	}
	if _, err := New(rbm.NewGroups(19, rbm.Group{Kind: rbm.Gaussian, Units: 3}), GradientLimit); err == nil {
		t.Error("19 hidden units are listed at each step")
	}
}

// With a precision that is not positive a model has no Z. The error comes from New, and from LogZ
// after a change of parameters.
func TestNoPrecision(t *testing.T) {
	for _, precision := range []float32{0, -1, float32(math.NaN())} {
		m := gaussianModel()
		e, err := New(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		m.VisibleParams()[0][1] = precision
		if _, err := New(m, GradientLimit); !errors.Is(err, rbm.ErrDiverged) {
			t.Errorf("New with precision %v: %v", precision, err)
		}
		e.Set(m)
		if z, err := e.LogZ(context.Background(), nil); !errors.Is(err, rbm.ErrDiverged) {
			t.Errorf("LogZ with precision %v: %v, %v", precision, z, err)
		}
		if z := e.Moments(rbm.NewMoments(m)); !math.IsNaN(z) {
			t.Errorf("log Z is %v with precision %v", z, precision)
		}
	}
}

// Products of exponentials give the same log Z as logarithms, even if a product overflows. Inputs
// whose exponentials might overflow use logarithms. The tolerance is that of 2¹⁰ roundings for each
// state.
func TestProductsOfExponentials(t *testing.T) {
	for _, c := range []struct {
		bits, levels int
		sd           float32
		small        bool
	}{{2, 3, 1, true}, {600, 9, 3, true}, {1, 3, 200, false}} {
		m := rbm.NewGroups(11, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Bernoulli, Units: c.bits}, rbm.Group{Kind: rbm.Softmax, Units: c.levels})
		m.Randomize(float64(c.sd), rbm.NewKey(7))
		m.VisibleParams()[0][0], m.VisibleParams()[0][1] = 30*c.sd*c.sd, 40*c.sd*c.sd
		s, err := newReal(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		if s.small != c.small {
			t.Errorf("%+v: inputs are small: %v", c, s.small)
		}
		got, err := newEnumeration(s).LogZ(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s.small = false
		want, err := newEnumeration(s).LogZ(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		rbmtest.Near(t, fmt.Sprintf("log Z of %+v", c), got, want, float64(c.bits+1)*0x1p-42)
	}
}
