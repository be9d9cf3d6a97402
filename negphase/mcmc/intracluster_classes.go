package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A classShell is a shellWalker for integer couplings: sites are listed by
// side and by class of equal cost, the lists of the side that differs after
// those of the side that agrees. A flip takes a site across and its neighbours
// from class to class. No site is ever forbidden, so the lists know the
// weights of the reverse walk at every step.
type classShell struct {
	integers
	reference []uint8
	lists     *walk.Lists
	total     [2]uint64 // weight of each side
	path      []int32
	sum       int64 // half-costs of the flips
}

func newClassShell(in integers, reference []uint8) *classShell {
	return &classShell{integers: in, reference: reference, lists: walk.NewLists(2*in.classes, len(in.state))}
}

// list returns the list of site i, anew from the system.
func (w *classShell) list(i int32) uint8 {
	return (w.state[i]^w.reference[i])*uint8(w.classes) + w.class(i)
}

func (w *classShell) reset() {
	w.lists.Clear(fixed)
	for i, x := range w.state {
		w.lists.Node[i].List, w.lists.Node[i].Spin = w.list(int32(i)), int8(spin(x))
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		w.lists.Add(i)
		list := &w.lists.List[w.lists.Node[i].List]
		w.total[list.Side] += list.Weight[0]
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) sizes() (n [2]int) {
	for _, list := range w.lists.List {
		n[list.Side] += int(list.N)
	}
	return n
}

func (w *classShell) rise() float64 { return w.cost(w.sum) }

func (w *classShell) commit() {
	w.settle(w.path, w.sum)
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) undo() {
	for t := len(w.path) - 1; t >= 0; t-- {
		w.cross(w.path[t])
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) segment(r *rand.Rand, path []int32, k, side int, sc *shellScore) {
	row := uint8(side * w.classes)
	for t := range k {
		var i int32
		if path == nil {
			i = w.lists.Find(walk.Below(r, w.total[side]), row, 0)
		} else {
			i = path[t]
		}
		list := &w.lists.List[w.lists.Node[i].List]
		w.path = append(w.path, i)
		w.sum += int64(list.Half)
		sc.forward.P *= float64(list.Weight[0]) / float64(w.total[side])
		w.cross(i)
		list = &w.lists.List[w.lists.Node[i].List]
		sc.reverse.P *= float64(list.Weight[0]) / float64(w.total[1-side])
		if sc.forward.P < walk.Small {
			sc.forward.Fold()
		}
		if sc.reverse.P < walk.Small {
			sc.reverse.Fold()
		}
	}
}

// cross flips site i, to the other side.
func (w *classShell) cross(i int32) {
	lists := w.lists
	node, site, list := lists.Node, lists.Site, &lists.List
	from := node[i].List
	other := uint8(w.classes) + w.mirror(from)
	if list[from].Side == differs {
		other = w.mirror(from - uint8(w.classes))
	}
	w.total[list[from].Side] -= list[from].Weight[0]
	w.total[list[other].Side] += list[other].Weight[0]
	lists.Move(i, other)
	s := int32(node[i].Spin)
	node[i].Spin = int8(-s)
	w.state[i] ^= 1
	total := w.total
	for _, l := range w.link[w.head[i]:w.head[i+1]] {
		n := &node[l.to]
		sj := int32(n.Spin)
		from := &list[n.List]
		n.List -= uint8(l.step * s * sj)
		to := &list[n.List]
		w.field[l.to] = to.Half * sj
		at := n.Pos
		if at < 0 {
			continue
		}
		// Lists.Move: the last site of a list takes the place of this one.
		from.N--
		last := site[from.Start+from.N]
		site[from.Start+at] = last
		node[last].Pos = at
		site[to.Start+to.N] = l.to
		n.Pos = to.N
		to.N++
		total[to.Side&1] += to.Weight[0] - from.Weight[0]
	}
	w.total = total
}
