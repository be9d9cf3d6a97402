package rbm

import (
	"fmt"
	"math"
	"testing"
)

// A shape is a kind and size of RBM for tests.
type shape struct {
	visible, hidden, classes int
	labels                   Kind
}

func (s shape) String() string {
	if s.classes == 0 {
		return fmt.Sprintf("visible=%d/hidden=%d", s.visible, s.hidden)
	}
	return fmt.Sprintf("visible=%d/hidden=%d/%v=%d", s.visible, s.hidden, s.labels, s.classes)
}

// small has a model of each kind whose joint states can be listed one by one, with the visible and
// with the hidden layer as the smaller one.
var small = []shape{
	{1, 1, 0, Softmax},
	{3, 4, 0, Softmax},
	{6, 3, 0, Softmax},
	{5, 4, 3, Softmax},
	{7, 3, 3, Softmax},
	{3, 5, 3, Softmax}, // only label units
	{5, 4, 3, Bernoulli},
	{4, 6, 1, Softmax},
	{4, 2, 2, Bernoulli},
}

// random returns an RBM of shape s with parameters from N(0, sd²).
func (s shape) random(seed uint64, sd float64) *RBM {
	m := New(s.visible, s.hidden, s.classes, s.labels)
	m.Randomize(sd, NewKey(seed))
	return m
}

// A state is a joint state with its energy, from the definition.
type state struct {
	v, h   []int
	energy float64
}

// states lists the joint states of m by simple code.
func states(m *RBM) []state {
	var all []state
	n, k := m.Visible(), m.Hidden()
	for bits := range 1 << (n + k) {
		s := state{v: make([]int, n), h: make([]int, k)}
		for i := range n {
			s.v[i] = bits >> i & 1
		}
		for j := range k {
			s.h[j] = bits >> (n + j) & 1
		}
		if m.CheckSoftmax(bitsOf([][]int{s.v})) != nil {
			continue
		}
		for i, v := range s.v {
			s.energy -= float64(v) * float64(m.VisibleBias[i])
			for j, h := range s.h {
				s.energy -= float64(v*h) * float64(m.Weight(i, j))
			}
		}
		for j, h := range s.h {
			s.energy -= float64(h) * float64(m.HiddenBias[j])
		}
		all = append(all, s)
	}
	return all
}

// probabilities returns the probabilities of all states at inverse temperature beta, and log Z.
func probabilities(all []state, beta float64) (p []float64, logz float64) {
	top := math.Inf(-1)
	for _, s := range all {
		top = math.Max(top, -beta*s.energy)
	}
	sum := 0.0
	for _, s := range all {
		p = append(p, math.Exp(-beta*s.energy-top))
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return p, top + math.Log(sum)
}

// bitsOf converts rows to bits.
func bitsOf(rows [][]int) Values {
	b := NewBits(len(rows), len(rows[0]))
	for r, row := range rows {
		for c, x := range row {
			b.Set(r, c, x != 0)
		}
	}
	return b
}

// distinctVisible lists the distinct visible states in all.
func distinctVisible(all []state) [][]int {
	seen := map[string]bool{}
	var rows [][]int
	for _, s := range all {
		if key := fmt.Sprint(s.v); !seen[key] {
			seen[key] = true
			rows = append(rows, s.v)
		}
	}
	return rows
}

func forEach(t *testing.T, shapes []shape, f func(t *testing.T, s shape)) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) { f(t, s) })
	}
}

// near fails unless got is within tol of want.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

func TestWeightsRoundTrip(t *testing.T) {
	for _, s := range []shape{{1, 1, 0, Softmax}, {7, 63, 0, Softmax}, {8, 64, 0, Softmax}, {9, 65, 2, Softmax}, {784, 500, 10, Softmax}} {
		m := New(s.visible, s.hidden, s.classes, s.labels)
		w := NewMatrix(s.visible, s.hidden)
		for i := range w.Data {
			w.Data[i] = float32(i + 1)
		}
		m.SetWeights(w)
		got := NewMatrix(s.visible, s.hidden)
		m.Weights(got)
		for i, x := range got.Data {
			if x != w.Data[i] || m.Weight(i/s.hidden, i%s.hidden) != x {
				t.Fatalf("%v: weight %d is %v, want %v", s, i, x, w.Data[i])
			}
		}
		if !m.Clone().Equal(m) {
			t.Errorf("%v: the clone differs", s)
		}
	}
}

func TestGivenClass(t *testing.T) {
	forEach(t, []shape{{5, 4, 3, Softmax}, {5, 4, 3, Bernoulli}}, func(t *testing.T, s shape) {
		m := s.random(3, 1)
		for y := range m.Classes() {
			c := m.GivenClass(y)
			x := [][]int{{0, 1}, {1, 1}, {0, 0}}
			full := make([][]int, len(x))
			for r := range x {
				full[r] = append(append([]int{}, x[r]...), make([]int, m.Classes())...)
				full[r][m.Inputs()+y] = 1
			}
			f, g := make([]float64, len(x)), make([]float64, len(x))
			m.FreeEnergy(f, bitsOf(full))
			c.FreeEnergy(g, bitsOf(x))
			for r := range f {
				// The clamped model lacks only the constant −b_y; c + U_y is rounded to float32 in
				// each hidden unit.
				want := f[r] + float64(m.VisibleBias[m.Inputs()+y])
				near(t, "free energy", g[r], want, 1e-6*float64(m.Hidden()))
			}
		}
	})
}

func TestCheckFinite(t *testing.T) {
	m := New(3, 70, 0, Softmax)
	if err := m.CheckFinite(); err != nil {
		t.Fatal(err)
	}
	w := NewMatrix(3, 70)
	w.Row(1)[66] = float32(math.NaN())
	m.SetWeights(w)
	if err := m.CheckFinite(); err == nil || err.Error() != "diverged: weights[1,66] is NaN" {
		t.Errorf("got %v, want %v", err, "diverged: weights[1,66] is NaN")
	}
	m.SetWeights(NewMatrix(3, 70))
	m.HiddenBias[69] = float32(math.Inf(-1))
	if err := m.CheckFinite(); err == nil || err.Error() != "diverged: hidden_bias[69] is -Inf" {
		t.Errorf("got %v, want %v", err, "diverged: hidden_bias[69] is -Inf")
	}
}

func TestWeightPanels(t *testing.T) {
	m := New(3, 70, 0, Softmax)
	m.Randomize(1, NewKey(1))
	for k := range 2 {
		panel := m.WeightPanel(k)
		if len(panel) != 8*PanelUnits {
			t.Fatalf("a panel of %d numbers, want %d", len(panel), 8*PanelUnits)
		}
		for n, w := range panel {
			i, j, want := n/PanelUnits, k*PanelUnits+n%PanelUnits, float32(0)
			if i < m.Visible() && j < m.Hidden() {
				want = m.Weight(i, j)
			}
			if w != want {
				t.Errorf("weight %d, %d is %v in its panel, not %v", i, j, w, want)
			}
		}
	}
}

// exactTol bounds the rounding of a float64 sum of a hundred terms of size ten.
const exactTol = 1e-12

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
