package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// What judges rows under a constraint, in float64 throughout.

// countRows runs a law for each of n rows, four at a time: set gives the
// log-odds of the hidden units being on in c.LogOdds[l] and how many differ from the
// reference in c.Active[l]; use is told the log weight of the states.
func (m *RBM) countRows(n int, set func(i int, c *bernoulli.Conditional, l int), use func(i int, logSum float64)) {
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	for lo := 0; lo < n; lo += bernoulli.Rows {
		c.Resize(m.Hidden())
		rows := min(bernoulli.Rows, n-lo)
		var weight [bernoulli.Rows]float64
		for l := range rows {
			set(lo+l, c, l)
			weight[l] = m.fromReference(c.LogOdds[l])
		}
		c.Solve()
		for l := range rows {
			use(lo+l, weight[l]+c.LogSum(l))
		}
	}
}

// active returns the number of hidden units that row r leaves to differ from
// the reference.
func (j *judging) active(r int) int {
	if j.v.IsGrey() {
		return j.m.Constraint.Active
	}
	return j.m.Constraint.activeHidden(j.m, j.v.Bits.Row(r))
}

// countFreeEnergy is takeFreeEnergy under a constraint.
func (j *judging) countFreeEnergy(s *judged, lo int) {
	j.m.countRows(s.n, func(r int, c *bernoulli.Conditional, l int) {
		copy(c.LogOdds[l], s.row(r, j.m.Hidden()))
		c.Active[l] = j.active(lo + r)
	}, func(r int, logSum float64) {
		j.dst[lo+r] = -s.field[r] - logSum
	})
}

// setClass gives lane l of c the law of the hidden units of row r of the part in
// class y: log-odds of being on, and how many differ from the reference.
func (j *judging) setClass(c *bernoulli.Conditional, l int, s *judged, lo, r, y int) {
	m := j.m
	a := s.row(r, m.Hidden())
	for k, w := range j.labels.rows[y*len(a):][:m.Hidden()] {
		c.LogOdds[l][k] = a[k] + w
	}
	c.Active[l] = m.Constraint.Active
	if m.Constraint.On == AllUnits {
		c.Active[l] = m.Constraint.activeBeside(j.v.Bits.Row(lo+r), m.Inputs()) - m.Constraint.ClassDistance(m, y)
	}
}

// countClasses overwrites dst with log p(y|x) of a part's rows under a
// constraint.
func (j *judging) countClasses(dst []float64, s *judged, lo int) {
	m := j.m
	m.countRows(len(dst), func(i int, c *bernoulli.Conditional, l int) {
		j.setClass(c, l, s, lo, i/m.Classes(), i%m.Classes())
	}, func(i int, logSum float64) {
		dst[i] = float64(m.VisibleBias[m.Inputs()+i%m.Classes()]) + logSum
	})
	for r := range s.n {
		p := dst[r*m.Classes() : (r+1)*m.Classes()]
		z := vec.LogSumExp(p)
		for y := range p {
			p[y] -= z
		}
	}
}

// countInputMeans is addInputMeans under a constraint.
func (j *judging) countInputMeans(s *judged, lo int) {
	m := j.m
	j.countClasses(s.logp, s, lo)
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	for at := 0; at < len(s.logp); at += bernoulli.Rows {
		c.Resize(m.Hidden())
		n := min(bernoulli.Rows, len(s.logp)-at)
		for l := range n {
			j.setClass(c, l, s, lo, (at+l)/m.Classes(), (at+l)%m.Classes())
			m.fromReference(c.LogOdds[l])
		}
		c.Solve()
		c.Forward(true, nil)
		for l := range n {
			if !c.Possible(l) {
				continue
			}
			p := vec.Exp(s.logp[at+l])
			mean := s.mean[(at+l)/m.Classes()*m.Hidden():][:m.Hidden()]
			for k := range mean {
				mean[k] += float64(p * c.Mean[k][l])
			}
		}
	}
	for k, on := range m.Constraint.HiddenReference(m) {
		if on == 1 { // the means are those of differing from it
			for r := range s.n {
				s.mean[r*m.Hidden()+k] = 1 - s.mean[r*m.Hidden()+k]
			}
		}
	}
}

// takeCountGrey takes means, or draws if there is room for them, of the hidden
// units of grey rows.
func (j *judging) takeCountGrey(s *judged, lo int) {
	m := j.m
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	for at := 0; at < s.n; at += bernoulli.Rows {
		c.Resize(m.Hidden())
		n := min(bernoulli.Rows, s.n-at)
		for l := range n {
			copy(c.LogOdds[l], s.row(at+l, m.Hidden()))
			m.fromReference(c.LogOdds[l])
			c.Active[l], c.Number[l] = m.Constraint.Active, uint32(j.first+lo+at+l)
		}
		c.Solve()
		if j.drawn.Rows > 0 {
			c.Forward(false, &j.stream)
		} else {
			c.Forward(true, nil)
		}
		for l := range n {
			if r := lo + at + l; j.drawn.Rows > 0 {
				m.storeDrawn(j.drawn.Row(r), c, l)
			} else {
				m.storeMean(j.mean.Row(r), c, l)
			}
		}
	}
}

// countPseudoLogLikelihood is PseudoLogLikelihood under a constraint: F of every
// row with one unit flipped against its own.
func (m *RBM) countPseudoLogLikelihood(dst []float64, v Bits) {
	clear(dst)
	if m.softmaxLabel() {
		logp := make([]float64, v.Rows*m.Classes())
		m.ClassLogProb(logp, v.Input())
		for i, lp := range logp {
			if v.Get(i/m.Classes(), m.Inputs()+i%m.Classes()) {
				dst[i/m.Classes()] = lp
			}
		}
	}
	m.judge(func(j *judging) { j.v, j.dst, j.size = v.Input(), dst, bernoulli.Rows }, (*judging).takeCountPseudo)
}

// takeCountPseudo adds to the scores of rows what the units contribute that are
// not a softmax label.
func (j *judging) takeCountPseudo(s *judged, lo int) {
	units := j.m.binary()
	s.weights = grown(s.weights, vec.RoundUp(j.m.Hidden()))
	for r := range s.n {
		j.dst[lo+r] = j.m.countPseudo(j.dst[lo+r], s.row(r, j.m.Hidden())[:j.m.Hidden()], s.weights, j.v.Bits, lo+r, units)
	}
}

// countPseudo adds to score what the first units of row r contribute, whose
// hidden preactivations are a; weights has room for those of a unit.
func (m *RBM) countPseudo(score float64, a, weights []float64, v Bits, r, units int) float64 {
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	active := m.Constraint.activeHidden(m, v.Row(r))
	copy(c.LogOdds[0], a)
	c.Active[0] = active
	weight := m.fromReference(c.LogOdds[0])
	c.Solve()
	own, tilt := weight+c.LogSum(0), c.Shift[0]
	if math.IsInf(own, -1) {
		return own
	}
	for lo := 0; lo < units; lo += bernoulli.Rows {
		n := min(bernoulli.Rows, units-lo)
		var weight [bernoulli.Rows]float64
		c.Resize(m.Hidden())
		for l := range n {
			i := lo + l
			s, sign := c.LogOdds[l], 1.0
			if v.Get(r, i) {
				sign = -1
			}
			m.widenRow(weights, i)
			for j := range s {
				s[j] = a[j] + float64(sign*weights[j])
			}
			c.Active[l], c.Shift[l] = active, tilt
			if m.Constraint.On == AllUnits {
				away := v.Get(r, i) != (m.Constraint.Reference != nil && m.Constraint.Reference[i] == 1)
				if c.Active[l]--; away { // it counts no longer
					c.Active[l] += 2
				}
			}
			weight[l] = float64(sign*float64(m.VisibleBias[i])) + m.fromReference(s)
		}
		c.Solve()
		for l := range n {
			// −log(1 + e^(F−F')): exp(−F') against exp(−F).
			score -= vec.Softplus(weight[l] + c.LogSum(l) - own)
		}
	}
	return score
}
