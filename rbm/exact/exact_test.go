package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

func TestLogZAndFreeEnergy(t *testing.T) {
	forEach(t, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.1, 1, 5} {
			m := s.random(7, sd)
			all := rbmtest.States(m)
			p, want := rbmtest.Probabilities(all, 1)
			got, err := LogZ(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			rbmtest.Near(t, "log Z", got, want, exactTol*math.Max(1, math.Abs(want)))

			rows := distinctVisible(all)
			f := make([]float64, len(rows))
			m.FreeEnergy(f, rbmtest.BitsOf(rows))
			marginal := marginals(all, p)
			for r, v := range rows {
				rbmtest.Near(t, "p(v)", math.Exp(-f[r]-got), marginal[key(v)], 1e-12)
			}
		}
	})
}

// marginals returns p(v) by key.
func marginals(all []rbmtest.State, p []float64) map[int]float64 {
	m := map[int]float64{}
	for i, s := range all {
		m[key(s.V)] += p[i]
	}
	return m
}

func TestMomentsAreExact(t *testing.T) {
	forEach(t, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.1, 1, 5} {
			m := s.random(11, sd)
			e, err := New(m, GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			got := rbm.NewMoments(m)
			e.Moments(got)
			all := rbmtest.States(m)
			p, _ := rbmtest.Probabilities(all, 1)
			for i := range m.Visible() {
				want := 0.0
				for k, st := range all {
					want += p[k] * float64(st.V[i])
				}
				rbmtest.Near(t, "⟨v⟩", float64(got.V[i]), want, 1e-7) // stored as float32
				for j := range m.Hidden() {
					want := 0.0
					for k, st := range all {
						want += p[k] * float64(st.V[i]*st.H[j])
					}
					rbmtest.Near(t, "⟨vh⟩", float64(got.VH.Row(i)[j]), want, 1e-7)
				}
			}
			for j := range m.Hidden() {
				want := 0.0
				for k, st := range all {
					want += p[k] * float64(st.H[j])
				}
				rbmtest.Near(t, "⟨h⟩", float64(got.H[j]), want, 1e-7)
			}
		}
	})
}

// The moments are the gradient of log Z: enumeration of a model with several blocks and groups
// agrees with central differences.
func TestMomentsAreTheGradientOfLogZ(t *testing.T) {
	for _, s := range []shape{{20, 14, 0, rbm.Softmax}, {13, 30, 0, rbm.Softmax}, {15, 40, 3, rbm.Softmax}, {14, 30, 3, rbm.Bernoulli}} {
		m := s.random(5, 0.7)
		e, err := New(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		if e.blocks() < 2 {
			t.Errorf("%v takes a single block", s)
		}
		got := rbm.NewMoments(m)
		e.Moments(got)
		// A step of 2⁻⁷ is exact in float32 for parameters below 2¹⁶ times it. The third derivative
		// of log Z is below 0.1, so the error of the central difference is below 0.1/6·2⁻¹⁴.
		const step = 1.0 / 128
		logz := func() float64 {
			e.Set(m)
			z, err := e.LogZ(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
		w := weights(m)
		slope := func(x *float32) float64 {
			old := *x
			*x = old + step
			m.SetWeights(w)
			up, hi := logz(), *x
			*x = old - step
			m.SetWeights(w)
			down, lo := logz(), *x
			*x = old
			m.SetWeights(w)
			return (up - down) / float64(hi-lo)
		}
		const tol = 0.1 / 6 / (1 << 14) * 2
		for _, i := range []int{0, m.Visible() - 1, m.Inputs() / 2} {
			rbmtest.Near(t, "visible bias", float64(got.V[i]), slope(&m.VisibleBias[i]), tol)
			for _, j := range []int{0, m.Hidden() - 1} {
				rbmtest.Near(t, "weight", float64(got.VH.Row(i)[j]), slope(&w.Row(i)[j]), tol)
			}
		}
		for _, j := range []int{0, m.Hidden() - 1} {
			rbmtest.Near(t, "hidden bias", float64(got.H[j]), slope(&m.HiddenBias[j]), tol)
		}
	}
}

func TestEnumerationLimits(t *testing.T) {
	_, err := LogZ(context.Background(), rbm.New(40, 29, 0, rbm.Softmax))
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("29 units: got %v, want ErrTooLarge", err)
	}
	if _, err = New(rbm.New(40, 19, 0, rbm.Softmax), GradientLimit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("19 units for a gradient: got %v, want ErrTooLarge", err)
	}
	// A label of 10 classes and 15 inputs have 10·2¹⁵ states, more than 2¹⁸. With rbm.Bernoulli
	// label units they would have 2²⁵.
	if _, err = New(rbm.New(25, 500, 10, rbm.Softmax), GradientLimit); !errors.Is(err, ErrTooLarge) {
		t.Errorf("10·2¹⁵ states: got %v, want ErrTooLarge", err)
	}
	e, err := New(rbm.New(24, 500, 10, rbm.Softmax), GradientLimit)
	if err != nil || e.States() != 10<<14 {
		t.Errorf("10·2¹⁴ states: got %v, %v", e, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LogZ(ctx, rbm.New(40, 28, 0, rbm.Softmax)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want %v", err, context.Canceled)
	}
}

// progress may call methods of the model: their loops do not deadlock with that of the enumeration.
func TestProgressMayUseTheModel(t *testing.T) {
	defer parallel.SetProcessors(4)()
	m := shape{300, 13, 0, rbm.Softmax}.random(1, 0.1)
	e, err := New(m, EvaluationLimit)
	if err != nil {
		t.Fatal(err)
	}
	v := rbm.NewBits(300, 300)
	_, err = e.LogZ(context.Background(), func(float64) { m.HiddenMean(rbm.NewMatrix(300, 13), v) })
	if err != nil {
		t.Error(err)
	}
}

// plainLogZ sums over the states of the hidden layer, or of the visible layer, from the definition.
// A label has one state for each class.
func plainLogZ(m *rbm.RBM, hidden bool) float64 {
	top, sum := math.Inf(-1), 0.0
	add := func(x float64) {
		if x > top {
			sum, top = sum*math.Exp(top-x), x
		}
		sum += math.Exp(x - top)
	}
	if !hidden {
		for bits := range 1 << m.Visible() {
			v := make([]float64, m.Visible())
			labels := 0
			for i := range v {
				v[i] = float64(bits >> i & 1)
				if i >= m.Inputs() {
					labels += bits >> i & 1
				}
			}
			if !softmaxLabel(m) || labels == 1 {
				add(-plainFreeEnergy(m, v))
			}
		}
		return top + math.Log(sum)
	}
	for bits := range 1 << m.Hidden() {
		x := 0.0
		for j, c := range m.HiddenBias {
			x += float64(bits>>j&1) * float64(c)
		}
		var label []float64
		for i, b := range m.VisibleBias {
			a := float64(b)
			for j := range m.Hidden() {
				a += float64(bits>>j&1) * float64(m.Weight(i, j))
			}
			if softmaxLabel(m) && i >= m.Inputs() {
				label = append(label, a)
			} else {
				x += plainSoftplus(a)
			}
		}
		if label != nil {
			x += rbm.LogSumExp(label)
		}
		add(x)
	}
	return top + math.Log(sum)
}

// Log Z of models of several blocks, with small and very large weights. A base then has six units,
// fewer, or none. For each state, both sums round n terms of the preactivations and n of the
// softplus.
func TestLogZAtAllSizes(t *testing.T) {
	seen := map[int]bool{}
	for _, s := range []shape{{40, 12, 0, rbm.Softmax}, {12, 9, 0, rbm.Softmax}, {11, 21, 0, rbm.Softmax}, {30, 11, 4, rbm.Softmax}, {10, 30, 3, rbm.Softmax}, {12, 30, 3, rbm.Bernoulli}} {
		for _, sd := range []float64{0.05, 1, 15, 25, 50, 100, 300} {
			m := s.random(8, sd)
			e, err := New(m, EvaluationLimit)
			if err != nil {
				t.Fatal(err)
			}
			seen[e.ratios] = true
			got, err := e.LogZ(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := plainLogZ(m, e.hidden)
			tol := rowTolerance(m, math.Abs(want))
			rbmtest.Near(t, fmt.Sprintf("%v, sd %v: log Z", s, sd), got, want, tol)
			w := weights(m)
			w.Data[0] += float32(sd) // must fail if the weight matters
			m.SetWeights(w)
			e.Set(m)
			if other, _ := e.LogZ(context.Background(), nil); math.Abs(other-want) <= tol && sd <= 1 {
				t.Errorf("%v, sd %v: a changed weight goes unseen, want more than 1", s, sd)
			}
		}
	}
	if !seen[0] || !seen[1] || !seen[quadUnits] || !seen[3] && !seen[4] && !seen[5] || !seen[lowUnits] {
		t.Errorf("bases of %v units alone", seen)
	}
}

// Exact moments with very large weights. The factor of a parameter in −E is 0 or 1 in every state,
// with mean p. If d is added to the parameter, log Z therefore increases by exactly log(1+p(eᵈ−1)).
// rbm.Moments are stored as float32.
func TestMomentsOfWildModels(t *testing.T) {
	for _, s := range []shape{{20, 7, 0, rbm.Softmax}, {6, 20, 0, rbm.Softmax}, {20, 7, 3, rbm.Softmax}, {8, 20, 3, rbm.Softmax}} {
		for _, sd := range []float64{1, 20, 60, 200} {
			m := s.random(3, sd)
			e, err := New(m, GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			got := rbm.NewMoments(m)
			logz := e.Moments(got)
			w := weights(m)
			check := func(what string, p float32, b *float32) {
				old := *b
				*b += 1
				d := float64(*b) - float64(old)
				m.SetWeights(w)
				e.Set(m)
				z, _ := e.LogZ(context.Background(), nil)
				*b = old
				m.SetWeights(w)
				want := math.Expm1(z-logz) / math.Expm1(d)
				rbmtest.Near(t, fmt.Sprintf("%v, sd %v: %s", s, sd, what), float64(p), want, 0x1p-24+2*rowTolerance(m, math.Abs(logz)))
			}
			for i := range m.Visible() {
				check("⟨v⟩", got.V[i], &m.VisibleBias[i])
				for j := range m.Hidden() {
					check("⟨vh⟩", got.VH.Row(i)[j], &w.Row(i)[j])
				}
			}
			for j := range m.Hidden() {
				check("⟨h⟩", got.H[j], &m.HiddenBias[j])
			}
		}
	}
}

func TestScaled(t *testing.T) {
	for _, x := range []float64{0, 1, -1, 600, -600, 1e5, -1e5} {
		p := vec.ScaledExp(x)
		rbmtest.Near(t, "log of e^x", vec.LogSplit(p.M, p.E), x, 4*0x1p-53*math.Max(1, math.Abs(x)))
		if p.M < 1 || p.M >= 2 {
			t.Errorf("mantissa %v, want 1 to 2", p.M)
		}
	}
}

func TestExactMomentsAllocateNothing(t *testing.T) {
	for _, s := range []shape{{20, 12, 0, rbm.Softmax}, {5, 4, 3, rbm.Softmax}} {
		m := s.random(1, 1)
		e, err := New(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		dst := rbm.NewMoments(m)
		e.Moments(dst)
		if n := testing.AllocsPerRun(20, func() { e.Set(m); e.Moments(dst) }); n != 0 {
			t.Errorf("%v: %v allocations a call, want 0", s, n)
		}
	}
}

// A NaN among the parameters makes log Z NaN.
func TestNaNIsSeen(t *testing.T) {
	for _, spoil := range []func(m *rbm.RBM, w rbm.Matrix){
		func(m *rbm.RBM, w rbm.Matrix) { m.HiddenBias[3] = float32(math.NaN()) },
		func(m *rbm.RBM, w rbm.Matrix) { w.Row(0)[3] = float32(math.NaN()) },
		func(m *rbm.RBM, w rbm.Matrix) { w.Row(12)[3] = float32(math.NaN()) }, // a weight of the label
	} {
		m := shape{13, 20, 2, rbm.Softmax}.random(1, 1)
		w := weights(m)
		spoil(m, w)
		m.SetWeights(w)
		if z, err := LogZ(context.Background(), m); z == z || err != nil {
			t.Errorf("log Z is %v, %v", z, err)
		}
	}
}

// Results are bit-identical at every level of the kernels and any number of processors.
func TestEnumerationAtAllLevels(t *testing.T) {
	mixed := rbm.NewGroups(11, rbm.Group{Kind: rbm.Gaussian, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 9}, rbm.Group{Kind: units.ReLU, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 3})
	mixed.Randomize(0.4, rbm.NewKey(5))
	models := []*rbm.RBM{mixed, hiddenModel(units.DReLU, 9, rbm.Group{Kind: rbm.Bernoulli, Units: 12})}
	for _, s := range []shape{{40, 13, 0, rbm.Softmax}, {13, 70, 0, rbm.Softmax}, {15, 70, 3, rbm.Softmax}, {64, 8, 3, rbm.Bernoulli}} {
		models = append(models, s.random(4, 0.7))
	}
	constrained := shape{12, 14, 3, rbm.Softmax}.random(4, 0.7)
	constrained.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 7}
	for i, m := range append(models, constrained) {
		var want *rbm.Moments
		var wantLogZ float64
		for level := vec.Go; level <= vec.Best(); level++ {
			for _, procs := range []int{1, 4} {
				restore, back := vec.SetLevel(level), parallel.SetProcessors(procs)
				e, err := New(m, GradientLimit)
				if err != nil {
					t.Fatal(err)
				}
				got := rbm.NewMoments(m)
				logZ := e.Moments(got)
				restore()
				back()
				if want == nil {
					want, wantLogZ = got, logZ
				}
				if logZ != wantLogZ || !slices.Equal(got.V, want.V) || !slices.Equal(got.H, want.H) || !slices.Equal(got.VH.Data, want.VH.Data) ||
					!slices.Equal(got.Squares, want.Squares) || !slices.EqualFunc(got.Slopes, want.Slopes, slices.Equal) {
					t.Errorf("model %d: level %v on %d processors gives other bits than plain Go on one", i, level, procs)
				}
			}
		}
	}
}
