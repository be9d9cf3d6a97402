package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A blockWalk is a walker for any System, with costs of any size: it keeps the
// weight of each site with sums over blocks of them.
type blockWalk struct {
	costs
	sites  []int32
	biases int // 2 if a second bias occurs; numbers under it are 0 else
	scale  [2]float64
	table  [2]*walk.Table
	blocks [2]*walk.Blocks
	step   []int32 // at which a site flipped in this segment; unflipped or fixed
	path   []int32 // sites flipped by all segments so far
	sum    float64 // energy that these flips have added

	// Of the segment, by step.
	after []pair // total after the flip
	own   []pair // weight of the flipped site as the walk goes on

	// What flip n of the path changed is entries start[n−logged] to
	// start[n−logged+1]: the site that was flipped first, then others. The
	// entries of the first flips may be gone.
	changes []change
	start   []int32
	logged  int
}

// A pair is a weight under each of two biases.
type pair struct{ first, second uint64 }

// A change is a site whose weight changed, and the weight before.
type change struct {
	site   int32
	before pair
}

const unflipped = -1

// maxChanges is where entries of earlier segments are dropped, 1.5 MB: on a
// sparse system no move comes near it.
const maxChanges = 1 << 16

func newBlockWalk(s System, sites []int32, biases int, scale [2]float64, table [2]*walk.Table, longest int) *blockWalk {
	w := &blockWalk{costs: newCosts(s), sites: sites, biases: biases, scale: scale, table: table}
	for b := range biases {
		w.blocks[b] = walk.NewBlocks(s.Len())
	}
	w.after = make([]pair, longest)
	w.own = make([]pair, longest)
	w.step = make([]int32, s.Len())
	w.start = make([]int32, 1, longest+1)
	w.reset()
	return w
}

// weights returns the weights of site i.
func (w *blockWalk) weights(i int32) (p pair) {
	cost := w.cost(i)
	p.first = w.table[0].Weight(float64(w.scale[0] * cost))
	if w.biases == 2 {
		p.second = w.table[1].Weight(float64(w.scale[1] * cost))
	}
	return p
}

// set gives site i weights in the blocks.
func (w *blockWalk) set(i int32, p pair) {
	w.blocks[0].Set(int(i), p.first)
	if w.biases == 2 {
		w.blocks[1].Set(int(i), p.second)
	}
}

// listed returns the weights that site i has in the blocks.
func (w *blockWalk) listed(i int32) (p pair) {
	p.first = w.blocks[0].Leaf[i]
	if w.biases == 2 {
		p.second = w.blocks[1].Leaf[i]
	}
	return p
}

// total returns the weight of all sites in the blocks.
func (w *blockWalk) total() (p pair) {
	p.first = w.blocks[0].Total
	if w.biases == 2 {
		p.second = w.blocks[1].Total
	}
	return p
}

// multiply multiplies the share of a weight in a total into p, under each of
// so many biases.
func multiply(p *[2]walk.Product, biases int, weight, total pair) {
	p[0].P *= float64(weight.first) / float64(total.first)
	if p[0].P < walk.Small {
		p[0].Fold()
	}
	if biases == 2 {
		p[1].P *= float64(weight.second) / float64(total.second)
		if p[1].P < walk.Small {
			p[1].Fold()
		}
	}
}

func (w *blockWalk) reset() {
	for i := range w.step {
		w.step[i] = fixed
	}
	for b := range w.biases {
		w.blocks[b].Clear()
	}
	for _, i := range w.sites {
		w.step[i] = unflipped
		w.renew(i)
	}
	w.commit()
}

func (w *blockWalk) rise() float64 { return w.sum }

func (w *blockWalk) commit() {
	w.path, w.sum = w.path[:0], 0
	w.forget()
}

// forget drops the entries of the flips so far.
func (w *blockWalk) forget() {
	w.changes, w.start, w.logged = w.changes[:0], w.start[:1], len(w.path)
}

// undo flips back. On an Ising system, whose costs never drift, the weights
// are those that they were.
func (w *blockWalk) undo() {
	for n := len(w.path) - 1; n >= 0; n-- {
		i := w.path[n]
		touched := w.flip(i)
		if w.ising != nil && n >= w.logged {
			for _, c := range w.changes[w.start[n-w.logged]:w.start[n-w.logged+1]] {
				w.set(c.site, c.before)
			}
			continue
		}
		for _, j := range touched {
			if w.step[j] == unflipped {
				w.renew(j)
			}
		}
		w.renew(i)
	}
	w.commit()
}

// renew sets the weights of site i anew.
func (w *blockWalk) renew(i int32) { w.set(i, w.weights(i)) }

func (w *blockWalk) segment(r *rand.Rand, path []int32, k, bias int, sc *score) {
	if len(w.changes) > maxChanges {
		w.forget()
	}
	for t := range k {
		var i int32
		if path == nil {
			i = int32(w.blocks[bias].Find(walk.Below(r, w.blocks[bias].Total)))
		} else {
			i = path[t]
		}
		w.forward(i, t, sc)
	}
	w.backward(k, sc)
}

// forward flips site i as step t of the segment; the site's weight leaves the
// blocks.
func (w *blockWalk) forward(i int32, t int, sc *score) {
	before := w.listed(i)
	multiply(&sc.forward, w.biases, before, w.total())
	w.set(i, pair{})
	w.step[i] = int32(t)
	w.path = append(w.path, i)
	w.sum += w.cost(i)
	changes := append(w.changes, change{i, before})
	for _, j := range w.flip(i) {
		at := w.step[j]
		if at == fixed || j == i {
			continue
		}
		now := w.weights(j)
		if at == unflipped {
			changes = append(changes, change{j, w.listed(j)})
			w.set(j, now)
		} else {
			changes = append(changes, change{j, w.own[at]})
			w.own[at] = now
		}
	}
	w.changes = changes
	w.start = append(w.start, int32(len(changes)))
	w.own[t], w.after[t] = w.weights(i), w.total()
}

// backward puts the sites of the segment back into the blocks and scores the
// reverse walk, as classWalk.backward does.
func (w *blockWalk) backward(k int, sc *score) {
	path := w.path[len(w.path)-k:]
	start := w.start[len(w.start)-k-1:]
	own, step := w.own[:k], w.step
	var gone pair
	for t, i := range path {
		w.set(i, own[t])
		gone.first += own[t].first
		gone.second += own[t].second
	}
	for t := k - 1; t >= 0; t-- {
		weight, after := own[t], w.after[t]
		multiply(&sc.reverse, w.biases, weight, pair{after.first + gone.first, after.second + gone.second})
		changes := w.changes[start[t]:start[t+1]]
		before := changes[0].before
		gone.first -= weight.first + before.first
		gone.second -= weight.second + before.second
		own[t] = before
		for n := 1; n < len(changes); n++ {
			c := &changes[n]
			at := step[c.site]
			if at < 0 { // not of this segment
				continue
			}
			now := &own[at]
			first, second := c.before.first-now.first, c.before.second-now.second
			*now = c.before
			if int(at) < t { // flipped before
				gone.first += first
				gone.second += second
			} else { // flipped later
				gone.first -= first
				gone.second -= second
			}
		}
	}
	for _, i := range path {
		step[i] = unflipped
	}
}
