package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// KernelLevel returns the instruction set that the inner loops use on this
// machine: "avx512", "avx2" or "go". Results are bit-identical with each of them.
func KernelLevel() string { return vec.InUse().String() }

// Results do not depend on these numbers: every sum belongs to one unit of one row.
const (
	// chunkRows is the largest number of rows of one pass. It bounds the working
	// memory.
	chunkRows = 128
	// listWork is the cost of listing one real value, in multiply-adds.
	listWork = 16
	// blockRows is the smallest number of rows in one iteration of a parallel loop over rows.
	blockRows = 16
)

// A pass computes one layer from the states of the other, for at most chunkRows rows. It computes
// preactivations (the inputs of the units, with their biases), and from them means, draws and
// energies. A pass holds arguments and working memory, and is reused so that passes do not allocate.
//
// The input layer is divided into groups of vec.RowSumsWords words of 64 units.
type pass struct {
	lists   []uint32      // for real rows: offsets of the nonzero units within their group, group by group, then row by row
	values  []float32     // values of the listed units
	cuts    []uint32      // index in lists where each row ends, group by group
	acts    []float32     // preactivations: block by block of 64 units, then row by row
	blocks  []units.Block // one for each iteration of a parallel loop
	joint   []float32     // preactivations of joint groups such as softmax, rows × units
	partial []float64     // terms of the energies, rows × (blocks of visible units, then panels): see partials

	m          *RBM
	first      int // number of the first row in the random stream
	v, h       Values
	from       Values // the input rows: v or h
	out        output
	baseDist   units.Distribution // memory for out.base
	rows       int                // number of rows in from
	mean       Matrix             // destination of means; if it has no rows, means are not computed
	beta       []float32          // inverse temperature of each row; nil: all 1
	base       *Base              // the distribution at β = 0; nil: uniform
	energy     []float64          // destination of E of each row; nil: not computed
	baseEnergy []float64          // destination of E₀ of each row; nil: not computed
	gain       *hiddenGain        // destination of increases of log Z; nil: not computed
	free       freeSum
	slopes     *[units.MaxParams]units.Means // destinations of units.LearnedKind.Slopes; nil: not computed
	draw       bool                          // whether states are drawn
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

// grow allocates memory for the given number of rows of m if there is not enough.
func (p *pass) grow(m *RBM, rows int) {
	p.m = m
	visible, hidden := vec.Blocks(m.Visible()), vec.Blocks(m.Hidden())
	blocks := max(visible, hidden)
	p.acts = grown(p.acts, (rows*blocks+vec.Tile)*vec.Block) // vec.TransposePanel reads whole tiles
	p.blocks = grown(p.blocks, max(visible, hidden*ceilDiv(rows, blockRows)))
	p.joint = grown(p.joint, rows*max(m.visible.jointUnits(), m.hidden.jointUnits()))
	p.partial = grown(p.partial, rows*(visible+hidden))
}

// grown returns x with length n, reallocated if its capacity is too small. The values are arbitrary.
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

// passes divides rows into chunks of at most chunkRows. It calls run for the rows lo … hi−1 of
// each, with a pass from the pool that does not draw.
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

// cost returns the cost of a pass in multiply-adds. Reading the weights takes as long as
// one more row.
func (p *pass) cost() int { return (p.rows + 1) * p.m.Visible() * p.m.Hidden() }

// start sets the input rows. If they are real, it lists their nonzero units.
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

// groups returns the number of groups of input units.
func (p *pass) groups() int { return ceilDiv(vec.Blocks(p.from.Cols), vec.RowSumsWords) }

// listGroup lists the nonzero units of group g in all rows.
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

// addGroup adds, to the preactivations acts of rows lo … hi−1, the weights of the active units of
// group g. base has the weights of the group, 64 for each unit. ahead is memory to prefetch.
func (p *pass) addGroup(acts, base []float32, g, lo, hi int, ahead []float32) {
	x, q := &p.from, g*vec.RowSumsWords
	vec.RowSums(acts, base, x.Words[lo*x.Stride+q:], x.Stride, min(vec.RowSumsWords, x.Stride-q), hi-lo, ahead)
}

// groupSize is the number of weights between the units of a group and a block of the other layer.
const groupSize = vec.RowSumsWords * vec.Block * vec.Block

// addTimes is addGroup for n real rows from lo on: it adds weights times values.
func (p *pass) addTimes(acts, base []float32, g, lo, n int) {
	const units = vec.RowSumsWords * vec.Block
	vec.RowSumsTimes(acts, base, p.lists, p.values, p.groupCuts(g)[lo:][:n+1], min(units, p.from.Cols-g*units))
}

// groupCuts returns the part of cuts for group g: row r has the entries cuts[r] … cuts[r+1]−1 of lists.
func (p *pass) groupCuts(g int) []uint32 {
	return p.cuts[g*(p.rows+1):][:p.rows+1]
}

// setRows overwrites each row of acts, vec.Block wide, with the biases of a block,
// followed by zeros.
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
	base   *units.Distribution // parameters at β = 0; nil: zeros
}

// begin sets the output of the pass: the states x of layer l. If there is a base, p.baseDist must be
// the distribution of l at β = 0.
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

// from returns the states of rows from lo on.
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

// blockUnits computes the requested results of the independent units of block k, for n rows from
// lo on, from their preactivations acts. It overwrites b.
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

// transposedRows is the smallest number of rows for which joint groups are drawn with rows as the
// lanes of vectors.
const transposedRows = 8

// jointUnits computes means and draws of the joint groups.
func (p *pass) jointUnits() {
	if p.draw && p.mean.Rows == 0 && p.rows >= transposedRows {
		const work = 64 // cost of a unit in multiply-adds
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

// jointBlock sets b to group g in rows lo … hi−1, without inputs.
func (p *pass) jointBlock(b *units.Block, g *Group, lo, hi int) {
	*b = units.Block{First: g.First, Width: g.Units, Rows: hi - lo, Row: uint32(p.first + lo), Model: &p.out.layer.dist, Base: p.out.base}
	if p.beta != nil {
		b.Beta = p.beta[lo:hi]
	}
}

// A jointDraw is the working memory of drawJoint.
type jointDraw struct {
	in         [vec.RowSumsWords * vec.Block * vec.Block]float32 // preactivations, units × 64 rows
	transposed units.Transposed
	block      units.Block
}

var jointDrawPool = sync.Pool{New: func() any { return new(jointDraw) }}

// drawJoint draws the joint groups in block i of vec.Block rows. The rows are the lanes of vectors, so
// groups of any size fill the vectors.
func (p *pass) drawJoint(i int) {
	lo := i * vec.Block
	hi := min(lo+vec.Block, p.rows)
	d := jointDrawPool.Get().(*jointDraw)
	const size = vec.Block * vec.Block
	kept, at := -1, 0 // the block that was transposed last, and its position in d.in
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

// act returns the preactivations of row r for block k of units.
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

// partials returns the energy terms of rows from r on, and the distance between rows. A row has
// Σ v·b for each block of visible units, then Σ h·a for each panel, where a are preactivations.
func (p *pass) partials(r int) (x []float64, stride int) {
	stride = vec.Blocks(p.m.Visible()) + vec.Blocks(p.m.Hidden())
	return p.partial[r*stride:], stride
}

// sumEnergy computes the energies of all rows from their terms, added in the order of partials.
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
