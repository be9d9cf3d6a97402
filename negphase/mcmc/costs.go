package mcmc

// costs are the flip costs of any System. Those of an Ising system and of an
// RBM are taken from their fields, which saves them keeping all of them
// current.
type costs struct {
	system System
	ising  *Ising // the system, if it is one
	rbm    *RBM   // likewise
	deltas []float64
	all    []int32 // what Flip means by nil
}

func newCosts(s System) costs {
	switch s := s.(type) {
	case *Ising:
		return costs{system: s, ising: s}
	case *RBM:
		return costs{system: s, rbm: s}
	}
	return costs{system: s, deltas: s.Deltas(), all: everySite(s.Len())}
}

// cost returns what a flip of site i costs.
func (c *costs) cost(i int32) float64 {
	if c.ising != nil {
		return c.ising.delta(int(i))
	}
	if c.rbm != nil {
		return c.rbm.delta(int(i))
	}
	return c.deltas[i]
}

// flip flips site i and returns the other sites whose costs changed; i may be
// among them.
func (c *costs) flip(i int32) []int32 {
	if c.ising != nil {
		c.ising.flip(int(i))
		g := c.ising.graph
		return g.neighbor[g.start[i]:g.start[i+1]]
	}
	if touched := c.system.Flip(int(i)); touched != nil {
		return touched
	}
	return c.all
}
