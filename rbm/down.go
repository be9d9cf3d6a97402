package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// runDown sums the visible preactivations of every row of l.h, and draws l.v
// at each row's β or takes means at β = 1. It overwrites the lists.
func (l *layers) runDown() {
	rows, m := l.h.Rows, l.m
	l.listActive(l.h.Input(), true)
	l.down.Run(vec.Blocks(m.Visible()), l.work(rows))
	for _, g := range m.softmaxes() {
		for r := range rows {
			x := l.preactivations(g, r)
			l.gather(x, g, r)
			if l.mean.Rows > 0 {
				vec.Softmax(g.of(l.mean.Row(r)), x)
			}
			if l.draw {
				g.clear(l.v, r)
				l.drawSoftmax(g, x, l.v, r, l.stream)
			}
		}
	}
}

// gather overwrites x with the preactivations of group g in row r of the pass.
func (l *layers) gather(x []float32, g Group, r int) {
	for c := range x {
		i := g.First + c
		x[c] = l.acts[(i/vec.Block*l.h.Rows+r)*vec.Block+i%vec.Block]
	}
}

// preactivations returns the place of those of group g of softmax units in row
// r.
func (l *layers) preactivations(g Group, r int) []float32 {
	first := l.m.binary()
	return l.softmax[r*(l.m.Visible()-first)+g.First-first:][:g.Units]
}

// drawSoftmax draws group g of row r of v, whose units are off, by the uniform of
// its first unit, at the row's β or coupled to the partner's. It overwrites x, the
// units' preactivations.
func (l *layers) drawSoftmax(g Group, x []float32, v Bits, r int, stream vec.Stream) {
	beta := float32(1)
	if l.beta != nil {
		beta = l.beta[r]
	}
	if l.base != nil {
		for c, b := range g.of(l.base.VisibleBias) {
			x[c] = float32(beta*x[c]) + float32((1-beta)*b)
		}
		beta = 1
	}
	if l.partner != nil {
		v.Set(r, g.First+l.coupledSoftmax(g, r, x), true)
		return
	}
	y := vec.DrawOne(x, stream.Uniform(uint32(l.first+r), uint32(g.First)), beta)
	v.Set(r, g.First+y, true)
}

// turned are the weights between the hidden units of a group of lists and 64
// visible units, a row a hidden unit. They come from the heap because there
// they start at a cache line.
type turned [vec.ListWords * vec.Block * vec.Block]float32

// turnedWeights keeps the memory of turned weights, as much as there are parts
// that run at a time: of the last to be put back, which is in the cache.
type turnedWeights struct {
	mu    sync.Mutex
	spare []*turned
}

func (t *turnedWeights) get() *turned {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.spare); n > 0 {
		w := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return w
	}
	return new(turned)
}

func (t *turnedWeights) put(w *turned) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spare = append(t.spare, w)
}

// downPart sums block k of visible units. Weights are stored for the way up, a
// row a visible unit; turned, 64×64 at a time, they serve the same sums as
// there, in ascending order and from the first-level cache, and all rows of the
// pass share the turning.
func (l *layers) downPart(k int) {
	m, rows := l.m, l.h.Rows
	acts := l.acts[k*rows*vec.Block:][:rows*vec.Block]
	var bias [vec.Block]float32
	copy(bias[:], m.VisibleBias[k*vec.Block:])
	for r := range rows {
		*(*[vec.Block]float32)(acts[r*vec.Block:]) = bias
	}
	w := l.turned.get()
	for g := range l.listGroups() {
		for q := range min(vec.ListWords, l.h.Stride-g*vec.ListWords) {
			p := g*vec.ListWords + q
			vec.Turn(w[q*vec.Block*vec.Block:], m.panel(p)[k*vec.Block*vec.Block:], m.Visible()-k*vec.Block, min(m.Hidden()-p*vec.Block, vec.Block))
		}
		vec.RowSums(acts, w[:], l.lists, l.groupCuts(g))
	}
	l.turned.put(w)
	l.visibleUnits(k, acts)
}

// visibleUnits takes what is wanted of the preactivations of block k, as if all
// its units were Bernoulli units.
func (l *layers) visibleUnits(k int, acts []float32) {
	m, rows := l.m, l.h.Rows
	first := k * vec.Block
	width := min(m.Visible()-first, vec.Block)
	if l.mean.Rows > 0 {
		vec.Sigmoids(l.mean.Data[first:], l.mean.Cols, acts, rows, width)
	}
	if l.draw {
		l.drawUnits(l.v, acts, l.base.visible(), k, 0, rows, width)
	}
}
