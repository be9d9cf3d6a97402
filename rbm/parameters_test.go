package rbm

import (
	"math"
	"testing"

	"gorbm/rbm/parallel"
)

// eachParameter calls f for every parameter, in a fixed order.
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
		{"shrink", func(m *RBM) { m.Parameters().Shrink(0.75) }, func(m, _ float64, _ bool) float64 { return 0.25 * m }},
		{"add", func(m *RBM) { m.Parameters().Add(-0.5, x.Parameters(), nil) }, func(m, x float64, _ bool) float64 { return m - 0.5*x }},
		{"approach", func(m *RBM) { m.Parameters().Approach(0.75, x.Parameters(), nil) }, func(m, x float64, _ bool) float64 { return 0.25*m + 0.75*x }},
		{"set", func(m *RBM) { m.Set(x) }, func(_, x float64, _ bool) float64 { return x }},
		{"zero", func(m *RBM) { m.Parameters().Zero() }, func(_, _ float64, _ bool) float64 { return 0 }},
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

func TestParametersRoundTrip(t *testing.T) {
	s := shape{9, 70, 2, Softmax}
	m, got := s.random(1, 1), s.random(2, 1)
	b := m.Parameters().AppendTo([]byte("head"))
	if len(b) != 4+m.Parameters().Bytes() {
		t.Errorf("%d bytes, want %d", len(b)-4, m.Parameters().Bytes())
	}
	if rest := got.Parameters().SetFrom(append(b[4:], "tail"...)); string(rest) != "tail" || !got.Equal(m) {
		t.Errorf("the parameters changed, or %q is left", rest)
	}
}

func TestSweepsAllocateNothing(t *testing.T) {
	m := shape{784, 500, 0, Softmax}.random(1, 1)
	p, x := m.Parameters(), NewParameters(m)
	all := func() {
		p.Shrink(0.5)
		p.Add(1, x, nil)
		p.Approach(0.5, x, x)
	}
	all()
	if n := testing.AllocsPerRun(20, all); n != 0 && !parallel.Raced() { // under the race detector a pool drops elements at random
		t.Errorf("%v allocations, want 0", n)
	}
}

// LargestSize covers all weights and all biases.
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
