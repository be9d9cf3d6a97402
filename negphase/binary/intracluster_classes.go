package binary

import (
	"math/rand/v2"

	"gorbm/negphase/binary/internal/walk"
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
	weight    [walk.MaxLists]uint64
	total     [2]uint64
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

// side returns the side that a list belongs to.
func (w *classShell) side(list uint8) int {
	if int(list) < w.classes {
		return agrees
	}
	return differs
}

func (w *classShell) reset() {
	w.lists.Clear(fixed)
	for i, x := range w.state {
		w.lists.Node[i].List, w.lists.Node[i].Spin = w.list(int32(i)), int8(spin(x))
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		w.lists.Add(i)
		list := w.lists.Node[i].List
		w.total[w.side(list)] += w.weight[list]
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) sizes() (n [2]int) {
	for list := range 2 * w.classes {
		n[w.side(uint8(list))] += int(w.lists.N[list])
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
	forward, reverse := sc.forward, sc.reverse
	row := uint8(side * w.classes)
	for t := range k {
		var i int32
		if path == nil {
			_, i = w.lists.Find(walk.Below(r, w.total[side]), row, &w.weight)
		} else {
			i = path[t]
		}
		list := w.lists.Node[i].List
		w.path = append(w.path, i)
		w.sum += w.half(list - row)
		forward.P *= float64(w.weight[list]) / float64(w.total[side])
		back := w.cross(i)
		reverse.P *= float64(w.weight[back]) / float64(w.total[1-side])
		if forward.P < walk.Small {
			forward.Fold()
		}
		if reverse.P < walk.Small {
			reverse.Fold()
		}
	}
	sc.forward, sc.reverse = forward, reverse
}

// cross flips site i, to the other side, and returns the list it comes to.
func (w *classShell) cross(i int32) (to uint8) {
	lists, field, weight := w.lists, w.field, &w.weight
	node, site, count := lists.Node, lists.Site, &lists.N
	classes := uint8(w.classes)
	total := w.total

	from := node[i].List
	if from < classes {
		to = classes + w.mirror(from)
		total[agrees] -= weight[from]
		total[differs] += weight[to]
	} else {
		to = w.mirror(from - classes)
		total[differs] -= weight[from]
		total[agrees] += weight[to]
	}
	lists.Move(i, to)
	s := int32(node[i].Spin)
	node[i].Spin = int8(-s)
	w.state[i] ^= 1
	for _, l := range w.link[w.head[i]:w.head[i+1]] {
		n := &node[l.to]
		sj := int32(n.Spin)
		a := n.List
		b := uint8(int32(a) - l.step*s*sj)
		n.List = b
		var row uint8
		if a >= classes {
			row = classes
		}
		field[l.to] = w.fieldOf(int32(b-row), sj)
		at := n.Pos
		if at < 0 {
			continue
		}
		// Lists.Move: the last site of list a takes the place of this one.
		end := count[a] - 1
		count[a] = end
		last := site[int(a)*len(node)+int(end)]
		site[int(a)*len(node)+int(at)] = last
		node[last].Pos = at
		end = count[b]
		count[b] = end + 1
		site[int(b)*len(node)+int(end)] = l.to
		n.Pos = end
		change := weight[b] - weight[a]
		if row == 0 {
			total[agrees] += change
		} else {
			total[differs] += change
		}
	}
	w.total = total
	return to
}
