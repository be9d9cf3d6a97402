package rbm

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// constrainedModels are small models under constraints of every kind: both
// layers the smaller one, both kinds of label, with a reference and without.
func constrainedModels() map[string]*RBM {
	models := map[string]*RBM{}
	for _, s := range []shape{{4, 5, 0, Softmax}, {6, 3, 0, Softmax}, {6, 4, 3, Softmax}, {4, 6, 2, Bernoulli}, {5, 2, 2, Softmax}, {3, 1, 3, Softmax}} {
		for _, on := range []Layer{HiddenUnits, AllUnits} {
			for _, referenced := range []bool{false, true} {
				m := s.random(7, 0.8)
				units := m.Hidden()
				if on == AllUnits {
					units += m.Visible()
				}
				c := &Constraint{On: on}
				if referenced {
					r := NewKey(uint64(units)).Rand()
					c.Reference = make([]uint8, units)
					for i := range c.Reference {
						c.Reference[i] = uint8(r.IntN(2))
					}
				}
				for c.Active = range units + 1 {
					if c.Check(m) != nil {
						continue
					}
					m := m.Clone()
					constraint := *c
					m.Constraint = &constraint
					models[fmt.Sprintf("%dx%d/%d%v/%v/%v", s.visible, s.hidden, s.classes, s.labels, c, referenced)] = m
				}
			}
		}
	}
	return models
}

// allowed lists the states of a small model that its constraint allows, with
// −E, by the definitions alone.
func allowed(m *RBM) (v, h Bits, logw []float64) {
	n, k := m.Visible(), m.Hidden()
	var states []uint64
	for x := range uint64(1) << (n + k) {
		labels, away := 0, 0
		for i := range n + k {
			bit := x >> i & 1
			if m.softmaxLabel() && i >= m.Inputs() && i < n {
				labels += int(bit)
			}
			c := m.Constraint
			j := i
			if c.On == HiddenUnits {
				if j -= n; j < 0 {
					continue
				}
			}
			if c.Reference != nil {
				bit ^= uint64(c.Reference[j])
			}
			away += int(bit)
		}
		if away == m.Constraint.Active && (!m.softmaxLabel() || labels == 1) {
			states = append(states, x)
		}
	}
	v, h = NewBits(len(states), n), NewBits(len(states), k)
	for r, x := range states {
		for i := range n + k {
			if on := x>>i&1 != 0; i < n {
				v.Set(r, i, on)
			} else {
				h.Set(r, i-n, on)
			}
		}
	}
	logw = make([]float64, len(states))
	m.Energy(logw, v, h)
	for r := range logw {
		logw[r] = -logw[r]
	}
	return v, h, logw
}

// Free energies, class probabilities, pseudo-likelihoods, hidden means and the
// base's log Z against all states.
func TestConstrainedQuantities(t *testing.T) {
	for name, m := range constrainedModels() {
		v, h, logw := allowed(m)
		logZ := LogSumExp(logw)
		pv := map[uint64]float64{}
		mean := map[uint64][]float64{}
		for r, w := range logw {
			x := v.Row(r)[0]
			p := math.Exp(w - logZ)
			pv[x] += p
			if mean[x] == nil {
				mean[x] = make([]float64, m.Hidden())
			}
			h.Each(r, func(j int) { mean[x][j] += p })
		}
		n := 1 << m.Visible()
		rows := NewBits(n, m.Visible())
		for x := range n {
			rows.Row(x)[0] = uint64(x)
		}
		f, means := make([]float64, n), NewMatrix(n, m.Hidden())
		m.FreeEnergy(f, rows.Input())
		m.HiddenMean(means, rows.Input())
		const tol = 1e-12 // hundreds of roundings of numbers of a size of 10
		oneHot := func(x int) bool {
			y := x >> m.Inputs()
			return !m.softmaxLabel() || y&(y-1) == 0 && y != 0
		}
		for x := range n {
			p := pv[uint64(x)]
			if !oneHot(x) {
				continue
			}
			if p == 0 {
				if !math.IsInf(f[x], 1) || !math.IsNaN(float64(means.Row(x)[0])) {
					t.Errorf("%s: state %b of probability zero has F = %v, mean %v", name, x, f[x], means.Row(x))
				}
				continue
			}
			near(t, fmt.Sprintf("%s: log p(%b)", name, x), -f[x]-logZ, math.Log(p), tol)
			for j, q := range means.Row(x) {
				near(t, fmt.Sprintf("%s: mean %d of %b", name, j, x), float64(q), mean[uint64(x)][j]/p, 8.0/(1<<24)) // preactivations in float32
			}
		}
		var possible Bits
		for x := range n {
			if oneHot(x) && pv[uint64(x)] > 0 {
				possible.Rows++
				possible.Words = append(possible.Words, uint64(x))
			}
		}
		possible.Cols, possible.Stride = m.Visible(), 1
		if m.Classes() > 0 {
			logp := make([]float64, possible.Rows*m.Classes())
			m.ClassLogProb(logp, possible.Input())
			for r := range possible.Rows {
				x := possible.Words[r] &^ (^uint64(0) << m.Inputs())
				total := 0.0
				for y := range m.Classes() {
					total += pv[x|1<<(m.Inputs()+y)]
				}
				for y := range m.Classes() {
					if total == 0 { // Bernoulli labels: no class alone
						continue
					}
					want := math.Log(pv[x|1<<(m.Inputs()+y)] / total)
					if got := logp[r*m.Classes()+y]; math.IsInf(want, -1) != math.IsInf(got, -1) || want > -1e300 && math.Abs(got-want) > tol {
						t.Errorf("%s: log p(%d|%b) = %v, want %v", name, y, x, got, want)
					}
				}
			}
		}
		pl := make([]float64, possible.Rows)
		m.PseudoLogLikelihood(pl, possible)
		for r, x := range possible.Words {
			want := 0.0
			units := m.Visible()
			if m.softmaxLabel() {
				units = m.Inputs()
				total := 0.0
				for y := range m.Classes() {
					total += pv[x&^(^uint64(0)<<units)|1<<(units+y)]
				}
				want = math.Log(pv[x] / total)
			}
			for i := range units {
				want += math.Log(pv[x] / (pv[x] + pv[x^1<<i]))
			}
			near(t, fmt.Sprintf("%s: pseudo-likelihood of %b", name, x), pl[r], want, 10*tol)
		}
		base := &Base{VisibleBias: m.VisibleBias, HiddenBias: m.HiddenBias}
		logs := make([]float64, v.Rows)
		base.Energy(logs, v, h)
		for r := range logs {
			logs[r] = -logs[r]
		}
		near(t, name+": log Z of the base", base.LogZ(m), LogSumExp(logs), tol)
		near(t, name+": log of the number of states", (*Base)(nil).LogZ(m), math.Log(float64(len(logs))), tol)
	}
}

func TestConstraintSettings(t *testing.T) {
	for _, s := range []string{"", "hidden", "hidden=", "hidden=x", "hidden=0", "all=-3", "visible=2", "hidden=2=3", "hidden=1.5"} {
		if c, err := ParseConstraint(s); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	for _, s := range []string{"hidden=20", "all=120"} {
		if c, err := ParseConstraint(s); err != nil || c.String() != s {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	m := shape{4, 3, 2, Softmax}.random(1, 1)
	for _, c := range []*Constraint{
		{On: HiddenUnits, Active: 4}, {On: HiddenUnits, Active: -1}, {On: AllUnits, Active: 0}, {On: AllUnits, Active: 7}, {On: "some", Active: 1},
		{On: HiddenUnits, Active: 1, Reference: make([]uint8, 4)}, {On: HiddenUnits, Active: 1, Reference: []uint8{0, 2, 0}},
	} {
		if c.Check(m) == nil {
			t.Errorf("%+v fits", c)
		}
	}
	for _, c := range []*Constraint{nil, {On: HiddenUnits}, {On: HiddenUnits, Active: 3}, {On: AllUnits, Active: 1}, {On: AllUnits, Active: 6}} {
		if err := c.Check(m); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
