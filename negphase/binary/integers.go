package binary

// maxClasses is the most classes of equal cost for which lists are kept: a
// draw goes through half of them. Beyond, block sums take less time.
const maxClasses = 33

// integers are the parts of an Ising system on an integer graph that walks
// work on, and the classes of equal cost that its sites fall into.
type integers struct {
	ising    *Ising
	head     []int32 // neighbours of i: to[head[i]:head[i+1]]
	to       []int32
	coupling []int32 // in quanta
	state    []uint8
	field    []int32 // local fields in quanta
	sites    []int32 // that the walk moves on
	reach    int32   // largest possible |field|
	shift    uint    // 1 if all fields have the parity of reach, else 0
	classes  int
}

// newIntegers returns the classes of s, or false if it has none or too many.
func newIntegers(s System, sites []int32) (integers, bool) {
	is, ok := s.(*Ising)
	if !ok || is.local == nil {
		return integers{}, false
	}
	g := is.graph
	in := integers{ising: is, head: g.start, to: g.neighbor, coupling: g.weight, state: is.state, field: is.local,
		sites: sites, reach: g.maxLocal, shift: 1}
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
	return in, in.classes <= maxClasses
}

// class returns the class of site i.
func (in *integers) class(i int32) int32 {
	return (in.ising.halfCost(int(i)) + in.reach) >> in.shift
}

// cost returns the energy of so many half-costs: see Ising.halfCost.
func (in *integers) cost(half int64) float64 {
	return float64(half) * (2 * in.ising.graph.quantum)
}

// costOf returns what the flip of a site of class c costs.
func (in *integers) costOf(c int) float64 {
	return in.cost(int64(c)<<in.shift - int64(in.reach))
}

// settle tells the system that the given sites, with the half-costs that they
// add up to, were flipped in its state and its fields.
func (in *integers) settle(path []int32, half int64) {
	in.ising.energy += 2 * half
	if in.ising.deltas != nil {
		for _, i := range path {
			in.ising.renew(int(i))
		}
	}
}
