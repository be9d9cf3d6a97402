package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// runDown computes the visible preactivations of every row of p.h. It draws p.v
// at each row's β, or writes means at β = 1.
func (p *pass) runDown() {
	p.start(p.h)
	if p.base != nil {
		p.baseDist = p.base.visible()
	}
	p.begin(&p.m.visible, &p.v)
	p.down.Run(vec.Blocks(p.m.Visible()), p.groups(), p.cost())
	p.jointUnits()
}

// transposed are the weights between a group of hidden units and 64 visible
// units, one row for each hidden unit. They come from the heap because
// there they start at a cache line.
type transposed [groupSize]float32

var transposedPool = sync.Pool{New: func() any { return new(transposed) }}

// downAhead returns the weights that a worker of groups lo … hi−1 of hidden units reads
// after those of block k and group g, panel by panel.
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

// downPart adds groups first … end−1 of hidden units to block k of the visible
// units, after those before. Weights are stored for the up pass, one row for each
// visible unit. Transposed 64×64 at a time, they serve the same sums in ascending order,
// from the first-level cache, and all rows of the pass share the transposition. One row
// takes the same sums without it.
//
// A worker has the panels of some groups, as in the up pass and in the ascent: they stay in
// its processor's second-level cache, where the whole model does not fit.
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

// downSums is downPart's sums for more rows than one.
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
		// The first half of the rows prefetches the first panel, and so on.
		for q, ahead := range m.downAhead(k, g, first, end) {
			lo, hi := rows*q/vec.RowSumsWords, rows*(q+1)/vec.RowSumsWords
			p.addGroup(acts[lo*vec.Block:], w[:], g, lo, hi, ahead)
		}
	}
	transposedPool.Put(w)
}
