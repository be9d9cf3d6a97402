package rbm

import (
	"math"
	"runtime"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

const (
	// maxBlockRows is the largest number of rows in a block of an evaluation. The weights are converted to
	// float64 once for all rows of a block.
	maxBlockRows = 128
	// widenRows is the smallest number of rows for which converting the weights first is quicker than
	// converting them at each use, if a fifth of the units is on. Results are identical.
	widenRows = 32
)

// An evaluation computes a quantity of each row, such as its free energy, block by block of rows. It computes
// in float64 from the float32 parameters. It is reused, so that calls do not allocate.
type evaluation struct {
	m     *RBM
	v     Values
	h     Values
	units int // number of visible units, from the first on, that enter the preactivations
	size  int // number of rows of a block; if set leaves 0, evaluate chooses it
	dst   []float64
	do    func(e *evaluation, b *rowBlock, first int) // writes the results of a block; first is the number of its first row
	labels
	loop parallel.Loop

	mean Matrix // destination of hidden means
}

// A rowBlock is the working memory for a block of rows.
type rowBlock struct {
	n, stride int       // number of rows; distance between rows in acts
	first     int       // number of the first row
	acts      []float64 // preactivations c + vᵀW of the hidden units, row by row, padded with −Inf
	field     []float64 // bᵀv − Σ U′(v) of each row
	lists     []uint32  // offsets of the weights of the nonzero units
	values    []float32 // values of these units; nil for bits
	cuts      []uint32  // index in lists where each row ends, for each block of visible units
	words     []uint64  // rows without their label units
	widened   []float64 // a block of weights in float64

	on, off []float64 // σ(a) and σ(−a) of the hidden units up to a common factor (vec.Odds); or on has their means
	mean    []float64 // hidden means with the label summed out
	weights []float64 // weights of one visible unit, or working memory
	table   []float64 // exp(weight), or working memory
	m       []float64 // mantissas of products
	e       []int64   // exponents of products
	logp    []float64 // log p(y|x)
	dst     []float64 // destination of classLogProbs
	score   []pseudoScore
	group   labels // a softmax group of inputs
}

var (
	evaluationPool = sync.Pool{New: func() any {
		e := new(evaluation)
		e.loop.Body = e.block
		return e
	}}
	rowBlockPool = sync.Pool{New: func() any { return new(rowBlock) }}
)

// evaluate computes the preactivations of every block of rows and calls do with them, in parallel.
// Before that it calls set, which sets the rows and the destination.
func (m *RBM) evaluate(set func(e *evaluation), do func(e *evaluation, b *rowBlock, first int)) {
	e := evaluationPool.Get().(*evaluation)
	e.m, e.units, e.do, e.size = m, m.Visible(), do, 0
	set(e)
	rows := e.v.Rows
	if e.size == 0 {
		// This keeps every processor busy. Results do not depend on the size.
		e.size = min(max(blockRows, ceilDiv(rows, runtime.GOMAXPROCS(0))), maxBlockRows)
	}
	e.loop.Run(ceilDiv(rows, e.size), 8*rows*m.Visible()*m.Hidden()) // 8: cost of float64 sums and softplus
	e.m, e.v, e.h, e.dst, e.do, e.mean = nil, Values{}, Values{}, nil, nil, Matrix{}
	evaluationPool.Put(e)
}

func (e *evaluation) block(i int) {
	b := rowBlockPool.Get().(*rowBlock)
	first := i * e.size
	b.n, b.first = min(e.size, e.v.Rows-first), first
	b.preactivate(e, first)
	e.do(e, b, first)
	rowBlockPool.Put(b)
}

// row returns the preactivations of row r of the block, padded to a multiple of
// vec.Wide.
func (b *rowBlock) row(r, hidden int) []float64 {
	return b.acts[r*b.stride:][:vec.RoundUp(hidden)]
}

// preactivate computes the hidden preactivations of the rows of the block. Each sum adds
// the weights of the visible units in ascending order.
func (b *rowBlock) preactivate(e *evaluation, first int) {
	m := e.m
	panels := vec.Blocks(m.Hidden())
	// Rows at a distance of a power of two would compete for the same cache lines.
	b.stride = panels*vec.Block + vec.Wide
	b.acts = grown(b.acts, b.n*b.stride)
	row := b.acts[:b.stride]
	for k, c := range m.HiddenBias {
		row[k] = float64(c)
	}
	for k := m.Hidden(); k < b.stride; k++ {
		row[k] = math.Inf(-1)
	}
	for r := 1; r < b.n; r++ {
		copy(b.acts[r*b.stride:][:b.stride], row)
	}
	b.field = grown(b.field, b.n)
	blocks := vec.Blocks(e.units)
	b.lists = grown(b.lists, b.n*vec.Block*blocks+vec.ListSlack)
	b.cuts = grown(b.cuts, b.n*blocks+1)
	b.cuts[0] = 0
	if e.v.IsReal() {
		b.listGrey(e, first)
	} else {
		b.listBits(e, first)
	}
	for p := range panels {
		panel := m.panel(p)
		for k := range blocks {
			cuts := b.cuts[k*b.n:][:b.n+1]
			weights := panel[k*vec.Block*vec.Block : min((k+1)*vec.Block, m.rows)*vec.Block]
			if b.n < widenRows {
				vec.RowSums64(b.acts[p*vec.Block:], b.stride, weights, b.lists, b.values, cuts)
				continue
			}
			b.widened = grown(b.widened, vec.Block*vec.Block)
			vec.Widen(b.widened[:len(weights)], weights)
			vec.RowSums64(b.acts[p*vec.Block:], b.stride, b.widened, b.lists, b.values, cuts)
		}
	}
}

// listBits lists the active units of each block of visible units, and sums their biases.
func (b *rowBlock) listBits(e *evaluation, first int) {
	b.values = nil
	v := e.v.Slice(first, first+b.n)
	if e.units < v.Cols {
		b.words = append(b.words[:0], v.Words...)
		v.Words = b.words
		for r := range b.n {
			clearFrom(v.Row(r), e.units)
		}
	}
	for k := range vec.Blocks(e.units) {
		vec.Lists(b.lists, b.cuts[k*b.n:], v.Words[k:], v.Stride, 1, b.n, 1, 0)
	}
	for r := range b.field {
		b.field[r] = maskedSums(e.m.VisibleBias, v.Row(r))
	}
}

// listGrey lists the nonzero units of each block of visible units, and computes field.
func (b *rowBlock) listGrey(e *evaluation, first int) {
	b.values = grown(b.values, len(b.lists))
	p := 0
	for k := range vec.Blocks(e.units) {
		for r := range b.n {
			row := e.v.Matrix().Row(first + r)[k*vec.Block : min((k+1)*vec.Block, e.units)]
			p += vec.Nonzero(b.lists[p:], b.values[p:], row)
			b.cuts[k*b.n+r+1] = uint32(p)
		}
	}
	for r := range b.field {
		sum := 0.0
		for i, x := range e.v.Matrix().Row(first + r)[:e.units] {
			sum += float64(float64(x) * float64(e.m.VisibleBias[i]))
		}
		if e.m.visible.isReal {
			sum -= e.m.visible.rest(e.v.Matrix().Row(first+r), &e.m.visible.dist)
		}
		b.field[r] = sum
	}
}
