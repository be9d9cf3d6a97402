package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// runDown computes the visible preactivations of every row of p.h. It draws p.v
// at each row's β, or writes means at β = 1.
func (p *pass) runDown() {
	p.start(p.h)
	p.down.Run(vec.Blocks(p.m.Visible()), p.groups(), p.cost())
	for _, g := range p.m.SoftmaxGroups() {
		for r := range p.rows {
			x := p.groupActs(g, r)
			p.gather(x, g, r)
			if p.mean.Rows > 0 {
				vec.Softmax(g.of(p.mean.Row(r)), x)
			}
			if p.draw {
				p.drawSoftmax(g, x, p.v, r, p.stream)
			}
		}
	}
}

// act returns the preactivations of block k of units of row r.
func (p *pass) act(k, r int) *[vec.Block]float32 {
	return (*[vec.Block]float32)(p.acts[(k*p.rows+r)*vec.Block:])
}

// gather overwrites x with the preactivations of group g in row r of the pass.
func (p *pass) gather(x []float32, g Group, r int) {
	for c := range x {
		i := g.First + c
		x[c] = p.act(i/vec.Block, r)[i%vec.Block]
	}
}

// groupActs returns the memory for the preactivations of softmax group g in row
// r.
func (p *pass) groupActs(g Group, r int) []float32 {
	return p.softmax[r*p.m.softmaxUnits()+g.at:][:g.Units]
}

// drawSoftmax overwrites group g of row r of v with a draw by the uniform of its
// first unit, at the row's β or coupled to the partner's row. It overwrites x, the
// preactivations of the units.
func (p *pass) drawSoftmax(g Group, x []float32, v Values, r int, stream vec.Stream) {
	g.clear(v, r)
	beta := p.rowBeta(r)
	if p.base != nil {
		for c, b := range g.of(p.base.VisibleBias) {
			x[c] = float32(beta*x[c]) + float32((1-beta)*b)
		}
		beta = 1
	}
	if p.partner != nil {
		v.Set(r, g.First+p.coupledSoftmax(g, r, x), true)
		return
	}
	y := vec.DrawOne(x, stream.Uniform(uint32(p.first+r), uint32(g.First)), beta)
	v.Set(r, g.First+y, true)
}

// coupledSoftmax returns the unit that is drawn for group g of row r, which has
// the preactivations x, coupled to the same group of the partner's row r. The
// partner's draw used the uniform of the first unit. This one uses the next two.
func (p *pass) coupledSoftmax(g Group, r int, x []float32) int {
	uniform := func(unit int) float32 { return p.stream.Uniform(uint32(p.first+r), uint32(unit)) }
	return vec.DrawCoupled(x, p.partner.groupActs(g, r), g.value(p.partner.v.Row(r)), uniform(g.First+1), uniform(g.First+2))
}

// rowBeta returns the inverse temperature of row r.
func (p *pass) rowBeta(r int) float32 {
	if p.beta == nil {
		return 1
	}
	return p.beta[r]
}

// transposed are the weights between a group of hidden units and 64 visible
// units, one row for each hidden unit. They come from the heap because
// there they start at a cache line.
type transposed [vec.RowSumsWords * vec.Block * vec.Block]float32

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
	if rows == 1 {
		for q := first * vec.RowSumsWords; q < min(end*vec.RowSumsWords, p.h.Stride); q++ {
			vec.ColumnSums(acts, m.panel(q)[k*vec.Block*vec.Block:], p.h.Words[q], min(vec.Block, m.Visible()-k*vec.Block))
		}
	} else {
		p.downSums(acts, k, first, end)
	}
	if end == p.groups() {
		p.visibleUnits(acts, k)
	}
}

// downSums is downPart's sums for more rows than one.
func (p *pass) downSums(acts []float32, k, first, end int) {
	m, rows := p.m, p.rows
	w := transposedPool.Get().(*transposed)
	for g := first; g < end; g++ {
		for q := range min(vec.RowSumsWords, p.h.Stride-g*vec.RowSumsWords) {
			panel := g*vec.RowSumsWords + q
			vec.Turn(w[q*vec.Block*vec.Block:], m.panel(panel)[k*vec.Block*vec.Block:], m.Visible()-k*vec.Block, min(m.Hidden()-panel*vec.Block, vec.Block))
		}
		if rows < aheadRows {
			p.addGroup(acts, w[:], g, 0, rows, nil)
			continue
		}
		// The first half of the rows asks for the first panel ahead, and so on.
		for q, ahead := range m.downAhead(k, g, first, end) {
			lo, hi := rows*q/vec.RowSumsWords, rows*(q+1)/vec.RowSumsWords
			p.addGroup(acts[lo*vec.Block:], w[:], g, lo, hi, ahead)
		}
	}
	transposedPool.Put(w)
}

// visibleUnits computes means and draws of block k from the preactivations acts: all
// units of the block, as if they were Bernoulli units.
func (p *pass) visibleUnits(acts []float32, k int) {
	rows, width := p.rows, min(p.m.Visible()-k*vec.Block, vec.Block)
	if p.mean.Rows > 0 {
		vec.Sigmoids(p.mean.Data[k*vec.Block:], p.mean.Cols, acts, rows, width)
	}
	if p.draw {
		p.drawUnits(p.v, acts, p.base.visible(), k, 0, rows, width)
	}
}
