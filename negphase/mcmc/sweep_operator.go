package mcmc

import (
	"fmt"

	"gorbm/rbm"
)

// MaxOperatorSites is the largest number of sites of a SweepOperator; 20 sites take 176 MB.
const MaxOperatorSites = 20

// A Settable is a System whose state can be set, such as Ising and RBM.
type Settable interface {
	System
	SetState(state []uint8)
}

// A SweepOperator applies the transition matrix of one move of Gibbs, Metropolis or
// ModifiedMetropolis on a small system to a distribution over its states, without storing the matrix. Bit
// i of a state's number is the state of site i. A sweep in a fixed
// order is the product of the transition matrices T_i of the sites i. A sweep in random order is
// (ΣT_i/n)ⁿ for n sites.
//
// If the sites are the hidden units of an RBM and then its visible units, the operator of Gibbs equals
// that of BlockGibbs, and the operator of ModifiedMetropolis that of FlipTheState. Units of a layer are
// independent given the other layer, so updating them one after the other makes no difference.
type SweepOperator struct {
	states     int
	sites      []int32
	random     bool
	flip       [][]float64 // [site][state] probability that an update flips the site
	stationary []float64   // [state] exp(−βE)/Z
	next       []float64   // scratch
}

// NewSweepOperator returns the operator of m's moves on s at inverse temperature
// beta. The moves update the given sites in this order; all sites if nil. It changes the state of s. It
// returns an error for another type of mover, and for more than MaxOperatorSites sites. If all flips of s
// cost nothing, the operator of Metropolis accepts them all, as published; the chain of Bind does not.
func NewSweepOperator(s Settable, m Mover, beta float64, sites []int32) (*SweepOperator, error) {
	n := s.Len()
	if n > MaxOperatorSites {
		return nil, fmt.Errorf("%d sites have too many states to list; at most %d sites", n, MaxOperatorSites)
	}
	if metropolis, ok := m.(Metropolis); ok && beta == 0 {
		m = ModifiedMetropolis(metropolis)
	}
	single, ok := m.(singleSite)
	if !ok {
		return nil, fmt.Errorf("%s has no transition matrix of a sweep; gibbs, metropolis and modified-metropolis have", FormatMover(m))
	}
	c, err := newSweep(s, beta, sites, single)
	if err != nil {
		return nil, err
	}
	o := &SweepOperator{states: 1 << n, sites: c.sites, random: c.order == Random}
	o.flip, o.stationary = flipChances(s, c)
	return o, nil
}

// flipChances returns the probability flip[i][x] that an update of site i by c flips it in state x, and
// the distribution stationary of the states, exp(−βE)/Z.
func flipChances(s Settable, c *sweep) (flip [][]float64, stationary []float64) {
	n := s.Len()
	flip, stationary = make([][]float64, n), make([]float64, 1<<n)
	for _, i := range c.sites {
		flip[i] = make([]float64, 1<<n)
	}
	state := make([]uint8, n)
	for x := range stationary {
		for i := range state {
			state[i] = uint8(x >> i & 1)
		}
		s.SetState(state)
		for _, i := range c.sites {
			flip[i][x] = float64(c.chance(int(i))) * 0x1p-53
		}
		stationary[x] = float64(-c.beta * s.Energy())
	}
	logZ := rbm.LogSumExp(stationary)
	for x, w := range stationary {
		stationary[x] = rbm.Exp(w - logZ)
	}
	return flip, stationary
}

// chance returns the probability that an update of site i flips it.
func (c *sweep) chance(i int) chance {
	if c.table != nil {
		return c.table[c.ising.halfCost(i)+c.ising.graph.maxLocal]
	}
	return chanceOf(c.accept.p(c.beta * c.cost(int32(i))))
}

// States returns the number of states.
func (o *SweepOperator) States() int { return o.states }

// Stationary returns the distribution exp(−βE)/Z over the states. The operator owns the slice; do not write to
// it.
func (o *SweepOperator) Stationary() []float64 { return o.stationary }

// Step multiplies a row vector with States elements, such as a distribution, by the transition matrix of
// a move, in place.
func (o *SweepOperator) Step(x []float64) {
	if len(x) != o.states {
		panic("mcmc: a distribution of another number of states")
	}
	if !o.random {
		for _, i := range o.sites {
			update(x, o.flip[i], 1<<i)
		}
		return
	}
	if o.next == nil {
		o.next = make([]float64, o.states)
	}
	for range o.sites {
		o.mix(x)
		copy(x, o.next)
	}
}

// Update multiplies a row vector by the transition matrix of an update of site i, in place. Site i must
// be one of the operator's sites.
func (o *SweepOperator) Update(x []float64, i int) { update(x, o.flip[i], 1<<i) }

// update applies the update of a site to a distribution. bit is 1 << site, and p[x] is the probability
// that the update flips the site in state x.
func update(row, p []float64, bit int) {
	for lo := 0; lo < len(row); lo += 2 * bit {
		for x := lo; x < lo+bit; x++ {
			y := x + bit
			up, down := float64(row[x]*p[x]), float64(row[y]*p[y])
			row[x] += down - up
			row[y] += up - down
		}
	}
}

// mix sets o.next to the distribution that follows row after an update of a uniformly random site.
func (o *SweepOperator) mix(row []float64) {
	clear(o.next)
	for _, i := range o.sites {
		p, bit := o.flip[i], 1<<i
		for x, w := range row {
			flip := float64(w * p[x])
			o.next[x] += w - flip
			o.next[x^bit] += flip
		}
	}
	for x := range o.next {
		o.next[x] /= float64(len(o.sites))
	}
}
