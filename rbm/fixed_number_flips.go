package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// pseudoLogLikelihood compares the free energy F of every row with that of the row with one unit
// flipped. The flip multiplies the odds of the hidden units by e^±w, where w are the weights of the flipped
// unit. The factors e^±w are computed once for all rows of a block.
func (c *Constraint) pseudoLogLikelihood(m *RBM, dst []float64, v Values) {
	clear(dst)
	if m.softmaxLabel() {
		logp := make([]float64, v.Rows*m.Classes())
		m.ClassLogProb(logp, v)
		for i, lp := range logp {
			if v.Get(i/m.Classes(), m.Inputs()+i%m.Classes()) {
				dst[i/m.Classes()] = lp
			}
		}
	}
	m.evaluate(func(e *evaluation) { e.v, e.dst, e.size = v, dst, flipRows }, (*evaluation).flips)
}

const (
	// flipRows is the number of rows of a block. With 500 hidden units the odds of a block have
	// 128 kB, and the exponentials of a unit's weights cost a tenth of the recursions.
	flipRows = 16
	// The result of Tilt.Times is used if the product of the factors above 1 is at most e^mostTilt, and the
	// result is between leastTilted and 1/leastTilted. Terms that underflow, below 10⁻³⁰⁸, then lose at most
	// 10⁻³⁰⁸·e³⁰⁰ < 10⁻¹⁷⁷ each, and there are at most hidden units × active units terms in a sum of 10⁻¹⁵⁰ or
	// more. Otherwise the distribution after the flip is computed separately.
	mostTilt    = 300
	leastTilted = 1e-150
)

// A flipBlock has the distributions of the hidden units for a block of rows before any flip.
type flipBlock struct {
	tilt   [(flipRows + bernoulli.Rows - 1) / bernoulli.Rows]bernoulli.Tilt
	active [flipRows]int     // number of active hidden units
	own    [flipRows]float64 // log Z of the hidden units
}

// flips adds the terms of the Bernoulli visible units to e.dst, for the rows of a block.
func (e *evaluation) flips(b *rowBlock, first int) {
	m := e.m
	width := vec.RoundUp(m.Hidden())
	b.weights, b.table = grown(b.weights, width), grown(b.table, 2*width)
	var f flipBlock
	m.Constraint.each(m, b.n, false, func(c *bernoulli.Conditional, l, r int) {
		copy(c.LogOdds[l], b.row(r, m.Hidden()))
		f.active[r] = m.Constraint.activeHidden(e.v, first+r)
		c.Active[l] = f.active[r]
	}, func(c *bernoulli.Conditional, l, r int) {
		f.own[r] = c.LogZ(l)
		if l == 0 {
			f.tilt[r/bernoulli.Rows].Set(c)
		}
		if !c.Possible(l) {
			e.dst[first+r] = math.Inf(-1)
		}
	})
	for i := range m.binary() {
		e.flip(b, &f, first, i)
	}
}

// flip adds the terms of visible unit i to e.dst.
func (e *evaluation) flip(b *rowBlock, f *flipBlock, first, i int) {
	m := e.m
	m.widenRow(b.weights, i)
	w := b.weights[:m.Hidden()]
	var tilts [2]float64
	for _, x := range w {
		tilts[0] += max(0, x)
		tilts[1] += max(0, -x)
	}
	up, down := b.table[:len(b.weights)], b.table[len(b.weights):][:len(b.weights)]
	vec.Exps(up, b.weights)
	for j := range w {
		w[j] = -w[j]
	}
	vec.Exps(down, b.weights)
	bias := float64(m.VisibleBias[i])
	for g := 0; g < b.n; g += bernoulli.Rows {
		tilt, lanes := &f.tilt[g/bernoulli.Rows], min(bernoulli.Rows, b.n-g)
		var factors [bernoulli.Rows][]float64
		var active [bernoulli.Rows]int
		for l := range lanes {
			k := f.flipped(m, e.v, g+l, first+g+l, i)
			if active[l] = k; k < 0 || k > m.Hidden() || math.IsInf(e.dst[first+g+l], -1) {
				continue
			}
			factors[l] = up
			if e.v.Get(first+g+l, i) {
				factors[l] = down
			}
		}
		x := tilt.Times(&factors, &active)
		for l := range lanes {
			if factors[l] == nil {
				continue
			}
			r, sign, most := g+l, 1., tilts[0]
			if e.v.Get(first+r, i) {
				sign, most = -1, tilts[1]
			}
			var log float64 // increase of log Z of the hidden units by the flip
			switch k, was := active[l], f.active[r]; {
			// If all units were on, or none, there is no shift, and x is 0.
			case !(most <= mostTilt && x[l] >= leastTilted && x[l] <= 1/leastTilted):
				log = m.flippedWeight(b, r, i, k, sign) - f.own[r]
			default:
				log = vec.Log(x[l])
				if k != was {
					log += float64(float64(k-was) * tilt.Shift[l])
				}
			}
			// The term is −log(1 + e^(F−F′)), where F′ is the free energy after the flip.
			e.dst[first+r] -= vec.Softplus(log + float64(sign*bias))
		}
	}
}

// flipped returns the number of active hidden units after visible unit i is flipped in row r of
// the block, which is row n of v.
func (f *flipBlock) flipped(m *RBM, v Values, r, n, i int) int {
	switch {
	case m.Constraint.On == HiddenUnits:
		return f.active[r]
	case v.Get(n, i):
		return f.active[r] + 1
	}
	return f.active[r] - 1
}

// flippedWeight returns log Z of the hidden units in row r of the block after visible unit i is
// flipped, from a separate distribution. It overwrites b.weights.
func (m *RBM) flippedWeight(b *rowBlock, r, i, active int, sign float64) (log float64) {
	m.widenRow(b.weights, i)
	m.Constraint.each(m, 1, false, func(c *bernoulli.Conditional, l, _ int) {
		for j, a := range b.row(r, m.Hidden())[:m.Hidden()] {
			c.LogOdds[l][j] = a + float64(sign*b.weights[j])
		}
		c.Active[l] = active
	}, func(c *bernoulli.Conditional, l, _ int) { log = c.LogZ(l) })
	return log
}
