package binary

import (
	"math/rand/v2"

	"gorbm/negphase/binary/internal/walk"
)

// A blockWalk is a walker for any System, with costs of any size: it keeps the
// weight of each site with sums over blocks of them.
type blockWalk struct {
	costs
	sites  []int32
	biases int // 2 if a second bias occurs
	scale  [2]float64
	table  [2]*walk.Table
	blocks [2]*walk.Blocks
	step   []int32 // at which a site flipped in this segment; unflipped or fixed
	path   []int32 // sites flipped by all segments so far
	sum    float64 // energy that these flips have added

	// Of the segment, by step.
	after [2][]uint64 // total after the flip
	own   [2][]uint64 // weight of the flipped site as the walk goes on
	// What flip t changed is entries start[t] to start[t+1]: the site that was
	// flipped first, then others, each with its weight before.
	start   []int32
	changed []int32
	before  [2][]uint64
}

const unflipped = -1

func newBlockWalk(s System, sites []int32, biases int, scale [2]float64, table [2]*walk.Table, longest int) *blockWalk {
	w := &blockWalk{costs: newCosts(s), sites: sites, biases: biases, scale: scale, table: table}
	for b := range biases {
		w.blocks[b] = walk.NewBlocks(s.Len())
		w.after[b] = make([]uint64, longest)
		w.own[b] = make([]uint64, longest)
	}
	w.step = make([]int32, s.Len())
	w.start = make([]int32, longest+1)
	w.reset()
	return w
}

func (w *blockWalk) weight(b int, i int32) uint64 {
	return w.table[b].Weight(float64(w.scale[b] * w.cost(i)))
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
	w.path, w.sum = w.path[:0], 0
}

func (w *blockWalk) rise() float64 { return w.sum }

func (w *blockWalk) commit() { w.path, w.sum = w.path[:0], 0 }

func (w *blockWalk) undo() {
	for t := len(w.path) - 1; t >= 0; t-- {
		i := w.path[t]
		for _, j := range w.flip(i) {
			if w.step[j] == unflipped {
				w.renew(j)
			}
		}
		w.renew(i)
	}
	w.path, w.sum = w.path[:0], 0
}

// renew sets the weights of site i.
func (w *blockWalk) renew(i int32) {
	for b := range w.biases {
		w.blocks[b].Set(int(i), w.weight(b, i))
	}
}

func (w *blockWalk) segment(r *rand.Rand, path []int32, k, bias int, sc *score) {
	w.changed = w.changed[:0]
	for b := range w.biases {
		w.before[b] = w.before[b][:0]
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
	w.start[k] = int32(len(w.changed))
	w.backward(k, sc)
}

// forward flips site i as step t of the segment; the site's weight leaves the
// blocks.
func (w *blockWalk) forward(i int32, t int, sc *score) {
	w.start[t] = int32(len(w.changed))
	w.changed = append(w.changed, i)
	for b := range w.biases {
		blocks := w.blocks[b]
		w.before[b] = append(w.before[b], blocks.Leaf[i])
		p := &sc.forward[b]
		p.P *= float64(blocks.Leaf[i]) / float64(blocks.Total)
		if p.P < walk.Small {
			p.Fold()
		}
		blocks.Set(int(i), 0)
	}
	w.step[i] = int32(t)
	w.path = append(w.path, i)
	w.sum += w.cost(i)
	for _, j := range w.flip(i) {
		at := w.step[j]
		if at == fixed || j == i {
			continue
		}
		w.changed = append(w.changed, j)
		for b := range w.biases {
			weight := w.weight(b, j)
			if at == unflipped {
				w.before[b] = append(w.before[b], w.blocks[b].Leaf[j])
				w.blocks[b].Set(int(j), weight)
			} else {
				w.before[b] = append(w.before[b], w.own[b][at])
				w.own[b][at] = weight
			}
		}
	}
	for b := range w.biases {
		w.own[b][t] = w.weight(b, i)
		w.after[b][t] = w.blocks[b].Total
	}
}

// backward puts the sites of the segment back into the blocks and scores the
// reverse walk, as classWalk.backward does.
func (w *blockWalk) backward(k int, sc *score) {
	path := w.path[len(w.path)-k:]
	for b := range w.biases {
		own, after, p := w.own[b], w.after[b], sc.reverse[b]
		changed, before := w.changed, w.before[b]
		gone := uint64(0)
		for t, i := range path {
			w.blocks[b].Set(int(i), own[t])
			gone += own[t]
		}
		for t := int32(k) - 1; t >= 0; t-- {
			p.P *= float64(own[t]) / float64(after[t]+gone)
			if p.P < walk.Small {
				p.Fold()
			}
			first, end := w.start[t], w.start[t+1]
			gone -= own[t] + before[first]
			own[t] = before[first]
			for n := first + 1; n < end; n++ {
				at := w.step[changed[n]]
				if at < 0 { // not of this segment
					continue
				}
				if at < t { // flipped before
					gone += before[n] - own[at]
				} else { // flipped later
					gone -= before[n] - own[at]
				}
				own[at] = before[n]
			}
		}
		sc.reverse[b] = p
	}
	for _, i := range path {
		w.step[i] = unflipped
	}
}
