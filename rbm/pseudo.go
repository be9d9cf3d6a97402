package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// PseudoLogLikelihood overwrites dst, len v.Rows, with
//
//	Σᵢ log p(vᵢ | v without i)
//
// in nats (Besag 1975): every unit is scored, not one drawn at random. A
// softmax label is one variable, scored by log p(y|x). Weights count as no
// larger than 700 here, beyond which their exponential overflows. It panics if
// the shapes differ. Under a constraint it takes a recursion of O(mK) for each
// unit of each row; a row of probability zero has −Inf.
func (m *RBM) PseudoLogLikelihood(dst []float64, v Bits) {
	m.checkVisible(v)
	if len(dst) != v.Rows {
		panic("rbm: PseudoLogLikelihood needs one place of dst a row")
	}
	if m.Constraint != nil {
		m.countPseudoLogLikelihood(dst, v)
		return
	}
	units := m.Visible()
	if m.softmax() {
		units = m.Inputs()
	}
	// Flipping unit i changes F by ∓bᵢ − Σⱼ log(t + s·R) with s = σ(aⱼ),
	// t = σ(−aⱼ) and R = exp(∓Wᵢⱼ): all terms positive, nothing cancels. The
	// product of run factors stays in range, so there is one logarithm a run.
	up := make([]float64, units*m.Hidden())
	down := make([]float64, units*m.Hidden())
	largest := 1.0
	for i := range units {
		for j := range m.Hidden() {
			w := math.Abs(float64(m.Weight(i, j)))
			largest = max(largest, min(w, 700))
		}
	}
	run := min(m.Hidden(), max(1, int(700/largest)))
	parallel(units, func(i int) {
		for j := range m.Hidden() {
			w := min(max(float64(m.Weight(i, j)), -700), 700)
			up[i*m.Hidden()+j] = vec.Exp(w)
			down[i*m.Hidden()+j] = vec.Exp(-w)
		}
	})
	labels := m.labelRows()
	parallel(rowBlocks(v.Rows), func(p int) {
		lo, hi := p*rowBlock, min((p+1)*rowBlock, v.Rows)
		on, off := make([][]float64, hi-lo), make([][]float64, hi-lo)
		logp := make([]float64, m.Classes)
		for r := lo; r < hi; r++ {
			dst[r] = 0
			s, t := make([]float64, m.Hidden()), make([]float64, m.Hidden())
			on[r-lo], off[r-lo] = s, t
			if m.softmax() {
				x := append([]uint64(nil), v.Row(r)...)
				clearFrom(x, units)
				m.preactivate(s, x)
				m.classLogProb(logp, s, labels)
				for y, lp := range logp {
					if v.Get(r, units+y) {
						dst[r] += lp
					}
				}
			}
			m.preactivate(s, v.Row(r))
			for j, a := range s {
				e := vec.Exp(-math.Abs(a))
				s[j], t[j] = 1/(1+e), e/(1+e)
				if a < 0 {
					s[j], t[j] = t[j], s[j]
				}
			}
		}
		for i := range units {
			for r := lo; r < hi; r++ {
				d, ratio := float64(m.VisibleBias[i]), up
				if v.Get(r, i) {
					d, ratio = -d, down
				}
				ratio = ratio[i*m.Hidden() : (i+1)*m.Hidden()]
				d += logProduct(on[r-lo], off[r-lo], ratio, run)
				dst[r] -= vec.Softplus(d)
			}
		}
	})
}

// logProduct returns log Π (t + s·ratio), one logarithm each run factors.
func logProduct(s, t, ratio []float64, run int) float64 {
	sum := 0.0
	for len(s) > 0 {
		n := min(run, len(s))
		s0, t0, r0 := s[:n], t[:n], ratio[:n]
		prod := 1.0
		for j := range s0 {
			prod *= t0[j] + float64(s0[j]*r0[j])
		}
		sum += vec.Log(prod)
		s, t, ratio = s[n:], t[n:], ratio[n:]
	}
	return sum
}
