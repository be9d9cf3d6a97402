package mcmc

import (
	"math"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// denseSites is the common part of denseWalk and denseShell.
type denseSites struct {
	s     *RBM
	scale [2]float64   // γβ of each side of a shell; denseWalk uses the first
	sign  [2][]float32 // [layer][unit] factor from the preactivation to the exponent of the weight; see walk.Heat
	unit  [2][]float32 // [layer][unit] walk.Unit if the walk may flip the unit, otherwise 0
	zero  []int32

	// The current move.
	path  []int32    // sites flipped so far
	rises int64      // energy that these flips have added, in quanta
	first [2][]int32 // [layer] preactivations at the start of the move
}

func newDenseSites(s *RBM, sites []int32) denseSites {
	c := s.parameters
	w := denseSites{s: s, zero: make([]int32, max(c.size[0], c.size[1]))}
	for l, n := range c.size {
		w.sign[l], w.unit[l] = make([]float32, n), make([]float32, n)
		w.first[l] = make([]int32, n)
	}
	for _, i := range sites {
		l, k := c.place(int(i))
		w.unit[l][k] = walk.Unit
	}
	return w
}

// factor returns γβ times the quantum over log 2, for walk.Heat.
func (w *denseSites) factor(side int) float32 {
	return narrow(float64(w.scale[side]*w.s.parameters.quantum) / math.Ln2)
}

// narrow converts x ≥ 0 to a finite float32.
func narrow(x float64) float32 { return float32(min(x, math.MaxFloat32)) }

// keep saves the preactivations at the start of a move, for restore.
func (w *denseSites) keep() {
	if len(w.path) == 0 {
		for l := range w.first {
			copy(w.first[l], w.s.field[l])
		}
	}
}

// flipUnit flips unit i of layer l. It does not update the preactivations of the
// other layer.
func (w *denseSites) flipUnit(l, i int) {
	state := w.s.layer(l)
	w.rises += int64(spin(state[i]) * w.s.field[l][i])
	state[i] ^= 1
	w.sign[l][i] = -w.sign[l][i]
	w.path = append(w.path, int32(w.s.parameters.first[l]+i))
}

func (w *denseSites) rise() float64 { return float64(w.rises) * w.s.parameters.quantum }

func (w *denseSites) start() { w.path, w.rises = w.path[:0], 0 }

func (w *denseSites) commit() {
	w.s.energy += w.rises
	w.start()
}

// restore restores the state before the move, except the weights. It reports whether the move had changed
// the state.
func (w *denseSites) restore() bool {
	if len(w.path) == 0 {
		return false
	}
	for l := range w.first {
		copy(w.s.field[l], w.first[l])
	}
	for _, site := range slices.Backward(w.path) {
		l, i := w.s.parameters.place(int(site))
		w.s.state[site] ^= 1
		w.sign[l][i] = -w.sign[l][i]
	}
	w.start()
	return true
}
