package negphase

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/units"
)

// realHidden returns a small model with real hidden units of the given kind.
func realHidden(kind rbm.Kind) *rbm.RBM {
	m := rbm.NewLayers(rbm.Group{Kind: kind, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 3})
	m.Randomize(0.8, rbm.NewKey(3))
	for k, p := range m.HiddenParams() {
		for j := range p {
			p[j] = [3]float32{0.8, 0.4, -0.5}[k] + [3]float32{0.3, -0.5, 0.7}[k]*float32(j%4)
		}
	}
	return m
}

// For models with real hidden units, each estimator that supports them has the exact moments within the
// standard error of its groups. The moments of a model with another gap or another precision differ.
func TestRealHiddenNegativePhases(t *testing.T) {
	const groups = 3000
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		m := realHidden(kind)
		base := rbm.NewBase(m, []float32{0.2, 0.5, 0.7, 0.1, 0.3, 0.6}, 100)
		truth := func(m *rbm.RBM) *rbm.Moments {
			e, err := exact.New(m, exact.GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			x := rbm.NewMoments(m)
			e.Moments(x)
			return x
		}
		other := m.Clone()
		last := other.HiddenParams()[min(1, len(other.HiddenParams())-1)]
		for j := range last {
			last[j] += 0.6
		}
		want, wrong := truth(m), truth(other)
		for _, text := range []string{"pcd:chains=3000", "pt:chains=3000:tau=1/2/inf", "ins:chains=3000:tau=1/2/inf", "pins:chains=3000:tau=1/2/4/inf", "ins:chains=3000:tau=1/2/inf:path=data", "cd:k=40"} {
			s, err := Parse(text, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if s.NeedsBase() {
				s.SetBase(base)
			}
			e, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			batch := rbm.Batch{V: m.NewVisible(groups), H: rbm.NewMatrix(groups, 3)}
			for r := range groups {
				batch.V.Set(r, 3, true)
			}
			m.HiddenMean(batch.H, batch.V)
			var phase rbm.Phase
			for i := range 20 {
				if phase, _, err = e.Estimate(m, batch, rbm.NewKey(7).Child(uint64(i))); err != nil {
					t.Fatal(err)
				}
			}
			each := phase.V.Rows / groups
			z := func(value func(r int) float64, want float64) float64 {
				sum, squares := 0.0, 0.0
				for g := range groups {
					x := 0.0
					for r := g * each; r < (g+1)*each; r++ {
						w := 1.0
						if phase.Weight != nil {
							w = float64(phase.Weight[r]) * groups
						}
						x += w * value(r)
					}
					sum, squares = sum+x, squares+x*x
				}
				mean := sum / groups
				return math.Abs(mean-want) / math.Sqrt((squares/groups-mean*mean)/groups)
			}
			worst, twin := 0.0, 0.0
			look := func(value func(r int) float64, want, wrong float32) {
				worst, twin = max(worst, z(value, float64(want))), max(twin, z(value, float64(wrong)))
			}
			for i := range m.Visible() {
				on := func(r int) float64 {
					if phase.V.Get(r, i) {
						return 1
					}
					return 0
				}
				look(on, want.V[i], wrong.V[i])
				for j := range 3 {
					look(func(r int) float64 { return on(r) * float64(phase.H.Row(r)[j]) }, want.VH.Row(i)[j], wrong.VH.Row(i)[j])
				}
			}
			for j := range 3 {
				look(func(r int) float64 { return float64(phase.H.Row(r)[j]) }, want.H[j], wrong.H[j])
			}
			if worst > 6 || twin < 6 {
				t.Errorf("%v, %s: off by %.1f standard errors, and by %.1f from another model's moments", kind, text, worst, twin)
			}
		}
	}
}

// Saved chains of real hidden units continue identically at any number of processors. Damaged bytes, and bytes of
// chains with another kind of units, are rejected.
func TestRealHiddenCheckpoints(t *testing.T) {
	m := realHidden(units.DReLU)
	for _, text := range []string{"pcd", "pt:tau=1/2/inf", "ins:tau=auto", "pins:tau=1/2/4"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(processors, breakAt int) string {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			e, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			var phase rbm.Phase
			for i := range 60 {
				if i == breakAt {
					b, err := e.MarshalBinary()
					if err != nil {
						t.Fatal(err)
					}
					if e, err = New(s); err != nil {
						t.Fatal(err)
					}
					if err := e.UnmarshalBinary(b); err != nil {
						t.Fatal(err)
					}
				}
				if phase, _, err = e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
					t.Fatal(err)
				}
			}
			return fmt.Sprint(phase.V.Words, phase.H.Data, phase.Weight)
		}
		if whole := run(1, -1); run(4, 55) != whole {
			t.Errorf("%s: chains that were saved continue otherwise", text)
		}
		e, _ := New(s)
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); err != nil {
			t.Fatal(err)
		}
		b, _ := e.MarshalBinary()
		binary := rbm.NewGroups(3, m.Groups()...)
		if again, _ := New(s); again.UnmarshalBinary(b) != nil {
			t.Errorf("%s: not read again", text)
		} else if _, _, err := again.Estimate(binary, rbm.Batch{}, rbm.NewKey(1)); !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("%s: real chains for binary units: %v, want %v", text, err, rbm.ErrFormat)
		}
		at := bytes.Index(b, []byte{realVersion, 0, 0, 0}) + 12
		nan := bytes.Clone(b)
		copy(nan[at:], []byte{0, 0, 0xc0, 0x7f})
		for name, b := range map[string][]byte{"cut short": b[:len(b)-1], "NaN": nan} {
			if again, _ := New(s); !errors.Is(again.UnmarshalBinary(b), rbm.ErrFormat) {
				t.Errorf("%s: %s is read", text, name)
			}
		}
	}
}

// Estimators that keep states as bits, or flip them, return an error of one line for real hidden units.
func TestRealHiddenRefused(t *testing.T) {
	m := realHidden(units.ReLU)
	for _, kind := range []string{"ptt", "sardonics", "im", "walk"} {
		s := DefaultSettings(kind)
		if _, err := s.CheckModel(m); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: %v, want %v", kind, err, rbm.ErrUnits)
		}
	}
}

// With parameters of any size an estimator of real hidden units returns a phase of finite numbers, or an
// error that wraps rbm.ErrDiverged: while the energies are finite, ins and pins draw among temperatures
// whose energies differ by far more than float64 resolves. With infinite parameters the error is certain.
func TestRealHiddenDivergence(t *testing.T) {
	refused := 0
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		eachKind(t, func(t *testing.T, text string) {
			for _, size := range []float64{1e2, 1e4, 1e6, 1e8, 1e10, 1e13, 1e16, 1e20, 1e30, math.Inf(1)} {
				m := realHidden(kind)
				e := estimator(t, text)
				pos := rbm.Batch{V: m.NewVisible(4), H: rbm.NewMatrix(4, m.Hidden())}
				for r := range 4 {
					pos.V.Set(r, 3+r%3, true)
				}
				m.HiddenMean(pos.H, pos.V)
				for j := range m.HiddenBias {
					m.HiddenBias[j] = float32(float64(m.HiddenBias[j]) * size)
				}
				w := rbm.NewMatrix(m.Visible(), m.Hidden())
				for i := range w.Data {
					w.Data[i] = float32(float64(i%5-2) * size)
					if i%5 == 2 {
						w.Data[i] = 0 // also if size is infinite
					}
				}
				m.SetWeights(w)
				for call := range 3 {
					phase, _, err := e.Estimate(m, pos, rbm.NewKey(5).Child(uint64(call)))
					if errors.Is(err, rbm.ErrUnits) || errors.Is(err, rbm.ErrConstraint) {
						refused++
						return
					}
					if err != nil && !errors.Is(err, rbm.ErrDiverged) || err == nil && math.IsInf(size, 0) {
						t.Errorf("%v units, parameters of %g: got the error %v, want rbm.ErrDiverged", kind, size, err)
					}
					if err != nil {
						break
					}
					for _, x := range slices.Concat(phase.H.Data, phase.Weight) {
						if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
							t.Fatalf("%v units, parameters of %g: the phase has %v", kind, size, x)
						}
					}
				}
			}
		})
	}
	if refused == 0 {
		t.Error("no sampler refuses real units, so the errors looked for have other names")
	}
}
