package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A blockShell is a shellWalker for any System: for each side of the shell it
// keeps the weights of the sites on it, with sums over blocks of them.
type blockShell struct {
	costs
	state     []uint8
	sites     []int32
	moves     []bool // of each site
	reference []uint8
	scale     [2]float64 // by side
	table     [2]*walk.Table
	blocks    [2]*walk.Blocks
	path      []int32
	sum       float64
}

func newBlockShell(s System, sites []int32, reference []uint8, scale [2]float64, table [2]*walk.Table) *blockShell {
	w := &blockShell{costs: newCosts(s), state: s.State(), sites: sites,
		reference: reference, scale: scale, table: table, moves: make([]bool, s.Len())}
	for side := range w.blocks {
		w.blocks[side] = walk.NewBlocks(s.Len())
	}
	for _, i := range sites {
		w.moves[i] = true
	}
	return w
}

func (w *blockShell) side(i int32) int { return int(w.state[i] ^ w.reference[i]) }

// renew sets the weight of site i, on its side.
func (w *blockShell) renew(i int32) {
	side := w.side(i)
	w.blocks[side].Set(int(i), w.table[side].Weight(float64(w.scale[side]*w.cost(i))))
}

func (w *blockShell) reset() {
	for side := range w.blocks {
		w.blocks[side].Clear()
	}
	for _, i := range w.sites {
		w.renew(i)
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *blockShell) sizes() (n [2]int) {
	for _, i := range w.sites {
		n[w.side(i)]++
	}
	return n
}

func (w *blockShell) rise() float64 { return w.sum }

func (w *blockShell) commit() { w.path, w.sum = w.path[:0], 0 }

func (w *blockShell) undo() {
	for t := len(w.path) - 1; t >= 0; t-- {
		w.cross(w.path[t])
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *blockShell) segment(r *rand.Rand, path []int32, k, side int, sc *shellScore) {
	from, to := w.blocks[side], w.blocks[1-side]
	for t := range k {
		var i int32
		if path == nil {
			i = int32(from.Find(walk.Below(r, from.Total)))
		} else {
			i = path[t]
		}
		w.path = append(w.path, i)
		w.sum += w.cost(i)
		sc.forward.P *= float64(from.Leaf[i]) / float64(from.Total)
		w.cross(i)
		sc.reverse.P *= float64(to.Leaf[i]) / float64(to.Total)
		if sc.forward.P < walk.Small {
			sc.forward.Fold()
		}
		if sc.reverse.P < walk.Small {
			sc.reverse.Fold()
		}
	}
}

// cross flips site i, to the other side.
func (w *blockShell) cross(i int32) {
	w.blocks[w.side(i)].Set(int(i), 0)
	for _, j := range w.flip(i) {
		if w.moves[j] {
			w.renew(j)
		}
	}
	w.renew(i)
}
