package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// KernelLevel returns the instruction set that the inner loops use on this
// machine: "avx512", "avx2" or "go". Results are bit-identical at all of them.
func KernelLevel() string { return vec.InUse().String() }

// Results do not depend on these numbers: every sum belongs to one unit of one row.
const (
	// chunkRows is the largest number of rows of one pass. It bounds the working
	// memory.
	chunkRows = 128
	// listWork is the cost of looking at one grey value to list it, in multiply-adds.
	listWork = 16
	// blockRows is the smallest number of rows that one iteration of a loop over
	// examples takes.
	blockRows = 16
)

// A pass computes one layer from the states of the other: preactivations of at
// most chunkRows rows, and from them means, draws and energies. It holds the
// arguments and the working memory of a pass, and is kept from pass to pass so
// that none allocates.
type pass struct {
	lists   []uint32      // of real rows: offsets in their group of the units that are not zero, group by group of units, in each row by row
	values  []float32     // of the listed units
	cuts    []uint32      // where each row's part of lists ends
	acts    []float32     // preactivations: block by block of units, in each row by row
	blocks  []units.Block // one for each part of a loop
	joint   []float32     // preactivations of groups that are one variable, rows × units
	partial []float64     // rows × (blocks of visible units, then panels) of Σ v·b and Σ h·a

	m          *RBM
	first      int // number of the first row among all rows that are drawn
	v, h       Values
	from       Values // the rows that the pass starts from: visible rows or h
	out        output
	baseDist   units.Distribution // out.base, if there is one
	rows       int                // of from
	mean       Matrix             // destination of means; without rows none are computed
	beta       []float32          // inverse temperature of each row; nil: all 1
	base       *Base              // the distribution at β = 0; nil: uniform
	energy     []float64          // destination of E of each row; nil: not computed
	baseEnergy []float64          // destination of E₀ of each row
	gain       *hiddenGain
	free       freeSum
	slopes     *[units.MaxParams]units.Means // destinations of units.LearnedKind.Slopes; nil: not computed
	draw       bool
	stream     vec.Stream

	list, up, whole, joints parallel.Loop
	down                    parallel.Pipeline
}

var passPool = sync.Pool{New: func() any { return newPass() }}

func newPass() *pass {
	p := new(pass)
	p.list.Body, p.up.Body, p.down.Body, p.whole.Body, p.joints.Body = p.listGroup, p.upPart, p.downPart, p.wholeRows, p.drawJoint
	return p
}

// grow makes room for that many rows of m.
func (p *pass) grow(m *RBM, rows int) {
	p.m = m
	visible, hidden := vec.Blocks(m.Visible()), vec.Blocks(m.Hidden())
	blocks := max(visible, hidden)
	p.acts = grown(p.acts, (rows*blocks+vec.Tile)*vec.Block) // vec.TransposePanel reads whole tiles
	p.blocks = grown(p.blocks, max(visible, hidden*ceilDiv(rows, blockRows)))
	p.joint = grown(p.joint, rows*max(m.visible.jointUnits(), m.hidden.jointUnits()))
	p.partial = grown(p.partial, rows*(visible+hidden))
}

// grown returns x with length n, in new memory if its own is too small. The
// values are not cleared.
func grown[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// forget drops the references to the model and to the caller's memory.
func (p *pass) forget() {
	p.m, p.base, p.beta, p.energy, p.baseEnergy = nil, nil, nil, nil, nil
	p.v, p.h, p.mean, p.from = Values{}, Values{}, Matrix{}, Values{}
	p.out, p.baseDist = output{}, units.Distribution{}
	clear(p.blocks)
}

// passes calls run for rows lo … hi−1 of each chunk of rows, with a pass from the
// pool that does not draw.
func (m *RBM) passes(rows int, run func(p *pass, lo, hi int)) {
	p := passPool.Get().(*pass)
	p.grow(m, min(rows, chunkRows))
	p.draw = false
	for lo := 0; lo < rows; lo += chunkRows {
		run(p, lo, min(lo+chunkRows, rows))
	}
	p.forget()
	passPool.Put(p)
}

// cost is the number of multiply-adds of a pass. Reading the weights takes as long as
// another row.
func (p *pass) cost() int { return (p.rows + 1) * p.m.Visible() * p.m.Hidden() }

// start says which rows the pass starts from. Of grey rows it lists the units that are
// not zero.
func (p *pass) start(x Values) {
	p.from, p.rows = x, x.Rows
	if !x.IsReal() {
		return
	}
	groups := p.groups()
	p.lists = grown(p.lists, groups*(p.rows*vec.RowSumsWords*vec.Block+vec.ListSlack))
	p.values = grown(p.values, len(p.lists))
	p.cuts = grown(p.cuts, (p.rows+1)*groups)
	p.list.Run(groups, p.rows*x.Cols*listWork)
}

// groups returns the number of groups of units whose weights are added together: each is
// vec.RowSumsWords words of them.
func (p *pass) groups() int { return ceilDiv(vec.Blocks(p.from.Cols), vec.RowSumsWords) }

// listGroup lists the units of group g of grey rows.
func (p *pass) listGroup(g int) {
	const units = vec.RowSumsWords * vec.Block
	cuts := p.groupCuts(g)
	at := g * (p.rows*units + vec.ListSlack)
	cuts[0] = uint32(at)
	for r := range p.rows {
		row := p.from.Matrix().Row(r)
		row = row[g*units : min((g+1)*units, len(row))]
		n := vec.Nonzero(p.lists[at:], p.values[at:], row)
		at += n
		cuts[r+1] = uint32(at)
	}
}

// addGroup adds to the preactivations acts of rows lo … hi−1 the rows of base, the weights of
// group g, whose units are on in them. It prefetches.
func (p *pass) addGroup(acts, base []float32, g, lo, hi int, ahead []float32) {
	x, q := &p.from, g*vec.RowSumsWords
	vec.RowSums(acts, base, x.Words[lo*x.Stride+q:], x.Stride, min(vec.RowSumsWords, x.Stride-q), hi-lo, ahead)
}

// groupSize is the number of weights between the units of a group and a block of the other layer.
const groupSize = vec.RowSumsWords * vec.Block * vec.Block

// addTimes adds to the preactivations acts of n real rows from lo on the weights base of group g, times the
// values of its units.
func (p *pass) addTimes(acts, base []float32, g, lo, n int) {
	const units = vec.RowSumsWords * vec.Block
	vec.RowSumsTimes(acts, base, p.lists, p.values, p.groupCuts(g)[lo:][:n+1], min(units, p.from.Cols-g*units))
}

// groupCuts returns where each row's part of the lists of group g ends.
func (p *pass) groupCuts(g int) []uint32 {
	return p.cuts[g*(p.rows+1):][:p.rows+1]
}

// setRows overwrites each row of acts, Block wide, with the biases of a block,
// and zeros beyond the last unit.
func setRows(acts, bias []float32) {
	var row [vec.Block]float32
	copy(row[:], bias)
	for ; len(acts) > 0; acts = acts[vec.Block:] {
		*(*[vec.Block]float32)(acts) = row
	}
}

// An output is the layer that a pass computes.
type output struct {
	layer  *layer
	states units.States        // destination of draws
	base   *units.Distribution // at β = 0; nil: zeros
}

// begin makes x, the states of layer l, the output of the pass. If there is a base, p.baseDist is the
// distribution of l at β = 0.
func (p *pass) begin(l *layer, x *Values) {
	o := &p.out
	o.layer, o.base = l, nil
	if o.states = (units.States{Words: x.Words, Stride: x.Stride}); x.IsReal() {
		o.states = units.States{Real: x.Real, Stride: x.Cols}
	}
	if p.base != nil {
		o.base = &p.baseDist
	}
}

// from returns where rows from lo on begin.
func (o *output) from(lo int) units.States {
	x := o.states
	if lo *= x.Stride; x.Real != nil {
		x.Real = x.Real[lo:]
	} else {
		x.Words = x.Words[lo:]
	}
	return x
}

// means returns the destination of means from row lo on.
func (p *pass) means(lo int) units.Means {
	return units.Means{Data: p.mean.Data[lo*p.mean.Cols:], Cols: p.mean.Cols}
}

// blockUnits computes from the preactivations acts of block k, n rows from lo on, what the
// fields of p name, of the units that are independent. It overwrites b.
func (p *pass) blockUnits(b *units.Block, acts []float32, k, lo, n int) {
	*b = units.Block{First: k * vec.Block, In: acts, Stride: vec.Block, Rows: n, Row: uint32(p.first + lo), Model: &p.out.layer.dist, Base: p.out.base}
	if p.beta != nil {
		b.Beta = p.beta[lo:]
	}
	for i := range p.out.layer.apart {
		g := &p.out.layer.apart[i]
		b.From = max(0, g.First-b.First)
		if b.Width = min(g.First+g.Units-b.First, vec.Block); b.Width <= 0 || g.First >= b.First+vec.Block {
			continue
		}
		if p.mean.Rows > 0 {
			g.Kind.Means(p.means(lo), b)
		}
		if p.free.wanted {
			at, panels := lo*p.free.panels+k, p.free.panels
			g.Kind.LogZs(p.free.sum[at:], p.free.product[at:], panels, p.means(lo), b)
		}
		if p.slopes != nil {
			g.Kind.(units.LearnedKind).Slopes(slopesFrom(p.slopes, lo), b)
		}
		if p.gain != nil {
			at := k*p.gain.rows + lo
			g.Kind.Rises(p.gain.sum[at:], p.gain.product[at:], b, p.gain.from, p.gain.to)
		}
		if p.draw {
			g.Kind.Draw(p.out.from(lo), b, p.stream)
		}
	}
}

// transposedRows is the number of rows from which on the groups that are one variable are drawn
// by vectors of rows.
const transposedRows = 8

// jointUnits computes means and draws of the groups that are one variable.
func (p *pass) jointUnits() {
	if p.draw && p.mean.Rows == 0 && p.rows >= transposedRows {
		const work = 64 // multiply-adds that take as long as a unit
		p.joints.Run(ceilDiv(p.rows, vec.Block), p.rows*p.out.layer.jointUnits()*work)
		return
	}
	for i := range p.out.layer.joint {
		p.jointGroup(&p.out.layer.joint[i], &p.blocks[0], 0, p.rows)
	}
}

// jointGroup computes means and draws of group g in rows lo … hi−1. It overwrites b.
func (p *pass) jointGroup(g *Group, b *units.Block, lo, hi int) {
	stride := p.out.layer.jointUnits()
	for r := lo; r < hi; r++ {
		p.gather(p.joint[r*stride+g.at:][:g.Units], g, r)
	}
	p.jointBlock(b, g, lo, hi)
	b.In, b.Stride = p.joint[lo*stride+g.at:], stride
	if p.mean.Rows > 0 {
		g.Kind.Means(p.means(lo), b)
	}
	if p.draw {
		g.Kind.Draw(p.out.from(lo), b, p.stream)
	}
}

// jointBlock overwrites b with group g in rows lo … hi−1, without inputs.
func (p *pass) jointBlock(b *units.Block, g *Group, lo, hi int) {
	*b = units.Block{First: g.First, Width: g.Units, Rows: hi - lo, Row: uint32(p.first + lo), Model: &p.out.layer.dist, Base: p.out.base}
	if p.beta != nil {
		b.Beta = p.beta[lo:hi]
	}
}

// A jointDraw is the working memory of drawJoint: blocks of preactivations of 64 rows, transposed,
// a row of it for each unit.
type jointDraw struct {
	in         [vec.RowSumsWords * vec.Block * vec.Block]float32
	transposed units.Transposed
	block      units.Block
}

var jointDrawPool = sync.Pool{New: func() any { return new(jointDraw) }}

// drawJoint draws the groups that are one variable in part i of the rows, 64 of them. The rows
// are the lanes of vectors, so that groups of any size fill them.
func (p *pass) drawJoint(i int) {
	lo := i * vec.Block
	hi := min(lo+vec.Block, p.rows)
	d := jointDrawPool.Get().(*jointDraw)
	const size = vec.Block * vec.Block
	kept, at := -1, 0 // the block that was transposed last, and where it is
	for i := range p.out.layer.joint {
		g := &p.out.layer.joint[i]
		first, last := g.First/vec.Block, (g.First+g.Units-1)/vec.Block
		if last-first >= vec.RowSumsWords {
			p.jointGroup(g, &d.block, lo, hi)
			continue
		}
		for k := first; k <= last; k++ {
			dst := d.in[(k-first)*size:][:size]
			if k != kept {
				vec.TransposePanel(dst, p.acts[(k*p.rows+lo)*vec.Block:], hi-lo, vec.Block)
			} else if at != k-first {
				copy(dst, d.in[at*size:][:size])
			}
		}
		kept, at = last, last-first
		p.jointBlock(&d.block, g, lo, hi)
		units.DrawTransposed(p.out.from(lo), &d.block, d.in[(g.First-first*vec.Block)*vec.Block:], p.stream, &d.transposed)
	}
	d.block = units.Block{}
	jointDrawPool.Put(d)
}

// gather overwrites x with the preactivations of group g in row r of the pass.
func (p *pass) gather(x []float32, g *Group, r int) {
	for c := range x {
		i := g.First + c
		x[c] = p.act(i/vec.Block, r)[i%vec.Block]
	}
}

// act returns the preactivations of block k of units of row r.
func (p *pass) act(k, r int) *[vec.Block]float32 {
	return (*[vec.Block]float32)(p.acts[(k*p.rows+r)*vec.Block:])
}

// rowBeta returns the inverse temperature of row r.
func (p *pass) rowBeta(r int) float32 {
	if p.beta == nil {
		return 1
	}
	return p.beta[r]
}

// partials returns the terms of the energies from row r on, and how far apart rows are:
// those of the panels start at the number of blocks of visible units.
func (p *pass) partials(r int) (x []float64, stride int) {
	stride = vec.Blocks(p.m.Visible()) + vec.Blocks(p.m.Hidden())
	return p.partial[r*stride:], stride
}

// sumEnergy adds up the energy of each row: block by block of visible units, then panel
// by panel.
func (p *pass) sumEnergy() {
	all, stride := p.partials(0)
	for k := range vec.Blocks(p.m.Visible()) {
		if p.v.IsReal() {
			for r := range p.v.Rows {
				all[r*stride+k] = 0
				if k == 0 {
					all[r*stride] = p.m.visible.weight(&p.v, r, &p.m.visible.dist)
				}
			}
			continue
		}
		var bias [vec.Block]float32
		copy(bias[:], p.m.VisibleBias[k*vec.Block:])
		vec.MaskedSums(all[k:], stride, bias[:], 0, p.v.Words[k:], p.v.Stride, p.v.Rows)
	}
	for r := range p.v.Rows {
		e := 0.0
		for _, x := range all[r*stride : (r+1)*stride] {
			e -= x
		}
		p.energy[r] = e
		if p.baseEnergy != nil {
			p.baseDist = p.base.visible()
			visible := p.m.visible.weight(&p.v, r, &p.baseDist)
			p.baseDist = p.base.hidden()
			p.baseEnergy[r] = 0 - visible - p.m.hidden.weight(&p.h, r, &p.baseDist)
		}
	}
}
