package mcmc

import (
	"math/rand/v2"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// A classShell is a shellWalker on classes: sites are listed by side and by class of equal cost. A flip
// moves a site to the other side and changes the classes of its neighbours. A walk excludes no site of
// its side, so the current totals also hold for the reverse walk.
type classShell struct{ classes }

func (w *classShell) sizes() (n [2]int) {
	for c := range w.lists.List[:w.last+1] {
		n[c/w.n] += int(w.lists.List[c].N())
	}
	return n
}

func (w *classShell) segment(r *rand.Rand, path []int32, k, side int, sc *score) {
	first := uint8(side * w.n)
	for t := range k {
		var i int32
		if path == nil {
			i = w.lists.Find(walk.Below(r, w.total[side]), first, side)
		} else {
			i = path[t]
		}
		list := &w.lists.List[w.lists.Node[i].List]
		w.path = append(w.path, i)
		w.sum += int64(list.Half)
		sc.forward[0].Times(list.Weight[side], w.total[side])
		w.flip(i)
		list = &w.lists.List[w.lists.Node[i].List]
		sc.reverse[0].Times(list.Weight[1-side], w.total[1-side])
	}
}

// A blockShell is a shellWalker on blockWeights, with a set of weights for each side of
// the shell. A site has weight 0 in the set of the side that it is not on.
type blockShell struct {
	blockWeights
	state []uint8
	moves []bool // [site] the walk may flip it
}

func newBlockShell(s System, sites []int32, b biases) *blockShell {
	w := &blockShell{blockWeights: newBlockWeights(s, sites, b), state: s.State(), moves: make([]bool, s.Len())}
	for _, i := range sites {
		w.moves[i] = true
	}
	return w
}

// renew recomputes the weight of site i on its side.
func (w *blockShell) renew(i int32) {
	side := w.state[i]
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

func (w *blockShell) rebias(b biases) {
	w.tabulate(b)
	w.reset()
}

func (w *blockShell) sizes() (n [2]int) {
	for _, i := range w.sites {
		n[w.state[i]]++
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

// cross flips site i and recomputes the weights that change.
func (w *blockShell) cross(i int32) {
	w.blocks[w.state[i]].Set(int(i), 0)
	for _, j := range w.flip(i) {
		if w.moves[j] {
			w.renew(j)
		}
	}
	w.renew(i)
}
