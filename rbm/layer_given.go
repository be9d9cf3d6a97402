package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// A conditional is the distribution of a whole layer given the inputs of its units. Its implementations are
// independent, for layers whose units and softmax groups are independent, and Constraint, which fixes the
// number of active units.
type conditional interface {
	// panel computes those results of a pass that depend on the 64 hidden units of panel k alone, for n
	// rows from row lo. acts has the preactivations of these units. panel overwrites b.
	panel(p *pass, b *units.Block, acts []float32, k, lo, n int)
	// layer computes the results of a pass that need the preactivations of all panels.
	layer(p *pass)
	// startFree makes the next pass also sum out the hidden units: the pass computes log Z of these units for
	// each row. startFree does nothing under a Constraint.
	startFree(p *pass)
	// sumOut sums out the hidden units for each of n rows of preactivations. It computes the means of
	// the hidden units if mean is set, else their log Z. Sums are in float64.
	sumOut(e *evaluation, b *rowBlock, n int, mean bool, rows summedRows)
	// classLogProbs overwrites dst, rows × classes, with log p(y|x) for the rows of b.
	classLogProbs(e *evaluation, dst []float64, b *rowBlock)

	pseudoLogLikelihood(m *RBM, dst []float64, v Values)
	visibleMean(m *RBM, dst Matrix, h Values)
	// sample draws hidden units given the rows of b. In the random stream, row r of b has number first + r.
	sample(m *RBM, dst Values, b Batch, key Key, first int)
	// randomize is RBM.RandomizeHidden.
	randomize(m *RBM, h Values, key Key)

	// logZ and draw are Base.LogZ and Base.Draw: the inputs of the units are the biases of b.
	logZ(b *Base, m *RBM) float64
	draw(b *Base, m *RBM, v, h Values, key Key)
}

// summedRows supplies rows of preactivations of the hidden units to sumOut and receives its results.
type summedRows interface {
	// row returns the preactivations of row i, padded with −Inf to a multiple of vec.Wide, and the
	// number of active hidden units under a constraint. The slice is valid until the next call.
	row(e *evaluation, b *rowBlock, i int) (z []float64, active int)
	// put receives log Z or the means of the units in row i. mean is nil if the constraint allows
	// no state. put must not keep mean.
	put(e *evaluation, b *rowBlock, i int, logZ float64, mean []float64)
}

// given returns the distribution of the hidden layer of m given the visible one.
func (m *RBM) given() conditional {
	if m.Constraint == nil {
		return independent{}
	}
	return m.Constraint
}

// independent is a layer whose units and groups are independent given their inputs.
type independent struct{}

func (independent) panel(p *pass, b *units.Block, acts []float32, k, lo, n int) {
	p.blockUnits(b, acts, k, lo, n)
	if p.draw && p.energy != nil {
		x, stride := p.partials(lo)
		if p.h.IsReal() {
			p.realEnergies(x[vec.Blocks(p.m.Visible())+k:], stride, acts, k, lo, n)
			return
		}
		vec.MaskedSums(x[vec.Blocks(p.m.Visible())+k:], stride, acts, vec.Block, p.h.Words[lo*p.h.Stride+k:], p.h.Stride, n)
	}
}

func (independent) layer(p *pass) { p.jointUnits() }

func (independent) sumOut(e *evaluation, b *rowBlock, n int, mean bool, rows summedRows) {
	m := e.m
	if mean && m.hidden.isReal { // only models with a label need means, and their hidden units are bits
		panic("rbm: the means of a label given real hidden units")
	}
	b.on, b.off = grown(b.on, vec.RoundUp(m.Hidden())), grown(b.off, vec.RoundUp(m.Hidden()))
	means := b.on[:m.Hidden()]
	for i := range n {
		z, _ := rows.row(e, b, i)
		if mean {
			vec.Chances(means, b.off, z[:m.Hidden()])
			rows.put(e, b, i, 0, means)
		} else {
			rows.put(e, b, i, m.hidden.logZ(z, &m.hidden.dist), nil)
		}
	}
}

func (independent) classLogProbs(e *evaluation, dst []float64, b *rowBlock) {
	m, classes := e.m, e.m.Classes()
	b.on, b.off = grown(b.on, vec.RoundUp(m.Hidden())), grown(b.off, vec.RoundUp(m.Hidden()))
	for r := range b.n {
		e.logProbs(dst[r*classes:][:classes], b.row(r, m.Hidden()), b)
	}
}

func (independent) pseudoLogLikelihood(m *RBM, dst []float64, v Values) {
	m.evaluate(func(e *evaluation) {
		e.v, e.dst = v, dst
		if m.softmaxLabel() {
			e.units = m.Inputs()
			e.labels.set(m, m.labelGroup())
		}
		e.size = min(pseudoRows, max(blockRows, ceilDiv(v.Rows, 4)))
	}, (*evaluation).pseudoLogLikelihoods)
}

func (independent) visibleMean(m *RBM, dst Matrix, h Values) {
	m.passes(h.Rows, func(p *pass, lo, hi int) {
		p.h, p.mean = h.Slice(lo, hi), dst.Slice(lo, hi)
		p.runDown()
	})
}

// sample draws bits from the hidden means of b, and real units given the visible rows of b.
func (independent) sample(m *RBM, dst Values, b Batch, key Key, first int) {
	if m.hidden.isReal {
		m.drawGiven(dst, b.V, key, first)
		return
	}
	drawBits(dst, b.H, key, first)
}

func (independent) randomize(m *RBM, h Values, key Key) {
	if m.hidden.isReal { // real units have no uniform distribution
		(*Base)(nil).Draw(m, m.NewVisible(h.Rows), h, key)
		return
	}
	h.Randomize(key)
}

func (independent) logZ(b *Base, m *RBM) float64 {
	visible, hidden := b.visible(), b.hidden()
	return m.visible.logZ(widen(b.VisibleBias), &visible) + m.hidden.logZ(widen(b.HiddenBias), &hidden)
}

func (independent) draw(b *Base, m *RBM, v, h Values, key Key) {
	down, up := key.Child(0).stream(), key.Child(1).stream()
	visible, hidden := b.visible(), b.hidden()
	scratch, block := make([]float32, vec.Block+max(m.Visible(), m.Hidden())), new(units.Block)
	for r := range v.Rows {
		m.visible.draw(v, r, &visible, scratch, block, down)
		m.hidden.draw(h, r, &hidden, scratch, block, up)
	}
}
