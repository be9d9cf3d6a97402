package mcmc

import (
	"math"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// maxClasses is the largest number of classes of equal cost for which lists are
// used. A draw scans half of the classes on average; with more classes, block sums are faster.
const maxClasses = 33

// fixed marks sites that a walk must not flip.
const fixed = math.MinInt32

// classes keeps the sites of an Ising system on an integer graph in lists by
// class of equal cost (the n-fold way). A draw scans the classes. Moving a site to another class takes one
// swap. The class of site i is (halfCost(i) + reach) >> shift.
// For a shellWalker, sites that are on have separate lists, after those of the sites
// that are off.
//
// Walks read the class of a site from its node. Walks update the local fields of the system but do not
// read them.
type classes struct {
	ising  *Ising
	head   []int32 // links of site i: link[head[i]:head[i+1]]
	degree int32   // number of neighbours if all sites have the same number, otherwise 0
	link   []link
	state  []uint8
	field  []int32 // local fields in quanta
	sites  []int32 // sites that the walk may flip
	reach  int32   // largest possible |field|
	shift  uint32  // 1 if all possible fields have the parity of reach, otherwise 0
	n      int     // number of classes
	shell  bool    // separate lists for sites that are on
	last   uint8   // index of the last list

	lists *walk.Lists
	total [2]uint64 // [bias] total weight of the listed sites
	path  []int32   // sites flipped by the segments of this move
	sum   int64     // sum of the half costs of these flips
}

// A link leads to a neighbour of a site. If the spins of site and neighbour are s and t before a
// flip of the site, the flip decreases the neighbour's class by step·s·t. The lower linkBits bits are the
// neighbour, the upper bits the step. With 4 bytes per link, a few thousand sites fit into the caches.
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

// newClasses returns the classes of s under biases b, or false if s is not on an integer graph or has too
// many classes. If shell is set, b has the biases of the sites that are off and of those that are on.
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

// rebias sets the weights of the lists. The sites in the lists do not depend on
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

// list returns the list to which site i belongs, by its state and field.
func (w *classes) list(i int32) uint8 {
	class := uint8((w.ising.halfCost(int(i)) + w.reach) >> w.shift)
	if w.shell {
		class += w.state[i] * uint8(w.n)
	}
	return class
}

// mirror returns the list of a site after a flip, given the list before.
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

// undo undoes the flips in reverse order.
func (w *classes) undo() {
	for _, i := range slices.Backward(w.path) {
		w.flip(i)
	}
	w.path, w.sum = w.path[:0], 0
}

// flip flips a site that is in a list.
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
		// Lists.Move: the last site of the list replaces this site.
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
