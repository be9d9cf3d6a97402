package rbm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"strings"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"

	"gorbm/rbm/parallel"
)

// hiddenKinds are the kinds of real hidden units.
var hiddenKinds = []units.RealKind{units.Gaussian, units.ReLU, units.DReLU}

// hiddenModel returns a model of real hidden units whose parameters are all different.
func hiddenModel(kind Kind, hidden int, visible ...Group) *RBM {
	m := NewLayers(Group{Kind: kind, Units: hidden}, visible...)
	m.Randomize(0.6, NewKey(3))
	for k, p := range m.HiddenParams() {
		for j := range p {
			p[j] = [3]float32{0.7, 0.4, -0.5}[k] + [3]float32{0.3, -0.5, 0.7}[k]*float32(j%4)
		}
	}
	for _, p := range m.VisibleParams() {
		for i := range p {
			p[i] = 1.5 + float32(i%3)/2
		}
	}
	return m
}

// allVisible returns all states of n bits.
func allVisible(n int) Values {
	v := NewBits(1<<n, n)
	for r := range v.Rows {
		for i := range n {
			v.Set(r, i, r>>i&1 != 0)
		}
	}
	return v
}

// visibleProbabilities returns the distribution of the visible states of m, which are bits, and log Z.
func visibleProbabilities(m *RBM) (p []float64, logZ float64) {
	p = make([]float64, 1<<m.Visible())
	m.FreeEnergy(p, allVisible(m.Visible()))
	for r := range p {
		p[r] = -p[r]
	}
	logZ = LogSumExp(p)
	for r := range p {
		p[r] = math.Exp(p[r] - logZ)
	}
	return p, logZ
}

// log Z of a small ReLU model, computed with SciPy.
func TestReLULogZ(t *testing.T) {
	m := NewLayers(Group{Kind: units.ReLU, Units: 2}, Group{Kind: Bernoulli, Units: 2})
	copy(m.VisibleBias, []float32{0.1, -0.2})
	copy(m.HiddenBias, []float32{-0.5, 0.2})
	copy(m.HiddenParams()[0], []float32{1, 2})
	m.SetWeights(Matrix{2, 2, []float32{0.8, -0.5, -0.3, 1.2}})
	_, logZ := visibleProbabilities(m)
	near(t, "log Z", logZ, 1.703285165855, 1e-7) // parameters are float32
	m.hidden.groups[0].Kind = noPrefactor{units.ReLU}
	m.hidden.apart[0].Kind = noPrefactor{units.ReLU}
	if _, wrong := visibleProbabilities(m); math.Abs(wrong-logZ) < 1e-3 {
		t.Error("a log Z of units without their prefactor is not seen")
	}
}

// noPrefactor is a kind whose log Z lacks ½ log(π/2γ).
type noPrefactor struct{ units.RealKind }

func (k noPrefactor) LogZ(z []float64, d *units.Distribution, first int) float64 {
	sum := k.RealKind.LogZ(z, d, first)
	for i := range z {
		sum -= math.Log(math.Pi/2/d.Param(0, first+i)) / 2
	}
	return sum
}

// With Gaussian units in both layers, the integral of exp(−F) over the visible units agrees with
// SciPy.
func TestGaussianGaussianLogZ(t *testing.T) {
	m := NewLayers(Group{Kind: Gaussian, Units: 1}, Group{Kind: Gaussian, Units: 2})
	copy(m.VisibleBias, []float32{0.1, -0.2})
	copy(m.VisibleParams()[0], []float32{2, 3})
	m.HiddenBias[0], m.HiddenParams()[0][0] = 0.3, 1.5
	m.SetWeights(Matrix{2, 1, []float32{0.4, -0.6}})
	z := 0.0
	area := quadrature(m, func(_ []float32, free float64) { z += math.Exp(-free) })
	near(t, "log Z by quadrature", math.Log(z*area), 1.788766553279, 1e-6)
}

// exp(−F) is the integral of exp(−E) over the hidden unit, and Mean is its mean.
func TestHiddenFreeEnergyByQuadrature(t *testing.T) {
	for _, kind := range hiddenKinds {
		for _, visible := range []Group{{Kind: Bernoulli, Units: 3}, {Kind: Gaussian, Units: 3}} {
			m := hiddenModel(kind, 1, visible)
			const n = 40001
			v, h := m.NewVisible(n), m.NewHidden(n)
			step := 60.0 / (n - 1)
			for r := range n {
				v.Set(r, 0, true)
				v.Set(r, 2, true)
				h.Matrix().Row(r)[0] = float32(-30 + step*float64(r))
			}
			e, free, mean := make([]float64, n), make([]float64, n), NewMatrix(n, 1)
			m.Energy(e, v, h)
			m.HiddenMeanFree(mean, free, v)
			// Simpson's rule on each side of zero, where the energy of dReLU units has a corner.
			sum, first := 0.0, 0.0
			for r := range n {
				x := float64(h.Matrix().Row(r)[0])
				w := 2 + 2*float64(r%2)
				switch {
				case r == n/2:
					if w = 2; kind == units.ReLU {
						w = 1
					}
				case r == 0 || r == n-1:
					w = 1
				case r < n/2 && kind == units.ReLU:
					w = 0
				}
				p := w * math.Exp(-e[r])
				sum, first = sum+p, first+x*p
			}
			what := fmt.Sprintf("%v under %v units", kind, visible.Kind)
			near(t, "F of "+what, free[0], -math.Log(sum*step/3), 2e-6) // values of the grid are float32
			near(t, "mean of "+what, float64(mean.Row(0)[0]), first/sum, 2e-6)
			m.FreeEnergy(e, v)
			near(t, "FreeEnergy of "+what, e[0], free[0], 1e-6)
		}
	}
}

// An ascent moves every parameter along the gradient of −F, compared with finite differences over
// weighted rows and with moments. Units fill more than a block. The test rejects slopes of the
// opposite sign.
func TestHiddenGradient(t *testing.T) {
	for _, kind := range hiddenKinds {
		for _, visible := range []Group{{Kind: Bernoulli, Units: 5}, {Kind: Gaussian, Units: 5}} {
			const rows, rate = 7, 1
			m := hiddenModel(kind, 70, visible)
			b := Batch{V: m.NewVisible(rows), H: NewMatrix(rows, 70), Weight: make([]float32, rows)}
			for r := range rows {
				for i := range 5 {
					b.V.Set(r, i, (r+i*i)%3 == 0)
				}
				b.Weight[r] = float32(r) / 10
			}
			m.HiddenMean(b.H, b.V)
			none := Phase{Batch: Batch{V: m.NewVisible(0), H: NewMatrix(0, 70)}}
			value := func(m *RBM) float64 {
				free := make([]float64, rows)
				m.FreeEnergy(free, b.V)
				sum := 0.0
				for r, f := range free {
					sum -= float64(b.Weight[r]) * f
				}
				return sum
			}
			check := func(m *RBM) (worst float64) {
				c := m.Clone()
				var a Ascent
				a.Step(c, rate, 1, Phase{Batch: b}, none)
				before, after := m.parameters(), c.parameters()
				shifted := m.Clone()
				p := shifted.parameters()
				for tensor := range tensorCount {
					if tensor == VisibleParam || tensor == HiddenParam { // precisions are fixed
						continue
					}
					for i := 0; i < len(p.tensors[tensor]); i += 1 + len(p.tensors[tensor])/20 {
						if tensor == Weights && before.tensors[tensor][i] == 0 {
							continue // beyond the last unit
						}
						x := &p.tensors[tensor][i]
						was := *x
						const h = 0x1p-8
						at := func(shift float32) float64 {
							*x = was + shift
							return value(shifted)
						}
						slope, wide := (at(h)-at(-h))/(2*h), (at(2*h)-at(-2*h))/(4*h)
						slope += (slope - wide) / 3
						*x = was
						miss := math.Abs(float64(after.tensors[tensor][i]-was) - slope)
						worst = max(worst, miss/(1e-5*(1+math.Abs(slope))))
					}
				}
				return worst
			}
			if worst := check(m); worst > 1 {
				t.Errorf("%v under %v: a step is off by %.3g times the error, want at most 1", kind, visible.Kind, worst)
			}
			if k, ok := kind.(units.LearnedKind); ok {
				m.hidden = newLayer(Group{Kind: otherSign{k}, Units: 70})
				o := hiddenModel(kind, 70, visible)
				for k, p := range m.HiddenParams() {
					copy(p, o.HiddenParams()[k])
				}
				m.hidden.dist.Field = m.HiddenBias
				if worst := check(m); worst < 100 {
					t.Errorf("slopes of another sign are not seen: got %v, want at least 100", worst)
				}
			}
		}
	}
}

// otherSign is a kind whose slopes have the opposite sign.
type otherSign struct{ units.LearnedKind }

func (k otherSign) Slopes(dst [units.MaxParams]units.Means, b *units.Block) {
	k.LearnedKind.Slopes(dst, b)
	for _, m := range dst[1:] {
		for r := range b.Rows {
			for c := b.From; c < b.Width; c++ {
				m.Data[r*m.Cols+b.First+c] *= -1
			}
		}
	}
}

// tempered returns the model with bits and real hidden units that is m at β on the path from b.
func tempered(m *RBM, b *Base, beta float32) *RBM {
	c := m.Clone()
	for p := range c.w {
		c.w[p] *= beta
	}
	blend := func(dst, at0, at1 []float32) {
		for i := range dst {
			dst[i] = beta*at1[i] + (1-beta)*at0[i]
		}
	}
	blend(c.VisibleBias, b.VisibleBias, m.VisibleBias)
	blend(c.HiddenBias, b.HiddenBias, m.HiddenBias)
	if m.HiddenKind().String() != "drelu" {
		blend(c.HiddenParams()[0], b.HiddenParams[0], m.HiddenParams()[0])
		return c
	}
	// The parameters of the sides are interpolated, and the free parameters follow from them.
	sides := func(field float32, p [][]float32, j int) (x [4]float64) {
		eta := float64(p[2][j]) / (1 + math.Abs(float64(p[2][j])))
		gamma, gap := float64(p[0][j]), float64(p[1][j])
		return [4]float64{gamma / (1 + eta), gamma / (1 - eta), float64(field) + gap/(1+eta), float64(field) - gap/(1-eta)}
	}
	for j := range c.HiddenBias {
		from, to := sides(b.HiddenBias[j], b.HiddenParams, j), sides(m.HiddenBias[j], m.HiddenParams(), j)
		for k := range from {
			from[k] = float64(beta)*to[k] + float64(1-beta)*from[k]
		}
		gamma := 2 / (1/from[0] + 1/from[1])
		eta := (from[1] - from[0]) / (from[1] + from[0])
		gap := (from[2] - from[3]) * (1 - eta*eta) / 2
		c.HiddenBias[j] = float32(from[2] - gap/(1+eta))
		for k, x := range []float64{gamma, gap, eta / (1 - math.Abs(eta))} {
			c.HiddenParams()[k][j] = float32(x)
		}
	}
	return c
}

// hiddenBase returns a base of m whose parameters all differ from those of m.
func hiddenBase(m *RBM) *Base {
	b := UniformBase(m)
	for i := range b.VisibleBias {
		b.VisibleBias[i] = float32(i)/4 - 0.3
	}
	for j := range b.HiddenBias {
		b.HiddenBias[j] = 0.2 - float32(j)/4
		b.HiddenParams[0][j] = 1.3
	}
	return b
}

// betaOnPrecision is a kind whose precision at β is β times that of the model.
type betaOnPrecision struct{ units.RealKind }

func (k betaOnPrecision) Draw(x units.States, b *units.Block, s vec.Stream) {
	base := *b.Base
	base.Params = [][]float32{make([]float32, len(base.Field)), make([]float32, len(base.Field)), make([]float32, len(base.Field))}
	for j := range base.Params[0] {
		base.Params[0][j] = 1e-3
	}
	c := *b
	c.Base = &base
	k.RealKind.Draw(x, &c, s)
}

// Chains from exact draws keep their distribution, at every β of a path. They do not if the
// precision is multiplied by β, or if the weights do not shift a field.
func TestHiddenStationarity(t *testing.T) {
	const rows = 20000
	for _, kind := range hiddenKinds {
		m := hiddenModel(kind, 3, Group{Kind: Bernoulli, Units: 4})
		for _, base := range []*Base{UniformBase(m), hiddenBase(m)} {
			for _, beta := range []float32{1, 0.5} {
				at := tempered(m, base, beta)
				p, _ := visibleProbabilities(at)
				v, mean := NewBits(rows, 4), NewMatrix(rows, 3)
				for r := range rows {
					u := NewKey(1).Uniform(uint64(r))
					state := 0
					for state < len(p)-1 && u >= p[state] {
						u -= p[state]
						state++
					}
					v.Row(r)[0] = uint64(state)
				}
				at.HiddenMean(mean, v)
				run := func(m *RBM) (z, worst float64) {
					s := NewStates(m, rows)
					s.Base = base
					at.HiddenSample(s.H, Batch{V: v, H: mean}, NewKey(2))
					b := make([]float32, rows)
					fill(b, beta)
					m.Step(s, b, 4, NewKey(5))
					counts := make([]int, len(p))
					for r := range rows {
						counts[s.V.Row(r)[0]]++
					}
					// Moments of h are compared with those given the new v, which are exact at β.
					at.HiddenMean(mean, s.V)
					for j := range 3 {
						sum, squares := 0.0, 0.0
						for r := range rows {
							x := float64(s.H.Matrix().Row(r)[j]) - float64(mean.Row(r)[j])
							sum, squares = sum+x, squares+x*x
						}
						worst = max(worst, math.Abs(sum)/math.Sqrt(squares))
					}
					return diag.StationarityZ(counts, p), worst
				}
				if z, worst := run(m); z > 6 || worst > 6 {
					t.Errorf("%v, β = %v: z of the visible states %.1f, of a hidden mean %.1f", kind, beta, z, worst)
				}
				wrong := m.Clone()
				wrong.hidden.groups[0].Kind = betaOnPrecision{kind}
				wrong.hidden.apart[0].Kind = betaOnPrecision{kind}
				if z, worst := run(wrong); beta < 1 && max(z, worst) < 6 {
					t.Errorf("%v: β on the precision is not seen: z = %.1f, %.1f", kind, z, worst)
				}
			}
		}
	}
}

// The mean weight of an annealing from each base is Z/Z₀, from free energies of all visible states.
// Energies are those of the definition. The test rejects a base whose precision is not that of Z₀.
func TestHiddenAnnealing(t *testing.T) {
	const chains = 4000
	var path []float64
	for k := range 17 {
		path = append(path, float64(k)/16)
	}
	for _, kind := range hiddenKinds {
		m := hiddenModel(kind, 3, Group{Kind: Bernoulli, Units: 4})
		_, want := visibleProbabilities(m)
		run := func(b *Base, logZ0 float64) (z float64) {
			v, h := m.NewVisible(chains), m.NewHidden(chains)
			b.Draw(m, v, h, NewKey(5))
			logw, err := annealed(m, b, path, v)
			if err != nil {
				t.Fatal(err)
			}
			sum, squares := 0.0, 0.0
			for _, x := range logw {
				w := math.Exp(x + logZ0 - want)
				sum, squares = sum+w, squares+w*w
			}
			mean := sum / chains
			return (mean - 1) / math.Sqrt((squares/chains-mean*mean)/chains)
		}
		for _, b := range []*Base{nil, hiddenBase(m)} {
			if z := run(b, b.LogZ(m)); math.Abs(z) > 6 {
				t.Errorf("%v: mean weight off: z = %.1f, want ±6 at most", kind, z)
			}
		}
		b := hiddenBase(m)
		z0 := b.LogZ(m)
		b.HiddenParams[0][0] *= 2
		if z := run(b, z0); math.Abs(z) < 6 {
			t.Errorf("%v: a base of another precision is not seen: z = %.1f, want ±6 at least", kind, z)
		}
		// log Z of the base is that of the model at β = 0.
		_, logZ := visibleProbabilities(tempered(m, b, 0))
		near(t, "log Z of the base", b.LogZ(m), logZ, 1e-6)

		s := NewStates(m, 200)
		s.Base = b
		m.Step(s, nil, 2, NewKey(9))
		e, e0 := make([]float64, 200), make([]float64, 200)
		m.Energy(e, s.V, s.H)
		b.Energy(m, e0, s.V, s.H)
		for r := range e {
			near(t, "E", s.Energy[r], e[r], 1e-5*(1+math.Abs(e[r])))
			near(t, "E₀", s.BaseEnergy[r], e0[r], 1e-9*(1+math.Abs(e0[r])))
		}
		zero := tempered(m, b, 0)
		zero.Energy(e, s.V, s.H)
		for r := range e {
			near(t, "E₀ as a model's", s.BaseEnergy[r], e[r], 1e-5*(1+math.Abs(e[r])))
		}
	}
}

// A change of scale of hidden units shifts all free energies by Σ log λ. A change that does not
// scale the gap changes their differences.
func TestScaleGauge(t *testing.T) {
	for _, kind := range hiddenKinds {
		m := hiddenModel(kind, 3, Group{Kind: Bernoulli, Units: 4})
		scaled := func(params []int) *RBM {
			c := m.Clone()
			for j, lambda := range []float32{0.5, 2, 4} {
				for i := range 4 {
					c.w[i*vec.Block+j] *= lambda
				}
				c.HiddenBias[j] *= lambda
				for _, k := range params {
					if k < len(c.HiddenParams()) {
						c.HiddenParams()[k][j] *= [2]float32{lambda * lambda, lambda}[k]
					}
				}
			}
			return c
		}
		spread := func(c *RBM, shift float64) (worst float64) {
			a, b := make([]float64, 16), make([]float64, 16)
			m.FreeEnergy(a, allVisible(4))
			c.FreeEnergy(b, allVisible(4))
			for r := range a {
				worst = max(worst, math.Abs(b[r]-a[r]-shift))
			}
			return worst
		}
		if worst := spread(scaled([]int{0, 1}), math.Log(0.5*2*4)); worst > 1e-6 {
			t.Errorf("%v: a change of scale changes F by %v, want at most 1e-6", kind, worst)
		}
		if worst := spread(scaled([]int{0}), math.Log(4)); kind == units.DReLU && worst < 1e-3 {
			t.Errorf("%v: a gap that is left is not seen", kind)
		}
		if worst := spread(scaled([]int{1}), math.Log(4)); worst < 1e-3 {
			t.Errorf("%v: a precision that is left is not seen, got %v, want at least 1e-3", kind, worst)
		}
		// Powers of two do not round, so chains on the path from a nil base visit the same states.
		visited := func(m *RBM, base *Base) string {
			s := NewStates(m, 50)
			s.Base = base
			m.RandomizeHidden(s.H, NewKey(1))
			beta := make([]float32, 50)
			fill(beta, 0.5)
			m.Step(s, beta, 5, NewKey(2))
			return fmt.Sprint(s.V.Words)
		}
		c := scaled([]int{0, 1})
		if visited(c, nil) != visited(m, nil) {
			t.Errorf("%v: a change of scale changes the path from a nil base", kind)
		}
		if visited(c, UniformBase(m)) == visited(m, nil) {
			t.Errorf("%v: a base of another scale is not seen", kind)
		}
	}
}

// Rows are bit-identical to single rows, at any number of processors, and steps do not allocate.
func TestHiddenRows(t *testing.T) {
	for _, kind := range hiddenKinds {
		for _, visible := range []Group{{Kind: Bernoulli, Units: 150}, {Kind: Softmax, Units: 9}, {Kind: Gaussian, Units: 70}} {
			m := hiddenModel(kind, 300, visible)
			m.Parameters().Shrink(0.95)
			fill(m.HiddenParams()[0], 1)
			const rows = 40
			run := func(lo, hi, processors int) *States {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				s := NewStates(m, rows)
				s.Base = UniformBase(m)
				m.RandomizeHidden(s.H, NewKey(4))
				beta := make([]float32, rows)
				for r := range beta {
					beta[r] = 1 - float32(r)/80
				}
				m.StepRows(s, lo, hi, beta, 3, NewKey(7))
				var a Ascent
				c := m.Clone()
				a.Step(c, 0.01, 1, Phase{Batch: Batch{V: s.V.Slice(lo, hi), H: s.Mean.Slice(lo, hi)}}, Phase{Batch: Batch{V: s.V.Slice(lo, hi), H: s.Mean.Slice(lo, hi), Weight: make([]float32, hi-lo)}})
				if hi-lo == rows {
					s.Energy = append(s.Energy, float64(c.HiddenBias[3]), float64(c.HiddenParams()[len(c.HiddenParams())-1][5]), float64(c.w[77]))
				}
				return s
			}
			all := run(0, rows, 1)
			for _, lo := range []int{0, 17} {
				for _, hi := range []int{18, rows} {
					s := run(lo, hi, 4)
					for r := lo; r < hi; r++ {
						same := s.Energy[r] == all.Energy[r] && s.BaseEnergy[r] == all.BaseEnergy[r]
						for j := range 300 {
							same = same && s.H.Matrix().Row(r)[j] == all.H.Matrix().Row(r)[j] && s.Mean.Row(r)[j] == all.Mean.Row(r)[j]
						}
						if !same {
							t.Fatalf("%v under %v: row %d of %d … %d", kind, visible.Kind, r, lo, hi)
						}
					}
					if lo == 0 && hi == rows {
						for k := range 3 {
							if s.Energy[rows+k] != all.Energy[rows+k] {
								t.Errorf("%v under %v: an ascent depends on the processors, got %v, want %v", kind, visible.Kind, s.Energy[rows+k], all.Energy[rows+k])
							}
						}
					}
				}
			}
			mean := NewMatrix(rows, visible.Units)
			m.VisibleMean(mean, all.H)
			for i := range visible.Units {
				z, size := float64(m.VisibleBias[i]), 1.0
				for j, x := range all.H.Matrix().Row(3) {
					z += float64(x) * float64(m.Weight(i, j))
					size += math.Abs(float64(x) * float64(m.Weight(i, j)))
				}
				tol := size * 300 * 0x1p-24 // that many roundings
				switch visible.Kind {
				case Bernoulli:
					near(t, "visible mean", float64(mean.Row(3)[i]), 1/(1+math.Exp(-z)), tol)
				case Gaussian:
					near(t, "visible mean", float64(mean.Row(3)[i]), z/float64(m.VisibleParams()[0][i]), tol)
				}
			}
			s, c := NewStates(m, rows), m.Clone()
			var a Ascent
			phase := Phase{Batch: Batch{V: s.V, H: s.Mean}}
			m.RandomizeHidden(s.H, NewKey(4))
			if n := testing.AllocsPerRun(5, func() {
				m.Step(s, nil, 1, NewKey(2))
				a.Step(c, 1e-4, 1, phase, phase)
				m.HiddenSample(s.H, phase.Batch, NewKey(8))
			}); n > 0 && !parallel.Raced() {
				t.Errorf("%v under %v: %v allocations, want 0", kind, visible.Kind, n)
			}
		}
	}
}

// Weights are refused from the size on at which energies have no lower bound. The test is on both
// sides of that size.
func TestNormalisable(t *testing.T) {
	for _, kind := range hiddenKinds {
		for _, shape := range [][2]int{{3, 5}, {5, 3}} {
			m := NewLayers(Group{Kind: kind, Units: shape[1]}, Group{Kind: Gaussian, Units: shape[0]})
			fill(m.VisibleParams()[0], 2)
			fill(m.HiddenParams()[0], 3)
			w := NewMatrix(shape[0], shape[1])
			for _, c := range []struct {
				size float64
				ok   bool
			}{{0.999, true}, {1.001, false}} {
				// All weights are equal, so s_max = size·√(2·3).
				for i := range w.Rows {
					for j := range w.Cols {
						w.Row(i)[j] = float32(c.size * math.Sqrt(2*3/float64(w.Rows*w.Cols)))
					}
				}
				m.SetWeights(w)
				if err := m.CheckNormalisable(); c.ok != (err == nil) || err != nil && (!errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), "lower bound")) {
					t.Errorf("%v: %v times the bound: %v", kind, c.size, err)
				}
			}
			if kind == units.DReLU { // its side with the smaller precision counts
				m.HiddenParams()[2][0] = 2 // η = 2/3: γ⁺ = 3·3/5
				fill(w.Data, float32(0.95*math.Sqrt(2*3/float64(w.Rows*w.Cols))))
				m.SetWeights(w)
				if m.CheckNormalisable() == nil {
					t.Error("the wider side is not seen")
				}
			}
		}
	}
	m := hiddenModel(units.ReLU, 3, Group{Kind: Bernoulli, Units: 2})
	m.HiddenParams()[0][1] = -1
	if err := m.CheckFinite(); err == nil || err.Error() != "diverged: hidden_precision[1] is -1, not above 0" {
		t.Errorf("a negative precision: %v, want %v", err, "diverged: hidden_precision[1] is -1, not above 0")
	}
}

// Pseudo-likelihoods of bits and of groups agree with free energies.
func TestHiddenPseudoLogLikelihood(t *testing.T) {
	for _, kind := range hiddenKinds {
		m := hiddenModel(kind, 5, Group{Kind: Bernoulli, Units: 3}, Group{Kind: Softmax, Units: 3})
		v := NewBits(2, 6)
		for _, at := range [][2]int{{0, 1}, {0, 4}, {1, 0}, {1, 2}, {1, 3}} {
			v.Set(at[0], at[1], true)
		}
		got := make([]float64, 2)
		m.PseudoLogLikelihood(got, v)
		free := func(set func(x Values)) float64 {
			x, f := NewBits(2, 6), make([]float64, 2)
			x.CopyFrom(v)
			set(x)
			m.FreeEnergy(f, x)
			return -f[0]
		}
		own, want := free(func(Values) {}), 0.0
		for i := range 3 {
			want += own - LogSumExp([]float64{own, free(func(x Values) { x.Set(0, i, !x.Get(0, i)) })})
		}
		var group []float64
		for c := range 3 {
			group = append(group, free(func(x Values) {
				for k := range 3 {
					x.Set(0, 3+k, k == c)
				}
			}))
		}
		near(t, "pseudo-likelihood", got[0], want+own-LogSumExp(group), 1e-9)
	}
}

// Clones, shapes, saved bytes and refusals of models with real hidden units.
func TestHiddenModel(t *testing.T) {
	for _, kind := range hiddenKinds {
		m := hiddenModel(kind, 3, Group{Kind: Bernoulli, Units: 4})
		c := m.Clone()
		if !c.Equal(m) || !c.SameShape(m) || c.SameShape(NewGroups(3, Group{Kind: Bernoulli, Units: 4})) || c.HiddenKind() != kind {
			t.Errorf("%v: a clone is not equal", kind)
		}
		b := m.Parameters().AppendTo(nil)
		c.Parameters().Zero()
		c.Parameters().SetFrom(b)
		if !c.Equal(m) {
			t.Errorf("%v: parameters do not go through bytes", kind)
		}
		last := c.Params()[len(c.Params())-1]
		if last.Values[2] = float32(math.Inf(1)); c.Equal(m) || c.CheckFinite() == nil || c.CheckFinite().Error() != "diverged: "+last.Name+"[2] is +Inf" {
			t.Errorf("%v: an infinite parameter: %v", kind, c.CheckFinite())
		}
		if m.CheckBinary() == nil || m.CheckSpins() == nil || m.CheckSites() != nil || (&Constraint{On: HiddenUnits, Active: 1}).Check(m) == nil {
			t.Errorf("%v: passes for binary", kind)
		}
		given, err := m.Given([]float32{1, FreeInput, 0, FreeInput}, Free)
		if err != nil {
			t.Fatal(err)
		}
		v, f := NewBits(2, 4), make([]float64, 2)
		v.Set(0, 0, true)
		v.Set(1, 0, true)
		v.Set(1, 1, true)
		m.FreeEnergy(f, v)
		rise := f[1] - f[0]
		v = NewBits(2, 2)
		v.Set(1, 0, true)
		given.FreeEnergy(f, v)
		near(t, "difference of F given some inputs", f[1]-f[0], rise, 1e-6)
		func() {
			defer func() {
				if got := recover(); got != "rbm: a label needs hidden units that are 0 or 1" {
					t.Errorf("a label: %v, want %v", got, "rbm: a label needs hidden units that are 0 or 1")
				}
			}()
			c.SetLabel(2, Softmax)
		}()
	}
}

// Draws, means, energies and ascents are bit-identical with and without the vector kernels, on
// every processor, and equal to this record. A failure names the first value that differs from
// plain Go.
func TestHiddenGolden(t *testing.T) {
	for k, want := range map[units.RealKind]uint64{units.Gaussian: 0x3fa6bbd97e0839f8, units.ReLU: 0x904ddd81d88c8411, units.DReLU: 0xdb412c409640fc0a} {
		run := func() (uint64, *trace) {
			m := hiddenModel(k, 70, Group{Kind: Bernoulli, Units: 90})
			m.Parameters().Shrink(0.8)
			fill(m.HiddenParams()[0], 1)
			s := NewStates(m, 30)
			s.Base = UniformBase(m)
			m.RandomizeHidden(s.H, NewKey(4))
			beta := make([]float32, 30)
			fill(beta, 0.75)
			var a Ascent
			steps := &trace{}
			for step := range 5 {
				m.Step(s, beta, 2, NewKey(uint64(step)))
				a.Step(m, 0.01, 1, Phase{Batch: Batch{V: s.V.Slice(0, 15), H: s.Mean.Slice(0, 15)}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
				steps.step = step
				steps.add("visible states", s.V.Words)
				steps.add("hidden means", s.Mean.Data)
				steps.add("energies", s.Energy)
				steps.add("energies of the base", s.BaseEnergy)
				steps.addModel(m)
				for i, p := range m.HiddenParams() {
					steps.add(fmt.Sprintf("hidden parameters %d", i), p)
				}
			}
			h := fnv.New64a()
			h.Write(m.Parameters().AppendTo(nil))
			for _, x := range append(s.Energy, s.BaseEnergy...) {
				binary.Write(h, binary.LittleEndian, x)
			}
			return h.Sum64(), steps
		}
		got, steps := run()
		if got == want {
			continue
		}
		restore := vec.SetLevel(vec.Go)
		_, plain := run()
		restore()
		why := steps.difference(plain)
		if why == "" {
			why = "plain Go gives the same, so what is computed has changed"
		}
		t.Errorf("%v: hash %#x, want %#x: %s", k, got, want, why)
	}
}
