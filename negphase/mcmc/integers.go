package mcmc

import "gorbm/negphase/mcmc/internal/walk"

// maxClasses is the most classes of equal cost for which lists are kept: a
// draw goes through half of them. Beyond, block sums take less time.
const maxClasses = 33

// integers are the parts of an Ising system on an integer graph that walks
// work on, and the classes of equal cost that its sites fall into: the class
// of site i is (halfCost(i) + reach) >> shift. Walks keep the classes in nodes
// of their own and write the system's fields without reading them.
type integers struct {
	ising   *Ising
	head    []int32 // neighbours of i: link[head[i]:head[i+1]]
	link    []link
	state   []uint8
	field   []int32 // local fields in quanta
	sites   []int32 // that the walk moves on
	reach   int32   // largest possible |field|
	shift   uint32  // 1 if all fields have the parity of reach, else 0
	classes int
}

// A link is a neighbour of a site: where both spins are s and t before a flip
// of the site, the neighbour's class falls by step·s·t.
type link struct {
	to, step int32
}

// newIntegers returns the classes of s, or false if it has none or too many.
func newIntegers(s System, sites []int32) (integers, bool) {
	is, ok := s.(*Ising)
	if !ok || is.local == nil {
		return integers{}, false
	}
	g := is.graph
	in := integers{ising: is, head: g.start, state: is.state, field: is.local, sites: sites, reach: g.maxLocal, shift: 1}
	for i, h := range g.bias {
		sum := h + g.maxLocal
		for _, w := range g.weight[g.start[i]:g.start[i+1]] {
			sum += w
		}
		if sum&1 != 0 {
			in.shift = 0
		}
	}
	in.classes = int(2*in.reach>>in.shift) + 1
	if in.classes > maxClasses {
		return integers{}, false
	}
	in.link = make([]link, len(g.weight))
	for e, w := range g.weight {
		in.link[e] = link{g.neighbor[e], w * (2 >> in.shift)}
	}
	return in, true
}

// class returns the class of site i, anew from the system.
func (in *integers) class(i int32) uint8 {
	return uint8((in.ising.halfCost(int(i)) + in.reach) >> in.shift)
}

// mirror returns the class of a site after its flip.
func (in *integers) mirror(class uint8) uint8 { return uint8(in.classes-1) - class }

// half returns the half-cost of a site of the given class: see Ising.halfCost.
func (in *integers) half(class uint8) int64 { return int64(class)<<in.shift - int64(in.reach) }

// cost returns the energy of so many half-costs.
func (in *integers) cost(half int64) float64 {
	return float64(half) * (2 * in.ising.graph.quantum)
}

// settle tells the system that the given sites were flipped in its state and
// its fields, and what half-costs that added up to.
func (in *integers) settle(path []int32, half int64) {
	in.ising.energy += 2 * half
	if in.ising.deltas != nil {
		for _, i := range path {
			in.ising.renew(int(i))
		}
	}
}

// describe fills in what is the same for the sites of each class, from the
// given list on: weights under γβ = scale for each bias.
func (in *integers) describe(lists []walk.List, side int32, weights []walk.Bias, scale []float64) {
	for c := range in.classes {
		half := in.half(uint8(c))
		lists[c].Half, lists[c].Side = int32(half), side
		for b, bias := range weights {
			lists[c].Weight[b] = bias.Weight(float64(scale[b] * in.cost(half)))
		}
	}
}
