package binary

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/binary/internal/walk"
)

// A classWalk is a walker for integer couplings, where a flip costs one of a
// few amounts: sites are listed by class of equal cost (the n-fold way), so
// that a draw goes over classes and an update is one swap.
//
// The cost of flipping site i is 2·align quanta with align = s_i·(local field
// of i), and its class (align + reach) >> shift.
type classWalk struct {
	integers
	lists  *walk.Lists
	biases int         // 2 if a second bias occurs
	weight [2][]uint64 // of each class, under each bias
	total  [2]uint64   // weight of all listed sites
	path   []int32     // sites flipped by all segments so far
	sum    int64       // Σ align over these flips, before each: half the energy gained
	after  [2][]uint64 // total after each flip of the segment
	align  []int32     // of the sites of the segment
	edges  []pathEdge  // between sites of the segment
	late   []int32     // edges to later sites: the last one of each site, −1 for none
	early  []int32     // edges to earlier sites: edges[early[t]:early[t+1]]
}

// A pathEdge is a coupling between two sites of one segment.
type pathEdge struct {
	lo, hi int32 // steps at which they flipped, lo < hi
	turn   int32 // J·s·s in quanta, between the two flips
	next   int32 // edge with the same lo before this one, −1 for none
}

// fixed marks sites on which the walk does not move; others that are in no
// list have the step at which they flipped, complemented.
const fixed = math.MinInt32

func newClassWalk(in integers, biases int, weight [2][]uint64, longest int) *classWalk {
	w := &classWalk{integers: in, biases: biases, weight: weight}
	w.lists = walk.NewLists(in.classes, len(in.state))
	w.align = make([]int32, longest)
	w.late = make([]int32, longest)
	w.early = make([]int32, longest+1)
	for b := range biases {
		w.after[b] = make([]uint64, longest)
	}
	w.reset()
	return w
}

func (w *classWalk) reset() {
	w.lists.Clear()
	for i := range w.lists.Pos {
		w.lists.Pos[i] = fixed
	}
	w.total = [2]uint64{}
	for _, i := range w.sites {
		c := w.class(i)
		w.lists.Add(i, c)
		for b := range w.biases {
			w.total[b] += w.weight[b][c]
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
	gone := w.relist(k)
	w.backward(k, gone, sc)
}

// forward takes the walk: each flipped site leaves the lists.
func (w *classWalk) forward(r *rand.Rand, path []int32, k, bias int, sc *score) {
	lists, weight, total := w.lists, w.weight[bias], w.total
	site, count, pos, rows := lists.Site, lists.N, lists.Pos, lists.Sites
	first, second, two := w.weight[0], w.weight[1], w.biases == 2
	state, field := w.state, w.field
	edges := w.edges[:0]
	p0, p1 := sc.forward[0], sc.forward[1]
	for t := range k {
		var i, c int32
		if path == nil {
			x := walk.Below(r, total[bias])
			for {
				share := uint64(count[c]) * weight[c]
				if x < share {
					break
				}
				x -= share
				c++
			}
			i = site[int(c)*rows+int(x/weight[c])]
		} else {
			i = path[t]
			c = w.class(i)
		}
		p0.P *= float64(first[c]) / float64(total[0])
		if p0.P < walk.Small {
			p0.Fold()
		}
		if two {
			p1.P *= float64(second[c]) / float64(total[1])
			if p1.P < walk.Small {
				p1.Fold()
			}
			total[1] -= second[c]
		}
		total[0] -= first[c]
		lists.Remove(i, c)
		pos[i] = ^int32(t)
		w.path = append(w.path, i)
		w.sum += int64(c<<w.shift - w.reach)

		s := 2*int32(state[i]) - 1
		state[i] ^= 1
		w.early[t], w.late[t] = int32(len(edges)), -1
		lo, hi := w.head[i], w.head[i+1]
		to, coupling := w.to[lo:hi], w.coupling[lo:hi]
		for e, j := range to {
			js := coupling[e] * s
			h := field[j]
			field[j] = h - 2*js
			sj := 2*int32(state[j]) - 1
			at := pos[j]
			if at < 0 {
				if before := ^at; before < int32(t) {
					edges = append(edges, pathEdge{before, int32(t), js * sj, w.late[before]})
					w.late[before] = int32(len(edges)) - 1
				}
				continue
			}
			a := (sj*h + w.reach) >> w.shift
			b := (sj*(h-2*js) + w.reach) >> w.shift
			n := count[a] - 1 // the last site of a's list takes j's place
			count[a] = n
			last := site[int(a)*rows+int(n)]
			site[int(a)*rows+int(at)] = last
			pos[last] = at
			n = count[b]
			count[b] = n + 1
			site[int(b)*rows+int(n)] = j
			pos[j] = n
			total[0] += first[b] - first[a]
			if two {
				total[1] += second[b] - second[a]
			}
		}
		w.after[0][t] = total[0]
		if two {
			w.after[1][t] = total[1]
		}
	}
	w.early[k] = int32(len(edges))
	w.edges, w.total = edges, total
	sc.forward[0], sc.forward[1] = p0, p1
}

// relist puts the k sites of the segment back into the lists and returns
// their weight.
func (w *classWalk) relist(k int) (gone [2]uint64) {
	for t, i := range w.path[len(w.path)-k:] {
		v := (2*int32(w.state[i]) - 1) * w.field[i]
		w.align[t] = v
		c := (v + w.reach) >> w.shift
		w.lists.Add(i, c)
		for b := range w.biases {
			gone[b] += w.weight[b][c]
		}
	}
	for b := range w.biases {
		w.total[b] += gone[b]
	}
	return gone
}

// backward scores the reverse walk without taking it. Reverse step t undoes
// flip t, t = k−1 … 0, and draws from all sites but those undone before it.
// Their weight at that state is after[t], the sites not flipped yet, plus
// those flipped up to t, minus those flipped later, which after[t] includes:
// two sums over the path alone, whose difference gone is carried along.
func (w *classWalk) backward(k int, gone [2]uint64, sc *score) {
	align, edges := w.align, w.edges
	first, second, two := w.weight[0], w.weight[1], w.biases == 2
	reach, shift := w.reach, w.shift
	p0, p1 := sc.reverse[0], sc.reverse[1]
	g0, g1 := gone[0], gone[1]
	for t := k - 1; t >= 0; t-- {
		v := align[t]
		c, before := (v+reach)>>shift, (reach-v)>>shift
		align[t] = -v
		p0.P *= float64(first[c]) / float64(w.after[0][t]+g0)
		if p0.P < walk.Small {
			p0.Fold()
		}
		g0 -= first[c] + first[before]
		if two {
			p1.P *= float64(second[c]) / float64(w.after[1][t]+g1)
			if p1.P < walk.Small {
				p1.Fold()
			}
			g1 -= second[c] + second[before]
		}
		for _, e := range edges[w.early[t]:w.early[t+1]] { // sites flipped up to t
			u := align[e.lo]
			a, b := (u+reach)>>shift, (u+2*e.turn+reach)>>shift
			align[e.lo] = u + 2*e.turn
			g0 += first[b] - first[a]
			if two {
				g1 += second[b] - second[a]
			}
		}
		for n := w.late[t]; n >= 0; n = edges[n].next { // sites flipped later
			e := edges[n]
			u := align[e.hi]
			a, b := (u+reach)>>shift, (u-2*e.turn+reach)>>shift
			align[e.hi] = u - 2*e.turn
			g0 -= first[b] - first[a]
			if two {
				g1 -= second[b] - second[a]
			}
		}
	}
	sc.reverse[0], sc.reverse[1] = p0, p1
}

// flipListed flips a site while it and its neighbours are listed.
func (w *classWalk) flipListed(i int32) {
	lists, first := w.lists, w.weight[0]
	two := w.biases == 2
	relist := func(j, a, b int32) {
		lists.Remove(j, a)
		lists.Add(j, b)
		w.total[0] += first[b] - first[a]
		if two {
			w.total[1] += w.weight[1][b] - w.weight[1][a]
		}
	}
	s := 2*int32(w.state[i]) - 1
	v := s * w.field[i]
	relist(i, (v+w.reach)>>w.shift, (w.reach-v)>>w.shift)
	w.state[i] ^= 1
	for e := w.head[i]; e < w.head[i+1]; e++ {
		j := w.to[e]
		js := w.coupling[e] * s
		h := w.field[j]
		w.field[j] = h - 2*js
		if lists.Pos[j] == fixed {
			continue
		}
		sj := 2*int32(w.state[j]) - 1
		relist(j, (sj*h+w.reach)>>w.shift, (sj*(h-2*js)+w.reach)>>w.shift)
	}
}
