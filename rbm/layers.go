package rbm

import (
	"math/bits"
	"sync"

	"gorbm/rbm/internal/vec"
)

// KernelLevel returns the instructions that the inner loops use on this
// machine: "avx512", "avx2" or "go". All give the same bits.
func KernelLevel() string { return vec.InUse().String() }

const (
	// chunkRows is the number of rows that a pass lists at once, which bounds
	// the memory of a pass over any number of them.
	chunkRows = 128
	// partPanels is the number of panels that one part of an up pass or of an
	// ascent works on. A word of visible units of two panels, 32 KiB of weights,
	// serves all rows from the first-level cache, and the eight additions of a
	// row hide each other's latency.
	partPanels = 2
	// wideWork is the number of weights times rows below which a pass is not
	// worth sharing out: some 200 µs of one core. At 784×500 and ten chains
	// waking helpers costs more than they do (an update takes 8 to 16 % longer).
	wideWork = 1 << 23
	// rowBlock is the number of rows that one part of a loop over examples
	// works on.
	rowBlock = 16
)

// None of these shapes a sum: every sum belongs to one unit of one row.

func rowBlocks(rows int) int { return ceilDiv(rows, rowBlock) }

// layers holds what passes between the layers need beside the model and the
// states: the lists of active units, and the arguments of the pass that is
// running. It is kept from pass to pass so that none allocates. A pass works
// on at most chunkRows rows.
type layers struct {
	lists  []uint32    // active visible units: word by word, in each row by row
	cuts   []uint32    // where the parts of lists end
	hidden vec.Columns // active hidden units
	acts   []float32   // preactivations: block by block of units, in each row by row
	label  []float32   // label preactivations, rows × classes
	blends []float32   // preactivations on the path to a base, laid out as acts

	m          *RBM
	first      int // the first row's number among all
	v, h       Bits
	mean       Matrix    // destination of means; no rows: not wanted
	beta       []float32 // nil: all 1
	base       *Base     // where the path of β ends; nil: uniform
	energy     []float64 // of each row; nil: not wanted
	baseEnergy []float64 // likewise of the base
	partner    *layers   // of the chains that these are coupled to; nil: none
	rise       *rise     // gains of the hidden units; nil: not wanted
	draw       bool
	stream     vec.Stream
	up         job
	down       job
	count      job       // of hidden units under a constraint
	partial    []float64 // rows × panels of −Σ h·a
}

var layersPool = sync.Pool{New: func() any { return newLayers() }}

func newLayers() *layers {
	l := new(layers)
	l.up.part = l.upPart
	l.down.part = l.downPart
	l.count.part = l.countPart
	return l
}

// grow makes room for rows.
func (l *layers) grow(m *RBM, rows int) {
	l.m = m
	visible, hidden := vec.Blocks(m.Visible()), vec.Blocks(m.Hidden())
	if n := rows*visible*vec.Block + vec.ListSlack; len(l.lists) < n {
		l.lists = make([]uint32, n)
	}
	if n := rows*visible + 1; len(l.cuts) < n {
		l.cuts = make([]uint32, n)
	}
	if n := rows * max(visible, hidden) * vec.Block; len(l.acts) < n {
		l.acts = make([]float32, n)
	}
	if n := len(l.acts); l.base != nil && len(l.blends) < n {
		l.blends = make([]float32, n)
	}
	if n := rows * m.Classes; len(l.label) < n {
		l.label = make([]float32, n)
	}
	if n := rows * hidden; len(l.partial) < n {
		l.partial = make([]float64, n)
	}
}

func (l *layers) wide(rows int) bool {
	return rows*l.m.Visible()*l.m.Hidden() >= wideWork
}

// partRows returns the number of rows of one part of a pass that is cut into
// groups of units already: many, so that weights are read once for all.
func partRows(groups int) int {
	if groups >= 4 {
		return 64
	}
	return 16
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// listVisible lists the active visible units of every row of l.v.
func (l *layers) listVisible() {
	rows := l.v.Rows
	for k := range l.v.Stride {
		vec.Lists(l.lists, l.cuts[k*rows:], l.v.Words[k:], l.v.Stride, 1, rows, 1, uint32(k*vec.Block*vec.Block))
	}
}

// runUp sums the hidden preactivations of every row of l.v, whose lists must
// be there, and takes from them what l asks for: means at β = 1, draws at each
// row's β into l.h, energy terms.
func (l *layers) runUp() {
	groups := ceilDiv(vec.Blocks(l.m.Hidden()), partPanels)
	l.up.run(groups*ceilDiv(l.v.Rows, partRows(groups)), l.wide(l.v.Rows))
	if l.m.Constraint != nil {
		l.runCount()
	}
}

func (l *layers) upPart(i int) {
	m, rows := l.m, l.v.Rows
	panels := vec.Blocks(m.Hidden())
	size := partRows(ceilDiv(panels, partPanels))
	parts := ceilDiv(rows, size)
	k, lo := i/parts*partPanels, i%parts*size
	n := min(size, rows-lo)
	last := min(k+partPanels, panels)

	for p := k; p < last; p++ {
		var bias [vec.Block]float32
		copy(bias[:], m.HiddenBias[p*vec.Block:])
		acts := l.acts[(p*rows+lo)*vec.Block:]
		for r := range n {
			*(*[vec.Block]float32)(acts[r*vec.Block:]) = bias
		}
	}
	acts := l.acts[(k*rows+lo)*vec.Block:]
	panel := m.w[k*m.rows*vec.Block:]
	for w := range l.v.Stride {
		cuts := l.cuts[w*rows+lo:][:n+1]
		vec.RowSums(acts, rows*vec.Block, panel, m.rows*vec.Block, last-k, l.lists, cuts)
	}
	for p := k; p < last; p++ {
		l.hiddenUnits(p, lo, n)
	}
}

// hiddenUnits takes what is wanted of the preactivations of panel k, n rows
// from lo on.
func (l *layers) hiddenUnits(k, lo, n int) {
	if l.m.Constraint != nil {
		return // what is wanted hangs on all panels
	}
	acts := l.acts[(k*l.v.Rows+lo)*vec.Block:][:n*vec.Block]
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
	if base != nil && beta != nil {
		var from [vec.Block]float32
		copy(from[:], base[k*vec.Block:])
		blends := l.blends[(k*dst.Rows+lo)*vec.Block:]
		vec.Blend(blends, acts, beta, &from, n)
		acts, beta = blends, nil
	}
	l.stream.Draws(dst.Words[lo*dst.Stride+k:], dst.Stride, acts, beta, uint32(l.first+lo), uint32(k), n, width)
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

// runDown sums the visible preactivations of every row of l.h, and draws l.v
// at each row's β or takes means at β = 1.
func (l *layers) runDown() {
	rows, m := l.h.Rows, l.m
	l.hidden.Set(l.h.Words, l.h.Stride, rows, vec.Blocks(m.Hidden()), m.rows*vec.Block)
	groups := vec.Blocks(m.Visible())
	l.down.run(groups*ceilDiv(rows, partRows(groups)), l.wide(rows))
	l.hidden.Release()
	if m.softmax() {
		for r := range rows {
			l.labels(r)
		}
	}
}

func (l *layers) downPart(i int) {
	m, rows := l.m, l.h.Rows
	size := partRows(vec.Blocks(m.Visible()))
	parts := ceilDiv(rows, size)
	k, lo := i/parts, i%parts*size
	n := min(size, rows-lo)

	first := k * vec.Block
	width := min(m.Visible()-first, vec.Block)
	acts := l.acts[(k*rows+lo)*vec.Block:][:n*vec.Block]
	var bias [vec.Block]float32
	copy(bias[:], m.VisibleBias[first:])
	for t := 0; t < width; t += vec.Tile {
		l.hidden.Dots(acts[t:], m.w[(first+t)*vec.Block:], (*[vec.Tile]float32)(bias[t:]), lo, lo+n)
	}
	plain := width // units of this block that are not a softmax label
	if m.softmax() {
		plain = min(max(m.Inputs()-first, 0), width)
		for r := range n {
			for c := plain; c < width; c++ {
				l.label[(lo+r)*m.Classes+first+c-m.Inputs()] = acts[r*vec.Block+c]
			}
		}
	}
	if l.mean.Rows > 0 && plain > 0 {
		vec.Sigmoids(l.mean.Data[lo*l.mean.Cols+first:], l.mean.Cols, acts, n, plain)
	}
	if l.draw {
		l.drawUnits(l.v, acts, l.base.visible(), k, lo, n, plain)
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
