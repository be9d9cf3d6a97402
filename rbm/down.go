package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// runDown sums the visible preactivations of every row of l.h, and draws l.v
// at each row's β or takes means at β = 1. It overwrites the lists.
func (l *layers) runDown() {
	rows, m := l.h.Rows, l.m
	l.listActive(l.h, true)
	l.down.Run(vec.Blocks(m.Visible()), l.work(rows))
	if m.softmax() {
		for r := range rows {
			l.labels(r)
		}
	}
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

// visibleUnits takes what is wanted of the preactivations of block k.
func (l *layers) visibleUnits(k int, acts []float32) {
	m, rows := l.m, l.h.Rows
	first := k * vec.Block
	width := min(m.Visible()-first, vec.Block)
	plain := width // units of this block that are not a softmax label
	if m.softmax() {
		plain = min(max(m.Inputs()-first, 0), width)
		for r := range rows {
			for c := plain; c < width; c++ {
				l.label[r*m.Classes+first+c-m.Inputs()] = acts[r*vec.Block+c]
			}
		}
	}
	if l.mean.Rows > 0 && plain > 0 {
		vec.Sigmoids(l.mean.Data[first:], l.mean.Cols, acts, rows, plain)
	}
	if l.draw {
		l.drawUnits(l.v, acts, l.base.visible(), k, 0, rows, plain)
	}
}
