package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// What judges rows under a constraint, in float64 throughout.

// countRows runs a law for each of n rows, four at a time and in parallel: set
// gives the log-odds of the hidden units being on in c.s[l] and how many differ
// from the reference in c.on[l]; use is told the log weight of the states.
func (m *RBM) countRows(n int, set func(i int, c *conditional, l int), use func(i int, logSum float64)) {
	parallel(ceilDiv(n, lanes), func(part int) {
		c := conditionalPool.Get().(*conditional)
		defer conditionalPool.Put(c)
		c.grow(m.Hidden())
		rows := min(lanes, n-part*lanes)
		var weight [lanes]float64
		for l := range rows {
			set(part*lanes+l, c, l)
			weight[l] = m.fromReference(c.s[l])
		}
		c.solve()
		for l := range rows {
			use(part*lanes+l, weight[l]+c.logSum(l))
		}
	})
}

// countFreeEnergy overwrites dst with F of rows; preactivate gives c + vᵀW, bᵀv
// and the number of active hidden units.
func (m *RBM) countFreeEnergy(dst []float64, preactivate func(r int, a []float64) (field float64, active int)) {
	m.countRows(len(dst), func(r int, c *conditional, l int) {
		dst[r], c.on[l] = preactivate(r, c.s[l])
	}, func(r int, logSum float64) {
		dst[r] = -dst[r] - logSum
	})
}

// countClassLogProb overwrites dst, rows × classes, with log p(y|x);
// preactivate gives c + xᵀW of the inputs alone and the number of other units
// that are active.
func (m *RBM) countClassLogProb(dst []float64, preactivate func(r int, a []float64) (active int)) {
	labels := m.labelRows()
	rows := len(dst) / m.Classes
	a := make([]float64, rows*m.Hidden())
	active := make([]int, rows)
	parallel(rows, func(r int) { active[r] = preactivate(r, a[r*m.Hidden():(r+1)*m.Hidden()]) })
	m.countRows(len(dst), func(i int, c *conditional, l int) {
		r, y := i/m.Classes, i%m.Classes
		for j, w := range labels[y] {
			c.s[l][j] = a[r*m.Hidden()+j] + w
		}
		c.on[l] = active[r]
		if m.Constraint.On == AllUnits {
			c.on[l] -= m.Constraint.classDistance(m, y)
		}
	}, func(i int, logSum float64) {
		dst[i] = float64(m.VisibleBias[m.Inputs()+i%m.Classes]) + logSum
	})
	for r := range rows {
		p := dst[r*m.Classes : (r+1)*m.Classes]
		z := vec.LogSumExp(p)
		for y := range p {
			p[y] -= z
		}
	}
}

// countPseudoLogLikelihood is PseudoLogLikelihood under a constraint: F of every
// row with one unit flipped against its own.
func (m *RBM) countPseudoLogLikelihood(dst []float64, v Bits) {
	units := m.Visible()
	clear(dst)
	if m.softmax() {
		units = m.Inputs()
		logp := make([]float64, v.Rows*m.Classes)
		m.ClassLogProb(logp, v)
		for i, lp := range logp {
			if v.Get(i/m.Classes, units+i%m.Classes) {
				dst[i/m.Classes] = lp
			}
		}
	}
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	parallel(v.Rows, func(r int) {
		c := conditionalPool.Get().(*conditional)
		defer conditionalPool.Put(c)
		row := v.Row(r)
		active := m.Constraint.activeHidden(m, row)
		a := make([]float64, m.Hidden())
		m.preactivate(a, row)
		c.grow(m.Hidden())
		copy(c.s[0], a)
		c.on[0] = active
		weight := m.fromReference(c.s[0])
		c.solve()
		own, tilt := weight+c.logSum(0), c.tilt[0]
		if math.IsInf(own, -1) {
			dst[r] = own
			return
		}
		for lo := 0; lo < units; lo += lanes {
			n := min(lanes, units-lo)
			var weight [lanes]float64
			c.grow(m.Hidden())
			for l := range n {
				i := lo + l
				s, sign := c.s[l], 1.0
				if v.Get(r, i) {
					sign = -1
				}
				for j, w := range weights.Row(i) {
					s[j] = a[j] + float64(sign*float64(w))
				}
				c.on[l], c.tilt[l] = active, tilt
				if m.Constraint.On == AllUnits {
					away := v.Get(r, i) != (m.Constraint.Reference != nil && m.Constraint.Reference[i] == 1)
					if c.on[l]--; away { // it counts no longer
						c.on[l] += 2
					}
				}
				weight[l] = float64(sign*float64(m.VisibleBias[i])) + m.fromReference(s)
			}
			c.solve()
			for l := range n {
				// −log(1 + e^(F−F')): exp(−F') against exp(−F).
				dst[r] -= vec.Softplus(weight[l] + c.logSum(l) - own)
			}
		}
	})
}
