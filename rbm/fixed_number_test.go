package rbm

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"

	"gorbm/rbm/parallel"
)

// withActive returns a small model under a constraint on its hidden units.
func withActive(s shape, active int) *RBM {
	m := s.random(23, 1.5)
	m.Constraint = &Constraint{On: HiddenUnits, Active: active}
	return m
}

// hiddenConstrained returns small models for which Step is allowed.
func hiddenConstrained() []*RBM {
	return []*RBM{
		withActive(shape{3, 4, 0, Softmax}, 2),
		withActive(shape{4, 5, 2, Softmax}, 1),
		withActive(shape{4, 5, 2, Bernoulli}, 3),
		withActive(shape{3, 3, 0, Softmax}, 3),
		withActive(shape{2, 6, 0, Softmax}, 5),
	}
}

// drawProbabilities returns the probability with which Forward draws each state of row l of c, from the two
// numbers that each draw compares. With broken it is that of a wrong algorithm, which draws every
// unit from its mean.
func drawProbabilities(c *bernoulli.Conditional, l, units int, broken bool) map[uint64]float64 {
	probabilities := map[uint64]float64{}
	for x := range uint64(1) << units {
		if bits.OnesCount64(x) != c.Active[l] {
			continue
		}
		p, left := 1.0, c.Active[l]
		for j := range units {
			on := 1.0
			if left < units-j {
				some, all := c.Weights(l, j, left)
				if on = some / all; broken && left > 0 {
					on = c.Mean[j][l]
				}
			}
			if x>>j&1 != 0 {
				p *= on
				left--
			} else {
				p *= 1 - on
			}
		}
		probabilities[x] = p
	}
	return probabilities
}

// The transition matrix of a Gibbs step of the hidden layer, h → v → h', is computed from the
// probabilities of the step. It leaves the distribution of h at β invariant and satisfies detailed
// balance. The matrix of the wrong draws does not.
func TestConstrainedKernel(t *testing.T) {
	for _, m := range hiddenConstrained() {
		moved, _ := constrainedKernel(t, m, 1, true)
		if m.Constraint.Active < m.Hidden() && moved < 1e-3 {
			t.Errorf("%v: wrong draws change the probabilities by %v only", m.Constraint, moved)
		}
		for _, beta := range []float64{1, 0.4} {
			moved, unbalanced := constrainedKernel(t, m, beta, false)
			// Hundreds of products whose sum is at most 1.
			if moved > 1e-13 || unbalanced > 1e-13 {
				t.Errorf("%v at β = %v: the step changes the probabilities by %v, and flows differ by %v", m.Constraint, beta, moved, unbalanced)
			}
		}
	}
}

// constrainedKernel returns the largest change of the probability of a hidden state by the step,
// and the largest difference between the flows of two states.
func constrainedKernel(t *testing.T, m *RBM, beta float64, broken bool) (moved, unbalanced float64) {
	v, h, logw := allowed(m)
	probabilities := map[uint64]float64{}
	vs := map[uint64]bool{}
	for r := range logw {
		logw[r] *= beta
	}
	z := LogSumExp(logw)
	for r, w := range logw {
		probabilities[h.Row(r)[0]] += math.Exp(w - z)
		vs[v.Row(r)[0]] = true
	}
	// p(h'|v) of the draws.
	up := map[uint64]map[uint64]float64{}
	for x := range vs {
		var c bernoulli.Conditional
		c.Resize(m.Hidden())
		preactivate(m, c.LogOdds[1], []uint64{x})
		for j := range c.LogOdds[1] {
			c.LogOdds[1][j] *= beta
		}
		c.Active[1] = m.Constraint.Active
		c.Solve()
		c.Forward(true, nil)
		up[x] = drawProbabilities(&c, 1, m.Hidden(), broken)
	}
	// p(v|h) ∝ p(v,h), from the definition.
	joint := map[[2]uint64]float64{}
	for r, w := range logw {
		joint[[2]uint64{v.Row(r)[0], h.Row(r)[0]}] = math.Exp(w - z)
	}
	kernel := func(from, to uint64) float64 {
		p := 0.0
		for x := range vs {
			p += joint[[2]uint64{x, from}] / probabilities[from] * up[x][to]
		}
		return p
	}
	for a, pa := range probabilities {
		into := 0.0
		for b, pb := range probabilities {
			into += pb * kernel(b, a)
			unbalanced = max(unbalanced, math.Abs(pa*kernel(a, b)-pb*kernel(b, a)))
		}
		moved = max(moved, math.Abs(into-pa))
	}
	return moved, unbalanced
}

// Step leaves an exact start invariant, at β and on the path to a base.
func TestConstrainedStepIsStationary(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const rows = 20000
	for _, m := range hiddenConstrained() {
		for _, base := range []*Base{nil, {VisibleBias: []float32{0.5, -1, 2, 0.25}[:m.Visible()], HiddenBias: []float32{1, -2, 0.5, 0, 3, 1}[:m.Hidden()]}} {
			v, h, logw := allowed(m)
			base0 := make([]float64, len(logw))
			base.Energy(m, base0, v, h)
			lawAt := func(beta float64) []float64 {
				p := make([]float64, len(logw))
				for r, w := range logw {
					p[r] = beta*w - (1-beta)*base0[r]
				}
				z := LogSumExp(p)
				for r := range p {
					p[r] = math.Exp(p[r] - z)
				}
				return p
			}
			for _, beta := range []float32{1, 0.7, 0.4} {
				p := lawAt(float64(beta))
				s := NewStates(m, rows)
				s.Base = base
				betas := slices.Repeat([]float32{beta}, rows)
				for r, k := range picks(p, rows, NewKey(9)) {
					copy(s.H.Row(r), h.Row(k))
				}
				m.Step(s, betas, 3, NewKey(4))
				counts := countPairs(t, v, h, s.V, s.H)
				energy := make([]float64, rows)
				m.Energy(energy, s.V, s.H)
				for r, e := range energy {
					near(t, "energy", s.Energy[r], e, 1e-5) // preactivations of size 10 are float32
				}
				if z := diag.StationarityZ(counts, p); z > 6 {
					t.Errorf("%v, base %v, β = %v: z = %.1f, want at most 6", m.Constraint, base != nil, beta, z)
				}
				if z := diag.StationarityZ(counts, lawAt(1.2*float64(beta))); len(p) > 20 && z < 6 {
					t.Errorf("%v: a β off by a fifth is not seen: z = %.1f", m.Constraint, z)
				}
			}
		}
	}
}

// picks returns draws from p.
func picks(p []float64, n int, key Key) []int {
	out := make([]int, n)
	for r := range out {
		u := key.Uniform(uint64(r))
		for out[r] < len(p)-1 && u >= p[out[r]] {
			u -= p[out[r]]
			out[r]++
		}
	}
	return out
}

// countPairs counts how often each pair of v and h occurs among the rows of gotV and gotH.
func countPairs(t *testing.T, v, h, gotV, gotH Values) []int {
	t.Helper()
	index := map[[2]uint64]int{}
	for k := range v.Rows {
		index[[2]uint64{v.Row(k)[0], h.Row(k)[0]}] = k
	}
	counts := make([]int, v.Rows)
	for r := range gotV.Rows {
		k, ok := index[[2]uint64{gotV.Row(r)[0], gotH.Row(r)[0]}]
		if !ok {
			t.Fatalf("row %d is in a state that the constraint forbids", r)
		}
		counts[k]++
	}
	return counts
}

// Draws of a base, and uniform draws, agree with their distributions.
func TestConstrainedBaseDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const rows = 4000
	for name, m := range constrainedModels() {
		v, h, _ := allowed(m)
		if v.Rows < 4 {
			continue
		}
		r := NewKey(3).Rand()
		random := &Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
		for _, x := range [][]float32{random.VisibleBias, random.HiddenBias} {
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
		}
		for _, base := range []*Base{nil, random} {
			p := make([]float64, v.Rows)
			base.Energy(m, p, v, h)
			for k := range p {
				p[k] = math.Exp(-p[k] - base.LogZ(m))
			}
			gotV, gotH := NewBits(rows, m.Visible()), NewBits(rows, m.Hidden())
			base.Draw(m, gotV, gotH, NewKey(8))
			if z := diag.StationarityZ(countPairs(t, v, h, gotV, gotH), p); z > 6 {
				t.Errorf("%s, base %v: z = %.1f, want at most 6", name, base != nil, z)
			}
		}
	}
}

// Draws of h given v, bits or grey, which repeat the rows of a batch.
func TestHiddenSample(t *testing.T) {
	const rows = 20000
	m := withActive(shape{4, 6, 0, Softmax}, 2)
	v := NewBits(2, 4)
	v.Words[0], v.Words[1] = 0b0101, 0b1110
	b := Batch{V: v, H: NewMatrix(2, 6)}
	m.HiddenMean(b.H, v)
	grey := Batch{V: greyOf(v).Values(), H: NewMatrix(2, 6)}
	m.HiddenMean(grey.H, grey.V)
	for i := range b.H.Data {
		near(t, "grey mean", float64(grey.H.Data[i]), float64(b.H.Data[i]), 1e-6) // preactivations are float32
	}
	_, h, _ := allowed(m)
	hs := slices.Clone(h.Words)
	slices.Sort(hs)
	hs = slices.Compact(hs)
	dst := NewBits(rows, 6)
	for name, b := range map[string]Batch{"bits": b, "grey": grey} {
		m.HiddenSample(dst, b, NewKey(5))
		for row := range 2 {
			a := make([]float64, 6)
			preactivate(m, a, v.Row(row))
			p := make([]float64, len(hs))
			for k, h := range hs {
				for j, x := range a {
					p[k] += x * float64(h>>j&1)
				}
			}
			z := LogSumExp(p)
			counts := make([]int, len(hs))
			for k := range p {
				p[k] = math.Exp(p[k] - z)
			}
			for r := row; r < rows; r += 2 {
				k, ok := slices.BinarySearch(hs, dst.Row(r)[0])
				if !ok {
					t.Fatalf("%s: row %d has a forbidden state", name, r)
				}
				counts[k]++
			}
			if z := diag.StationarityZ(counts, p); z > 6 {
				t.Errorf("%s: row %d: z = %.1f, want at most 6", name, row, z)
			}
			uniform := slices.Repeat([]float64{1 / float64(len(hs))}, len(hs))
			if z := diag.StationarityZ(counts, uniform); z < 20 {
				t.Errorf("%s: row %d: the test does not reject uniform probabilities: z = %.1f, want at least 20", name, row, z)
			}
		}
	}
}

// Results are bit-identical at any GOMAXPROCS and kernel level, without allocations.
func TestConstrainedStepBits(t *testing.T) {
	m := shape{300, 170, 3, Softmax}.random(4, 0.2)
	m.Constraint = &Constraint{On: HiddenUnits, Active: 60}
	const rows = 140 // more than a chunk
	beta := make([]float32, rows)
	for r := range beta {
		beta[r] = []float32{1, 0.5, 1, 0.25, 1, 1, 1, 1}[r%8]
	}
	run := func() *States {
		s := NewStates(m, rows)
		m.RandomizeHidden(s.H, NewKey(1))
		m.Step(s, beta, 2, NewKey(2))
		return s
	}
	want := run()
	for r := range rows {
		if n := want.H.Slice(r, r+1).Count(); n != 60 {
			t.Fatalf("row %d has %d active units, want 60", r, n)
		}
	}
	same := func(what string) {
		t.Helper()
		got := run()
		if !slices.Equal(got.H.Words, want.H.Words) || !slices.Equal(got.Mean.Data, want.Mean.Data) || !slices.Equal(got.Energy, want.Energy) {
			t.Errorf("other bits at %s", what)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(n)
		same(fmt.Sprintf("GOMAXPROCS %d", n))
	}
	for l := vec.Go; l <= vec.Best(); l++ {
		restore := vec.SetLevel(l)
		same(l.String())
		restore()
	}
	mean := NewMatrix(rows, m.Hidden())
	m.HiddenMean(mean, want.V)
	if !slices.Equal(mean.Data, want.Mean.Data) {
		t.Error("HiddenMean and Step give other means")
	}
	runtime.GOMAXPROCS(1)
	s := run()
	if n := testing.AllocsPerRun(20, func() {
		m.Step(s, beta, 1, NewKey(3))
		m.HiddenMean(mean, s.V)
	}); n >= 1 && !parallel.Raced() { // under the race detector pools drop elements
		t.Errorf("%v allocations, want less than 1", n)
	}
}

// preactivate overwrites a with c + vᵀW.
func preactivate(m *RBM, a []float64, v []uint64) {
	for j := range a {
		a[j] = float64(m.HiddenBias[j])
		for i := range m.Visible() {
			if v[i/64]>>(i%64)&1 == 1 {
				a[j] += float64(m.Weight(i, j))
			}
		}
	}
}
