package exact

import (
	"context"
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
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
