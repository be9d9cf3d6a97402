package rbm

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"

	"gorbm/rbm/parallel"
)

// The centred gradient is the plain gradient of the centred model. With fixed offsets,
// W' = W, b' = b + W·lambda and c' = c + Wᵀ·mu describe the same distribution. The plain step in
// (W,b',c') is the centred step in (W,b,c).
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
	(&Ascent{Mu: mu, Lambda: lambda}).Step(got, 1, 1, Phase{Moments: moments}, Phase{Moments: none})
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
	(&Ascent{Mu: make([]float32, 70), Lambda: make([]float32, 66)}).Step(zero, 1, 1, Phase{Moments: moments}, Phase{Moments: none})
	if !zero.Equal(g) {
		t.Error("offsets of zero change the gradient")
	}
}

// The centred step from weighted particles, bits or grey, agrees with that from their moments.
func TestCentreOfParticles(t *testing.T) {
	s := shape{130, 75, 0, Softmax}
	m := s.random(1, 0.1)
	ascent := Ascent{Mu: make([]float32, 130), Lambda: make([]float32, 75)}
	for i := range ascent.Mu {
		ascent.Mu[i] = float32(i) / 200
	}
	for j := range ascent.Lambda {
		ascent.Lambda[j] = 1 - float32(j)/100
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
			ascent.Step(got, 1, 0.5, Phase{Batch: pos}, Phase{Batch: neg})
			plus, less := NewMoments(m), NewMoments(m)
			plus.Set(pos)
			less.Set(neg)
			ascent.Step(want, 1, 0.5, Phase{Moments: plus}, Phase{Moments: less})
			for k, tensor := range tensors {
				a, b := parameters64(got)[k], parameters64(want)[k]
				// Terms are rounded to float32 in both: about 10⁻⁷ of their size each.
				if off := floats.Distance(a, b, 2) / norm64(b, nil); !(off <= 1e-5) {
					t.Errorf("grey %v, %d rows: the %s are off by %.2g of their norm, want at most 1e-5", grey, rows, tensor, off)
				}
			}
		}
	}
}

// An ascent is bit-identical to a sequence of sweeps over all parameters, and does not allocate.
func TestAscentIsSweeps(t *testing.T) {
	for name, c := range map[string]struct {
		rows int
		with func(a *Ascent, m *RBM)
	}{
		"velocity": {10, func(a *Ascent, m *RBM) {
			a.Rule, a.Slots = &Momentum{Friction: 0.1}, []*Parameters{m.Clone().Parameters()}
		}},
		"decay":  {10, func(a *Ascent, m *RBM) { a.L1, a.L2 = 1e-3, 1e-2 }},
		"sparse": {10, func(a *Ascent, m *RBM) { a.Sparse = 0.01 }},
		"average": {10, func(a *Ascent, m *RBM) {
			a.Average, a.AverageShare, a.AverageRest = m.Clone().Parameters(), 0.01, NewParameters(m)
		}},
		"rest":         {10, func(a *Ascent, m *RBM) { a.Rest = NewParameters(m) }},
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
			got, want, a, w := m.Clone(), m.Clone(), new(Ascent), new(Ascent)
			c.with(a, m)
			c.with(w, m)
			for range 3 {
				a.Step(got, 0.1, 0.5, pos, neg)
				inSweeps(want, 0.1, 0.5, pos, neg, w)
			}
			if !got.Equal(want) {
				t.Error("the parameters differ")
			}
			bytesOf := func(p *Parameters) string { return string(p.AppendTo(nil)) }
			zero, theirs := bytesOf(NewParameters(m)), extras(w)
			for i, p := range extras(a) {
				if x := bytesOf(p); x != bytesOf(theirs[i]) || x == zero {
					t.Errorf("extra parameters %d differ, or are zero", i)
				}
			}
			if n := testing.AllocsPerRun(3, func() { a.Step(got, 1e-3, 0.5, pos, neg) }); n != 0 && !parallel.Raced() { // under the race detector the pool of tiles drops elements
				t.Errorf("%v allocations, want 0", n)
			}
		})
	}
}

// allOf sets all options of a except centring.
func allOf(a *Ascent, m *RBM) {
	*a = Ascent{Rule: &Momentum{Friction: 0.1}, Slots: []*Parameters{m.Clone().Parameters()}, L1: 1e-3, L2: 1e-2, Sparse: 0.01,
		Average: m.Clone().Parameters(), AverageShare: 0.01, Rest: NewParameters(m), AverageRest: NewParameters(m)}
}

// extras returns all parameters that an ascent updates besides those of the model.
func extras(a *Ascent) (all []*Parameters) {
	for _, p := range append([]*Parameters{a.Average, a.Rest, a.AverageRest}, a.Slots...) {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// inSweeps is a step of an ascent without offsets, as separate sweeps.
func inSweeps(m *RBM, rate, share float32, pos, neg Phase, a *Ascent) {
	step := New(m.Visible(), m.Hidden(), 0, Softmax)
	new(Ascent).Step(step, rate, share, pos, neg)
	by, to := step.Parameters(), m.Parameters()
	if r, ok := a.Rule.(*Momentum); ok {
		a.Slots[0].Shrink(r.Friction)
		a.Slots[0].Add(1, by, nil)
		by = a.Slots[0]
	}
	to.Add(1, by, a.Rest)
	if a.L1 > 0 || a.L2 > 0 {
		vec.Decay(m.w, a.Rest.slice(Weights, 0, len(m.w)), a.L1, a.L2)
	}
	for j := range m.HiddenBias {
		vec.Advance(m.HiddenBias[j:j+1], []float32{1}, a.Rest.slice(HiddenBias, j, j+1), -a.Sparse)
	}
	if a.Average != nil {
		a.Average.Approach(a.AverageShare, to, a.AverageRest)
	}
}

// A secondMoment is a rule with two slots that needs the step: it divides the step by 1 plus its
// mean square so far.
type secondMoment struct{}

func (secondMoment) Slots() int { return 2 }

func (secondMoment) Apply(b *Block) {
	for i, g := range b.Step {
		b.Slots[0][i] += (g*g - b.Slots[0][i]) / float32(b.Update+1)
		b.Slots[1][i] = b.Rate
		b.Step[i] = g / (1 + b.Slots[0][i])
	}
	b.Advance(b.Step)
}

// A caller's rule gets each step completely and once, with its slots, the rate and the number of
// the update. The phases are bits, real values, several chunks or moments, with and without
// centring. The model moves by the rule applied to the steps of plain ascent.
func TestRuleOfACaller(t *testing.T) {
	m := shape{130, 75, 0, Softmax}.random(1, 0.1)
	moments := NewMoments(m)
	moments.Set(particlesOf(m, 20, 3))
	offsets := Ascent{Mu: make([]float32, 130), Lambda: make([]float32, 75)}
	for i := range offsets.Mu {
		offsets.Mu[i] = float32(i) / 200
	}
	for j := range offsets.Lambda {
		offsets.Lambda[j] = 1 - float32(j)/100
	}
	grey := particlesOf(m, 100, 4)
	x := NewMatrix(100, 130)
	for r := range x.Rows {
		grey.V.Nonzero(r, func(i int, v float32) { x.Row(r)[i] = v / 3 })
	}
	grey.V = x.Values()
	for name, pos := range map[string]Phase{"bits": {Batch: particlesOf(m, 100, 1)}, "5000 rows": {Batch: particlesOf(m, 5000, 1)}, "moments": {Moments: moments}, "real values": {Batch: grey}} {
		for _, centred := range []bool{false, true} {
			a := &Ascent{Rule: secondMoment{}, Slots: []*Parameters{NewParameters(m), NewParameters(m)}}
			got := m.Clone()
			want, square := parameters64(m), newStep64(130, 75, Phase{Moments: NewMoments(m)})
			for update := range 3 {
				neg, by := Phase{Batch: particlesOf(m, 50, uint64(10+update))}, new(Ascent)
				if centred {
					a.Mu, a.Lambda, by.Mu, by.Lambda = offsets.Mu, offsets.Lambda, offsets.Mu, offsets.Lambda
				}
				step := New(130, 75, 0, Softmax)
				by.Step(step, 4, 0.5, pos, neg)
				a.Update = update
				a.Step(got, 4, 0.5, pos, neg)
				for k, tensor := range parameters64(step) {
					for i, g := range tensor {
						square[k][i] += (g*g - square[k][i]) / float64(update+1)
						want[k][i] += g / (1 + square[k][i])
					}
				}
			}
			for k, tensor := range parameters64(got) {
				if off := floats.Distance(tensor, want[k], math.Inf(1)); !(off <= 1e-5) { // about ten roundings of numbers up to 4
					t.Errorf("%s, centred %v: %v are off by %.2g, want at most 1e-5", name, centred, Tensor(k), off)
				}
			}
			rates := New(130, 75, 0, Softmax)
			rates.Parameters().Set(a.Slots[1])
			eachParameter(rates, func(i int, x float32, _ bool) {
				if x != 4 {
					t.Fatalf("%s, centred %v: parameter %d has the rate %v, want 4", name, centred, i, x)
				}
			})
		}
	}
}

// Steps of sparsity far below the last bit of a bias add up if there are rests. A bias of −5 lies
// between the powers of two 4 and 8, where the last bit is 2⁻²¹. A rest is at most half of that,
// and adding a step to it rounds by at most 2⁻⁴⁶. After n steps the error of bias and rest together
// is at most n·2⁻⁴⁶, and that of the bias 2⁻²² more. Without rests the bias rounds each step, which
// must fail.
func TestSmallSparseSteps(t *testing.T) {
	const steps = 100_000
	m := New(1, 70, 0, Softmax) // a whole panel and a part of one
	none := Phase{Moments: NewMoments(m)}
	for _, step := range []float32{1e-6, 1e-7, 1e-8} {
		moved := func(rest *Parameters) (with, alone float64) {
			a := &Ascent{Sparse: step, Rest: rest}
			for j := range m.HiddenBias {
				m.HiddenBias[j] = -5
			}
			for range steps {
				a.Step(m, 1, 1, none, none)
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
			return alone - float64(rest.slice(HiddenBias, 0, 1)[0]), alone
		}
		wanted := steps * float64(step)
		with, alone := moved(NewParameters(m))
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

// A NaN among the weights is not hidden.
func TestDecayKeepsNaN(t *testing.T) {
	for _, rest := range []bool{false, true} {
		m := New(2, 2, 0, Softmax)
		w := NewMatrix(2, 2)
		w.Row(0)[1] = float32(math.NaN())
		m.SetWeights(w)
		a := &Ascent{L1: 0.1, L2: 0.1}
		if rest {
			a.Rest = NewParameters(m)
		}
		none := Phase{Moments: NewMoments(m)}
		a.Step(m, 1, 1, none, none)
		if m.CheckFinite() == nil {
			t.Errorf("rests %v: decay hides a NaN", rest)
		}
	}
}

// An ascent whose fields have another shape than the model, or without the slots of its rule,
// panics before it changes anything.
func TestAscentOfAnotherShape(t *testing.T) {
	m := New(4, 3, 0, Softmax)
	none := Phase{Moments: NewMoments(m)}
	other := NewParameters(New(4, 4, 0, Softmax))
	for name, a := range map[string]*Ascent{
		"offsets of the visible units alone": {Mu: make([]float32, 4)},
		"offsets of the hidden units alone":  {Lambda: make([]float32, 3)},
		"offsets of too few visible units":   {Mu: make([]float32, 3), Lambda: make([]float32, 3)},
		"offsets of too many hidden units":   {Mu: make([]float32, 4), Lambda: make([]float32, 4)},
		"velocity":                           {Rule: &Momentum{}, Slots: []*Parameters{other}},
		"no velocity":                        {Rule: &Momentum{}},
		"a velocity that is nil":             {Rule: &Momentum{}, Slots: []*Parameters{nil}},
		"a slot without a rule":              {Slots: []*Parameters{NewParameters(m)}},
		"average":                            {Average: NewParameters(New(3, 3, 0, Softmax))},
		"rest":                               {Rest: other},
		"rest of the average":                {AverageRest: other},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "rbm: ") {
					t.Errorf("%s: no panic of this package", name)
				}
			}()
			a.Step(m, 1, 1, none, none)
		}()
	}
}

// Centring and steps of biases leave no subnormal numbers, which make many processors a hundred
// times slower.
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
	(&Ascent{Mu: mu, Lambda: lambda}).Step(g, 1, 1, Phase{Moments: moments}, Phase{Moments: NewMoments(g)})
	check("centring", g)

	m := New(70, 66, 0, Softmax)
	b := Batch{V: NewMatrix(1, 70).Values(), H: NewMatrix(1, 66)}
	for i := range b.V.Real {
		b.V.Real[i] = 0x1p-130
	}
	for i := range b.H.Data {
		b.H.Data[i] = 0x1p-130
	}
	new(Ascent).Step(m, 1, 1, Phase{Batch: b}, Phase{Moments: NewMoments(m)})
	check("ascent", m)
}
