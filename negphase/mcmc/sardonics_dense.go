package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A denseWalk is a walker for an RBM and heat-bath weights. A flip changes the weights of all units of
// the other layer. One pass over that layer adds a row of W to the preactivations, recomputes the
// weights and sums them. The sums exclude sites that were flipped in this segment. The weights of the
// excluded sites are in flippedSites.
type denseWalk struct {
	denseSites
	biases int
	gamma  [2]float32       // γβ of each of two biases, a factor of sign
	layer  [2][2]walk.Dense // [layer][bias]

	flipped [2]flippedSites // [layer] sites flipped in this segment
	steps   []denseStep     // steps of this segment
	later   [2]laterSites   // [layer]
}

// flippedSites are the sites of a layer that were flipped in a segment, in
// order, with their current weights under each bias.
type flippedSites struct {
	sites []int32 // indices in the layer
	now   []pair  // current weights
	sum   pair    // sum of now
}

// A denseStep is a flip of unit i of a layer, with the quantities from which backward computes the
// probability of its reverse.
type denseStep struct {
	layer, i int
	up       bool    // the flip turned the unit on
	sign     float32 // denseSites.sign before the flip
	unit     float32 // denseSites.unit
	field    int32   // preactivation in quanta
	before   pair    // weights of the site before the flip
	after    pair    // weights of the site after the flip
	all      pair    // total weight after the flip, including that of flipped sites
}

// laterSites are the sites of a layer that the walk flipped after the current step of backward.
// laterSites has their preactivations and weights in the state at this step, in which none of them has
// flipped yet.
type laterSites struct {
	n          int
	site       []int32
	field, row []int32
	sign, unit []float32
	weight     [2]walk.Dense
}

func newDenseWalk(s *RBM, sites []int32, b biases, longest int) *denseWalk {
	w := &denseWalk{denseSites: newDenseSites(s, sites), biases: b.n, steps: make([]denseStep, 0, longest)}
	c := s.parameters
	for l, n := range c.size {
		most := min(longest, c.units[l])
		w.flipped[l].sites = make([]int32, 0, most)
		w.flipped[l].now = make([]pair, 0, most)
		t := &w.later[l]
		padded := (most + walk.Lanes - 1) &^ (walk.Lanes - 1)
		t.site, t.field, t.row = make([]int32, padded), make([]int32, padded), make([]int32, padded)
		t.sign, t.unit = make([]float32, padded), make([]float32, padded)
		for b := range w.biases {
			w.layer[l][b] = walk.NewDense(n)
			t.weight[b] = walk.NewDense(padded)
		}
	}
	w.rebias(b)
	return w
}

func (w *denseWalk) rebias(b biases) {
	w.scale = b.scale
	if b.n == 2 { // gamma has the scales instead
		w.scale = [2]float64{1, 1}
		w.gamma = [2]float32{narrow(b.scale[0]), narrow(b.scale[1])}
	}
	w.reset()
}

func (w *denseWalk) reset() {
	x := w.factor(0)
	sign := [2]float32{-x, x}
	for l := range w.sign {
		state := w.s.layer(l)
		to := w.sign[l][:len(state)]
		for i, x := range state {
			to[i] = sign[x&1]
		}
	}
	w.refresh()
	w.start()
}

// refresh recomputes all weights from the preactivations.
func (w *denseWalk) refresh() {
	for l := range w.layer {
		w.weigh(l, w.zero[:len(w.s.field[l])], false)
	}
}

// weigh adds row to the preactivations of a layer, or subtracts it if down is set, and
// recomputes the weights.
func (w *denseWalk) weigh(l int, row []int32, down bool) {
	d := &w.layer[l]
	if w.biases == 2 {
		walk.WeighTwo(d, w.s.field[l], row, down, w.sign[l], w.unit[l], &w.gamma)
	} else {
		d[0].Weigh(w.s.field[l], row, down, w.sign[l], w.unit[l])
	}
}

// weights returns the weights of a unit with the given preactivation.
func (w *denseWalk) weights(field int32, sign, unit float32) pair {
	if w.biases == 1 {
		return pair{first: uint64(walk.Heat(field, sign, unit))}
	}
	return pair{uint64(walk.HeatAt(field, sign, w.gamma[0], unit)), uint64(walk.HeatAt(field, sign, w.gamma[1], unit))}
}

// set sets the weights of unit i of a layer.
func (w *denseWalk) set(l, i int, p pair) {
	w.layer[l][0].Set(i, uint32(p.first))
	if w.biases == 2 {
		w.layer[l][1].Set(i, uint32(p.second))
	}
}

// listed returns the weights with which the sums include unit i of a layer: 0 for a unit that was
// flipped in this segment.
func (w *denseWalk) listed(l, i int) (p pair) {
	p.first = uint64(w.layer[l][0].Leaf[i])
	if w.biases == 2 {
		p.second = uint64(w.layer[l][1].Leaf[i])
	}
	return p
}

// total returns the weight of all sites that can be drawn.
func (w *denseWalk) total() (p pair) {
	p.first = w.layer[visible][0].Total + w.layer[hidden][0].Total
	if w.biases == 2 {
		p.second = w.layer[visible][1].Total + w.layer[hidden][1].Total
	}
	return p
}

// draw draws unit i of layer l by the weights under a bias.
func (w *denseWalk) draw(r *rand.Rand, bias int) (l, i int) {
	v, h := &w.layer[visible][bias], &w.layer[hidden][bias]
	x := walk.Below(r, v.Total+h.Total)
	if x < v.Total {
		return visible, v.Find(x)
	}
	return hidden, h.Find(x - v.Total)
}

func (w *denseWalk) segment(r *rand.Rand, path []int32, k, bias int, sc *score) {
	w.keep()
	w.steps = w.steps[:0]
	for t := range k {
		var l, i int
		if path == nil {
			l, i = w.draw(r, bias)
		} else {
			l, i = w.s.parameters.place(int(path[t]))
		}
		w.forward(l, i, sc)
	}
	w.backward(sc)
	for l := range w.flipped {
		f := &w.flipped[l]
		for t, i := range f.sites {
			w.set(l, int(i), f.now[t])
		}
		f.sites, f.now, f.sum = f.sites[:0], f.now[:0], pair{}
	}
}

// forward flips unit i of layer l and removes its weight from the sums.
func (w *denseWalk) forward(l, i int, sc *score) {
	field, sign, unit := w.s.field[l][i], w.sign[l][i], w.unit[l][i]
	st := denseStep{layer: l, i: i, sign: sign, unit: unit, field: field, up: w.s.layer(l)[i] == 0, before: w.listed(l, i)}
	st.before.times(&sc.forward, w.biases, w.total())
	w.set(l, i, pair{})
	st.after = w.weights(field, -sign, unit)
	w.flipUnit(l, i)

	f := &w.flipped[l]
	f.sites, f.now, f.sum = append(f.sites, int32(i)), append(f.now, st.after), f.sum.plus(st.after)
	w.weigh(1-l, w.s.parameters.rowOf(l, i), !st.up)
	w.hide(1 - l)
	st.all = w.total().plus(w.flipped[0].sum).plus(w.flipped[1].sum)
	w.steps = append(w.steps, st)
}

// hide removes the weights of the flipped sites from the sums of a layer, after weigh has recomputed them.
func (w *denseWalk) hide(l int) {
	f, d := &w.flipped[l], &w.layer[l]
	f.sum = pair{}
	for t, i := range f.sites {
		x := d[0].Leaf[i]
		d[0].Set(int(i), 0)
		f.now[t].first = uint64(x)
		f.sum.first += uint64(x)
		if w.biases == 2 {
			x := d[1].Leaf[i]
			d[1].Set(int(i), 0)
			f.now[t].second = uint64(x)
			f.sum.second += uint64(x)
		}
	}
}

// backward computes the probability of the reverse walk. The reverse of a step draws among all
// sites except those that the walk flipped later. The weights of the later sites follow from
// their preactivations and the couplings among them.
func (w *denseWalk) backward(sc *score) {
	later := &w.later
	for l := range later {
		later[l].n = 0
	}
	var gone [2]pair // [layer] total weights of the later sites
	for t := len(w.steps) - 1; t >= 0; t-- {
		st := &w.steps[t]
		st.after.times(&sc.reverse, w.biases, st.all.minus(gone[0]).minus(gone[1]))
		if t == 0 {
			break
		}
		gone[1-st.layer] = w.unflip(&later[1-st.layer], st)
		later[st.layer].add(st)
		gone[st.layer] = gone[st.layer].plus(st.before)
	}
}

// add adds the site of a step, in the state before the step.
func (l *laterSites) add(st *denseStep) {
	n := l.n
	if n%walk.Lanes == 0 { // clear the padding, which an earlier walk may have overwritten
		clear(l.unit[n : n+walk.Lanes])
	}
	l.site[n], l.field[n], l.sign[n], l.unit[n] = int32(st.i), st.field, st.sign, st.unit
	l.n++
}

// unflip updates the preactivations of l for undoing a flip in the other layer, and returns the total
// weights of the sites in l.
func (w *denseWalk) unflip(l *laterSites, st *denseStep) (p pair) {
	if l.n == 0 {
		return p
	}
	row := w.s.parameters.rowOf(st.layer, st.i)
	for n, i := range l.site[:l.n] {
		l.row[n] = row[i]
	}
	n := (l.n + walk.Lanes - 1) &^ (walk.Lanes - 1)
	if w.biases == 2 {
		walk.WeighTwo(&l.weight, l.field[:n], l.row, st.up, l.sign, l.unit, &w.gamma)
		p.second = l.weight[1].Total
	} else {
		l.weight[0].Weigh(l.field[:n], l.row, st.up, l.sign, l.unit)
	}
	p.first = l.weight[0].Total
	return p
}

func (w *denseWalk) undo() {
	if w.restore() {
		w.refresh()
	}
}
