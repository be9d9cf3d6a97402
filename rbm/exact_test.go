package rbm

import (
	"context"
	"errors"
	"math"
	"testing"

	"gorbm/rbm/parallel"
)

// exactTol bounds the rounding of a float64 computation of a hundred terms of
// size ten.
const exactTol = 1e-12

func TestLogZAndFreeEnergy(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.1, 1, 5} {
			m := s.random(7, sd)
			all := states(m)
			p, want := law(all, 1)
			got, err := m.LogZ(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			near(t, "log Z", got, want, exactTol*math.Max(1, math.Abs(want)))

			rows := distinctVisible(all)
			f := make([]float64, len(rows))
			m.FreeEnergy(f, bitsOf(rows).Input())
			marginal := marginals(all, p)
			for r, v := range rows {
				near(t, "p(v)", math.Exp(-f[r]-got), marginal[key(v)], 1e-12)
			}
		}
	})
}

func key(v []int) (k int) {
	for i, x := range v {
		k |= x << i
	}
	return k
}

// marginals returns p(v) by key.
func marginals(all []state, p []float64) map[int]float64 {
	m := map[int]float64{}
	for i, s := range all {
		m[key(s.v)] += p[i]
	}
	return m
}

func TestMomentsAreExact(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.1, 1, 5} {
			m := s.random(11, sd)
			e, err := NewEnumeration(m, GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			got := NewMoments(m)
			e.Moments(got)
			all := states(m)
			p, _ := law(all, 1)
			for i := range m.Visible() {
				want := 0.0
				for k, st := range all {
					want += p[k] * float64(st.v[i])
				}
				near(t, "⟨v⟩", float64(got.V[i]), want, 1e-7) // stored as float32
				for j := range m.Hidden() {
					want := 0.0
					for k, st := range all {
						want += p[k] * float64(st.v[i]*st.h[j])
					}
					near(t, "⟨vh⟩", float64(got.VH.Row(i)[j]), want, 1e-7)
				}
			}
			for j := range m.Hidden() {
				want := 0.0
				for k, st := range all {
					want += p[k] * float64(st.h[j])
				}
				near(t, "⟨h⟩", float64(got.H[j]), want, 1e-7)
			}
		}
	})
}

// The gradient of log Z is the moments: enumeration of a model that takes
// several blocks and groups, against central differences.
func TestMomentsAreTheGradientOfLogZ(t *testing.T) {
	for _, s := range []shape{{20, 14, 0, Softmax}, {13, 30, 0, Softmax}, {15, 40, 3, Softmax}, {14, 30, 3, Bernoulli}} {
		m := s.random(5, 0.7)
		e, err := NewEnumeration(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		if e.blocks() < 2 {
			t.Errorf("%v takes a single block", s)
		}
		got := NewMoments(m)
		e.Moments(got)
		// A step of 2⁻⁷ is exact in float32 for parameters below 2¹⁶ times it;
		// the third derivative of log Z is below 0.1, so the error of the
		// central difference is below 0.1/6·2⁻¹⁴.
		const step = 1.0 / 128
		logz := func() float64 {
			e.Set(m)
			z, err := e.LogZ(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
		slope := func(x *float32) float64 {
			old := *x
			*x = old + step
			up, hi := logz(), *x
			*x = old - step
			down, lo := logz(), *x
			*x = old
			return (up - down) / float64(hi-lo)
		}
		const tol = 0.1 / 6 / (1 << 14) * 2
		for _, i := range []int{0, m.Visible() - 1, m.Inputs() / 2} {
			near(t, "visible bias", float64(got.V[i]), slope(&m.VisibleBias[i]), tol)
			for _, j := range []int{0, m.Hidden() - 1} {
				near(t, "weight", float64(got.VH.Row(i)[j]), slope(&m.panel(j / 64)[i*64+j%64]), tol)
			}
		}
		for _, j := range []int{0, m.Hidden() - 1} {
			near(t, "hidden bias", float64(got.H[j]), slope(&m.HiddenBias[j]), tol)
		}
	}
}

func TestEnumerationLimits(t *testing.T) {
	_, err := New(40, 29, 0, Softmax).LogZ(context.Background())
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("29 units: got %v, want ErrTooLarge", err)
	}
	if _, err = NewEnumeration(New(40, 19, 0, Softmax), GradientLimit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("19 units for a gradient: got %v, want ErrTooLarge", err)
	}
	// 10 classes beside 15 inputs are 10·2¹⁵ states, more than 2¹⁸; as
	// Bernoulli units they would be 2²⁵.
	if _, err = NewEnumeration(New(25, 500, 10, Softmax), GradientLimit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("10·2¹⁵ states: got %v, want ErrTooLarge", err)
	}
	e, err := NewEnumeration(New(24, 500, 10, Softmax), GradientLimit)
	if err != nil || e.States() != 10<<14 {
		t.Errorf("10·2¹⁴ states: got %v, %v", e, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(40, 28, 0, Softmax).LogZ(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestEnergyAndConditionals(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		m := s.random(2, 1.5)
		all := states(m)
		p, _ := law(all, 1)
		v, h := make([][]int, len(all)), make([][]int, len(all))
		for i, st := range all {
			v[i], h[i] = st.v, st.h
		}
		energy := make([]float64, len(all))
		m.Energy(energy, bitsOf(v), bitsOf(h))
		hidden := NewMatrix(len(all), m.Hidden())
		m.HiddenMean(hidden, bitsOf(v).Input())
		visible := NewMatrix(len(all), m.Visible())
		m.VisibleMean(visible, bitsOf(h))
		pv, ph := map[int]float64{}, map[int]float64{}
		for i, st := range all {
			pv[key(st.v)] += p[i]
			ph[key(st.h)] += p[i]
		}
		for r, st := range all {
			near(t, "energy", energy[r], st.energy, exactTol*10)
			if pv[key(st.v)] < 1e-12 || ph[key(st.h)] < 1e-12 {
				continue // nothing to divide by
			}
			for j := range m.Hidden() {
				want := 0.0
				for i, o := range all {
					if key(o.v) == key(st.v) {
						want += p[i] * float64(o.h[j]) / pv[key(st.v)]
					}
				}
				near(t, "p(h|v)", float64(hidden.Row(r)[j]), want, 1e-6)
			}
			for j := range m.Visible() {
				want := 0.0
				for i, o := range all {
					if key(o.h) == key(st.h) {
						want += p[i] * float64(o.v[j]) / ph[key(st.h)]
					}
				}
				near(t, "p(v|h)", float64(visible.Row(r)[j]), want, 1e-6)
			}
		}
	})
}

func TestClassLogProb(t *testing.T) {
	for _, kind := range []Kind{Softmax, Bernoulli} {
		for _, sd := range []float64{0.5, 30} {
			m := shape{6, 4, 3, kind}.random(9, sd)
			rows := [][]int{{0, 1, 1, 0, 0, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}}
			got := make([]float64, len(rows)*3)
			m.ClassLogProb(got, bitsOf(rows).Input())
			for r, row := range rows {
				f := make([]float64, 3)
				for y := range f {
					full := append([]int{}, row...)
					clear(full[m.Inputs():])
					full[m.Inputs()+y] = 1
					m.FreeEnergy(f[y:y+1], bitsOf([][]int{full}).Input())
					f[y] = -f[y]
				}
				z := LogSumExp(f)
				for y := range f {
					near(t, "log p(y|x)", got[3*r+y], f[y]-z, 1e-12*math.Max(1, math.Abs(z)))
				}
			}
		}
	}
}

func TestPseudoLogLikelihood(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.3, 2, 40} {
			m := s.random(13, sd)
			all := states(m)
			rows := distinctVisible(all)
			got := make([]float64, len(rows))
			m.PseudoLogLikelihood(got, bitsOf(rows))
			for r, v := range rows {
				want := pseudoByFlips(m, v)
				near(t, "pseudo-likelihood", got[r], want, 1e-11*math.Max(1, math.Abs(want)))
			}
		}
	})
}

// pseudoByFlips scores each unit by the free energies of both its states.
func pseudoByFlips(m *RBM, v []int) float64 {
	free := func(v []int) float64 {
		f := make([]float64, 1)
		m.FreeEnergy(f, bitsOf([][]int{v}).Input())
		return f[0]
	}
	logp := 0.0
	units := m.Visible()
	if m.softmaxLabel() {
		units = m.Inputs()
		var alt []float64
		for y := range m.Classes() {
			w := append([]int{}, v...)
			clear(w[units:])
			w[units+y] = 1
			alt = append(alt, -free(w))
		}
		logp += -free(v) - LogSumExp(alt)
	}
	for i := range units {
		w := append([]int{}, v...)
		w[i] = 1 - w[i]
		logp += -free(v) - LogSumExp([]float64{-free(v), -free(w)})
	}
	return logp
}

// The progress of an enumeration may use the model: passes inside the parts of
// a job do not wait for helpers that wait for them.
func TestProgressMayUseTheModel(t *testing.T) {
	defer parallel.SetProcessors(4)()
	m := shape{300, 13, 0, Softmax}.random(1, 0.1)
	e, err := NewEnumeration(m, EvaluationLimit)
	if err != nil {
		t.Fatal(err)
	}
	v := NewBits(300, 300)
	_, err = e.LogZ(context.Background(), func(float64) { m.HiddenMean(NewMatrix(300, 13), v.Input()) })
	if err != nil {
		t.Error(err)
	}
}
