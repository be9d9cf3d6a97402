package mcmc

import (
	"math"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// maxClasses is the largest number of classes of equal cost for which lists are
// kept. A draw goes through half of them, and block sums are faster if there are
// more.
const maxClasses = 33

// fixed marks sites on which a walk does not move.
const fixed = math.MinInt32

// classes are the sites of an Ising system on an integer graph, listed by
// classes of equal cost (the n-fold way). A draw goes over classes and an
// update is one swap. The class of site i is (halfCost(i) + reach) >> shift.
// On shells, the sites that are on have separate lists, after those of the sites
// that are off.
//
// Walks read the class of a site from its node. They write the system's local
// fields but do not read them.
type classes struct {
	ising  *Ising
	head   []int32 // neighbours of i: link[head[i]:head[i+1]]
	degree int32   // number of neighbours if all sites have the same number, otherwise 0
	link   []link
	state  []uint8
	field  []int32 // local fields in quanta
	sites  []int32 // that the walk moves on
	reach  int32   // largest possible |field|
	shift  uint32  // 1 if all fields have the parity of reach, else 0
	n      int     // classes
	shell  bool
	last   uint8 // list

	lists *walk.Lists
	total [2]uint64 // weight of all listed sites, under each bias
	path  []int32   // sites flipped by the segments so far
	sum   int64     // half-costs of these flips
}

// A link is a neighbour of a site. If the spins of the two are s and t before a
// flip of the site, the flip lowers the neighbour's class by step·s·t. The step is
// above the linkBits bits of the neighbour: 4 bytes a link, so that those of a few
// thousand sites take little of the caches.
type link int32

const linkBits = 24

func (l link) to() int32   { return int32(l) & (1<<linkBits - 1) }
func (l link) step() int32 { return int32(l) >> linkBits }

// links returns the neighbours of a site.
func (w *classes) links(i int32) []link {
	if d := w.degree; d > 0 {
		return w.link[i*d : (i+1)*d]
	}
	return w.link[w.head[i]:w.head[i+1]]
}

// newClasses returns the classes of s under biases b, or false if there are none
// or too many. On a shell b are the biases of the sites that are off and of those that are on.
func newClasses(s System, sites []int32, shell bool, b biases) (classes, bool) {
	is, ok := s.(*Ising)
	if !ok || is.local == nil || len(is.state) > 1<<linkBits {
		return classes{}, false
	}
	g := is.graph
	w := classes{ising: is, head: g.start, state: is.state, field: is.local, sites: sites, reach: g.maxLocal, shift: 1, shell: shell}
	for i, h := range g.bias {
		sum := h + g.maxLocal
		for _, w := range g.weight[g.start[i]:g.start[i+1]] {
			sum += w
		}
		if sum&1 != 0 {
			w.shift = 0
		}
	}
	w.n = int(2*w.reach>>w.shift) + 1
	if w.n > maxClasses {
		return classes{}, false
	}
	w.link = make([]link, len(g.weight))
	for e, weight := range g.weight {
		w.link[e] = link(weight*(2>>w.shift)<<linkBits | g.neighbor[e])
	}
	w.degree = g.start[1] - g.start[0]
	for i, end := range g.start[1:] {
		if end-g.start[i] != w.degree {
			w.degree = 0
			break
		}
	}
	sides := 1
	if shell {
		sides = 2
	}
	w.last = uint8(sides*w.n - 1)
	w.lists = walk.NewLists(sides*w.n, len(w.state))
	for c := range sides * w.n {
		w.lists.List[c].Half = int32(c%w.n)<<w.shift - w.reach
	}
	w.rebias(b)
	w.reset()
	return w, true
}

// rebias sets the weights of the lists. The lists themselves do not depend on
// the biases.
func (w *classes) rebias(b biases) {
	w.total = [2]uint64{}
	for c := range w.lists.List[:int(w.last)+1] {
		list := &w.lists.List[c]
		for i := range b.n {
			if !w.shell || i == c/w.n {
				list.Weight[i] = b.weight[i].Weight(float64(b.scale[i] * w.ising.graph.cost(int64(list.Half))))
				w.total[i] += uint64(list.N()) * list.Weight[i]
			}
		}
	}
}

// list returns the list of site i by its state and field.
func (w *classes) list(i int32) uint8 {
	class := uint8((w.ising.halfCost(int(i)) + w.reach) >> w.shift)
	if w.shell {
		class += w.state[i] * uint8(w.n)
	}
	return class
}

// mirror returns the list of a site after its flip.
func (w *classes) mirror(list uint8) uint8 { return w.last - list }

func (w *classes) reset() {
	w.lists.Clear(fixed)
	for i, x := range w.state {
		w.lists.Node[i].List, w.lists.Node[i].Spin = w.list(int32(i)), int8(spin(x))
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		w.lists.Add(i)
		for b, weight := range w.lists.List[w.lists.Node[i].List].Weight {
			w.total[b] += weight
		}
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classes) rise() float64 { return w.ising.graph.cost(w.sum) }

// commit updates the system's energy; its state and fields are up to date.
func (w *classes) commit() {
	w.ising.energy += 2 * w.sum
	w.path, w.sum = w.path[:0], 0
}

// undo replays the flips backwards.
func (w *classes) undo() {
	for _, i := range slices.Backward(w.path) {
		w.flip(i)
	}
	w.path, w.sum = w.path[:0], 0
}

// flip flips a site while it is listed.
func (w *classes) flip(i int32) {
	lists := w.lists
	node, site, list := lists.Node, lists.Site, &lists.List
	total0, total1 := w.total[0], w.total[1]
	from := node[i].List
	to := w.mirror(from)
	total0 += list[to].Weight[0] - list[from].Weight[0]
	total1 += list[to].Weight[1] - list[from].Weight[1]
	lists.Move(i, to)
	s := int32(node[i].Spin)
	node[i].Spin = int8(-s)
	w.state[i] ^= 1
	for _, l := range w.links(i) {
		j := l.to()
		n := &node[j]
		sj := int32(n.Spin)
		from := &list[n.List]
		n.List -= uint8(l.step() * s * sj)
		to := &list[n.List]
		w.field[j] = to.Half * sj
		at := n.Pos
		if at < 0 {
			continue
		}
		// Lists.Move: the last site of a list takes the place of this one.
		from.End--
		last := site[from.End]
		site[at] = last
		node[last].Pos = at
		site[to.End] = j
		n.Pos = to.End
		to.End++
		total0 += to.Weight[0] - from.Weight[0]
		total1 += to.Weight[1] - from.Weight[1]
	}
	w.total = [2]uint64{total0, total1}
}
