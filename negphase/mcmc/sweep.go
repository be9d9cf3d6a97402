package mcmc

import "math/rand/v2"

// A singleSite mover updates one site at a time: it flips a site with a
// probability that depends on β times the cost alone.
type singleSite interface {
	order() Order
	flip(x float64) float64
	proposes() bool // and accepts: counted as such
}

// A sweep is the chain of a singleSite mover: as many updates as sites, one
// random word each and in random order one more for the site.
type sweep struct {
	system System
	ising  *Ising // the system, if it is one
	rbm    *RBM   // likewise
	beta   float64
	sites  []int32 // in the order of updates
	order  Order
	law    *squeeze
	counts bool // proposals
	deltas []float64
	table  []chance // of integer graphs, by half cost
}

func newSweep(s System, beta float64, sites []int32, m singleSite) (*sweep, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	c := &sweep{system: s, beta: beta, order: m.order(), law: newSqueeze(m.flip), counts: m.proposes()}
	if c.sites, err = c.order.sequence(s, sites); err != nil {
		return nil, err
	}
	switch s := s.(type) {
	case *Ising:
		c.ising = s
		if s.local != nil {
			c.table = law(m.flip).table(s.graph, beta, s.graph.maxLocal)
		}
	case *RBM:
		c.rbm = s
	default:
		c.deltas = s.Deltas()
	}
	return c, nil
}

// Reset does nothing: a sweep keeps nothing of the state.
func (c *sweep) Reset() {}

// Move makes one sweep.
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
	n := int64(len(c.sites))
	info := Info{Moves: 1, Updates: n, Flips: int64(flips)}
	if c.counts {
		info.Proposals, info.Accepted = n, int64(flips)
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

// chance returns the chance that an update of site i flips it.
func (c *sweep) chance(i int) chance {
	switch s := c.ising; {
	case c.table != nil:
		return c.table[s.halfCost(i)+s.graph.maxLocal]
	case s != nil:
		return chanceOf(c.law.law(c.beta * s.delta(i)))
	case c.rbm != nil:
		return chanceOf(c.law.law(c.beta * c.rbm.delta(i)))
	}
	return chanceOf(c.law.law(c.beta * c.deltas[i]))
}

// generic sweeps any system.
func (c *sweep) generic(draws *stream) (flips int) {
	for k := range c.sites {
		i := c.site(k, draws)
		if c.law.happens(c.beta*c.deltas[i], draws.next()) {
			c.system.Flip(i)
			flips++
		}
	}
	return flips
}

// real is generic for an Ising system.
func (c *sweep) real(draws *stream) (flips int) {
	s := c.ising
	for k := range c.sites {
		i := c.site(k, draws)
		if c.law.happens(c.beta*s.delta(i), draws.next()) {
			s.flipReal(i)
			flips++
		}
	}
	s.renewAll()
	return flips
}

// units is generic for an RBM.
func (c *sweep) units(draws *stream) (flips int) {
	s := c.rbm
	for k := range c.sites {
		i := c.site(k, draws)
		if c.law.happens(c.beta*s.delta(i), draws.next()) {
			s.flip(i)
			flips++
		}
	}
	s.renewAll()
	return flips
}

// integer is generic for an Ising system on an integer graph, by table.
func (c *sweep) integer(draws *stream) (flips int) {
	s := c.ising
	reach := s.graph.maxLocal
	state, local, table, sites := s.state, s.local, c.table, c.sites
	random := c.order == Random
	d := *draws // in registers
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
	s.renewAll()
	return flips
}
