package binary

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gorbm/rbm"
)

// Exchange keeps the number of sites that differ from a reference state: it
// proposes to flip one site that differs and one that agrees, each uniform,
// and accepts with probability min(1, exp(−βΔE)) (Kawasaki's exchange, but at
// any distance). On spins,
//
//	ΔE = 2 s_i h_i + 2 s_j h_j − 4 J_ij s_i s_j,  h the local fields.
//
// A move is as many attempts as there are sites. The number is that of the
// state in which the system is at Bind and at Reset; ShellState makes one.
type Exchange struct {
	Reference []uint8 `json:"reference,omitempty"` // of length Len; nil: all zeros
}

// Bind returns the chain; see Mover. It is an error if no site differs from
// the reference, or all do: nothing could move.
func (e Exchange) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	if e.Reference != nil && len(e.Reference) != s.Len() {
		return nil, fmt.Errorf("exchange: a reference of %d bits for a system of %d", len(e.Reference), s.Len())
	}
	if slices.ContainsFunc(e.Reference, func(x uint8) bool { return x > 1 }) {
		return nil, fmt.Errorf("exchange: the reference is not a state: give a reference of zeros and ones")
	}
	c := &exchange{system: s, beta: beta, reference: e.Reference, slots: sites}
	c.Reset()
	if n := c.differ; n == 0 || n == len(sites) {
		return nil, fmt.Errorf("exchange: %d of %d sites differ from the reference, so no pair can be exchanged; start elsewhere", n, len(sites))
	}
	is, ok := s.(*Ising)
	switch {
	case !ok:
		c.deltas = s.Deltas()
	case is.local != nil:
		c.ising = is
		g := is.graph
		for _, w := range g.weight {
			c.strongest = max(c.strongest, magnitude(w))
		}
		c.reach = 2*g.maxLocal + 2*c.strongest
		c.table = law(Metropolis{}.flip).table(g, beta, c.reach)
		c.hopeful()
	default:
		c.ising = is
	}
	return c, nil
}

type exchange struct {
	system    System
	ising     *Ising // the system, if it is one
	beta      float64
	reference []uint8
	slots     []int32 // the sites: first those that differ, then those that agree
	differ    int
	deltas    []float64

	// Integer graphs.
	table     []chance // by half cost + reach
	bound     []chance // the best chance of a pair whatever joins it, by s_i h_i + s_j h_j + reach
	reach     int32
	strongest int32 // |J|
}

// hopeful sets bound: a coupling lowers the half cost by at most twice the
// strongest.
func (c *exchange) hopeful() {
	c.bound = make([]chance, len(c.table))
	for k := range c.bound {
		for _, t := range c.table[max(0, k-2*int(c.strongest)):min(len(c.table), k+2*int(c.strongest)+1)] {
			c.bound[k] = max(c.bound[k], t)
		}
	}
}

// Reset renews the two lists of sites.
func (c *exchange) Reset() {
	state := c.system.State()
	c.differ = 0
	for k, i := range c.slots {
		bit := state[i]
		if c.reference != nil {
			bit ^= c.reference[i]
		}
		if bit != 0 {
			c.slots[c.differ], c.slots[k] = i, c.slots[c.differ]
			c.differ++
		}
	}
}

// Warning says if the chain may be reducible.
func (c *exchange) Warning() string {
	if len(c.slots) == 2 && c.chance(c.slots[0], c.slots[1]) == always && c.chance(c.slots[1], c.slots[0]) == always {
		return "exchange: two sites of equal energy swap at every attempt, and a move makes two attempts: the state never changes"
	}
	return ""
}

// chance returns the chance that the exchange of sites i and j is accepted.
func (c *exchange) chance(i, j int32) chance {
	s := c.ising
	switch {
	case s == nil:
		cost := c.deltas[i]
		c.system.Flip(int(i))
		cost += c.deltas[j]
		c.system.Flip(int(i))
		return chanceOf(Metropolis{}.flip(c.beta * cost))
	case s.local != nil:
		half := s.halfCost(int(i)) + s.halfCost(int(j)) - 2*s.graph.weightOf(i, j)*spin(s.state[i])*spin(s.state[j])
		return c.table[half+c.reach]
	default:
		both := float64(spin(s.state[i]) * spin(s.state[j]))
		cost := s.delta(int(i)) + s.delta(int(j)) - 4*s.graph.Coupling(int(i), int(j))*both
		return chanceOf(Metropolis{}.flip(c.beta * cost))
	}
}

// weightOf returns J_ij in quanta, of an integer graph.
func (g *Graph) weightOf(i, j int32) int32 {
	lo, hi := g.start[i], g.start[i+1]
	for k, n := range g.neighbor[lo:hi] {
		if n == j {
			return g.weight[int(lo)+k]
		}
	}
	return 0
}

// Move makes as many attempts as there are sites.
func (c *exchange) Move(r *rand.Rand) Info {
	n := int64(len(c.slots))
	info := Info{Moves: 1, Updates: n, Proposals: n}
	agree := len(c.slots) - c.differ
	if c.differ == 0 || agree == 0 {
		return info // after a Reset to a state that cannot move
	}
	if c.table != nil {
		info.Accepted = int64(c.integer(r))
	} else {
		for range c.slots {
			a, b := c.pair(r.Uint64())
			i, j := c.slots[a], c.slots[b]
			if c.chance(i, j).happens(r.Uint64()) {
				c.system.Flip(int(i))
				c.system.Flip(int(j))
				c.slots[a], c.slots[b] = j, i
				info.Accepted++
			}
		}
	}
	info.Flips = 2 * info.Accepted
	return info
}

// pair returns the slots of a site that differs and one that agrees. The odds
// of a pair of slots need not be exactly uniform: an exchange puts its sites
// into each other's slot, so that the way back has the same odds.
func (c *exchange) pair(word uint64) (a, b int) {
	return below(c.differ, uint32(word>>32)), c.differ + below(len(c.slots)-c.differ, uint32(word))
}

// integer makes the attempts on an integer graph, and tells how many were
// accepted.
func (c *exchange) integer(r *rand.Rand) (accepted int) {
	s := c.ising
	reach := c.reach
	for range c.slots {
		a, b := c.pair(r.Uint64())
		i, j := c.slots[a], c.slots[b]
		word := r.Uint64()
		half := s.halfCost(int(i)) + s.halfCost(int(j)) + reach
		if !c.bound[half].happens(word) {
			continue // no need to look for a coupling
		}
		half -= 2 * s.graph.weightOf(i, j) * spin(s.state[i]) * spin(s.state[j])
		if c.table[half].happens(word) {
			s.flipInteger(int(i))
			s.flipInteger(int(j))
			c.slots[a], c.slots[b] = j, i
			accepted++
		}
	}
	s.renewAll()
	return accepted
}

// RandomState returns n independent fair bits.
func RandomState(n int, key rbm.Key) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		if key.Uniform(uint64(i)) < 0.5 {
			x[i] = 1
		}
	}
	return x
}

// ShellState returns a uniformly random state of n bits of which active differ
// from the reference, all zeros if nil. It is an error if there are no such
// states; it panics if the reference is not of n bits.
func ShellState(n, active int, reference []uint8, key rbm.Key) ([]uint8, error) {
	if active < 0 || active > n {
		return nil, fmt.Errorf("%d of %d bits to differ from the reference: give 0 to %d", active, n, n)
	}
	x := make([]uint8, n)
	if reference != nil {
		if len(reference) != n {
			panic("binary: a reference of the wrong length")
		}
		copy(x, reference)
	}
	for _, i := range key.Rand().Perm(n)[:active] {
		x[i] ^= 1
	}
	return x, nil
}
