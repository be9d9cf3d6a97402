package rbm

import (
	"math"
	"testing"
)

// pottsModel has two groups of three states and two hidden units.
func pottsModel() *RBM {
	m := NewGroups(2, Group{Kind: Softmax, Units: 3}, Group{Kind: Softmax, Units: 3})
	m.SetWeights(Matrix{6, 2, []float32{0.5, -0.25, -1, 0.75, 0.25, 1, -0.5, 0.5, 1.25, -0.75, 0, 0.25}})
	copy(m.VisibleBias, []float32{0.25, -0.5, 0.5, 0.125, 0.375, -0.25})
	copy(m.HiddenBias, []float32{-0.125, 0.5})
	return m
}

// pottsLogZ is log Z of pottsModel, summed over its 36 states with NumPy.
const pottsLogZ = 4.861769231064422

// The zero-sum gauge does not change the distribution, and log Z decreases by the sum of the means
// of the biases. Without the shift of the hidden biases the distribution changes.
func TestZeroSum(t *testing.T) {
	mixed := grouped(Group{Kind: Softmax, Units: 2, Label: true})
	wide := NewGroups(70, Group{Kind: Softmax, Units: 4}, Group{Kind: Softmax, Units: 3})
	wide.Randomize(1, NewKey(5))
	for _, m := range []*RBM{pottsModel(), mixed, wide} {
		z := m.Clone()
		fall := z.ZeroSum()
		rows := NewBits(12, m.Visible())
		for r := range rows.Rows {
			for _, g := range m.Groups() {
				if g.Kind == Softmax {
					rows.Set(r, g.First+(r/2+g.First)%g.Units, true)
				} else {
					rows.Set(r, g.First+r%g.Units, true)
				}
			}
		}
		free, zero, wrong := make([]float64, 12), make([]float64, 12), make([]float64, 12)
		m.FreeEnergy(free, rows)
		z.FreeEnergy(zero, rows)
		broken := z.Clone()
		copy(broken.HiddenBias, m.HiddenBias)
		broken.FreeEnergy(wrong, rows)
		worst := 0.0
		for r := range free {
			near(t, "free energy", zero[r], free[r]+fall, 1e-6*float64(m.Hidden())) // several roundings to float32
			worst = math.Max(worst, math.Abs(wrong[r]-wrong[0]-(free[r]-free[0])))
		}
		if worst < 1e-3 {
			t.Errorf("%s: without the shift of hidden biases free energies differ by %v, want at least 1e-3", m.GroupsText(), worst)
		}
		for _, g := range z.SoftmaxGroups() {
			if g.Label {
				continue
			}
			bias := 0.0
			for i := range g.Units {
				bias += float64(z.VisibleBias[g.First+i])
			}
			near(t, "sum of biases", bias, 0, 1e-6)
			for j := range z.Hidden() {
				sum := 0.0
				for i := range g.Units {
					sum += float64(z.Weight(g.First+i, j))
				}
				near(t, "sum of weights", sum, 0, 1e-6)
			}
		}
	}
	m := pottsModel()
	_, before := probabilities(states(m), 1)
	fall := m.ZeroSum()
	_, after := probabilities(states(m), 1)
	near(t, "log Z", before, pottsLogZ, 1e-12)
	near(t, "log Z in the zero-sum gauge", after, pottsLogZ-fall, 1e-6)
	near(t, "fall", fall, 0.25/3+0.25/3, 1e-9)
}

// The fields of the states of a group sum to zero and give the frequencies of the states, with one
// pseudo-row.
func TestLogOddsOfGroups(t *testing.T) {
	m := NewGroups(1, Group{Kind: Softmax, Units: 4}, Group{Kind: Bernoulli, Units: 1})
	b := make([]float32, 5)
	m.LogOdds(b, []float32{0.5, 0.25, 0.25, 0, 0.5}, 100)
	sum, total := 0.0, 0.0
	for _, x := range b[:4] {
		sum += float64(x)
		total += math.Exp(float64(x))
	}
	near(t, "sum", sum, 0, 1e-6)
	for i, n := range []float64{50, 25, 25, 0} {
		near(t, "frequency", math.Exp(float64(b[i]))/total, (n+0.25)/101, 1e-6)
	}
	near(t, "bit", float64(b[4]), 0, 0)
}
