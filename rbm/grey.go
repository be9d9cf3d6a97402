package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// Grey inputs are values in [0,1] in place of bits: probabilities that the
// unit is on. They enter only where data do, in the positive phase and in
// what judges rows; what the model draws is always binary. Their passes go
// through lists of the values that are not zero, whatever their share: a value
// in a list takes an eighth longer than one of a dense product.

// HiddenMeanGrey overwrites dst, v.Rows × Hidden(), with σ(c + vᵀW) of rows v
// of grey values, or with the means under a constraint on the hidden units. It
// panics if the shapes differ or the constraint is on all units: grey rows have
// no number of units that are on.
func (m *RBM) HiddenMeanGrey(dst, v Matrix) {
	m.checkGrey(v)
	if dst.Rows != v.Rows || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMeanGrey needs dst of v.Rows × hidden")
	}
	if m.Constraint != nil {
		m.judge(func(j *judging) { j.grey, j.mean = v, dst }, (*judging).takeCountGrey)
		return
	}
	g := greyPool.Get().(*greyPass)
	g.m = m
	for lo := 0; lo < v.Rows; lo += chunkRows {
		hi := min(lo+chunkRows, v.Rows)
		g.dst, g.v = dst.Slice(lo, hi), v.Slice(lo, hi)
		g.grow()
		g.list.Run(vec.Blocks(m.Visible()), (hi-lo)*m.Visible()*listWork)
		g.up.Run(vec.Blocks(m.Hidden())*g.rowParts(), (hi-lo)*m.Visible()*m.Hidden())
	}
	g.m, g.dst, g.v = nil, Matrix{}, Matrix{}
	greyPool.Put(g)
}

// A greyPass is an up pass over grey rows.
type greyPass struct {
	list, up parallel.Loop
	m        *RBM
	dst, v   Matrix
	greyLists
	acts []float32 // preactivations: block by block of units, in each row by row
}

// greyLists are the values that are not zero of blocks of units: those of
// block k from k·size on, cut in parts as the block's count cuts say.
type greyLists struct {
	size, parts int
	lists       []uint32
	values      []float32
	cuts        []uint32
}

// growLists makes room for blocks of up to size values in parts each.
func (g *greyLists) growLists(blocks, size, parts int) {
	g.size, g.parts = size+vec.ListSlack, parts
	g.lists, g.values = grown(g.lists, blocks*g.size), grown(g.values, blocks*g.size)
	g.cuts = grown(g.cuts, blocks*(parts+1))
}

// block returns what is there of block k.
func (g *greyLists) block(k int) (lists []uint32, values []float32, cuts []uint32) {
	return g.lists[k*g.size:][:g.size], g.values[k*g.size:][:g.size], g.cuts[k*(g.parts+1):][:g.parts+1]
}

var greyPool = sync.Pool{New: func() any {
	g := new(greyPass)
	g.list.Body, g.up.Body = g.listPart, g.upPart
	return g
}}

func (g *greyPass) grow() {
	rows := g.v.Rows
	g.growLists(vec.Blocks(g.m.Visible()), rows*vec.Block, rows)
	g.acts = grown(g.acts, vec.Blocks(g.m.Hidden())*rows*vec.Block)
}

// listPart lists block k of the visible units, row by row.
func (g *greyPass) listPart(k int) {
	lists, values, cuts := g.block(k)
	p := 0
	cuts[0] = 0
	for r := range g.v.Rows {
		row := g.v.Row(r)[k*vec.Block : min((k+1)*vec.Block, g.v.Cols)]
		p += vec.Nonzero(lists[p:], values[p:], row)
		cuts[r+1] = uint32(p)
	}
}

func (g *greyPass) rowParts() int { return ceilDiv(g.v.Rows, 64) }

// upPart takes the means of a panel of units, 64 rows or fewer.
func (g *greyPass) upPart(i int) {
	m := g.m
	k, lo := i/g.rowParts(), i%g.rowParts()*64
	n := min(64, g.v.Rows-lo)
	first := k * vec.Block
	width := min(vec.Block, m.Hidden()-first)
	acts := g.acts[(k*g.v.Rows+lo)*vec.Block:][:n*vec.Block]
	var bias [vec.Block]float32
	copy(bias[:], m.HiddenBias[first:])
	for r := range n {
		*(*[vec.Block]float32)(acts[r*vec.Block:]) = bias
	}
	panel := m.panel(k)
	for b := range vec.Blocks(m.Visible()) {
		lists, values, cuts := g.block(b)
		vec.RowSumsTimes(acts, panel[b*vec.Block*vec.Block:], lists, values, cuts[lo:lo+n+1])
	}
	vec.Sigmoids(g.dst.Data[lo*g.dst.Cols+first:], g.dst.Cols, acts, n, width)
}

// FreeEnergyGrey overwrites dst, len v.Rows, with the F of FreeEnergy at grey
// values v. exp(−F) of such a row is no probability; it serves to compare
// rows, as in software that trains on grey values. It panics if the shapes
// differ.
func (m *RBM) FreeEnergyGrey(dst []float64, v Matrix) {
	m.checkGrey(v)
	if len(dst) != v.Rows {
		panic("rbm: FreeEnergyGrey needs one place of dst a row")
	}
	m.judge(func(j *judging) { j.grey, j.dst = v, dst }, (*judging).takeFreeEnergy)
}

func (m *RBM) checkGrey(v Matrix) {
	if v.Cols != m.Visible() {
		panic("rbm: grey rows of another width than the visible layer")
	}
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		panic("rbm: grey rows under a constraint on all units")
	}
}
