package rbm

import (
	"math"
	"testing"
)

// eachParameter calls f for every parameter, with the same order each time.
func eachParameter(m *RBM, f func(i int, x float32, weight bool)) {
	n := 0
	for i := range m.Visible() {
		for j := range m.Hidden() {
			f(n, m.Weight(i, j), true)
			n++
		}
	}
	for _, bias := range [][]float32{m.VisibleBias, m.HiddenBias} {
		for _, x := range bias {
			f(n, x, false)
			n++
		}
	}
}

func TestSweeps(t *testing.T) {
	s := shape{130, 75, 3, Softmax}
	m, x := s.random(1, 1), s.random(2, 1)
	for _, c := range []struct {
		name string
		do   func(m *RBM)
		want func(m, x float64, weight bool) float64
	}{
		{"shrink", func(m *RBM) { m.Shrink(0.75) }, func(m, _ float64, _ bool) float64 { return 0.25 * m }},
		{"add", func(m *RBM) { m.Add(-0.5, x, nil) }, func(m, x float64, _ bool) float64 { return m - 0.5*x }},
		{"approach", func(m *RBM) { m.Approach(0.75, x, nil) }, func(m, x float64, _ bool) float64 { return 0.25*m + 0.75*x }},
		{"set", func(m *RBM) { m.Set(x) }, func(_, x float64, _ bool) float64 { return x }},
		{"zero", func(m *RBM) { m.Zero() }, func(_, _ float64, _ bool) float64 { return 0 }},
		{"decay", func(m *RBM) { m.Decay(0.25, 0.125, nil) }, func(m, _ float64, weight bool) float64 {
			if !weight {
				return m
			}
			m *= 0.875
			return math.Copysign(math.Max(math.Abs(m)-0.25, 0), m)
		}},
	} {
		got := m.Clone()
		c.do(got)
		var olds, others []float64
		eachParameter(m, func(_ int, v float32, _ bool) { olds = append(olds, float64(v)) })
		eachParameter(x, func(_ int, v float32, _ bool) { others = append(others, float64(v)) })
		eachParameter(got, func(i int, v float32, weight bool) {
			want := c.want(olds[i], others[i], weight)
			near(t, c.name, float64(v), want, 3e-7*math.Max(1, math.Abs(want))) // three roundings
		})
	}
}

// Nothing may hide that a weight is NaN.
func TestDecayKeepsNaN(t *testing.T) {
	m := New(2, 2, 0, Softmax)
	w := NewMatrix(2, 2)
	w.Row(0)[1] = float32(math.NaN())
	m.SetWeights(w)
	m.Decay(0.1, 0.1, nil)
	if m.CheckFinite() == nil {
		t.Error("decay hides a NaN")
	}
}

func TestParametersRoundTrip(t *testing.T) {
	s := shape{9, 70, 2, Softmax}
	m, got := s.random(1, 1), s.random(2, 1)
	b := m.AppendParameters([]byte("head"))
	if len(b) != 4+m.ParameterBytes() {
		t.Errorf("%d bytes, want %d", len(b)-4, m.ParameterBytes())
	}
	if rest := got.SetParameters(append(b[4:], "tail"...)); string(rest) != "tail" || !got.Equal(m) {
		t.Errorf("the parameters changed, or %q is left", rest)
	}
}

// The centred gradient is the plain one of the centred model: with the offsets
// held fixed, W' = W, b' = b + W·lambda and c' = c + Wᵀ·mu describe the same
// law, and a step along the centred gradient in (W,b',c') is a step along
// Centre's result in (W,b,c).
func TestCentre(t *testing.T) {
	s := shape{70, 66, 0, Softmax}
	g := s.random(1, 1)
	mu, lambda := make([]float32, 70), make([]float32, 66)
	for i := range mu {
		mu[i] = float32(i) / 70
	}
	for j := range lambda {
		lambda[j] = 1 - float32(j)/66
	}
	got := g.Clone()
	got.Centre(mu, lambda)
	for j := range g.Hidden() {
		gc := float64(g.HiddenBias[j])
		for i := range g.Visible() {
			want := float64(g.Weight(i, j)) - float64(mu[i])*float64(g.HiddenBias[j]) - float64(g.VisibleBias[i])*float64(lambda[j])
			near(t, "G'", float64(got.Weight(i, j)), want, 1e-6)
			gc -= float64(mu[i]) * want
		}
		near(t, "g_c'", float64(got.HiddenBias[j]), gc, 1e-4) // 70 terms of size 3
	}
	for i := range g.Visible() {
		gb := float64(g.VisibleBias[i])
		for j := range g.Hidden() {
			want := float64(g.Weight(i, j)) - float64(mu[i])*float64(g.HiddenBias[j]) - float64(g.VisibleBias[i])*float64(lambda[j])
			gb -= want * float64(lambda[j])
		}
		near(t, "g_b'", float64(got.VisibleBias[i]), gb, 1e-4)
	}
	zero := g.Clone()
	zero.Centre(make([]float32, 70), make([]float32, 66))
	if !zero.Equal(g) {
		t.Error("offsets of zero change the gradient")
	}
}

func TestSweepsAllocateNothing(t *testing.T) {
	m := shape{784, 500, 0, Softmax}.random(1, 1)
	mu, lambda := make([]float32, 784), make([]float32, 500)
	all := func() {
		m.Shrink(0.5)
		m.Add(1, m, nil)
		m.Approach(0.5, m, nil)
		m.Decay(1e-4, 1e-4, nil)
		m.Centre(mu, lambda)
	}
	all()
	if n := testing.AllocsPerRun(20, all); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Neither centring nor steps of the biases leave subnormal numbers, which many
// processors take a hundred times as long to compute with.
func TestStepsLeaveNoSubnormals(t *testing.T) {
	check := func(what string, m *RBM) {
		eachParameter(m, func(i int, v float32, _ bool) {
			if v != 0 && math.Abs(float64(v)) < 0x1p-126 {
				t.Errorf("%s: parameter %d is %v", what, i, v)
			}
		})
	}
	g := New(70, 66, 0, Softmax)
	mu, lambda := make([]float32, 70), make([]float32, 66)
	for i := range mu {
		g.VisibleBias[i], mu[i] = 0x1p-95, 0x1p-35
	}
	for j := range lambda {
		g.HiddenBias[j], lambda[j] = 0x1p-95, 0x1p-35
	}
	g.Centre(mu, lambda)
	check("centring", g)

	m := New(70, 66, 0, Softmax)
	b := Batch{V: NewMatrix(1, 70).Input(), H: NewMatrix(1, 66)}
	for i := range b.V.Grey.Data {
		b.V.Grey.Data[i] = 0x1p-130
	}
	for i := range b.H.Data {
		b.H.Data[i] = 0x1p-130
	}
	m.Ascend(1, Phase{Batch: b}, Phase{Moments: NewMoments(m)})
	check("ascent", m)
}

// The largest sizes are those of all weights, and of all biases.
func TestLargestSize(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		weight, visible, hidden float32
		size, bias              float64
	}{{-3, 1, -2, 3, 2}, {2, -4, 3, 2, 4}, {nan, 1, 1, math.NaN(), 1}, {1, nan, 1, 1, math.NaN()}, {1, 1, nan, 1, math.NaN()}, {float32(math.Inf(-1)), 0, 0, math.Inf(1), 0}} {
		m := New(5, 70, 0, Softmax)
		w := NewMatrix(5, 70)
		w.Row(4)[69], w.Row(0)[0] = c.weight, 0.5
		m.SetWeights(w)
		m.VisibleBias[3], m.HiddenBias[68] = c.visible, c.hidden
		weight, bias := m.LargestSize()
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(weight, c.size) || !same(bias, c.bias) {
			t.Errorf("%+v: %v and %v", c, weight, bias)
		}
	}
}
