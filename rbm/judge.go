package rbm

import (
	"math"
	"runtime"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// What judges models is computed in float64 throughout from the float32
// parameters, and may not add noise of its own.

const (
	// judgeRows is the largest number of rows of one part of a pass that judges
	// many: each block of weights is widened to float64 once for all of them.
	judgeRows = 128
	// widenRows is the number of rows from which widening is quicker than
	// converting at each use, at a fifth of the units on; the bits are the same.
	widenRows = 32
)

// A judging is a pass that judges rows. It is kept from call to call, so that
// none allocates.
type judging struct {
	m     *RBM
	v     Input
	h     Bits
	units int // visible units that count, from the first
	rows  int
	size  int // rows of a part; zero before the pass: as suits sums, or laws under a constraint
	dst   []float64
	take  func(j *judging, s *judged, lo int) // writes what is wanted of the rows of a part from lo on
	labels
	loop parallel.Loop

	// Under a constraint:
	mean   Matrix // destination of hidden means,
	drawn  Bits   // or of draws
	stream vec.Stream
	first  int // number of the first row's draws
}

// judged is what one part of a judging works with: the hidden preactivations
// of n rows, and what is made of them.
type judged struct {
	n, stride int       // of acts
	acts      []float64 // row by row: c + vᵀW, filled up with −Inf
	field     []float64 // bᵀv of each row
	on, off   []float64 // means of rows, if wanted
	mean      []float64 // hidden means with the label summed out
	words     []uint64
	lists     []uint32
	values    []float32
	cuts      []uint32
	block     []float64 // a widened block of weights
	ratios
}

var (
	judgingPool = sync.Pool{New: func() any {
		j := new(judging)
		j.loop.Body = j.part
		return j
	}}
	judgedPool = sync.Pool{New: func() any { return new(judged) }}
)

// judge runs take over rows in parallel; what it needs beside is set before.
func (m *RBM) judge(set func(j *judging), take func(j *judging, s *judged, lo int)) {
	j := judgingPool.Get().(*judging)
	j.m, j.units, j.take, j.size = m, m.Visible(), take, 0
	set(j)
	j.rows = j.v.Rows()
	if j.size == 0 {
		j.size = rowBlock
		if m.Constraint == nil { // as many as leave no processor idle; bits do not hang on it
			j.size = min(max(rowBlock, ceilDiv(j.rows, runtime.GOMAXPROCS(0))), judgeRows)
		}
	}
	parts := ceilDiv(j.rows, j.size)
	j.loop.Run(parts, 8*j.rows*m.Visible()*m.Hidden()) // in float64, and softplus
	j.m, j.v, j.h, j.dst, j.take = nil, Input{}, Bits{}, nil, nil
	j.mean, j.drawn = Matrix{}, Bits{}
	judgingPool.Put(j)
}

func (j *judging) part(i int) {
	s := judgedPool.Get().(*judged)
	lo := i * j.size
	s.n = min(j.size, j.rows-lo)
	s.preactivate(j, lo)
	j.take(j, s, lo)
	judgedPool.Put(s)
}

// grown returns x with room for n values, which are not cleared.
func grown[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// row returns the preactivations of row r of the part, filled up to a multiple
// of vec.Wide.
func (s *judged) row(r, hidden int) []float64 {
	return s.acts[r*s.stride:][:vec.RoundUp(hidden)]
}

// preactivate sums the hidden preactivations of the part's rows: of each unit
// in the order of the visible ones, a block of them after the other.
func (s *judged) preactivate(j *judging, lo int) {
	m := j.m
	panels := vec.Blocks(m.Hidden())
	// Rows of a power of two would fall on each other in the cache.
	s.stride = panels*vec.Block + vec.Wide
	s.acts = grown(s.acts, s.n*s.stride)
	first := s.acts[:s.stride]
	for k, c := range m.HiddenBias {
		first[k] = float64(c)
	}
	for k := m.Hidden(); k < s.stride; k++ {
		first[k] = math.Inf(-1)
	}
	for r := 1; r < s.n; r++ {
		copy(s.acts[r*s.stride:][:s.stride], first)
	}
	s.field = grown(s.field, s.n)
	blocks := vec.Blocks(j.units)
	s.lists = grown(s.lists, s.n*vec.Block*blocks+vec.ListSlack)
	s.cuts = grown(s.cuts, s.n*blocks+1)
	s.cuts[0] = 0
	if j.v.IsGrey() {
		s.listGrey(j, lo)
	} else {
		s.listBits(j, lo)
	}
	for p := range panels {
		panel := m.panel(p)
		for k := range blocks {
			cuts := s.cuts[k*s.n:][:s.n+1]
			weights := panel[k*vec.Block*vec.Block : min((k+1)*vec.Block, m.rows)*vec.Block]
			if s.n < widenRows {
				vec.RowSums64(s.acts[p*vec.Block:], s.stride, weights, s.lists, s.values, cuts)
				continue
			}
			s.block = grown(s.block, vec.Block*vec.Block)
			vec.Widen(s.block[:len(weights)], weights)
			vec.RowSums64(s.acts[p*vec.Block:], s.stride, s.block, s.lists, s.values, cuts)
		}
	}
}

// listBits lists the units of each block that are on and sums their biases.
func (s *judged) listBits(j *judging, lo int) {
	s.values = nil
	v := j.v.Bits.Slice(lo, lo+s.n)
	if j.units < v.Cols {
		s.words = grown(s.words, len(v.Words))
		copy(s.words, v.Words)
		v.Words = s.words
		for r := range s.n {
			clearFrom(v.Row(r), j.units)
		}
	}
	for k := range vec.Blocks(j.units) {
		vec.Lists(s.lists, s.cuts[k*s.n:], v.Words[k:], v.Stride, 1, s.n, 1, 0)
	}
	for r := range s.field {
		s.field[r] = maskedSums(j.m.VisibleBias, v.Row(r))
	}
}

// listGrey lists the units of each block that are not zero.
func (s *judged) listGrey(j *judging, lo int) {
	s.values = grown(s.values, len(s.lists))
	p := 0
	for k := range vec.Blocks(j.units) {
		for r := range s.n {
			row := j.v.Grey.Row(lo + r)[k*vec.Block : min((k+1)*vec.Block, j.units)]
			p += vec.Nonzero(s.lists[p:], s.values[p:], row)
			s.cuts[k*s.n+r+1] = uint32(p)
		}
	}
	for r := range s.field {
		sum := 0.0
		for i, x := range j.v.Grey.Row(lo + r)[:j.units] {
			sum += float64(float64(x) * float64(j.m.VisibleBias[i]))
		}
		s.field[r] = sum
	}
}
