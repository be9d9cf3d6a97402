package binary

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/binary/internal/walk"
)

// A classWalk is a walker for integer couplings, where a flip costs one of a
// few amounts: sites are listed by class of equal cost (the n-fold way), so
// that a draw goes over classes and an update is one swap.
type classWalk struct {
	integers
	lists  *walk.Lists
	biases int                      // 2 if a second bias occurs
	weight [2][walk.MaxLists]uint64 // of each class, under each bias
	total  [2]uint64                // weight of all listed sites
	path   []int32                  // sites flipped by all segments so far
	sum    int64                    // half-costs of these flips
	after  [2][]uint64              // total after each flip of the segment
	class  []uint8                  // of the sites of the segment
	edges  []pathEdge               // between sites of the segment
	early  []int32                  // edges to earlier sites: edges[early[t]:early[t+1]]
	late   []int32                  // edges to later sites: the last one of each site, −1 for none
}

// A pathEdge is a coupling between two sites of one segment.
type pathEdge struct {
	before, at int32 // steps at which they flipped, before < at
	step       int32 // step·s·t between the two flips: see link
	next       int32 // edge with the same before, found earlier; −1 for none
}

// fixed marks sites on which a walk does not move. Others that are in no list
// have the step at which they flipped, complemented.
const fixed = math.MinInt32

func newClassWalk(in integers, biases int, longest int) *classWalk {
	w := &classWalk{integers: in, biases: biases}
	w.lists = walk.NewLists(in.classes, len(in.state))
	w.class = make([]uint8, longest)
	w.late = make([]int32, longest)
	w.early = make([]int32, longest+1)
	for b := range biases {
		w.after[b] = make([]uint64, longest)
	}
	return w
}

func (w *classWalk) reset() {
	w.lists.Clear(fixed)
	for i, x := range w.state {
		w.lists.Node[i].List, w.lists.Node[i].Spin = w.integers.class(int32(i)), int8(spin(x))
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		w.lists.Add(i)
		for b := range w.total {
			w.total[b] += w.weight[b][w.lists.Node[i].List]
		}
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classWalk) rise() float64 { return w.cost(w.sum) }

func (w *classWalk) commit() {
	w.settle(w.path, w.sum)
	w.path, w.sum = w.path[:0], 0
}

// undo replays the flips backwards, every site being listed.
func (w *classWalk) undo() {
	for t := len(w.path) - 1; t >= 0; t-- {
		w.flipListed(w.path[t])
	}
	w.path, w.sum = w.path[:0], 0
}

func (w *classWalk) segment(r *rand.Rand, path []int32, k, bias int, sc *score) {
	w.forward(r, path, k, bias, sc)
	w.backward(k, w.relist(k), sc)
}

// forward takes the walk: each flipped site leaves the lists.
func (w *classWalk) forward(r *rand.Rand, path []int32, k, bias int, sc *score) {
	lists, links, field := w.lists, w.link, w.field
	node, site, count := lists.Node, lists.Site, &lists.N
	first, second, two := &w.weight[0], &w.weight[1], w.biases == 2
	total, sum, edges := w.total, w.sum, w.edges[:0]
	p0, p1 := sc.forward[0], sc.forward[1]
	base := len(w.path)
	for range k {
		w.path = append(w.path, 0)
	}
	steps := w.path[base:]
	for t := range steps {
		var i int32
		if path == nil {
			_, i = lists.Find(walk.Below(r, total[bias]), 0, &w.weight[bias])
		} else {
			i = path[t]
		}
		c := node[i].List
		p0.P *= float64(first[c]) / float64(total[0])
		if p0.P < walk.Small {
			p0.Fold()
		}
		total[0] -= first[c]
		if two {
			p1.P *= float64(second[c]) / float64(total[1])
			if p1.P < walk.Small {
				p1.Fold()
			}
			total[1] -= second[c]
		}
		lists.Remove(i)
		steps[t] = i
		sum += w.half(c)
		s := int32(node[i].Spin)
		node[i] = walk.Node{Pos: ^int32(t), List: w.mirror(c), Spin: int8(-s)}
		w.state[i] ^= 1
		w.early[t], w.late[t] = int32(len(edges)), -1
		for _, l := range links[w.head[i]:w.head[i+1]] {
			n := &node[l.to]
			sj := int32(n.Spin)
			step := l.step * s * sj
			a := n.List
			b := uint8(int32(a) - step)
			n.List = b
			field[l.to] = w.fieldOf(int32(b), sj)
			at := n.Pos
			if at < 0 {
				if before := ^at; before < int32(t) {
					edges = append(edges, pathEdge{before, int32(t), step, w.late[before]})
					w.late[before] = int32(len(edges)) - 1
				}
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
			total[0] += first[b] - first[a]
			total[1] += second[b] - second[a]
		}
		w.after[0][t] = total[0]
		if two {
			w.after[1][t] = total[1]
		}
	}
	w.early[k] = int32(len(edges))
	w.edges, w.total, w.sum = edges, total, sum
	sc.forward[0], sc.forward[1] = p0, p1
}

// relist puts the k sites of the segment back into the lists and returns
// their weight.
func (w *classWalk) relist(k int) (gone [2]uint64) {
	for t, i := range w.path[len(w.path)-k:] {
		c := w.lists.Node[i].List
		w.class[t] = c
		w.lists.Add(i)
		gone[0] += w.weight[0][c]
		gone[1] += w.weight[1][c]
	}
	w.total[0] += gone[0]
	w.total[1] += gone[1]
	return gone
}

// backward scores the reverse walk without taking it. Reverse step t undoes
// flip t, t = k−1 … 0, and draws from all sites but those undone before it.
// Their weight at that state is after[t], the sites not flipped yet, plus
// those flipped up to t, minus those flipped later, which after[t] includes:
// two sums over the path alone, whose difference gone is carried along.
func (w *classWalk) backward(k int, gone [2]uint64, sc *score) {
	edges, class := w.edges, w.class
	first, second, two := &w.weight[0], &w.weight[1], w.biases == 2
	p0, p1 := sc.reverse[0], sc.reverse[1]
	g0, g1 := gone[0], gone[1]
	for t := k - 1; t >= 0; t-- {
		c := class[t]
		m := w.mirror(c) // the class before the flip
		class[t] = m
		p0.P *= float64(first[c]) / float64(w.after[0][t]+g0)
		if p0.P < walk.Small {
			p0.Fold()
		}
		g0 -= first[c] + first[m]
		if two {
			p1.P *= float64(second[c]) / float64(w.after[1][t]+g1)
			if p1.P < walk.Small {
				p1.Fold()
			}
			g1 -= second[c] + second[m]
		}
		for _, e := range edges[w.early[t]:w.early[t+1]] { // sites flipped up to t
			a := class[e.before]
			b := uint8(int32(a) + e.step)
			class[e.before] = b
			g0 += first[b] - first[a]
			g1 += second[b] - second[a]
		}
		for n := w.late[t]; n >= 0; n = edges[n].next { // sites flipped later
			e := &edges[n]
			a := class[e.at]
			b := uint8(int32(a) - e.step)
			class[e.at] = b
			g0 -= first[b] - first[a]
			g1 -= second[b] - second[a]
		}
	}
	sc.reverse[0], sc.reverse[1] = p0, p1
}

// flipListed flips a site while it and its neighbours are listed.
func (w *classWalk) flipListed(i int32) {
	node := w.lists.Node
	move := func(j int32, to uint8) {
		a := node[j].List
		w.lists.Move(j, to)
		w.total[0] += w.weight[0][to] - w.weight[0][a]
		w.total[1] += w.weight[1][to] - w.weight[1][a]
	}
	s := int32(node[i].Spin)
	move(i, w.mirror(node[i].List))
	node[i].Spin = int8(-s)
	w.state[i] ^= 1
	for _, l := range w.link[w.head[i]:w.head[i+1]] {
		n := &node[l.to]
		sj := int32(n.Spin)
		to := uint8(int32(n.List) - l.step*s*sj)
		w.field[l.to] = w.fieldOf(int32(to), sj)
		if n.Pos == fixed {
			n.List = to
		} else {
			move(l.to, to)
		}
	}
}
