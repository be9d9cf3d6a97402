package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A denseShell is a shellWalker for an RBM and heat-bath weights. As in a
// denseWalk, one pass over the other layer renews its weights at each flip. It
// sums them for each side of the shell.
type denseShell struct {
	denseSites
	reference []uint8
	moves     []uint8     // 1 for each site that moves
	on        [2]int      // sites on each side
	side      [2][]uint32 // of each unit of a layer: all bits if it differs from the reference
	leaf      [2][]uint32 // weight of each unit of a layer, under the γ of its side
	sums      [2][2]walk.Sums
}

func newDenseShell(s *RBM, sites []int32, reference []uint8, b biases) *denseShell {
	w := &denseShell{denseSites: newDenseSites(s, sites), reference: reference, moves: make([]uint8, s.Len())}
	w.scale = b.scale
	for _, i := range sites {
		w.moves[i] = 1
		w.on[agrees]++
	}
	for l, n := range s.parameters.size {
		w.side[l], w.leaf[l] = make([]uint32, n), make([]uint32, n)
		w.sums[l] = [2]walk.Sums{walk.NewSums(n), walk.NewSums(n)}
	}
	w.reset()
	return w
}

func (w *denseShell) rebias(b biases) {
	w.scale = b.scale
	w.reset()
}

func (w *denseShell) reset() {
	a, d := w.factor(agrees), w.factor(differs)
	sign := [4]float32{2*agrees + 0: -a, 2*agrees + 1: a, 2*differs + 0: -d, 2*differs + 1: d}
	n := 0
	for l := range w.side {
		state, from := w.s.layer(l), w.s.parameters.first[l]
		reference, moves := w.reference[from:][:len(state)], w.moves[from:][:len(state)]
		side, to := w.side[l][:len(state)], w.sign[l][:len(state)]
		for i, x := range state {
			d := x ^ reference[i]
			side[i] = -uint32(d)
			to[i] = sign[(2*d+x)&3]
			n += int(d & moves[i])
		}
	}
	w.on = [2]int{agrees: w.on[0] + w.on[1] - n, differs: n}
	w.refresh()
	w.start()
}

// refresh renews all weights from the preactivations.
func (w *denseShell) refresh() {
	for l := range w.leaf {
		w.weigh(l, w.zero[:len(w.leaf[l])], false)
	}
}

func (w *denseShell) weigh(l int, row []int32, down bool) {
	walk.WeighSides(&w.sums[l], w.s.field[l], row, down, w.sign[l], w.unit[l], w.side[l], w.leaf[l])
}

func (w *denseShell) sizes() [2]int { return w.on }

func (w *denseShell) undo() {
	path := w.path
	if !w.restore() {
		return
	}
	for _, site := range path {
		l, i := w.s.parameters.place(int(site))
		w.side[l][i] = ^w.side[l][i]
		w.renewSign(l, i)
	}
	w.refresh()
}

// renewSign sets the sign of unit i of layer l for its side.
func (w *denseShell) renewSign(l, i int) {
	w.sign[l][i] = w.factor(int(w.side[l][i]&1)) * float32(spin(w.s.layer(l)[i]))
}

// total returns the weight of all sites on a side.
func (w *denseShell) total(side int) uint64 {
	return w.sums[visible][side].Total + w.sums[hidden][side].Total
}

// draw draws a site on a side.
func (w *denseShell) draw(r *rand.Rand, side int) (l, i int) {
	x := walk.Below(r, w.total(side))
	if first := w.sums[visible][side].Total; x >= first {
		l, x = hidden, x-first
	}
	return l, w.sums[l][side].FindOn(w.leaf[l], w.side[l], uint32(side)-1, x)
}

func (w *denseShell) segment(r *rand.Rand, path []int32, k, side int, sc *score) {
	w.keep()
	for t := range k {
		var l, i int
		if path == nil {
			l, i = w.draw(r, side)
		} else {
			l, i = w.s.parameters.place(int(path[t]))
		}
		sc.forward[0].Times(uint64(w.leaf[l][i]), w.total(side))
		w.cross(l, i, side)
		sc.reverse[0].Times(uint64(w.leaf[l][i]), w.total(1-side))
	}
}

// cross flips unit i of layer l, which moves from the given side to the other.
func (w *denseShell) cross(l, i, side int) {
	up := w.s.layer(l)[i] == 0
	w.flipUnit(l, i)
	w.side[l][i] = ^w.side[l][i]
	w.renewSign(l, i) // flipUnit keeps the γ of the old side
	before := w.leaf[l][i]
	after := walk.Heat(w.s.field[l][i], w.sign[l][i], w.unit[l][i])
	w.leaf[l][i] = after
	w.sums[l][side].Change(i, before, 0)
	w.sums[l][1-side].Change(i, 0, after)
	w.weigh(1-l, w.s.parameters.rowOf(l, i), !up)
}
