package exact

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// realRows returns rows of a mixture for a layer of Gaussian, Bernoulli and Gaussian units.
func realRows(groups []rbm.Group, rows int) rbm.Values {
	v := rbm.NewValues(rows, 70, true)
	r := rbm.NewKey(5).Rand()
	for k := range rows {
		at, side := 0, float64(2*r.IntN(2)-1)
		for _, g := range groups {
			for range g.Units {
				x := float32(side*0.6 + 0.7*r.NormFloat64())
				if g.Kind == rbm.Bernoulli {
					x = float32(r.IntN(2))
				}
				v.Matrix().Row(k)[at] = x
				at++
			}
		}
	}
	return v
}

// learner returns a model with two blocks of visible units, some of them Bernoulli, and rows for
// it.
func learner(hidden int) (*rbm.RBM, rbm.Values) {
	groups := []rbm.Group{{Kind: rbm.Gaussian, Units: 3}, {Kind: rbm.Bernoulli, Units: 63}, {Kind: rbm.Gaussian, Units: 4}}
	m := rbm.NewGroups(hidden, groups...)
	m.Randomize(0.4, rbm.NewKey(9))
	for i := range m.VisibleParams()[0] {
		if i < 3 || i >= 66 {
			m.VisibleParams()[0][i] = 0.6 + 0.3*float32(i%5)
		}
	}
	return m, realRows(groups, 40)
}

// likelihood returns the mean log density of rows, by enumeration.
func likelihood(t *testing.T, m *rbm.RBM, v rbm.Values) float64 {
	t.Helper()
	logZ, err := LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	free := make([]float64, v.Rows)
	m.FreeEnergy(free, v)
	sum := 0.0
	for _, f := range free {
		sum -= f + logZ
	}
	return sum / float64(v.Rows)
}

// ascend makes one step of a along the exact gradient.
func ascend(t *testing.T, a *rbm.Ascent, m *rbm.RBM, v rbm.Values, rate float32) {
	t.Helper()
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	s := rbm.NewMoments(m)
	e.Moments(s)
	h := rbm.NewMatrix(v.Rows, m.Hidden())
	m.HiddenMean(h, v)
	if err := a.Step(m, rate, 1, rbm.Phase{Batch: rbm.Batch{V: v, H: h}}, rbm.Phase{Moments: s}); err != nil {
		t.Fatal(err)
	}
}

// The step of log γ is the rate times the derivative of the exact likelihood when the precision,
// bias and weights of a unit are scaled, from finite differences, with and without centring.
// Precisions with factor 0 do not change, and other kinds have none. Biases and weights grow with
// the precision.
func TestPrecisionGradient(t *testing.T) {
	for _, centred := range []bool{false, true} {
		m, v := learner(6)
		rates := make([]float32, m.Visible())
		for i := range rates {
			rates[i] = 1
		}
		rates[1] = 0
		const rate = 1.0 / 64
		plain, learned := m.Clone(), m.Clone()
		without, with := &rbm.Ascent{}, &rbm.Ascent{ParamRates: rates}
		if centred {
			for _, a := range []*rbm.Ascent{without, with} {
				a.Mu, a.Lambda = slices.Repeat([]float32{0.2}, m.Visible()), slices.Repeat([]float32{0.5}, m.Hidden())
			}
		}
		ascend(t, without, plain, v, rate)
		ascend(t, with, learned, v, rate)
		for i := range m.Visible() {
			before, after := float64(m.VisibleParams()[0][i]), float64(learned.VisibleParams()[0][i])
			if i >= 3 && i < 66 || i == 1 {
				if after != before || learned.Weight(i, 2) != plain.Weight(i, 2) || learned.VisibleBias[i] != plain.VisibleBias[i] {
					t.Errorf("unit %d moves: precision %v to %v", i, before, after)
				}
				continue
			}
			const d = 1e-3
			slope := 0.0
			for _, side := range []float64{-1, 1} {
				c, grow := m.Clone(), float32(math.Exp(side*d))
				c.VisibleParams()[0][i] *= grow
				c.VisibleBias[i] *= grow
				w := rbm.NewMatrix(m.Visible(), m.Hidden())
				c.Weights(w)
				for j := range w.Row(i) {
					w.Row(i)[j] *= grow
				}
				c.SetWeights(w)
				slope += side * likelihood(t, c, v) / (2 * d)
			}
			if got := math.Log(after / before); math.Abs(got-rate*slope) > 2e-3*rate*(math.Abs(slope)+0.1) {
				t.Errorf("centred %v: log γ of unit %d moves by %v, want %v", centred, i, got, rate*slope)
			}
			grow := after / before
			for j := range m.Hidden() {
				if got, want := float64(learned.Weight(i, j)), grow*float64(plain.Weight(i, j)); math.Abs(got-want) > 1e-6 {
					t.Errorf("weight %d,%d is %v, want %v", i, j, got, want)
				}
			}
			if got, want := float64(learned.VisibleBias[i]), grow*float64(plain.VisibleBias[i]); math.Abs(got-want) > 1e-6 {
				t.Errorf("bias %d is %v, want %v", i, got, want)
			}
		}
	}
}

// Precisions use the rule, the average and the rests like biases. After steps along a nearly
// constant gradient, momentum has moved them 1/(1−½) times as far, and steps far below the last bit
// are not lost. Phases of particles give the steps of their moments.
func TestPrecisionRule(t *testing.T) {
	m, v := learner(5)
	rates := make([]float32, m.Visible())
	rates[0], rates[67] = 1, 1
	move := func(a *rbm.Ascent, steps int, rate float32) *rbm.RBM {
		c := m.Clone()
		a.ParamRates = rates
		for range steps {
			ascend(t, a, c, v, rate)
		}
		return c
	}
	moved := func(c *rbm.RBM, i int) float64 {
		return math.Log(float64(c.VisibleParams()[0][i]) / float64(m.VisibleParams()[0][i]))
	}
	one := move(&rbm.Ascent{}, 1, 1e-4)
	slot := rbm.NewParameters(m)
	fast := move(&rbm.Ascent{Rule: &rbm.Momentum{Friction: 0.5}, Slots: []*rbm.Parameters{slot}, Rest: rbm.NewParameters(m)}, 10, 1e-4)
	average := m.Clone()
	move(&rbm.Ascent{Average: average.Parameters(), AverageShare: 0.25}, 1, 1e-2)
	big := move(&rbm.Ascent{}, 1, 1e-2)
	rest := rbm.NewParameters(m)
	many := move(&rbm.Ascent{Rest: rest}, 100, 1e-7)
	for _, i := range []int{0, 67} {
		if got, want := moved(fast, i), 18*moved(one, i); math.Abs(got-want) > 0.1*math.Abs(want)+2e-5 { // the gradient changes slightly
			t.Errorf("momentum moves log γ of unit %d by %v, want %v", i, got, want)
		}
		if got, want := average.VisibleParams()[0][i], 0.75*m.VisibleParams()[0][i]+0.25*big.VisibleParams()[0][i]; math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("the average of precision %d is %v, want %v", i, got, want)
		}
		if got, want := average.Weight(i, 1), 0.75*m.Weight(i, 1)+0.25*big.Weight(i, 1); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("the average of weight %d is %v, want %v", i, got, want)
		}
		if got, want := moved(many, i), 0.1*moved(one, i); math.Abs(got-want) > 0.05*math.Abs(want)+6e-8 {
			t.Errorf("small steps move log γ of unit %d by %v, want %v", i, got, want)
		}
	}
	h := rbm.NewMatrix(v.Rows, m.Hidden())
	m.HiddenMean(h, v)
	batch := rbm.Batch{V: v, H: h, Weight: slices.Repeat([]float32{1.0 / 40}, 40)}
	batch.Weight[3], batch.Weight[4] = 2.0/40, 0
	s := rbm.NewMoments(m)
	s.Set(batch)
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	neg := rbm.NewMoments(m)
	e.Moments(neg)
	a, b := m.Clone(), m.Clone()
	ascent := &rbm.Ascent{ParamRates: rates}
	err1 := ascent.Step(a, 0.1, 1, rbm.Phase{Batch: batch}, rbm.Phase{Moments: neg})
	err2 := ascent.Step(b, 0.1, 1, rbm.Phase{Moments: s}, rbm.Phase{Moments: neg})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, i := range []int{0, 67} {
		if x, y := moved(a, i), moved(b, i); math.Abs(x-y) > 1e-5*math.Abs(x)+1e-6 {
			t.Errorf("log γ of unit %d moves by %v by particles and %v by their moments", i, x, y)
		}
	}
}

// Any number of ranks makes the same step as one process.
func TestPrecisionRanks(t *testing.T) {
	start, v := learner(130)
	rates := slices.Repeat([]float32{1}, start.Visible())
	h := rbm.NewMatrix(v.Rows, start.Hidden())
	start.HiddenMean(h, v)
	pos := rbm.Phase{Batch: rbm.Batch{V: v.Slice(0, 20), H: h.Slice(0, 20)}}
	neg := rbm.Phase{Batch: rbm.Batch{V: v.Slice(20, 40), H: h.Slice(20, 40)}}
	for _, centred := range []bool{false, true} {
		step := func(a *rbm.Ascent, m *rbm.RBM) error {
			a.ParamRates, a.Rule = rates, &rbm.Momentum{Friction: 0.2}
			if centred { // with centring every rank lists all blocks of visible units
				a.Mu, a.Lambda = make([]float32, m.Visible()), slices.Repeat([]float32{0.5}, m.Hidden())
			}
			a.Slots, a.Rest = []*rbm.Parameters{rbm.NewParameters(m)}, rbm.NewParameters(m)
			a.Average, a.AverageShare = start.Clone().Parameters(), 0.5
			for range 3 {
				if err := a.Step(m, 0.05, 1, pos, neg); err != nil {
					return err
				}
			}
			return nil
		}
		one, want := &rbm.Ascent{}, start.Clone()
		if err := step(one, want); err != nil {
			t.Fatal(err)
		}
		if want.VisibleParams()[0][0] == start.VisibleParams()[0][0] {
			t.Fatal("no precision has moved")
		}
		for _, n := range []int{2, 3, 7} { // there are six parts
			err := ranks.Each(n, func(g *ranks.Group) error {
				m, a := start.Clone(), &rbm.Ascent{Group: g}
				if err := step(a, m); err != nil {
					return err
				}
				for k, x := range [][2]*rbm.Parameters{{m.Parameters(), want.Parameters()}, {a.Slots[0], one.Slots[0]}, {a.Average, one.Average}, {a.Rest, one.Rest}} {
					if !bytes.Equal(x[0].AppendTo(nil), x[1].AppendTo(nil)) {
						return fmt.Errorf("%d ranks have other parameters of set %d than one process", n, k)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
