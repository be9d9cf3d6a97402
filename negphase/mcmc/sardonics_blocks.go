package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A blockWalk is a walker on blockWeights. Flipped sites have weight 0 in the
// blocks until the end of their segment.
type blockWalk struct {
	blockWeights
	step []int32 // [site] step of the segment at which it flipped; unflipped or fixed

	// For each step of the segment.
	after   []pair // total weight after the flip
	current []pair // current weight of the flipped site

	// Flip n of the path changed the weights changes[start[n−logged]:start[n−logged+1]]. The first of
	// these weights belongs to the flipped site. logged counts flips at the start of the path whose
	// changes were dropped.
	changes []change
	start   []int32
	logged  int
}

// A change is a site whose weight changed, with its weight before.
type change struct {
	site   int32
	before pair
}

const unflipped = -1

// maxChanges is the number of entries of changes, 1.5 MB, above which the entries of earlier
// segments are dropped. On a sparse system no move has that many.
const maxChanges = 1 << 16

func newBlockWalk(s System, sites []int32, b biases, longest int) *blockWalk {
	w := &blockWalk{blockWeights: newBlockWeights(s, sites, b)}
	w.after = make([]pair, longest)
	w.current = make([]pair, longest)
	w.step = make([]int32, s.Len())
	w.start = make([]int32, 1, longest+1)
	w.reset()
	return w
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

func (w *blockWalk) rebias(b biases) {
	w.tabulate(b)
	w.reset()
}

func (w *blockWalk) commit() {
	w.blockWeights.commit()
	w.forget()
}

// forget drops the entries of changes.
func (w *blockWalk) forget() {
	w.changes, w.start, w.logged = w.changes[:0], w.start[:1], len(w.path)
}

// undo undoes the flips in reverse order. On an Ising system, whose costs have no rounding errors,
// it restores the weights from changes.
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

// renew recomputes the weights of site i.
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

// forward flips site i as step t of the segment and removes its weight from the
// blocks.
func (w *blockWalk) forward(i int32, t int, sc *score) {
	before := w.listed(i)
	before.times(&sc.forward, w.biases, w.total())
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
			changes = append(changes, change{j, w.current[at]})
			w.current[at] = now
		}
	}
	w.changes = changes
	w.start = append(w.start, int32(len(changes)))
	w.current[t], w.after[t] = w.weights(i), w.total()
}

// backward puts the sites of the segment back into the blocks. It computes the probability of the
// reverse walk like classWalk.backward.
func (w *blockWalk) backward(k int, sc *score) {
	path := w.path[len(w.path)-k:]
	start := w.start[len(w.start)-k-1:]
	current, step := w.current[:k], w.step
	var gone pair
	for t, i := range path {
		w.set(i, current[t])
		gone = gone.plus(current[t])
	}
	for t := k - 1; t >= 0; t-- {
		weight, after := current[t], w.after[t]
		weight.times(&sc.reverse, w.biases, after.plus(gone))
		changes := w.changes[start[t]:start[t+1]]
		before := changes[0].before
		gone = gone.minus(weight).minus(before)
		current[t] = before
		for n := 1; n < len(changes); n++ {
			c := &changes[n]
			at := step[c.site]
			if at < 0 { // not flipped in this segment
				continue
			}
			now := &current[at]
			rise := c.before.minus(*now)
			*now = c.before
			if int(at) < t { // flipped before
				gone = gone.plus(rise)
			} else { // flipped later
				gone = gone.minus(rise)
			}
		}
	}
	for _, i := range path {
		step[i] = unflipped
	}
}
