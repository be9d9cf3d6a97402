package logz

import (
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/units"
)

// sides returns γ and the field without the bias of hidden unit j for values with the sign of h; see package units.
func sides(m *rbm.RBM, j int, h float64) (gamma, field float64) {
	p := m.HiddenParams()
	gamma = float64(p[0][j])
	if len(p) == 1 {
		return gamma, 0
	}
	gap, skew := float64(p[1][j]), float64(p[2][j])
	eta := skew / (1 + math.Abs(skew))
	if h < 0 {
		return gamma / (1 - eta), -gap / (1 - eta)
	}
	return gamma / (1 + eta), gap / (1 + eta)
}

// byQuadrature returns log Z of a model with Gaussian units 0 and 1, a softmax group of units 2, 3 and 4, a bit,
// and two real hidden units. It sums over the real hidden units on a grid, and integrates the Gaussian units in closed
// form.
func byQuadrature(m *rbm.RBM) float64 {
	const step, size = 0.05, 300
	var logs []float64
	for state := range 6 {
		on := []int{2 + state%3}
		if state >= 3 {
			on = append(on, 5)
		}
		bias, field := 0.0, [2]float64{float64(m.HiddenBias[0]), float64(m.HiddenBias[1])}
		for _, i := range on {
			bias += float64(m.VisibleBias[i])
			for j := range field {
				field[j] += float64(m.Weight(i, j))
			}
		}
		for a := -size; a <= size; a++ {
			for b := -size; b <= size; b++ {
				x, weight := [2]float64{float64(a) * step, float64(b) * step}, 2*math.Log(step)
				for j, h := range x {
					gamma, more := sides(m, j, h)
					weight += (field[j]+more)*h - gamma*h*h/2
					if m.HiddenKind() == units.ReLU && h <= 0 {
						if weight -= math.Ln2; h < 0 {
							weight = math.Inf(-1)
						}
					}
				}
				for i := range 2 {
					z := float64(m.VisibleBias[i]) + x[0]*float64(m.Weight(i, 0)) + x[1]*float64(m.Weight(i, 1))
					p := float64(m.VisibleParams()[0][i])
					weight += z*z/(2*p) + math.Log(2*math.Pi/p)/2
				}
				if weight > -50 {
					logs = append(logs, bias+weight)
				}
			}
		}
	}
	return rbm.LogSumExp(logs)
}

// For a model with numbers, categories, bits and real hidden units, all estimates agree with a quadrature.
func TestRealHiddenOfMixedUnits(t *testing.T) {
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		m := rbm.NewLayers(rbm.Group{Kind: kind, Units: 2}, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 1})
		m.Randomize(0.45, rbm.NewKey(3))
		m.VisibleParams()[0][0], m.VisibleParams()[0][1] = 3, 1.5
		for k, p := range m.HiddenParams() {
			for j := range p {
				p[j] = [3]float32{1.4, 0.5, -0.5}[k] + [3]float32{0.5, -0.9, 0.8}[k]*float32(j)
			}
		}
		if err := m.CheckNormalisable(); err != nil {
			t.Fatal(err)
		}
		want := byQuadrature(m)
		for _, base := range []*rbm.Base{nil, rbm.NewBase(m, []float32{0.3, -0.4, 0.2, 0.5, 0.3, 0.6}, 1000)} {
			s := small(base)
			s.Annealing.Chains, s.Groups, s.Rounds = 500, 20, 500
			b, err := Estimate(t.Context(), m, s, rbm.NewKey(8), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []Method{ByAIS, ByReverse, ByBennett} {
				got, stdErr := b.By(by)
				if z := math.Abs(got-want) / math.Hypot(stdErr, 1e-4); !(z < 6) || stdErr > 0.1 {
					t.Errorf("%v, %s: %v ± %v, want %v", kind, by, got, stdErr, want)
				}
			}
		}
	}
}
