package mcmc

import (
	"math/rand/v2"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// A blockShell is a shellWalker on blockWeights, whose biases are the sides of
// the shell: a site has weight 0 on the side that it is not on.
type blockShell struct {
	blockWeights
	state     []uint8
	moves     []bool // of each site
	reference []uint8
}

func newBlockShell(s System, sites []int32, reference []uint8, b biases) *blockShell {
	w := &blockShell{blockWeights: newBlockWeights(s, sites, b), state: s.State(), reference: reference, moves: make([]bool, s.Len())}
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
	w.commit()
}

func (w *blockShell) sizes() (n [2]int) {
	for _, i := range w.sites {
		n[w.side(i)]++
	}
	return n
}

func (w *blockShell) undo() {
	for _, i := range slices.Backward(w.path) {
		w.cross(i)
	}
	w.commit()
}

func (w *blockShell) segment(r *rand.Rand, path []int32, k, side int, sc *score) {
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
		sc.forward[0].Times(from.Leaf[i], from.Total)
		w.cross(i)
		sc.reverse[0].Times(to.Leaf[i], to.Total)
	}
}

// cross flips site i, which moves to the other side.
func (w *blockShell) cross(i int32) {
	w.blocks[w.side(i)].Set(int(i), 0)
	for _, j := range w.flip(i) {
		if w.moves[j] {
			w.renew(j)
		}
	}
	w.renew(i)
}
