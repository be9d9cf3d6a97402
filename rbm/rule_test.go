package rbm

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"
)

// The centred gradient is the plain one of the centred model: with the offsets
// held fixed, W' = W, b' = b + W·lambda and c' = c + Wᵀ·mu describe the same
// law, and a step along the centred gradient in (W,b',c') is a step by the rule in
// (W,b,c).
func TestCentre(t *testing.T) {
	s := shape{70, 66, 0, Softmax}
	g := s.random(1, 1)
	none, moments := NewMoments(g), NewMoments(g)
	copy(moments.V, g.VisibleBias)
	copy(moments.H, g.HiddenBias)
	g.Weights(moments.VH)
	mu, lambda := make([]float32, 70), make([]float32, 66)
	for i := range mu {
		mu[i] = float32(i) / 70
	}
	for j := range lambda {
		lambda[j] = 1 - float32(j)/66
	}
	got := New(70, 66, 0, Softmax)
	got.AscendBy(1, 1, Phase{Moments: moments}, Phase{Moments: none}, &Rule{Mu: mu, Lambda: lambda})
	for j := range g.Hidden() {
		gc := float64(g.HiddenBias[j])
		for i := range g.Visible() {
			want := float64(g.Weight(i, j)) - float64(mu[i])*float64(g.HiddenBias[j]) - float64(g.VisibleBias[i])*float64(lambda[j])
			near(t, "G'", float64(got.Weight(i, j)), want, 1e-6)
			gc -= float64(mu[i]) * want
		}
		near(t, "g_c'", float64(got.HiddenBias[j]), gc, 1e-5) // 70 terms of size 3
	}
	for i := range g.Visible() {
		gb := float64(g.VisibleBias[i])
		for j := range g.Hidden() {
			want := float64(g.Weight(i, j)) - float64(mu[i])*float64(g.HiddenBias[j]) - float64(g.VisibleBias[i])*float64(lambda[j])
			gb -= want * float64(lambda[j])
		}
		near(t, "g_b'", float64(got.VisibleBias[i]), gb, 1e-5)
	}
	zero := New(70, 66, 0, Softmax)
	zero.AscendBy(1, 1, Phase{Moments: moments}, Phase{Moments: none}, &Rule{Mu: make([]float32, 70), Lambda: make([]float32, 66)})
	if !zero.Equal(g) {
		t.Error("offsets of zero change the gradient")
	}
}

// The centred step by particles, which are bits or grey and weighted, is the one by their
// moments.
func TestCentreOfParticles(t *testing.T) {
	s := shape{130, 75, 0, Softmax}
	m := s.random(1, 0.1)
	rule := Rule{Mu: make([]float32, 130), Lambda: make([]float32, 75)}
	for i := range rule.Mu {
		rule.Mu[i] = float32(i) / 200
	}
	for j := range rule.Lambda {
		rule.Lambda[j] = 1 - float32(j)/100
	}
	for _, grey := range []bool{false, true} {
		for _, rows := range []int{3, 64, 200, 3000} { // one group, some, several chunks
			batch := func(seed uint64) Batch {
				b := particlesOf(m, rows, seed)
				if grey {
					x := NewMatrix(rows, 130)
					for r := range rows {
						b.V.Nonzero(r, func(i int, v float32) { x.Row(r)[i] = v * float32(1+i%7) / 7 })
					}
					b.V = x.Values()
				}
				b.Weight = make([]float32, rows)
				for r := range b.Weight {
					b.Weight[r] = float32(r%3) / float32(rows)
				}
				return b
			}
			pos, neg := batch(1), batch(2)
			got, want := New(130, 75, 0, Softmax), New(130, 75, 0, Softmax)
			got.AscendBy(1, 0.5, Phase{Batch: pos}, Phase{Batch: neg}, &rule)
			plus, less := NewMoments(m), NewMoments(m)
			plus.Set(pos)
			less.Set(neg)
			want.AscendBy(1, 0.5, Phase{Moments: plus}, Phase{Moments: less}, &rule)
			for k, tensor := range tensors {
				a, b := parameters64(got)[k], parameters64(want)[k]
				// Terms are rounded to float32 in either way: some 10⁻⁷ of their size each.
				if off := floats.Distance(a, b, 2) / norm64(b, nil); !(off <= 1e-5) {
					t.Errorf("grey %v, %d rows: the %s are off by %.2g of their norm", grey, rows, tensor, off)
				}
			}
		}
	}
}

// A rule gives the bits that the same things give one after another, in sweeps over
// all parameters, and allocates nothing.
func TestRule(t *testing.T) {
	for name, c := range map[string]struct {
		rows int
		with func(r *Rule, m *RBM)
	}{
		"velocity": {10, func(r *Rule, m *RBM) { r.Velocity, r.Friction = m.Clone(), 0.1 }},
		"decay":    {10, func(r *Rule, m *RBM) { r.L1, r.L2 = 1e-3, 1e-2 }},
		"sparse":   {10, func(r *Rule, m *RBM) { r.Sparse = 0.01 }},
		"average": {10, func(r *Rule, m *RBM) {
			r.Average, r.Share, r.AverageRest = m.Clone(), 0.01, New(m.Visible(), m.Hidden(), 0, Softmax)
		}},
		"rest":         {10, func(r *Rule, m *RBM) { r.Rest = New(m.Visible(), m.Hidden(), 0, Softmax) }},
		"all":          {100, allOf},
		"all, 5000":    {5000, allOf}, // several chunks
		"all, moments": {0, allOf},
	} {
		t.Run(name, func(t *testing.T) {
			s := shape{130, 75, 0, Softmax}
			m := s.random(1, 0.1)
			pos, neg := Phase{Batch: particlesOf(m, c.rows, 1)}, Phase{Batch: particlesOf(m, c.rows, 2)}
			if c.rows == 0 {
				pos, neg = Phase{Moments: NewMoments(m)}, Phase{Moments: NewMoments(m)}
				pos.Moments.Set(particlesOf(m, 20, 1))
				neg.Moments.Set(particlesOf(m, 20, 2))
			}
			rule := func() (r Rule) { c.with(&r, m); return }
			got, want, r, w := m.Clone(), m.Clone(), rule(), rule()
			for range 3 {
				got.AscendBy(0.1, 0.5, pos, neg, &r)
				sweeps(want, 0.1, 0.5, pos, neg, w)
			}
			if !got.Equal(want) {
				t.Error("the parameters differ")
			}
			for what, pair := range map[string][2]*RBM{"velocity": {r.Velocity, w.Velocity}, "average": {r.Average, w.Average}, "rest": {r.Rest, w.Rest}, "rest of the average": {r.AverageRest, w.AverageRest}} {
				if pair[0] != nil && (!pair[0].Equal(pair[1]) || pair[0].Equal(New(130, 75, 0, Softmax))) {
					t.Errorf("%s: differs, or is zero", what)
				}
			}
			if n := testing.AllocsPerRun(3, func() { got.AscendBy(1e-3, 0.5, pos, neg, &r) }); n != 0 && !raceEnabled { // the pool of tiles drops some under the race detector
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func allOf(r *Rule, m *RBM) {
	blank := func() *RBM { return New(m.Visible(), m.Hidden(), 0, Softmax) }
	*r = Rule{Velocity: m.Clone(), Friction: 0.1, L1: 1e-3, L2: 1e-2, Sparse: 0.01, Average: m.Clone(), Share: 0.01, Rest: blank(), AverageRest: blank()}
}

// sweeps is AscendBy of a rule without offsets, in one sweep after another.
func sweeps(m *RBM, rate, share float32, pos, neg Phase, r Rule) {
	step := New(m.Visible(), m.Hidden(), 0, Softmax)
	step.AscendShare(rate, share, pos, neg)
	if r.Velocity != nil {
		r.Velocity.Shrink(r.Friction)
		r.Velocity.Add(1, step, nil)
		step = r.Velocity
	}
	m.Add(1, step, r.Rest)
	if r.L1 > 0 || r.L2 > 0 {
		m.Decay(r.L1, r.L2, r.Rest)
	}
	for j := range m.HiddenBias {
		var rest []float32
		if r.Rest != nil {
			rest = r.Rest.HiddenBias[j : j+1]
		}
		vec.Advance(m.HiddenBias[j:j+1], []float32{1}, rest, -r.Sparse)
	}
	if r.Average != nil {
		r.Average.Approach(r.Share, m, r.AverageRest)
	}
}

// Steps of sparsity far below the last bit of a bias arrive where there are rests. A
// bias of −5 lies between powers of two, 4 and 8, where the last bit is 2⁻²¹: the
// rest is at most half of it, and adding a step to the rest rounds by 2⁻⁴⁶ at most.
// So after n steps bias and rest together are right to n·2⁻⁴⁶, and the bias alone to
// 2⁻²² more. Without rests, the broken twin, each step is rounded to the bias.
func TestSmallSparseSteps(t *testing.T) {
	const steps = 100_000
	m := New(1, 70, 0, Softmax) // a whole panel and a part of one
	none := Phase{Moments: NewMoments(m)}
	for _, step := range []float32{1e-6, 1e-7, 1e-8} {
		moved := func(rest *RBM) (with, alone float64) {
			for j := range m.HiddenBias {
				m.HiddenBias[j] = -5
			}
			for range steps {
				m.AscendBy(1, 1, none, none, &Rule{Sparse: step, Rest: rest})
			}
			for j, c := range m.HiddenBias {
				if c != m.HiddenBias[0] {
					t.Fatalf("bias %d is %v, the first %v", j, c, m.HiddenBias[0])
				}
			}
			alone = -5 - float64(m.HiddenBias[0])
			if rest == nil {
				return alone, alone
			}
			return alone - float64(rest.HiddenBias[0]), alone
		}
		wanted := steps * float64(step)
		with, alone := moved(New(1, 70, 0, Softmax))
		if off := math.Abs(with - wanted); off > steps*0x1p-46 {
			t.Errorf("steps of %v: bias and rest moved by %.9g, want %.9g ± %.2g", step, with, wanted, steps*0x1p-46)
		}
		if off := math.Abs(alone - wanted); off > steps*0x1p-46+0x1p-22 {
			t.Errorf("steps of %v: the bias moved by %.9g, want %.9g", step, alone, wanted)
		}
		if _, alone := moved(nil); math.Abs(alone-wanted) < 0.04*wanted {
			t.Errorf("steps of %v: without rests the bias moved by %.9g of %.9g: the test sees nothing", step, alone, wanted)
		}
	}
}

// A rule of another shape than the model panics before anything moves.
func TestRuleOfAnotherShape(t *testing.T) {
	m := New(4, 3, 0, Softmax)
	none := Phase{Moments: NewMoments(m)}
	for name, r := range map[string]Rule{
		"offsets of the visible units alone": {Mu: make([]float32, 4)},
		"offsets of the hidden units alone":  {Lambda: make([]float32, 3)},
		"offsets of too few visible units":   {Mu: make([]float32, 3), Lambda: make([]float32, 3)},
		"offsets of too many hidden units":   {Mu: make([]float32, 4), Lambda: make([]float32, 4)},
		"velocity":                           {Velocity: New(4, 4, 0, Softmax)},
		"average":                            {Average: New(3, 3, 0, Softmax)},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "rbm: ") {
					t.Errorf("%s: no panic of this package", name)
				}
			}()
			m.AscendBy(1, 1, none, none, &r)
		}()
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
	moments := NewMoments(New(70, 66, 0, Softmax))
	mu, lambda := make([]float32, 70), make([]float32, 66)
	for i := range mu {
		moments.V[i], mu[i] = 0x1p-95, 0x1p-35
	}
	for j := range lambda {
		moments.H[j], lambda[j] = 0x1p-95, 0x1p-35
	}
	g := New(70, 66, 0, Softmax)
	g.AscendBy(1, 1, Phase{Moments: moments}, Phase{Moments: NewMoments(g)}, &Rule{Mu: mu, Lambda: lambda})
	check("centring", g)

	m := New(70, 66, 0, Softmax)
	b := Batch{V: NewMatrix(1, 70).Values(), H: NewMatrix(1, 66)}
	for i := range b.V.Real {
		b.V.Real[i] = 0x1p-130
	}
	for i := range b.H.Data {
		b.H.Data[i] = 0x1p-130
	}
	m.Ascend(1, Phase{Batch: b}, Phase{Moments: NewMoments(m)})
	check("ascent", m)
}
