package rbm

import (
	"math"
	"slices"
	"testing"
)

// Row r of the draws is given row r mod n of a batch of n rows, and has separate random numbers.
// The result is that of a batch that repeats its rows.
func TestHiddenSampleGoesRound(t *testing.T) {
	const n, rows = 150, 2*150 + 7 // more than a chunk
	for _, c := range []*Constraint{nil, {On: HiddenUnits, Active: 20}} {
		m := shape{30, 70, 3, Softmax}.random(4, 0.3)
		m.Constraint = c
		v := randomRows(m, n)
		again := NewBits(rows, 30)
		for r := range rows {
			copy(again.Row(r), v.Row(r%n))
		}
		batch := func(v Values, grey bool) Batch {
			b := Batch{V: v, H: NewMatrix(v.Rows, 70)}
			m.HiddenMean(b.H, v)
			if grey {
				b.V = greyOf(v).Values()
			}
			return b
		}
		for _, grey := range []bool{false, true} {
			got, want := NewBits(rows, 70), NewBits(rows, 70)
			m.HiddenSample(got, batch(v, grey), NewKey(5))
			m.HiddenSample(want, batch(again, grey), NewKey(5))
			for r := range rows {
				if !slices.Equal(got.Row(r), want.Row(r)) {
					t.Fatalf("%v, grey %v: row %d is another draw", c, grey, r)
				}
			}
		}
	}
}

func TestEnergyAndConditionals(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		m := s.random(2, 1.5)
		all := states(m)
		p, _ := probabilities(all, 1)
		v, h := make([][]int, len(all)), make([][]int, len(all))
		for i, st := range all {
			v[i], h[i] = st.v, st.h
		}
		energy := make([]float64, len(all))
		m.Energy(energy, bitsOf(v), bitsOf(h))
		hidden := NewMatrix(len(all), m.Hidden())
		m.HiddenMean(hidden, bitsOf(v))
		visible := NewMatrix(len(all), m.Visible())
		m.VisibleMean(visible, bitsOf(h))
		pv, ph := map[int]float64{}, map[int]float64{}
		for i, st := range all {
			pv[key(st.v)] += p[i]
			ph[key(st.h)] += p[i]
		}
		for r, st := range all {
			near(t, "energy", energy[r], st.energy, exactTol*10)
			if pv[key(st.v)] < 1e-12 || ph[key(st.h)] < 1e-12 {
				continue // a state that is almost impossible
			}
			for j := range m.Hidden() {
				want := 0.0
				for i, o := range all {
					if key(o.v) == key(st.v) {
						want += p[i] * float64(o.h[j]) / pv[key(st.v)]
					}
				}
				near(t, "p(h|v)", float64(hidden.Row(r)[j]), want, 1e-6)
			}
			for j := range m.Visible() {
				want := 0.0
				for i, o := range all {
					if key(o.h) == key(st.h) {
						want += p[i] * float64(o.v[j]) / ph[key(st.h)]
					}
				}
				near(t, "p(v|h)", float64(visible.Row(r)[j]), want, 1e-6)
			}
		}
	})
}

// Visible means given the hidden units under a constraint on all units.
func TestConstrainedVisibleMean(t *testing.T) {
	for name, m := range constrainedModels() {
		if m.Constraint.On != AllUnits {
			continue
		}
		v, h, logw := allowed(m)
		dst := NewMatrix(1<<m.Hidden(), m.Visible())
		rows := NewBits(dst.Rows, m.Hidden())
		for r := range rows.Rows {
			rows.Row(r)[0] = uint64(r)
		}
		m.VisibleMean(dst, rows)
		for x := range rows.Rows {
			total, want := 0.0, make([]float64, m.Visible())
			for r, w := range logw {
				if h.Row(r)[0] == uint64(x) {
					total += math.Exp(w)
					v.Each(r, func(i int) { want[i] += math.Exp(w) })
				}
			}
			for i, p := range dst.Row(x) {
				if total == 0 && !math.IsNaN(float64(p)) {
					t.Errorf("%s: mean %v given an impossible state", name, p)
				}
				if total > 0 {
					near(t, name, float64(p), want[i]/total, 2.0/(1<<24))
				}
			}
		}
	}
}

func TestDrawBits(t *testing.T) {
	p := NewMatrix(3000, 70)
	for i := range p.Data {
		p.Data[i] = float32(i%70) / 69
	}
	b := NewBits(3000, 70)
	DrawBits(b, p, NewKey(1))
	for j := range 70 {
		n := 0
		for r := range b.Rows {
			if b.Get(r, j) {
				n++
			}
		}
		q := float64(j) / 69
		near(t, "frequency", float64(n)/3000, q, 6*math.Sqrt(q*(1-q)/3000))
	}
	// Columns in different words of a row are independent, and so are rows.
	for i := range p.Data {
		p.Data[i] = 0.5
	}
	DrawBits(b, p, NewKey(2))
	columns, rows := 0, 0
	for r := range b.Rows {
		if b.Get(r, 3) == b.Get(r, 3+64) {
			columns++
		}
		if b.Get(r, 3) == b.Get((r+1)%b.Rows, 3) {
			rows++
		}
	}
	near(t, "columns that agree", float64(columns)/3000, 0.5, 6*math.Sqrt(0.25/3000))
	near(t, "rows that agree", float64(rows)/3000, 0.5, 6*math.Sqrt(0.25/3000))
}
