package mcmc

import (
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
)

// A classShell is a shellWalker on classes: sites are listed by side and by
// class of equal cost. A flip takes a site across and its neighbours from class
// to class. No site is ever forbidden, so the totals are those of the reverse
// walk at every step.
type classShell struct{ classes }

func (w *classShell) sizes() (n [2]int) {
	for c := range w.lists.List[:w.last+1] {
		n[c/w.n] += int(w.lists.List[c].N)
	}
	return n
}

func (w *classShell) segment(r *rand.Rand, path []int32, k, side int, sc *score) {
	first := uint8(side * w.n)
	for t := range k {
		var i int32
		if path == nil {
			i = w.lists.Find(walk.Below(r, w.total[side]), first, side)
		} else {
			i = path[t]
		}
		list := &w.lists.List[w.lists.Node[i].List]
		w.path = append(w.path, i)
		w.sum += int64(list.Half)
		sc.forward[0].Times(list.Weight[side], w.total[side])
		w.flip(i)
		list = &w.lists.List[w.lists.Node[i].List]
		sc.reverse[0].Times(list.Weight[1-side], w.total[1-side])
	}
}
