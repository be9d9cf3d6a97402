package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// rowBlock is the number of rows that one part of a pass works on. It only
// shapes the work: every sum belongs to one unit of one row.
const rowBlock = 16

// wideWork is the number of weights times rows below which a pass is not
// worth sharing out: some 50 µs of one core.
const wideWork = 1 << 17

// layers holds what passes between the layers need beside the model and the
// states: the lists of active units, and the arguments of the pass that is
// running. It is kept from pass to pass so that none allocates.
type layers struct {
	active [][]uint32     // active visible units of each row, for the up pass
	lanes  []vec.LaneList // active hidden units of each row, for the down pass
	label  []float32      // label preactivations, rows × classes

	m       *RBM
	v, h    Bits
	mean    Matrix    // destination of means; no rows: not wanted
	beta    []float32 // nil: all 1
	energy  []float64 // rows × panels of −Σ h·a; nil: not wanted
	draw    bool
	stream  vec.Stream
	up      job
	down    job
	partial []float64
}

var layersPool = sync.Pool{New: func() any { return newLayers() }}

func newLayers() *layers {
	l := new(layers)
	l.up.part = l.upPart
	l.down.part = l.downPart
	return l
}

// grow makes room for rows.
func (l *layers) grow(m *RBM, rows int) {
	l.m = m
	for len(l.active) < rows {
		l.active = append(l.active, make([]uint32, 0, m.Visible()+1))
		l.lanes = append(l.lanes, vec.LaneList{Offsets: make([]uint32, 0, m.Hidden())})
	}
	if n := rows * m.Classes; len(l.label) < n {
		l.label = make([]float32, n)
	}
	if n := rows * vec.Blocks(m.Hidden()); len(l.partial) < n {
		l.partial = make([]float64, n)
	}
}

func (l *layers) wide(rows int) bool {
	return rows*l.m.Visible()*l.m.Hidden() >= wideWork
}

func rowBlocks(rows int) int { return (rows + rowBlock - 1) / rowBlock }

// listVisible lists the active visible units of every row of l.v.
func (l *layers) listVisible() {
	for r := range l.v.Rows {
		l.active[r] = vec.Active(l.active[r][:0], l.v.Row(r), l.m.Visible())
	}
}

// runUp sums the hidden preactivations of every row of l.v, whose lists must
// be there, and takes from them what l asks for: means at β = 1, draws at each
// row's β into l.h, energy terms.
func (l *layers) runUp() {
	l.up.run(vec.Blocks(l.m.Hidden())*rowBlocks(l.v.Rows), l.wide(l.v.Rows))
}

func (l *layers) upPart(i int) {
	blocks := rowBlocks(l.v.Rows)
	k, lo := i/blocks, i%blocks*rowBlock
	m := l.m
	panel := m.panel(k)
	bias := m.HiddenBias[k*vec.Block:]
	width := min(len(bias), vec.Block)
	var acc, u [vec.Block]float32
	for r := lo; r < min(lo+rowBlock, l.v.Rows); r++ {
		clear(acc[copy(acc[:], bias):])
		vec.RowSum(&acc, panel, l.active[r])
		if l.mean.Rows > 0 {
			vec.Sigmoid(l.mean.Row(r)[k*vec.Block:][:width], acc[:])
		}
		if !l.draw {
			continue
		}
		l.stream.Uniforms(&u, uint32(r), uint32(k))
		word := vec.Draw(&acc, &u, l.betaOf(r)) & wordMask(width)
		l.h.Row(r)[k] = word
		if l.energy != nil {
			l.partial[r*vec.Blocks(m.Hidden())+k] = -maskedSum(acc[:width], word)
		}
	}
}

func (l *layers) betaOf(r int) float32 {
	if l.beta == nil {
		return 1
	}
	return l.beta[r]
}

// sumEnergy adds the parts of each row's energy in panel order.
func (l *layers) sumEnergy() {
	panels := vec.Blocks(l.m.Hidden())
	for r := range l.v.Rows {
		e := 0.0
		for k, w := range l.v.Row(r) {
			lo := k * vec.Block
			e -= maskedSum(l.m.VisibleBias[lo:min(lo+vec.Block, l.m.Visible())], w)
		}
		for _, p := range l.partial[r*panels : (r+1)*panels] {
			e += p
		}
		l.energy[r] = e
	}
}

// listHidden lists the active hidden units of every row of l.h.
func (l *layers) listHidden() {
	for r := range l.h.Rows {
		l.lanes[r].Set(l.h.Row(r), l.m.rows*vec.Block)
	}
}

// runDown sums the visible preactivations of every row of l.h, whose lists
// must be there, and draws l.v at each row's β or takes means at β = 1.
func (l *layers) runDown() {
	rows := l.h.Rows
	l.down.run(vec.Blocks(l.m.Visible())*rowBlocks(rows), l.wide(rows))
	if l.m.softmax() {
		for r := range rows {
			l.labels(r)
		}
	}
}

func (l *layers) downPart(i int) {
	blocks := rowBlocks(l.h.Rows)
	k, lo := i/blocks, i%blocks*rowBlock
	hi := min(lo+rowBlock, l.h.Rows)
	m := l.m
	first := k * vec.Block
	width := min(m.Visible()-first, vec.Block)
	var acts [rowBlock][vec.Block]float32
	for t := 0; t < width; t += vec.Tile {
		base := m.w[(first+t)*vec.Block:]
		for r := lo; r < hi; r++ {
			vec.Dot((*[vec.Tile]float32)(acts[r-lo][t:]), base, &l.lanes[r])
		}
	}
	plain := width // units of this block that are not a softmax label
	if m.softmax() {
		plain = min(max(m.Inputs()-first, 0), width)
	}
	var u [vec.Block]float32
	for r := lo; r < hi; r++ {
		act := &acts[r-lo]
		for c, b := range m.VisibleBias[first : first+width] {
			act[c] += b
		}
		for c := plain; c < width; c++ {
			l.label[r*m.Classes+first+c-m.Inputs()] = act[c]
		}
		if l.mean.Rows > 0 {
			vec.Sigmoid(l.mean.Row(r)[first:first+plain], act[:])
		}
		if l.draw {
			l.stream.Uniforms(&u, uint32(r), uint32(k))
			l.v.Row(r)[k] = vec.Draw(act, &u, l.betaOf(r)) & wordMask(plain)
		}
	}
}

// labels draws the softmax label of row r, by the uniform of its first unit,
// or takes the label means.
func (l *layers) labels(r int) {
	m := l.m
	x := l.label[r*m.Classes : (r+1)*m.Classes]
	nx := m.Inputs()
	if l.draw {
		y := vec.DrawOne(x, l.stream.Uniform(uint32(r), uint32(nx)), l.betaOf(r))
		l.v.Set(r, nx+y, true)
	}
	if l.mean.Rows > 0 {
		vec.Softmax(l.mean.Row(r)[nx:], x)
	}
}

// wordMask returns a word whose low n bits are one, 0 ≤ n ≤ 64.
func wordMask(n int) uint64 { return 1<<n - 1 }

// maskedSum returns Σ x[i] over the one bits i of w, in float64, ascending.
func maskedSum(x []float32, w uint64) float64 {
	sum := 0.0
	for i, x := range x {
		if w>>i&1 != 0 {
			sum += float64(x)
		}
	}
	return sum
}
