package rbm

import (
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// Evaluations under a constraint, in float64 throughout.

// eachLaw solves the law of the hidden units for each of n rows, bernoulli.Rows
// at a time. set writes to lane l of c, for row i, the log-odds of the hidden units
// being on and how many of them differ from the reference. use is called with the
// solved law and the log weight of the reference. Before it, c computes means if
// mean is set, and draws if there is a stream.
func (m *RBM) eachLaw(n int, mean bool, stream *vec.Stream, set func(c *bernoulli.Conditional, l, i int), use func(c *bernoulli.Conditional, l, i int, weight float64)) {
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	for first := 0; first < n; first += bernoulli.Rows {
		c.Resize(m.Hidden())
		lanes := min(bernoulli.Rows, n-first)
		var weight [bernoulli.Rows]float64
		for l := range lanes {
			set(c, l, first+l)
			weight[l] = m.fromReference(c.LogOdds[l])
		}
		c.Solve()
		if mean || stream != nil {
			c.Forward(mean, stream)
		}
		for l := range lanes {
			use(c, l, first+l, weight[l])
		}
	}
}

// constrainedFreeEnergies is freeEnergies under a constraint.
func (e *evaluation) constrainedFreeEnergies(b *rowBlock, first int) {
	e.m.eachLaw(b.n, false, nil, func(c *bernoulli.Conditional, l, r int) {
		copy(c.LogOdds[l], b.row(r, e.m.Hidden()))
		c.Active[l] = e.m.Constraint.Active
		if !e.v.IsReal() {
			c.Active[l] = e.m.Constraint.activeHidden(e.m, e.v.Row(first+r))
		}
	}, func(c *bernoulli.Conditional, l, r int, weight float64) {
		e.dst[first+r] = -b.field[r] - (weight + c.LogSum(l))
	})
}

// setClass writes to lane l of c the law of the hidden units given the inputs of
// row i / Classes() of the block and class i mod Classes().
func (e *evaluation) setClass(c *bernoulli.Conditional, l, i int, b *rowBlock, first int) {
	m := e.m
	r, y := i/m.Classes(), i%m.Classes()
	a := b.row(r, m.Hidden())
	for k, w := range e.labels.rows[y*len(a):][:m.Hidden()] {
		c.LogOdds[l][k] = a[k] + w
	}
	c.Active[l] = m.Constraint.Active
	if m.Constraint.On == AllUnits {
		c.Active[l] = m.Constraint.activeBeside(e.v.Row(first+r), m.Inputs()) - m.Constraint.ClassDistance(m, y)
	}
}

// constrainedClassLogProbs is classLogProbs under a constraint.
func (e *evaluation) constrainedClassLogProbs(dst []float64, b *rowBlock, first int) {
	m := e.m
	classes := m.Classes()
	m.eachLaw(len(dst), false, nil, func(c *bernoulli.Conditional, l, i int) {
		e.setClass(c, l, i, b, first)
	}, func(c *bernoulli.Conditional, l, i int, weight float64) {
		dst[i] = float64(m.VisibleBias[m.Inputs()+i%classes]) + (weight + c.LogSum(l))
	})
	for r := range b.n {
		normalise(dst[r*classes : (r+1)*classes])
	}
}

// addConstrainedMeans is addMeans under a constraint.
func (e *evaluation) addConstrainedMeans(b *rowBlock, first int) {
	m := e.m
	m.eachLaw(len(b.logp), true, nil, func(c *bernoulli.Conditional, l, i int) {
		e.setClass(c, l, i, b, first)
	}, func(c *bernoulli.Conditional, l, i int, _ float64) {
		if !c.Possible(l) {
			return
		}
		p := vec.Exp(b.logp[i])
		mean := b.mean[i/m.Classes()*m.Hidden():][:m.Hidden()]
		for k := range mean {
			mean[k] += float64(p * c.Mean[k][l])
		}
	})
	for k, on := range m.Constraint.HiddenReference(m) {
		if on == 1 { // the means so far are those of differing from it
			for r := range b.n {
				b.mean[r*m.Hidden()+k] = 1 - b.mean[r*m.Hidden()+k]
			}
		}
	}
}

// constrainedHidden writes means of the hidden units of grey rows to e.mean, or
// draws to e.drawn if that has rows.
func (e *evaluation) constrainedHidden(b *rowBlock, first int) {
	m := e.m
	draw := e.drawn.Rows > 0
	var stream *vec.Stream
	if draw {
		stream = &e.stream
	}
	m.eachLaw(b.n, !draw, stream, func(c *bernoulli.Conditional, l, r int) {
		copy(c.LogOdds[l], b.row(r, m.Hidden()))
		c.Active[l], c.Number[l] = m.Constraint.Active, uint32(e.first+first+r)
	}, func(c *bernoulli.Conditional, l, r int, _ float64) {
		if draw {
			m.storeDrawn(e.drawn.Row(first+r), c, l)
		} else {
			m.storeMean(e.mean.Row(first+r), c, l)
		}
	})
}
