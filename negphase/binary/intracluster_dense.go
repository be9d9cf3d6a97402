package binary

import (
	"math/rand/v2"

	"gorbm/negphase/binary/internal/walk"
)

// A denseShell is a shellWalker for an RBM and heat-bath weights: as a
// denseWalk, one pass over the other layer renews its weights at each flip,
// here with a sum for each side of the shell.
type denseShell struct {
	denseSites
	sites     []int32
	reference []uint8
	side      [2][]uint32 // of each unit of a layer: all bits if it differs from the reference
	leaf      [2][]uint32 // weight of each unit, under its side's γ
	sums      [2][2]walk.Sums
}

func newDenseShell(s *RBM, sites []int32, reference []uint8, scale [2]float64) *denseShell {
	w := &denseShell{denseSites: newDenseSites(s, sites), sites: sites, reference: reference}
	w.scale = scale
	for l, n := range s.machine.size {
		w.side[l], w.leaf[l] = make([]uint32, n), make([]uint32, n)
		w.sums[l] = [2]walk.Sums{walk.NewSums(n), walk.NewSums(n)}
	}
	w.reset()
	return w
}

func (w *denseShell) reset() {
	for l := range w.side {
		state := w.s.layer(l)
		reference, side := w.reference[w.s.machine.first[l]:][:len(state)], w.side[l][:len(state)]
		for i, x := range state {
			side[i] = -uint32(x ^ reference[i])
		}
	}
	w.renewSigns(&w.side)
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

func (w *denseShell) sizes() [2]int {
	differ := 0
	for _, i := range w.sites {
		differ += int(w.s.state[i] ^ w.reference[i])
	}
	return [2]int{agrees: len(w.sites) - differ, differs: differ}
}

func (w *denseShell) undo() {
	for _, site := range w.path {
		l, i := w.s.machine.place(int(site))
		w.side[l][i] = ^w.side[l][i]
	}
	if w.restore() {
		w.renewSigns(&w.side)
		w.refresh()
	}
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

func (w *denseShell) segment(r *rand.Rand, path []int32, k, side int, sc *shellScore) {
	w.keep()
	for t := range k {
		var l, i int
		if path == nil {
			l, i = w.draw(r, side)
		} else {
			l, i = w.s.machine.place(int(path[t]))
		}
		sc.forward.P *= float64(w.leaf[l][i]) / float64(w.total(side))
		w.cross(l, i, side)
		sc.reverse.P *= float64(w.leaf[l][i]) / float64(w.total(1-side))
		if sc.forward.P < walk.Small {
			sc.forward.Fold()
		}
		if sc.reverse.P < walk.Small {
			sc.reverse.Fold()
		}
	}
}

// cross flips unit i of layer l, from a side to the other.
func (w *denseShell) cross(l, i, side int) {
	up := w.s.layer(l)[i] == 0
	w.turn(l, i)
	if w.scale[0] != w.scale[1] { // turn keeps the old side's γ
		w.sign[l][i] = w.factor(1 - side)
		if !up {
			w.sign[l][i] = -w.sign[l][i]
		}
	}
	before := w.leaf[l][i]
	after := walk.Heat(w.s.field[l][i], w.sign[l][i], w.unit[l][i])
	w.leaf[l][i] = after
	w.side[l][i] = ^w.side[l][i]
	w.sums[l][side].Change(i, before, 0)
	w.sums[l][1-side].Change(i, 0, after)
	w.weigh(1-l, w.s.machine.rowOf(l, i), !up)
}
