package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// runDown computes the visible preactivations of every row of p.h. From the preactivations it draws p.v at
// the β of each row, or computes means at β = 1.
func (p *pass) runDown() {
	p.start(p.h)
	if p.base != nil {
		p.baseDist = p.base.visible()
	}
	p.begin(&p.m.visible, &p.v)
	p.down.Run(vec.Blocks(p.m.Visible()), p.groups(), p.cost())
	p.jointUnits()
}

// transposed has the weights between a group of hidden units and 64 visible
// units, one row for each hidden unit. It is on the heap because there it starts at a cache line.
type transposed [groupSize]float32

var transposedPool = sync.Pool{New: func() any { return new(transposed) }}

// downAhead returns the next weights to read, a slice for each panel of a group. The caller is a worker for
// groups lo … hi−1 of hidden units, which reads the weights of group g and block k of visible units.
func (m *RBM) downAhead(k, g, lo, hi int) (w [vec.RowSumsWords][]float32) {
	if g++; g == hi {
		g, k = lo, k+1
	}
	for q := range w {
		if panel := g*vec.RowSumsWords + q; panel < vec.Blocks(m.Hidden()) {
			w[q] = m.panel(panel)[min(k*vec.Block, m.rows)*vec.Block:]
			w[q] = w[q][:min(vec.Block*vec.Block, len(w[q]))]
		}
	}
	return w
}

// downPart adds the weights of groups first … end−1 of hidden units to the preactivations of block k of
// visible units. The calls for a block come in ascending order of groups. Panels have one row for each
// visible unit, which suits the up pass. downPart transposes the panels, 64×64 weights at a time, into the
// first-level cache, and all rows of the pass use the result. A single row needs no transposition; the order
// of its sums is the same.
//
// A worker has the same panels in every pass, up or down, and in the ascent. Therefore these panels stay in
// the second-level cache of its processor, even if the whole model does not fit.
func (p *pass) downPart(k, first, end int) {
	m, rows := p.m, p.rows
	acts := p.acts[k*rows*vec.Block:][:rows*vec.Block]
	if first == 0 {
		setRows(acts, m.VisibleBias[k*vec.Block:])
	}
	if rows == 1 && !p.h.IsReal() {
		for q := first * vec.RowSumsWords; q < min(end*vec.RowSumsWords, p.h.Stride); q++ {
			vec.ColumnSums(acts, m.panel(q)[k*vec.Block*vec.Block:], p.h.Words[q], min(vec.Block, m.Visible()-k*vec.Block))
		}
	} else {
		p.downSums(acts, k, first, end)
	}
	if end == p.groups() {
		p.blockUnits(&p.blocks[k], acts, k, 0, rows)
	}
}

// downSums adds the weights of groups first … end−1 to acts, in transposed form.
func (p *pass) downSums(acts []float32, k, first, end int) {
	m, rows := p.m, p.rows
	w := transposedPool.Get().(*transposed)
	for g := first; g < end; g++ {
		for q := range min(vec.RowSumsWords, vec.Blocks(m.Hidden())-g*vec.RowSumsWords) {
			panel := g*vec.RowSumsWords + q
			vec.TransposePanel(w[q*vec.Block*vec.Block:], m.panel(panel)[k*vec.Block*vec.Block:], m.Visible()-k*vec.Block, min(m.Hidden()-panel*vec.Block, vec.Block))
		}
		if p.h.IsReal() {
			p.addTimes(acts, w[:], g, 0, rows)
			continue
		}
		if rows < aheadRows {
			p.addGroup(acts, w[:], g, 0, rows, nil)
			continue
		}
		// Each panel of ahead is prefetched during the sums of an equal part of the rows.
		for q, ahead := range m.downAhead(k, g, first, end) {
			lo, hi := rows*q/vec.RowSumsWords, rows*(q+1)/vec.RowSumsWords
			p.addGroup(acts[lo*vec.Block:], w[:], g, lo, hi, ahead)
		}
	}
	transposedPool.Put(w)
}
