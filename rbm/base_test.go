package rbm

import (
	"math"
	"strings"
	"testing"

	"gorbm/negphase/diag"

	"gorbm/rbm/parallel"
)

// randomBase returns a base of m's shape with biases from N(0, sd²).
func randomBase(m *RBM, sd float64, seed uint64) *Base {
	r := NewKey(seed).Rand()
	b := UniformBase(m)
	for i := range b.VisibleBias {
		b.VisibleBias[i] = float32(sd * r.NormFloat64())
	}
	for j := range b.HiddenBias {
		b.HiddenBias[j] = float32(sd * r.NormFloat64())
	}
	return b
}

// baseStates lists the joint states of m with their energies under b.
func baseStates(m *RBM, b *Base) []state {
	independent := New(m.Visible(), m.Hidden(), m.Classes(), m.LabelKind())
	copy(independent.VisibleBias, b.visible().Field)
	copy(independent.HiddenBias, b.hidden().Field)
	return states(independent)
}

// blended returns states with the energy β·E + rest·E₀. On the path rest is 1−β.
func blended(m *RBM, b *Base, beta, rest float64) []state {
	all := states(m)
	for i, s := range baseStates(m, b) {
		all[i].energy = beta*all[i].energy + rest*s.energy
	}
	return all
}

// afterStep returns the distribution of (v,h') after a Gibbs step v|h, h'|v from the hidden state
// from, for the energies of all.
func afterStep(all []state, from []int) []float64 {
	p, _ := probabilities(all, 1)
	given, marginal := map[int]float64{}, map[int]float64{}
	z := 0.0
	for i, s := range all {
		marginal[key(s.v)] += p[i]
		if key(s.h) == key(from) {
			given[key(s.v)] = p[i]
			z += p[i]
		}
	}
	to := make([]float64, len(all))
	for i, s := range all {
		to[i] = given[key(s.v)] / z * p[i] / marginal[key(s.v)]
	}
	return to
}

// tiny has models of at most five units besides one-hot labels, so that the states after a step
// from each hidden state can be counted.
var tiny = []shape{
	{1, 1, 0, Softmax},
	{2, 3, 0, Softmax},
	{3, 2, 0, Softmax},
	{4, 2, 2, Softmax},
	{3, 2, 3, Softmax}, // only label units
	{3, 2, 2, Bernoulli},
}

// After a step from any hidden state the states have the distribution of the path. The test rejects
// the distribution without the energy of the base.
func TestStepOnThePath(t *testing.T) {
	const rows = 10000
	forEach(t, tiny, func(t *testing.T, shape shape) {
		m := shape.random(5, 1.5)
		b := randomBase(m, 1.5, 6)
		worst := 0.0
		for _, beta := range []float64{1, 0.75, 0.25, 0} {
			right, forgetful := blended(m, b, beta, 1-beta), blended(m, b, beta, 0)
			for h := range 1 << m.Hidden() {
				s := NewStates(m, rows)
				s.Base = b
				from := make([]int, m.Hidden())
				for j := range from {
					from[j] = h >> j & 1
					for r := range rows {
						s.H.Set(r, j, from[j] != 0)
					}
				}
				betas := make([]float32, rows)
				for r := range betas {
					betas[r] = float32(beta)
				}
				m.Step(s, betas, 1, NewKey(uint64(h)+1))
				counts := countStates(s, right)
				if counts == nil {
					t.Fatal("a state outside the model")
				}
				if z := diag.StationarityZ(counts, afterStep(right, from)); z > 6 {
					t.Errorf("β = %v from h = %v: z = %.1f, want at most 6", beta, from, z)
				}
				worst = max(worst, diag.StationarityZ(counts, afterStep(forgetful, from)))
			}
		}
		if worst < 20 {
			t.Errorf("a step that forgets E₀ is not seen: z = %.1f, want at least 20", worst)
		}
	})
}

// Energies of a step are those of the definitions. A base of zeros gives the same states as a nil
// base.
func TestStepBaseEnergy(t *testing.T) {
	forEach(t, append(small[3:], shape{70, 130, 7, Softmax}), func(t *testing.T, shape shape) {
		m := shape.random(5, 1)
		const rows = chunkRows + 5 // two chunks
		beta := make([]float32, rows)
		for r := range beta {
			beta[r] = float32(r%7) / 6
		}
		s := NewStates(m, rows)
		s.Base = randomBase(m, 1, 6)
		m.Step(s, beta, 2, NewKey(1))
		want := make([]float64, rows)
		s.Base.Energy(m, want, s.V, s.H)
		for r := range want {
			e := 0.0
			s.V.Each(r, func(i int) { e -= float64(s.Base.VisibleBias[i]) })
			s.H.Each(r, func(j int) { e -= float64(s.Base.HiddenBias[j]) })
			near(t, "E₀", s.BaseEnergy[r], e, 200*200*0x1p-53) // sums of 200 terms of size 1 in two orders
			near(t, "E₀", s.BaseEnergy[r], want[r], 0)
		}
		m.Energy(want, s.V, s.H)
		for r := range want {
			near(t, "E", s.Energy[r], want[r], 1e-4) // preactivations are float32
		}

		uniform, zeros := NewStates(m, rows), NewStates(m, rows)
		zeros.Base = UniformBase(m)
		m.Step(uniform, beta, 2, NewKey(2))
		m.Step(zeros, beta, 2, NewKey(2))
		if uniform.BaseEnergy != nil {
			t.Error("a nil base has energies")
		}
		for k, w := range uniform.V.Words {
			if zeros.V.Words[k] != w {
				t.Fatalf("a base of zeros and none give other visible states: got %v, want %v", zeros.V.Words[k], w)
			}
		}
		for k, w := range uniform.H.Words {
			if zeros.H.Words[k] != w {
				t.Fatalf("a base of zeros and none give other hidden states: got %v, want %v", zeros.H.Words[k], w)
			}
		}
	})
}

// Draw has the distribution of the base, and is bit-identical to a step at β = 0.
func TestBaseDraw(t *testing.T) {
	const rows = 40000
	forEach(t, tiny, func(t *testing.T, shape shape) {
		m := shape.random(5, 1)
		b := randomBase(m, 1.5, 6)
		s := NewStates(m, rows)
		for k := range s.V.Words {
			s.V.Words[k] = uint64(k) & vecMask(m.Visible()) // Draw must clear these bits
		}
		b.Draw(m, s.V, s.H, NewKey(3))
		all := baseStates(m, b)
		p, _ := probabilities(all, 1)
		counts := countStates(s, all)
		if counts == nil {
			t.Fatal("a state outside the model")
		}
		if z := diag.StationarityZ(counts, p); z > 6 {
			t.Errorf("z = %.1f, want at most 6", z)
		}
		other, _ := probabilities(states(m), 1)
		if z := diag.StationarityZ(counts, other); z < 20 {
			t.Errorf("draws from the base pass as draws from the model: z = %.1f, want at least 20", z)
		}
	})
	forEach(t, []shape{{63, 65, 0, Softmax}, {64, 64, 3, Bernoulli}, {70, 130, 10, Softmax}, {140, 20, 80, Softmax}}, func(t *testing.T, shape shape) {
		m := shape.random(5, 1)
		for _, b := range []*Base{nil, randomBase(m, 1, 6)} {
			hot, drawn := NewStates(m, 50), NewStates(m, 50)
			hot.H.Randomize(NewKey(9))
			hot.Base = b
			m.Step(hot, make([]float32, 50), 1, NewKey(4))
			b.Draw(m, drawn.V, drawn.H, NewKey(4))
			for k, w := range hot.V.Words {
				if drawn.V.Words[k] != w {
					t.Fatalf("other visible states than a step at β = 0: got %v, want %v", drawn.V.Words[k], w)
				}
			}
			for k, w := range hot.H.Words {
				if drawn.H.Words[k] != w {
					t.Fatalf("other hidden states than a step at β = 0: got %v, want %v", drawn.H.Words[k], w)
				}
			}
		}
	})
}

func vecMask(n int) uint64 { return 1<<n - 1 }

func TestBaseLogZ(t *testing.T) {
	forEach(t, small, func(t *testing.T, shape shape) {
		m := shape.random(5, 1)
		for _, sd := range []float64{0.5, 30} {
			b := randomBase(m, sd, 6)
			_, want := probabilities(baseStates(m, b), 1)
			near(t, "log Z₀", b.LogZ(m), want, exactTol*math.Max(1, math.Abs(want)))
		}
		_, want := probabilities(baseStates(m, nil), 1)
		near(t, "log Z₀ of the uniform end", (*Base)(nil).LogZ(m), want, exactTol*want)
		units := float64(m.Visible() + m.Hidden())
		if m.softmaxLabel() {
			units += math.Log2(float64(m.Classes())) - float64(m.Classes())
		}
		near(t, "log Z₀ of the uniform end", want, units*math.Ln2, exactTol*want)
	})
}

func TestNewBase(t *testing.T) {
	mean := []float32{0, 0.5, 1, 0.1, 0.3, 0.6} // means over ten rows
	for labels, last := range map[Kind][]float64{
		Softmax:   {1.5 / 11.5, 3.5 / 11.5, 6.5 / 11.5},
		Bernoulli: {1.5 / 11, 3.5 / 11, 6.5 / 11}, // units like all others
	} {
		m := New(6, 2, 3, labels)
		b := NewBase(m, mean, 10)
		v, h := NewBits(20000, 6), NewBits(20000, 2)
		b.Draw(m, v, h, NewKey(1))
		for i, want := range append([]float64{0.5 / 11, 0.5, 10.5 / 11}, last...) {
			on := 0
			for r := range v.Rows {
				if v.Get(r, i) {
					on++
				}
			}
			near(t, labels.String()+" labels: frequency", float64(on)/20000, want, 5*math.Sqrt(want*(1-want)/20000)) // five standard errors
		}
	}
}

func TestBaseCheck(t *testing.T) {
	m := New(3, 2, 0, Softmax)
	nan := UniformBase(m)
	nan.HiddenBias[1] = float32(math.NaN())
	for want, b := range map[string]*Base{
		"":                             UniformBase(m),
		"hidden_bias[1] is NaN":        nan,
		"make the base for this model": {VisibleBias: make([]float32, 2), HiddenBias: make([]float32, 2)},
	} {
		err := b.Check(m)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := (*Base)(nil).Check(m); err != nil {
		t.Error(err)
	}
	wrong := &Base{VisibleBias: make([]float32, 2), HiddenBias: make([]float32, 2)}
	for name, f := range map[string]func(){
		"Step": func() { s := NewStates(m, 1); s.Base = wrong; m.Step(s, nil, 1, NewKey(1)) },
		"energies": func() {
			s := NewStates(m, 1)
			s.Base, s.BaseEnergy = nan, make([]float64, 2)
			m.Step(s, nil, 1, NewKey(1))
		},
		"LogZ":    func() { wrong.LogZ(m) },
		"Draw":    func() { wrong.Draw(m, NewBits(1, 3), NewBits(1, 2), NewKey(1)) },
		"Energy":  func() { wrong.Energy(m, make([]float64, 1), NewBits(1, 3), NewBits(1, 2)) },
		"LogOdds": func() { m.LogOdds(m.VisibleBias, make([]float32, 2), 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestStepOnThePathAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	m := shape{130, 200, 10, Softmax}.random(4, 0.3)
	s := NewStates(m, 70)
	s.Base = randomBase(m, 1, 6)
	beta := make([]float32, 70)
	m.Step(s, beta, 1, NewKey(1))
	if n := testing.AllocsPerRun(50, func() { m.Step(s, beta, 2, NewKey(1)) }); n != 0 {
		t.Errorf("%v allocations a step, want 0", n)
	}
}
