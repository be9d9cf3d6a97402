package mcmc

import "math/rand/v2"

// A singleSite mover updates one site at a time. The probability that it flips
// the site depends only on x = βΔE, where ΔE is the cost of the flip.
type singleSite interface {
	order() Order
	flip(x float64) float64 // probability of the flip
	proposes() bool         // whether Info counts updates as proposals
}

// A sweep is the chain of a singleSite mover. A move makes one update per site.
// Each update draws 64 random bits, and in random order 64 more
// that choose the site.
type sweep struct {
	costs
	beta   float64
	sites  []int32 // in the order of updates
	order  Order
	accept *squeeze
	counts bool     // Info counts proposals and acceptances
	table  []chance // for integer graphs: [half cost + maxLocal]
}

func newSweep(s System, beta float64, sites []int32, m singleSite) (*sweep, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	c := &sweep{costs: newCosts(s), beta: beta, order: m.order(), accept: newSqueeze(m.flip), counts: m.proposes()}
	if c.sites, err = c.order.sequence(s, sites); err != nil {
		return nil, err
	}
	if c.ising != nil && c.ising.local != nil {
		g := c.ising.graph
		c.table = probability(m.flip).table(g, beta, g.maxLocal)
	}
	return c, nil
}

// Reset does nothing: a sweep has no caches.
func (c *sweep) Reset() {}

func (c *sweep) Move(r *rand.Rand) Info {
	var flips int
	draws := newStream(r)
	switch {
	case c.table != nil:
		flips = c.integer(&draws)
	case c.ising != nil:
		flips = c.real(&draws)
	case c.rbm != nil:
		flips = c.units(&draws)
	default:
		flips = c.generic(&draws)
	}
	return sweepInfo(len(c.sites), flips, c.counts)
}

// sweepInfo returns the Info of a sweep. If counts is set, it counts updates as
// proposals and flips as acceptances.
func sweepInfo(updates, flips int, counts bool) Info {
	info := Info{Moves: 1, Updates: int64(updates), Flips: int64(flips)}
	if counts {
		info.Proposals, info.Accepted = info.Updates, info.Flips
	}
	return info
}

// site returns the k-th site of the sweep.
func (c *sweep) site(k int, draws *stream) int {
	if c.order == Random {
		k = belowWord(len(c.sites), draws.next())
	}
	return int(c.sites[k])
}

// generic makes a sweep on any system and returns the number of flips.
func (c *sweep) generic(draws *stream) (flips int) {
	for k := range c.sites {
		i := c.site(k, draws)
		if c.accept.happens(c.beta*c.system.FlipCost(i), draws.next()) {
			c.system.Flip(i)
			flips++
		}
	}
	return flips
}

// real is generic for an Ising system on a graph that is not an integer graph.
func (c *sweep) real(draws *stream) (flips int) {
	s := c.ising
	for k := range c.sites {
		i := c.site(k, draws)
		if c.accept.happens(c.beta*s.FlipCost(i), draws.next()) {
			s.flipReal(i)
			flips++
		}
	}
	return flips
}

// units is generic for an RBM.
func (c *sweep) units(draws *stream) (flips int) {
	s := c.rbm
	for k := range c.sites {
		i := c.site(k, draws)
		if c.accept.happens(c.beta*s.FlipCost(i), draws.next()) {
			s.Flip(i)
			flips++
		}
	}
	return flips
}

// integer is generic for an Ising system on an integer graph. It reads probabilities from the table, and
// copies draws so that the compiler keeps the generator in registers.
func (c *sweep) integer(draws *stream) (flips int) {
	s := c.ising
	reach := s.graph.maxLocal
	state, local, table, sites := s.state, s.local, c.table, c.sites
	random := c.order == Random
	d := *draws
	for k := range sites {
		i := int(sites[k])
		if random {
			i = int(sites[belowWord(len(sites), d.next())])
		}
		if table[spin(state[i])*local[i]+reach].happens(d.next()) {
			s.flipInteger(i)
			flips++
		}
	}
	return flips
}
