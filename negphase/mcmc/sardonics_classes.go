package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A classWalk is a walker on classes. Flipped sites are in no list until the
// end of their segment.
type classWalk struct {
	classes
	biases int         // number of biases, 1 or 2
	after  [2][]uint64 // [bias][step] total weight of the listed sites after the flip
	class  []uint8     // [step] list of the flipped site
	edges  []pathEdge  // couplings between sites of the segment
	early  []int32     // edges from the site of step t to earlier sites: edges[early[t]:early[t+1]]
	late   []int32     // [step] index of the last edge to a later site; −1 if there is none
}

// A pathEdge is a coupling between two sites of one segment.
type pathEdge struct {
	before, at int32 // steps at which the two sites flipped, before < at
	step       int32 // step·s·t at the flip of the second site; see link
	next       int32 // index of the next edge with the same before; −1 if there is none
}

func newClassWalk(c classes, biases, longest int) *classWalk {
	w := &classWalk{classes: c, biases: biases}
	w.class = make([]uint8, longest)
	w.late = make([]int32, longest)
	w.early = make([]int32, longest+1)
	for b := range w.after {
		w.after[b] = make([]uint64, longest)
	}
	return w
}

func (w *classWalk) segment(r *rand.Rand, path []int32, k, bias int, sc *score) {
	w.forward(r, path, k, bias, sc)
	w.backward(k, w.relist(k), sc)
}

// forward makes the walk. It removes each flipped site from the lists, and sets the Pos of its
// node to the complement of its step.
func (w *classWalk) forward(r *rand.Rand, path []int32, k, bias int, sc *score) {
	lists := w.lists
	node, site, list := lists.Node, lists.Site, &lists.List
	total0, total1, edges := w.total[0], w.total[1], w.edges[:0]
	for t := range k {
		var i int32
		if path == nil {
			total := total0
			if bias == 1 {
				total = total1
			}
			i = lists.Find(walk.Below(r, total), 0, bias)
		} else {
			i = path[t]
		}
		c := node[i].List
		weight := &list[c].Weight
		sc.forward[0].Times(weight[0], total0)
		if w.biases == 2 {
			sc.forward[1].Times(weight[1], total1)
		}
		total0 -= weight[0]
		total1 -= weight[1]
		lists.Remove(i)
		w.path = append(w.path, i)
		w.sum += int64(list[c].Half)
		s := int32(node[i].Spin)
		node[i] = walk.Node{Pos: ^int32(t), List: w.mirror(c), Spin: int8(-s)}
		w.state[i] ^= 1
		w.early[t], w.late[t] = int32(len(edges)), -1
		for _, l := range w.links(i) {
			j := l.to()
			n := &node[j]
			sj := int32(n.Spin)
			step := l.step() * s * sj
			from := &list[n.List]
			n.List -= uint8(step)
			to := &list[n.List]
			w.field[j] = to.Half * sj
			at := n.Pos
			if at < 0 {
				if before := ^at; before < int32(t) {
					edges = append(edges, pathEdge{before, int32(t), step, w.late[before]})
					w.late[before] = int32(len(edges)) - 1
				}
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
		w.after[0][t], w.after[1][t] = total0, total1
	}
	w.early[k] = int32(len(edges))
	w.edges, w.total = edges, [2]uint64{total0, total1}
}

// relist puts the k sites of the segment back into the lists and returns
// the sum of their weights under each bias.
func (w *classWalk) relist(k int) (gone [2]uint64) {
	for t, i := range w.path[len(w.path)-k:] {
		c := w.lists.Node[i].List
		w.class[t] = c
		w.lists.Add(i)
		weight := &w.lists.List[c].Weight
		gone[0] += weight[0]
		gone[1] += weight[1]
	}
	w.total[0] += gone[0]
	w.total[1] += gone[1]
	return gone
}

// backward computes the probability of the reverse walk without making it. Step t of the reverse undoes
// flip t, for t = k−1 … 0. It draws among all sites except those that earlier steps of the reverse have
// undone, that is, except the sites flipped after t. The total weight of these candidates has three
// terms. after[t] is the weight of the sites that the walk has not flipped up to t. The weight of the
// sites flipped up to t is added. The weight of the sites flipped later is subtracted. gone is the
// difference of the last two terms under each bias. It depends on the sites of the path alone, and each
// step updates it.
func (w *classWalk) backward(k int, gone [2]uint64, sc *score) {
	edges, class, list := w.edges, w.class, &w.lists.List
	g0, g1 := gone[0], gone[1]
	for t := k - 1; t >= 0; t-- {
		c := &list[class[t]]
		class[t] = w.mirror(class[t])
		m := &list[class[t]] // before the flip
		sc.reverse[0].Times(c.Weight[0], w.after[0][t]+g0)
		if w.biases == 2 {
			sc.reverse[1].Times(c.Weight[1], w.after[1][t]+g1)
		}
		g0 -= c.Weight[0] + m.Weight[0]
		g1 -= c.Weight[1] + m.Weight[1]
		for _, e := range edges[w.early[t]:w.early[t+1]] { // sites flipped up to t
			u := &class[e.before]
			now := &list[*u]
			*u += uint8(e.step)
			then := &list[*u]
			g0 += then.Weight[0] - now.Weight[0]
			g1 += then.Weight[1] - now.Weight[1]
		}
		for n := w.late[t]; n >= 0; n = edges[n].next { // sites flipped later
			e := &edges[n]
			u := &class[e.at]
			now := &list[*u]
			*u -= uint8(e.step)
			then := &list[*u]
			g0 -= then.Weight[0] - now.Weight[0]
			g1 -= then.Weight[1] - now.Weight[1]
		}
	}
}
