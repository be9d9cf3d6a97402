package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A denseShell is a shellWalker for an RBM and heat-bath weights. Like denseWalk, it recomputes the
// weights of the other layer in one pass at each flip. The pass also sums the weights for each side of
// the shell.
type denseShell struct {
	denseSites
	moves []uint8         // [site] 1 if the walk may flip it, otherwise 0
	sides [2]int          // number of sites on each side
	side  [2][]uint32     // [layer][unit] all bits set if the unit is on, otherwise 0
	leaf  [2][]uint32     // [layer][unit] weight, with the γ of the unit's side
	sums  [2][2]walk.Sums // [layer][side]
}

func newDenseShell(s *RBM, sites []int32, b biases) *denseShell {
	w := &denseShell{denseSites: newDenseSites(s, sites), moves: make([]uint8, s.Len())}
	w.scale = b.scale
	for _, i := range sites {
		w.moves[i] = 1
		w.sides[sideOff]++
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
	sign := [2]float32{-w.factor(sideOff), w.factor(sideOn)}
	n := 0
	for l := range w.side {
		state, from := w.s.layer(l), w.s.parameters.first[l]
		moves := w.moves[from:][:len(state)]
		side, to := w.side[l][:len(state)], w.sign[l][:len(state)]
		for i, x := range state {
			side[i] = -uint32(x)
			to[i] = sign[x&1]
			n += int(x & moves[i])
		}
	}
	w.sides = [2]int{sideOff: w.sides[0] + w.sides[1] - n, sideOn: n}
	w.refresh()
	w.start()
}

// refresh recomputes all weights from the preactivations.
func (w *denseShell) refresh() {
	for l := range w.leaf {
		w.weigh(l, w.zero[:len(w.leaf[l])], false)
	}
}

func (w *denseShell) weigh(l int, row []int32, down bool) {
	walk.WeighSides(&w.sums[l], w.s.field[l], row, down, w.sign[l], w.unit[l], w.side[l], w.leaf[l])
}

func (w *denseShell) sizes() [2]int { return w.sides }

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

// renewSign sets the factor sign of unit i of layer l by its side.
func (w *denseShell) renewSign(l, i int) {
	w.sign[l][i] = w.factor(int(w.side[l][i]&1)) * float32(spin(w.s.layer(l)[i]))
}

// total returns the sum of the weights of the sites on a side.
func (w *denseShell) total(side int) uint64 {
	return w.sums[visible][side].Total + w.sums[hidden][side].Total
}

// draw draws unit i of layer l among the sites on a side.
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

// cross flips unit i of layer l, which takes it from the given side to the other one.
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
