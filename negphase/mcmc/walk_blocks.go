package mcmc

import "gorbm/negphase/mcmc/internal/walk"

// A pair has a weight under each of two biases.
type pair struct{ first, second uint64 }

func (p pair) plus(q pair) pair  { return pair{p.first + q.first, p.second + q.second} }
func (p pair) minus(q pair) pair { return pair{p.first - q.first, p.second - q.second} }

// times multiplies the product of each bias by the weight in p divided by the total.
func (p pair) times(products *[2]walk.Product, biases int, total pair) {
	products[0].Times(p.first, total.first)
	if biases == 2 {
		products[1].Times(p.second, total.second)
	}
}

// blockWeights keeps the weights of the sites of any System and their sums over blocks, under one or two
// biases.
type blockWeights struct {
	costs
	sites  []int32
	biases int        // number of biases; with one, weights under the second are 0
	scale  [2]float64 // γβ
	table  [2]*walk.Table
	blocks [2]*walk.Blocks
	tables map[walk.Bias]*walk.Table // cache of tables
	path   []int32                   // sites flipped by the segments of this move
	sum    float64                   // energy that these flips have added
}

func newBlockWeights(s System, sites []int32, b biases) blockWeights {
	w := blockWeights{costs: newCosts(s), sites: sites, biases: b.n, tables: map[walk.Bias]*walk.Table{}}
	for i := range b.n {
		w.blocks[i] = walk.NewBlocks(s.Len())
	}
	w.tabulate(b)
	return w
}

// tabulate sets the biases. It does not recompute the weights in the blocks.
func (w *blockWeights) tabulate(b biases) {
	w.scale = b.scale
	for i := range b.n {
		t, ok := w.tables[b.weight[i]]
		if !ok {
			t = walk.NewTable(b.weight[i])
			w.tables[b.weight[i]] = t
		}
		w.table[i] = t
	}
}

// weights returns the weights of site i.
func (w *blockWeights) weights(i int32) (p pair) {
	cost := w.cost(i)
	p.first = w.table[0].Weight(float64(w.scale[0] * cost))
	if w.biases == 2 {
		p.second = w.table[1].Weight(float64(w.scale[1] * cost))
	}
	return p
}

// set sets the weights of site i in the blocks.
func (w *blockWeights) set(i int32, p pair) {
	w.blocks[0].Set(int(i), p.first)
	if w.biases == 2 {
		w.blocks[1].Set(int(i), p.second)
	}
}

// listed returns the weights of site i in the blocks.
func (w *blockWeights) listed(i int32) (p pair) {
	p.first = w.blocks[0].Leaf[i]
	if w.biases == 2 {
		p.second = w.blocks[1].Leaf[i]
	}
	return p
}

// total returns the sum of the weights in the blocks.
func (w *blockWeights) total() (p pair) {
	p.first = w.blocks[0].Total
	if w.biases == 2 {
		p.second = w.blocks[1].Total
	}
	return p
}

func (w *blockWeights) rise() float64 { return w.sum }

func (w *blockWeights) commit() { w.path, w.sum = w.path[:0], 0 }
