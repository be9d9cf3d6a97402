package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// runUp computes the hidden preactivations of the visible rows v. From them it computes what p
// requests: means at β = 1, draws of h at the β of each row, terms of the energy.
func (p *pass) runUp(v Values) {
	p.start(v)
	if p.base != nil {
		p.baseDist = p.base.hidden()
	}
	p.begin(&p.m.hidden, &p.h)
	panels := vec.Blocks(p.m.Hidden())
	p.up.Run(panels*ceilDiv(p.rows, p.upRows()), p.cost())
	p.m.given().layer(p)
}

// upRows returns the largest number of rows in one iteration of an up pass. All rows are in one iteration, so
// that each panel is read once, unless there are too few panels for the workers.
func (p *pass) upRows() int {
	if vec.Blocks(p.m.Hidden()) >= 4 {
		return chunkRows
	}
	return blockRows
}

func (p *pass) upPart(i int) {
	m, size := p.m, p.upRows()
	parts := ceilDiv(p.rows, size)
	k, lo := i/parts, i%parts*size
	n := min(size, p.rows-lo)
	acts := p.acts[(k*p.rows+lo)*vec.Block:][:n*vec.Block]
	setRows(acts, m.HiddenBias[k*vec.Block:])
	for g := range p.groups() {
		if p.from.IsReal() {
			p.addTimes(acts, m.panel(k)[g*groupSize:], g, lo, n)
			continue
		}
		p.addGroup(acts, m.panel(k)[g*groupSize:], g, lo, lo+n, m.upAhead(k, g, n))
	}
	m.given().panel(p, &p.blocks[i], acts, k, lo, n)
}

// aheadRows is the smallest number of rows for which a pass prefetches the weights that it reads next. With
// fewer rows it would not read all of them.
const aheadRows = 32

// upAhead returns the weights to prefetch during the sums of panel k and group g of visible units.
func (m *RBM) upAhead(k, g, rows int) []float32 {
	if rows < aheadRows {
		return nil
	}
	panel := m.rows * vec.Block
	at := k*panel + min((g+1)*groupSize, panel)
	return m.w[at:min(at+groupSize, len(m.w))]
}

// realEnergies overwrites dst[r·stride], for n rows from lo on, with Σ h·a − Σ U′(h) over the real
// hidden units of panel k, where a are their preactivations acts.
func (p *pass) realEnergies(dst []float64, stride int, acts []float32, k, lo, n int) {
	kind := p.m.HiddenKind().(units.RealKind)
	for r := range n {
		row := p.h.Matrix().Row(lo + r)[k*vec.Block:]
		row = row[:min(len(row), vec.Block)]
		sum := 0.0
		for j, a := range acts[r*vec.Block:][:len(row)] {
			sum += float64(float64(row[j]) * float64(a))
		}
		dst[r*stride] = sum - kind.Rest(row, &p.m.hidden.dist, k*vec.Block)
	}
}
