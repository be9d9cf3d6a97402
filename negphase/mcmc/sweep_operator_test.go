package mcmc

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The gap of an operator agrees with all eigenvalues of its matrix. The chains are reversible or not, reducible or
// periodic, in fixed or random order, and on an RBM's layers.
func TestOperatorGap(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m := rbm.New(4, 3, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(3))
	layers := []int32{4, 5, 6, 0, 1, 2, 3}
	torus := lattice(t, "3x3", Uniform(0.4), 0)
	free := NewIsing(lattice(t, "3x3", Uniform(0), 0), nil) // every flip costs nothing
	zero := 0
	for _, c := range []struct {
		name  string
		s     Settable
		m     Mover
		beta  float64
		sites []int32
	}{
		{"torus, gibbs", NewIsing(torus, nil), Gibbs{}, 1, nil},
		{"torus, metropolis", NewIsing(torus, nil), Metropolis{}, 1, nil},
		{"torus, modified", NewIsing(torus, nil), ModifiedMetropolis{}, 1, nil},
		{"torus, random", NewIsing(torus, nil), Metropolis{Random}, 1, nil},
		{"torus at β = 0, metropolis", NewIsing(torus, nil), Metropolis{Random}, 0, nil},
		{"no couplings, metropolis", free, Metropolis{Random}, 1, nil},
		{"chessboard", NewIsing(lattice(t, "2x3", Uniform(0.7), 0), nil), ModifiedMetropolis{Chessboard}, 1, nil},
		{"real", NewIsing(realGraph(t, 7), nil), Metropolis{}, 1, nil},
		{"block gibbs", NewRBM(NewParameters(m)), Gibbs{}, 1, layers},
		{"flip the state", NewRBM(NewParameters(m)), ModifiedMetropolis{}, 1, layers},
	} {
		o := must(NewSweepOperator(c.s, c.m, c.beta, c.sites))(t)
		want := 1 - second(t, diag.Matrix(o))
		if diag.Period(o) != 1 {
			want = 0
		}
		got := must(diag.SpectralGap(o, o.Stationary()))(t)
		// Both have rounding errors of ~1e-12.
		if math.Abs(got-want) > 1e-10 {
			t.Errorf("%s: gap %v, of the matrix %v", c.name, got, want)
		}
		if want == 0 {
			zero++
		}
	}
	if zero != 2 { // Metropolis on the torus, and without couplings
		t.Errorf("%d gaps are 0, want 2", zero)
	}
}

// Updating the units of a layer one after the other equals updating them together: the
// matrix of block Gibbs is p(h|v)p(v'|h).
func TestLayersOfAnOperator(t *testing.T) {
	m := rbm.New(2, 2, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(5))
	s := NewRBM(NewParameters(m))
	o := must(NewSweepOperator(s, Gibbs{}, 1, []int32{2, 3, 0, 1}))(t)
	unit := func(bias float32, weights [2]float32, on int) float64 {
		a := float64(bias)
		for k, w := range weights {
			if on>>k&1 != 0 {
				a += float64(w)
			}
		}
		return 1 / (1 + math.Exp(-a))
	}
	times := func(p float64, on bool) float64 {
		if on {
			return p
		}
		return 1 - p
	}
	want := mat.NewDense(16, 16, nil)
	for x := range 16 {
		for y := range 16 {
			v, h, next := x&3, y>>2, y&3
			p := 1.0
			for k := range 2 {
				p *= times(unit(m.HiddenBias[k], [2]float32{m.Weight(0, k), m.Weight(1, k)}, v), h>>k&1 != 0)
				p *= times(unit(m.VisibleBias[k], [2]float32{m.Weight(k, 0), m.Weight(k, 1)}, h), next>>k&1 != 0)
			}
			want.Set(x, y, p)
		}
	}
	// The system's parameters are rounded to 2⁻³⁰ of the largest preactivation.
	if !mat.EqualApprox(diag.Matrix(o), want, 1e-8) {
		t.Error("the operator is not p(h|v)p(v'|h)")
	}
}

func TestSweepOperatorErrors(t *testing.T) {
	if _, err := NewSweepOperator(NewIsing(lattice(t, "21", Uniform(1), 0), nil), Gibbs{}, 1, nil); err == nil {
		t.Error("an operator of 21 spins")
	}
	if _, err := NewSweepOperator(NewIsing(lattice(t, "3", Uniform(1), 0), nil), SwendsenWang{}, 1, nil); err == nil {
		t.Error("an operator of clusters")
	}
	if _, err := NewSweepOperator(NewIsing(lattice(t, "3", Uniform(1), 0), nil), Gibbs{}, math.NaN(), nil); err == nil {
		t.Error("an operator at a temperature that is no number")
	}
	o := must(NewSweepOperator(NewIsing(lattice(t, "3", Uniform(1), 0), nil), Gibbs{}, 1, nil))(t)
	wrong := make([]float64, 8)
	for i := range wrong {
		wrong[i] = 0.125
	}
	if _, err := diag.SpectralGap(o, wrong); err == nil {
		t.Error("the uniform distribution is stationary at β = 1")
	}
	if _, err := diag.SpectralGap(o, wrong[:4]); err == nil {
		t.Error("a distribution of too few states")
	}
}
