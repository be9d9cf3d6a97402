package mcmc

import (
	"fmt"
	"reflect"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// wrong names the part of a system or of the caches of a walk that differs from its
// recomputation; "" if all are identical.
func wrong(s *Ising, c Chain) string {
	fresh := NewIsing(s.graph, s.state)
	switch {
	case fresh.energy != s.energy:
		return "energy"
	case !slices.Equal(fresh.local, s.local) || !slices.Equal(fresh.real, s.real):
		return "fields"
	case !slices.Equal(flipCosts(fresh), flipCosts(s)):
		return "flip costs"
	}
	var caches any
	switch c := c.(type) {
	case *sardonicsChain:
		caches = c.walker
	case *intraclusterChain:
		caches = c.walker
	}
	switch w := caches.(type) {
	case *classWalk:
		for b := range w.biases {
			total := uint64(0)
			for _, i := range w.sites {
				total += w.lists.List[w.list(i)].Weight[b]
			}
			if total != w.total[b] {
				return "total weight"
			}
		}
		return wrongLists(w.lists, s.state, w.sites, w.list)
	case *classShell:
		var total [2]uint64
		for _, i := range w.sites {
			side := w.state[i]
			total[side] += w.lists.List[w.list(i)].Weight[side]
		}
		if total != w.total {
			return "total weight"
		}
		return wrongLists(w.lists, s.state, w.sites, w.list)
	case *blockWalk:
		for _, i := range w.sites {
			if w.listed(i) != w.weights(i) || w.step[i] != unflipped {
				return "leaf"
			}
		}
		for b := range w.biases {
			if !summed(w.blocks[b]) {
				return "block sums"
			}
		}
	case *blockShell:
		for _, i := range w.sites {
			side := w.state[i]
			if w.blocks[side].Leaf[i] != w.table[side].Weight(w.scale[side]*w.cost(i)) || w.blocks[1-side].Leaf[i] != 0 {
				return "leaf"
			}
		}
		if !summed(w.blocks[0]) || !summed(w.blocks[1]) {
			return "block sums"
		}
	default:
		return fmt.Sprintf("unknown walk %T", w)
	}
	return ""
}

// summed reports whether the sums of b agree with its leaves.
func summed(b *walk.Blocks) bool {
	fresh := walk.NewBlocks(len(b.Leaf))
	for i, w := range b.Leaf {
		fresh.Set(i, w)
	}
	return reflect.DeepEqual(b, fresh)
}

func wrongLists(l *walk.Lists, state []uint8, sites []int32, list func(int32) uint8) string {
	n := 0
	for _, list := range l.List {
		n += int(list.N())
	}
	if n != len(sites) {
		return "counts"
	}
	for i, node := range l.Node {
		if node.List != list(int32(i)) || int32(node.Spin) != spin(state[i]) {
			return "nodes"
		}
	}
	for _, i := range sites {
		c, p := list(i), l.Node[i].Pos
		if p < l.List[c].Start || p >= l.List[c].End || l.Site[p] != i {
			return "lists"
		}
	}
	return ""
}

// counters returns all numbers that a rejected move must restore. The order within lists is not
// among them.
func counters(s *Ising, c Chain) []uint64 {
	out := []uint64{uint64(s.energy)}
	for _, x := range s.state {
		out = append(out, uint64(x))
	}
	for _, h := range s.local {
		out = append(out, uint64(h))
	}
	for i := range s.real {
		out = append(out, uint64(int64(s.real[i]*s.scale)))
	}
	var caches any
	switch c := c.(type) {
	case *sardonicsChain:
		caches = c.walker
	case *intraclusterChain:
		caches = c.walker
	}
	switch w := caches.(type) {
	case *classWalk:
		for _, list := range w.lists.List {
			out = append(out, uint64(list.N()))
		}
		out = append(out, w.total[:]...)
	case *classShell:
		for _, list := range w.lists.List {
			out = append(out, uint64(list.N()))
		}
		out = append(out, w.total[:]...)
	case *blockWalk:
		for b := range w.biases {
			out = append(append(out, w.blocks[b].Leaf...), w.blocks[b].Total)
		}
	case *blockShell:
		for b := range w.blocks {
			out = append(append(out, w.blocks[b].Leaf...), w.blocks[b].Total)
		}
	}
	return out
}
