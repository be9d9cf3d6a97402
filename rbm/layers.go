package rbm

import (
	"math/bits"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// KernelLevel returns the instructions that the inner loops use on this
// machine: "avx512", "avx2" or "go". All give the same bits.
func KernelLevel() string { return vec.InUse().String() }

const (
	// chunkRows is the number of rows that a pass lists at once, which bounds
	// the memory of a pass over any number of them.
	chunkRows = 128
	// listWork is the work of listing a bit, for the cost of its loop.
	listWork = 16
	// blendRows is the number of rows on the path to a base that are drawn at
	// once: few enough for the first-level cache to keep what else is in it.
	blendRows = 16
	// rowBlock is the number of rows that one part of a loop over examples
	// works on.
	rowBlock = 16
)

// None of these shapes a sum: every sum belongs to one unit of one row.

// layers holds what passes between the layers need beside the model and the
// states: the lists of active units, and the arguments of the pass that is
// running. It is kept from pass to pass so that none allocates. A pass works
// on at most chunkRows rows.
type layers struct {
	lists   []uint32  // active units of the layer that a pass starts from: vec.ListWords words by as many, in each row by row
	values  []float32 // of grey rows: the values of the listed units
	cuts    []uint32  // where the parts of lists end
	acts    []float32 // preactivations: block by block of units, in each row by row
	softmax []float32 // preactivations of softmax units, rows × units
	turned  turnedWeights

	m          *RBM
	first      int // the first row's number among all
	v, h       Bits
	from       Input     // what is listed: visible rows or h
	rows       int       // of from
	grey       bool      // whether from is grey
	anew       bool      // offsets begin anew with each group of lists
	mean       Matrix    // destination of means; no rows: not wanted
	beta       []float32 // nil: all 1
	base       *Base     // where the path of β ends; nil: uniform
	energy     []float64 // of each row; nil: not wanted
	baseEnergy []float64 // likewise of the base
	partner    *layers   // of the chains that these are coupled to; nil: none
	rise       *rise     // gains of the hidden units; nil: not wanted
	draw       bool
	stream     vec.Stream
	list, up   parallel.Loop
	down       parallel.Loop
	count      parallel.Loop // of hidden units under a constraint
	partial    []float64     // rows × panels of −Σ h·a
}

var layersPool = sync.Pool{New: func() any { return newLayers() }}

func newLayers() *layers {
	l := new(layers)
	l.list.Body = l.listPart
	l.up.Body = l.upPart
	l.down.Body = l.downPart
	l.count.Body = l.countPart
	return l
}

// grow makes room for rows.
func (l *layers) grow(m *RBM, rows int) {
	l.m = m
	visible, hidden := vec.Blocks(m.Visible()), vec.Blocks(m.Hidden())
	groups := ceilDiv(max(visible, hidden), vec.ListWords)
	if n := rows*max(visible, hidden)*vec.Block + groups*vec.ListSlack; len(l.lists) < n {
		l.lists = make([]uint32, n)
	}
	if n := (rows + 1) * groups; len(l.cuts) < n {
		l.cuts = make([]uint32, n)
	}
	if n := rows * max(visible, hidden) * vec.Block; len(l.acts) < n {
		l.acts = make([]float32, n)
	}
	if n := rows * (m.Visible() - m.binary()); len(l.softmax) < n {
		l.softmax = make([]float32, n)
	}
	if n := rows * hidden; len(l.partial) < n {
		l.partial = make([]float64, n)
	}
}

// work is the cost of a pass.
func (l *layers) work(rows int) int { return rows * l.m.Visible() * l.m.Hidden() }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// listActive lists the units of every row of x that are not zero: x is the layer
// that a pass starts from. Offsets are those of a whole panel; if anew is set,
// they begin anew with each group of words.
func (l *layers) listActive(x Input, anew bool) {
	l.from, l.rows, l.grey, l.anew = x, x.Rows(), x.IsGrey(), anew
	if l.grey {
		l.values = grown(l.values, len(l.lists))
	}
	l.list.Run(l.listGroups(), l.rows*x.Cols()*listWork)
}

// listGroups returns the number of groups of words that are listed together.
func (l *layers) listGroups() int { return ceilDiv(vec.Blocks(l.from.Cols()), vec.ListWords) }

// listPart lists group g.
func (l *layers) listPart(g int) {
	rows, k := l.rows, g*vec.ListWords
	cuts := l.groupCuts(g)
	cuts[0] = uint32(rows*k*vec.Block + g*vec.ListSlack)
	first := uint32(k * vec.Block * vec.Block)
	if l.anew {
		first = 0
	}
	if b := &l.from.Bits; !l.grey {
		vec.Lists(l.lists, cuts, b.Words[k:], b.Stride, 1, rows, min(vec.ListWords, b.Stride-k), first)
		return
	}
	p := int(cuts[0])
	for r := range rows {
		row := l.from.Grey.Row(r)
		row = row[k*vec.Block : min((k+vec.ListWords)*vec.Block, len(row))]
		n := vec.Nonzero(l.lists[p:], l.values[p:], row)
		for i := range l.lists[p : p+n] {
			l.lists[p+i] += first
		}
		p += n
		cuts[r+1] = uint32(p)
	}
}

// groupCuts are where the rows' parts of the lists of group g end.
func (l *layers) groupCuts(g int) []uint32 {
	return l.cuts[g*(l.rows+1):][:l.rows+1]
}

// runUp sums the hidden preactivations of every row of l.from, which listActive
// has listed, and computes from them what the fields of l ask for: means at
// β = 1, draws at each row's β into l.h, energy terms.
func (l *layers) runUp() {
	panels := vec.Blocks(l.m.Hidden())
	l.up.Run(panels*ceilDiv(l.rows, l.upRows()), l.work(l.rows))
	if l.m.Constraint != nil {
		l.runCount()
	}
}

// upRows returns the number of rows of one part of an up pass: all, so that a
// panel is read once for them, unless panels alone give too few parts.
func (l *layers) upRows() int {
	if vec.Blocks(l.m.Hidden()) >= 4 {
		return chunkRows
	}
	return 16
}

func (l *layers) upPart(i int) {
	m, rows := l.m, l.rows
	size := l.upRows()
	parts := ceilDiv(rows, size)
	k, lo := i/parts, i%parts*size
	n := min(size, rows-lo)

	var bias [vec.Block]float32
	copy(bias[:], m.HiddenBias[k*vec.Block:])
	acts := l.acts[(k*rows+lo)*vec.Block:][:n*vec.Block]
	for r := range n {
		*(*[vec.Block]float32)(acts[r*vec.Block:]) = bias
	}
	for g := range l.listGroups() {
		cuts := l.groupCuts(g)[lo:][:n+1]
		if l.grey {
			vec.RowSumsTimes(acts, m.panel(k), l.lists, l.values, cuts)
		} else {
			vec.RowSums(acts, m.panel(k), l.lists, cuts)
		}
	}
	l.hiddenUnits(k, lo, n)
}

// hiddenUnits takes what is wanted of the preactivations of panel k, n rows
// from lo on.
func (l *layers) hiddenUnits(k, lo, n int) {
	if l.m.Constraint != nil {
		return // what is wanted hangs on all panels
	}
	acts := l.acts[(k*l.rows+lo)*vec.Block:][:n*vec.Block]
	width := min(l.m.Hidden()-k*vec.Block, vec.Block)
	if l.mean.Rows > 0 {
		vec.Sigmoids(l.mean.Data[lo*l.mean.Cols+k*vec.Block:], l.mean.Cols, acts, n, width)
	}
	if l.rise != nil {
		l.rise.panel(acts, k, lo, n)
	}
	if !l.draw {
		return
	}
	l.drawUnits(l.h, acts, l.base.hidden(), k, lo, n, width)
	if l.energy == nil {
		return
	}
	panels := vec.Blocks(l.m.Hidden())
	for r := range n {
		l.partial[(lo+r)*panels+k] = -maskedSum(acts[r*vec.Block:], l.h.Row(lo + r)[k])
	}
}

// drawUnits draws block k of n rows of dst from lo on, at each row's β on the
// path from the biases base; nil is the uniform end.
func (l *layers) drawUnits(dst Bits, acts, base []float32, k, lo, n, width int) {
	var beta []float32
	if l.beta != nil {
		beta = l.beta[lo:]
	}
	words := dst.Words[lo*dst.Stride+k:]
	if base == nil || beta == nil {
		l.stream.Draws(words, dst.Stride, acts, beta, uint32(l.first+lo), uint32(k), n, width)
		return
	}
	var from [vec.Block]float32
	copy(from[:], base[k*vec.Block:])
	var blends [blendRows * vec.Block]float32
	for r := 0; r < n; r += blendRows {
		some := min(blendRows, n-r)
		vec.Blend(blends[:], acts[r*vec.Block:], beta[r:], &from, some)
		l.stream.Draws(words[r*dst.Stride:], dst.Stride, blends[:], nil, uint32(l.first+lo+r), uint32(k), some, width)
	}
}

// sumEnergy adds the parts of each row's energy in panel order.
func (l *layers) sumEnergy() {
	panels := vec.Blocks(l.m.Hidden())
	for r := range l.v.Rows {
		e := 0.0
		for k, w := range l.v.Row(r) {
			e -= maskedSum(l.m.VisibleBias[k*vec.Block:], w)
		}
		for _, p := range l.partial[r*panels : (r+1)*panels] {
			e += p
		}
		l.energy[r] = e
		if l.base != nil {
			l.baseEnergy[r] = l.base.energy(l.v.Row(r), l.h.Row(r))
		}
	}
}

// maskedSum returns Σ x[i] over the one bits i of w, in float64, ascending.
func maskedSum(x []float32, w uint64) float64 {
	sum := 0.0
	for ; w != 0; w &= w - 1 {
		sum += float64(x[bits.TrailingZeros64(w)])
	}
	return sum
}
