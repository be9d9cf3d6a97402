package rbm

import (
	"math"
	"testing"
)

// exactTol bounds the rounding of a float64 computation of a hundred terms of
// size ten.
const exactTol = 1e-12

func key(v []int) (k int) {
	for i, x := range v {
		k |= x << i
	}
	return k
}

func TestEnergyAndConditionals(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		m := s.random(2, 1.5)
		all := states(m)
		p, _ := law(all, 1)
		v, h := make([][]int, len(all)), make([][]int, len(all))
		for i, st := range all {
			v[i], h[i] = st.v, st.h
		}
		energy := make([]float64, len(all))
		m.Energy(energy, bitsOf(v), bitsOf(h))
		hidden := NewMatrix(len(all), m.Hidden())
		m.HiddenMean(hidden, bitsOf(v).Input())
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
				continue // nothing to divide by
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

func TestClassLogProb(t *testing.T) {
	for _, kind := range []Kind{Softmax, Bernoulli} {
		for _, sd := range []float64{0.5, 30} {
			m := shape{6, 4, 3, kind}.random(9, sd)
			rows := [][]int{{0, 1, 1, 0, 0, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}}
			got := make([]float64, len(rows)*3)
			m.ClassLogProb(got, bitsOf(rows).Input())
			for r, row := range rows {
				f := make([]float64, 3)
				for y := range f {
					full := append([]int{}, row...)
					clear(full[m.Inputs():])
					full[m.Inputs()+y] = 1
					m.FreeEnergy(f[y:y+1], bitsOf([][]int{full}).Input())
					f[y] = -f[y]
				}
				z := LogSumExp(f)
				for y := range f {
					near(t, "log p(y|x)", got[3*r+y], f[y]-z, 1e-12*math.Max(1, math.Abs(z)))
				}
			}
		}
	}
}

func TestPseudoLogLikelihood(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.3, 2, 40} {
			m := s.random(13, sd)
			all := states(m)
			rows := distinctVisible(all)
			got := make([]float64, len(rows))
			m.PseudoLogLikelihood(got, bitsOf(rows))
			for r, v := range rows {
				want := pseudoByFlips(m, v)
				near(t, "pseudo-likelihood", got[r], want, 1e-11*math.Max(1, math.Abs(want)))
			}
		}
	})
}

// pseudoByFlips scores each unit by the free energies of both its states.
func pseudoByFlips(m *RBM, v []int) float64 {
	free := func(v []int) float64 {
		f := make([]float64, 1)
		m.FreeEnergy(f, bitsOf([][]int{v}).Input())
		return f[0]
	}
	logp := 0.0
	units := m.Visible()
	if m.softmaxLabel() {
		units = m.Inputs()
		var alt []float64
		for y := range m.Classes() {
			w := append([]int{}, v...)
			clear(w[units:])
			w[units+y] = 1
			alt = append(alt, -free(w))
		}
		logp += -free(v) - LogSumExp(alt)
	}
	for i := range units {
		w := append([]int{}, v...)
		w[i] = 1 - w[i]
		logp += -free(v) - LogSumExp([]float64{-free(v), -free(w)})
	}
	return logp
}

// marginals returns p(v) by key.
func marginals(all []state, p []float64) map[int]float64 {
	m := map[int]float64{}
	for i, s := range all {
		m[key(s.v)] += p[i]
	}
	return m
}
