package mcmc

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Exchange samples states with a fixed number of active sites, by Kawasaki's exchange of an up and a
// down spin at any distance. An attempt proposes to flip one uniformly chosen site that is on and one that
// is off, and accepts with probability min(1, exp(−βΔE)). For spins s_i with local fields h_i and
// couplings J_ij,
//
//	ΔE = 2 s_i h_i + 2 s_j h_j − 4 J_ij s_i s_j.
//
// A move makes one attempt per site. The state of the system at Bind or Reset sets the number of active
// sites.
type Exchange struct{}

// Bind returns the chain; see Mover. It is an error if no site is on or all are,
// because then there is no pair to exchange.
func (Exchange) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	c := &exchange{costs: newCosts(s), beta: beta, sites: sites, slots: slices.Clone(sites), accept: newSqueeze(Metropolis{}.flip)}
	c.Reset()
	if n := c.on; n == 0 || n == len(sites) {
		return nil, fmt.Errorf("exchange: %d of %d sites are on, so no pair can be exchanged; start elsewhere", n, len(sites))
	}
	if c.ising != nil && c.ising.local != nil {
		g := c.ising.graph
		for _, w := range g.weight {
			c.strongest = max(c.strongest, magnitude(w))
		}
		c.reach = 2*g.maxLocal + 2*c.strongest
		c.table = probability(Metropolis{}.flip).table(g, beta, c.reach)
		for k := range c.table[1:] {
			c.table[k+1] = min(c.table[k+1], c.table[k]) // integer relies on descending order; rounding could break it
		}
	}
	return c, nil
}

type exchange struct {
	costs
	beta   float64
	sites  []int32
	slots  []int32 // all sites, those that are on first
	on     int     // number of sites that are on
	accept *squeeze

	// For integer graphs only.
	table     []chance // [half cost + reach], descending
	reach     int32
	strongest int32 // the largest |J|
}

// Reset sorts the slots by the state of the system.
func (c *exchange) Reset() {
	state := c.system.State()
	copy(c.slots, c.sites)
	c.on = 0
	for k, i := range c.slots {
		if state[i] == 1 {
			c.slots[c.on], c.slots[k] = i, c.slots[c.on]
			c.on++
		}
	}
}

// Warning implements Warner.
func (c *exchange) Warning() string {
	if len(c.slots) != 2 {
		return ""
	}
	i, j := c.slots[0], c.slots[1]
	if c.table != nil && c.halfCost(i, j) == 0 || c.beta*c.pairCost(i, j) == 0 {
		return "exchange: two sites of equal energy swap at every attempt, and a move makes two attempts: the state never changes"
	}
	return ""
}

// halfCost returns half the cost of exchanging sites i and j, in quanta of
// an integer graph.
func (c *exchange) halfCost(i, j int32) int32 {
	s := c.ising
	half := s.halfCost(int(i)) + s.halfCost(int(j))
	if k := s.graph.link(i, j); k >= 0 {
		half -= 2 * s.graph.weight[k] * spin(s.state[i]) * spin(s.state[j])
	}
	return half
}

// pairCost returns the cost of exchanging sites i and j.
func (c *exchange) pairCost(i, j int32) float64 {
	s := c.ising
	if c.rbm != nil {
		return c.rbm.pairCost(int(i), int(j))
	}
	if s == nil {
		cost := c.cost(i)
		c.system.Flip(int(i))
		cost += c.cost(j)
		c.system.Flip(int(i))
		return cost
	}
	cost := s.FlipCost(int(i)) + s.FlipCost(int(j))
	if k := s.graph.link(i, j); k >= 0 {
		cost -= float64(4 * float64(spin(s.state[i])*spin(s.state[j])) * s.graph.coupling[k])
	}
	return cost
}

// link returns the index of spin j among the neighbours of i, or −1.
func (g *Graph) link(i, j int32) int {
	lo, hi := g.start[i], g.start[i+1]
	for k, n := range g.neighbor[lo:hi] {
		if n == j {
			return int(lo) + k
		}
	}
	return -1
}

// Move makes as many attempts as there are sites.
func (c *exchange) Move(r *rand.Rand) Info {
	n := int64(len(c.slots))
	info := Info{Moves: 1, Updates: n, Proposals: n}
	if c.on == 0 || c.on == len(c.slots) {
		return info // Reset found a state without a pair to exchange
	}
	draws := newStream(r)
	if c.table != nil {
		info.Accepted = int64(c.integer(&draws))
	} else {
		info.Accepted = int64(c.generic(&draws))
	}
	info.Flips = 2 * info.Accepted
	return info
}

// pair draws the slot of a site that is on and the slot of one that is off. The
// probabilities of pairs of slots need not be exactly equal: an accepted exchange swaps
// the sites of both slots, so that its reverse has the same pair of slots and probability.
func (c *exchange) pair(word uint64) (a, b int) {
	return below(c.on, uint32(word>>32)), c.on + below(len(c.slots)-c.on, uint32(word))
}

// generic makes the attempts on any system and returns the number accepted.
func (c *exchange) generic(draws *stream) (accepted int) {
	slots := c.slots
	d := *draws // the compiler keeps the copy in registers
	for range slots {
		a, b := c.pair(d.next())
		i, j := slots[a], slots[b]
		if c.accept.happens(c.beta*c.pairCost(i, j), d.next()) {
			c.flip(i)
			c.flip(j)
			slots[a], slots[b] = j, i
			accepted++
		}
	}
	return accepted
}

// integer is generic for an Ising system on an integer graph. It reads probabilities from the table.
func (c *exchange) integer(draws *stream) (accepted int) {
	s := c.ising
	g, state, local, slots := s.graph, s.state, s.local, c.slots
	best := 2 * c.strongest // largest decrease of the half cost by the coupling of a pair
	d := *draws
	for range slots {
		a, b := c.pair(d.next())
		i, j := slots[a], slots[b]
		word := d.next()
		si, sj := spin(state[i]), spin(state[j])
		half := si*local[i] + sj*local[j] + c.reach
		if !c.table[half-best].happens(word) {
			continue // rejected for any coupling between the two sites
		}
		if k := g.link(i, j); k >= 0 {
			half -= 2 * si * sj * g.weight[k]
		}
		if c.table[half].happens(word) {
			s.flipInteger(int(i))
			s.flipInteger(int(j))
			slots[a], slots[b] = j, i
			accepted++
		}
	}
	return accepted
}
