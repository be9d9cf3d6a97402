package negphase

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// A shape is a kind and size of RBM on which tests run.
type shape struct {
	visible, hidden, classes int
	labels                   rbm.Kind
}

func (s shape) String() string {
	if s.classes == 0 {
		return fmt.Sprintf("visible=%d/hidden=%d", s.visible, s.hidden)
	}
	return fmt.Sprintf("visible=%d/hidden=%d/%v=%d", s.visible, s.hidden, s.labels, s.classes)
}

// random returns an RBM of shape s with parameters from N(0, sd²).
func (s shape) random(seed uint64, sd float64) *rbm.RBM {
	m := rbm.New(s.visible, s.hidden, s.classes, s.labels)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// state is a joint state with its energy, by the definition, and its energy under the
// base of the path, 0 for the uniform distribution.
type state struct {
	v, h   []int
	energy float64
	base   float64
}

// withBase returns the states with their energies under base.
func withBase(all []state, base *rbm.Base) []state {
	all = slices.Clone(all)
	for x := range all {
		for i, v := range all[x].v {
			all[x].base -= float64(v) * float64(base.VisibleBias[i])
		}
		for j, h := range all[x].h {
			all[x].base -= float64(h) * float64(base.HiddenBias[j])
		}
	}
	return all
}

// randomBase returns a base with biases from N(0, 1.5²).
func randomBase(m *rbm.RBM, seed uint64) *rbm.Base {
	b := &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
	r := rbm.NewKey(seed).Rand()
	for _, bias := range [][]float32{b.VisibleBias, b.HiddenBias} {
		for i := range bias {
			bias[i] = float32(1.5 * r.NormFloat64())
		}
	}
	return b
}

// states lists the joint states of m by a slow and simple method.
func states(m *rbm.RBM) []state {
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
		if !oneOfEachGroup(m, s.v) {
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

// oneOfEachGroup reports whether each softmax group of m, such as a label, has one unit on.
func oneOfEachGroup(m *rbm.RBM, v []int) bool {
	for _, g := range m.SoftmaxGroups() {
		on := 0
		for _, x := range v[g.First : g.First+g.Units] {
			on += x
		}
		if on != 1 {
			return false
		}
	}
	return true
}

// grouped returns a model with these groups of visible units, and parameters from N(0, sd²).
func grouped(seed uint64, sd float64, hidden int, groups ...rbm.Group) *rbm.RBM {
	m := rbm.NewGroups(hidden, groups...)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// sharpGroups returns a model with softmax groups and strong weights, like those of sharp.
func sharpGroups(seed uint64, sd float64) *rbm.RBM {
	return grouped(seed, sd, 3, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 1}, rbm.Group{Kind: rbm.Softmax, Units: 2})
}

// at returns the energy of the tempered path at inverse temperature beta.
func (s state) at(beta float64) float64 { return beta*s.energy + (1-beta)*s.base }

// distribution returns the probabilities of the states all at inverse temperature beta.
func distribution(all []state, beta float64) []float64 {
	top := math.Inf(-1)
	for _, s := range all {
		top = math.Max(top, -s.at(beta))
	}
	p := make([]float64, len(all))
	sum := 0.0
	for i, s := range all {
		p[i] = math.Exp(-s.at(beta) - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// hiddenField returns c + vᵀW in float64.
func hiddenField(m *rbm.RBM, v []int) []float64 {
	a := make([]float64, m.Hidden())
	for j := range a {
		a[j] = float64(m.HiddenBias[j])
		for i, x := range v {
			a[j] += float64(x) * float64(m.Weight(i, j))
		}
	}
	return a
}

// visibleField returns b + Wh in float64.
func visibleField(m *rbm.RBM, h []int) []float64 {
	a := make([]float64, m.Visible())
	for i := range a {
		a[i] = float64(m.VisibleBias[i])
		for j, x := range h {
			a[i] += float64(x) * float64(m.Weight(i, j))
		}
	}
	return a
}

// terms returns the quantities that the gradient averages: v q(h|v)ᵀ, then v, then q(h|v), with the
// hidden means q at inverse temperature beta.
func terms(m *rbm.RBM, v []int, beta float64) []float64 {
	q := hiddenField(m, v)
	for j := range q {
		q[j] = sigmoid(beta * q[j])
	}
	var f []float64
	for _, x := range v {
		for _, q := range q {
			f = append(f, float64(x)*q)
		}
	}
	for _, x := range v {
		f = append(f, float64(x))
	}
	return append(f, q...)
}

// expectation returns E f under the distribution p over the states all, where f is terms at β = 1.
func expectation(m *rbm.RBM, all []state, p []float64) []float64 {
	var mean []float64
	for x, s := range all {
		mean = addTo(mean, p[x], terms(m, s.v, 1))
	}
	return mean
}

// addTo adds w·f to sum, which may be nil.
func addTo(sum []float64, w float64, f []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(f))
	}
	for i, x := range f {
		sum[i] += w * x
	}
	return sum
}

// farthest returns the largest |difference| between elements of two vectors.
func farthest(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = math.Max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// near fails unless got is within tol of want.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

// parse is Parse for a text without errors.
func parse(t testing.TB, text string) Settings {
	t.Helper()
	s, err := Parse(text, DefaultSettings(""))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// estimator returns a new estimator with the settings in text.
func estimator(t testing.TB, text string) Estimator {
	t.Helper()
	e, err := New(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// set returns the settings in text, changed by more: names of keys, each followed by its value. It does not
// check the result.
func set(t testing.TB, text string, more ...any) Settings {
	t.Helper()
	s := parse(t, text)
	for i := 0; i < len(more); i += 2 {
		if err := s.Set(more[i].(string), more[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// build returns an estimator without checking its settings.
func build[E Estimator](s Settings) E { return s.specific.estimator(s).(E) }

// inverse returns the temperatures 1/β as a list in the grammar.
func inverse(beta []float64) string {
	t := make([]float64, len(beta))
	for k, b := range beta {
		t[k] = 1 / b
	}
	return grammar.FormatNumbers(t...)
}

var long = flag.Bool("long", false, "test every model in every setting, a minute")

// taken reports whether case i of n is tested. With -long all are, otherwise the third and the
// last, and with -short only the third. If there are at most three cases, the first replaces the third.
func taken(i, n int) bool {
	third := 2
	if n < 4 {
		third = 0
	}
	return *long || i == third || i == n-1 && !testing.Short()
}

// fewer returns the cases for which taken is true.
func fewer[T any](all []T) (some []T) {
	for i, x := range all {
		if taken(i, len(all)) {
			some = append(some, x)
		}
	}
	return some
}

// between returns the model with parameters a + t·(b − a).
func between(a, b *rbm.RBM, t float32) *rbm.RBM {
	m := a.Clone()
	m.Parameters().Approach(t, b.Parameters(), nil)
	return m
}

// logZOf returns log Z as a sum over all states.
func logZOf(all []state) float64 {
	e := make([]float64, len(all))
	for x, s := range all {
		e[x] = -s.energy
	}
	return rbm.LogSumExp(e)
}
