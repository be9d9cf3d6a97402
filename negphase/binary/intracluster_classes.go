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
	weight    []uint64 // of each list
	total     [2]uint64
	row       []int32 // first list of the side a site is on; fixed: not in any
	path      []int32
	sum       int64 // Σ half-costs of the flips
}

func newClassShell(in integers, reference []uint8, weight [2][]uint64) *classShell {
	n := len(in.state)
	return &classShell{integers: in, reference: reference, lists: walk.NewLists(2*in.classes, n),
		weight: append(weight[agrees], weight[differs]...), row: make([]int32, n)}
}

func (w *classShell) reset() {
	w.lists.Clear()
	for i := range w.row {
		w.row[i] = fixed
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		side := w.state[i] ^ w.reference[i]
		w.row[i] = int32(side) * int32(w.classes)
		list := w.row[i] + w.class(i)
		w.lists.Add(i, list)
		w.total[side] += w.weight[list]
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) sizes() (n [2]int) {
	for list, count := range w.lists.N {
		n[list/w.classes] += int(count)
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
		i := w.path[t]
		w.cross(i, w.row[i]+w.class(i))
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classShell) segment(r *rand.Rand, path []int32, k, side int, sc *shellScore) {
	forward, reverse := sc.forward, sc.reverse
	for t := range k {
		var i, list int32
		if path == nil {
			x := walk.Below(r, w.total[side])
			for list = int32(side * w.classes); ; list++ {
				share := uint64(w.lists.N[list]) * w.weight[list]
				if x < share {
					break
				}
				x -= share
			}
			i = w.lists.Site[int(list)*w.lists.Sites+int(x/w.weight[list])]
		} else {
			i = path[t]
			list = w.row[i] + w.class(i)
		}
		w.path = append(w.path, i)
		w.sum += int64((list-w.row[i])<<w.shift - w.reach)
		forward.P *= float64(w.weight[list]) / float64(w.total[side])
		back := w.cross(i, list)
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

// cross flips site i of the given list, to the other side, and returns the
// list it comes to.
func (w *classShell) cross(i, list int32) (to int32) {
	lists, weight, total := w.lists, w.weight, w.total
	site, count, pos, rows := lists.Site, lists.N, lists.Pos, lists.Sites
	state, field := w.state, w.field
	half := int32(w.classes)

	from := w.row[i]
	w.row[i] = half - from
	// The half-cost changes its sign.
	to = half - from + (w.reach<<1>>w.shift - (list - from))
	lists.Remove(i, list)
	lists.Add(i, to)
	if from == 0 {
		total[agrees] -= weight[list]
		total[differs] += weight[to]
	} else {
		total[differs] -= weight[list]
		total[agrees] += weight[to]
	}

	s := 2*int32(state[i]) - 1
	state[i] ^= 1
	lo, hi := w.head[i], w.head[i+1]
	coupling := w.coupling[lo:hi]
	for e, j := range w.to[lo:hi] {
		js := coupling[e] * s
		h := field[j]
		field[j] = h - 2*js
		row := w.row[j]
		if row < 0 {
			continue
		}
		sj := 2*int32(state[j]) - 1
		a := row + (sj*h+w.reach)>>w.shift
		b := row + (sj*(h-2*js)+w.reach)>>w.shift
		at := pos[j]
		n := count[a] - 1 // the last site of a's list takes j's place
		count[a] = n
		last := site[int(a)*rows+int(n)]
		site[int(a)*rows+int(at)] = last
		pos[last] = at
		n = count[b]
		count[b] = n + 1
		site[int(b)*rows+int(n)] = j
		pos[j] = n
		side := state[j] ^ w.reference[j]
		total[side] += weight[b] - weight[a]
	}
	w.total = total
	return to
}
