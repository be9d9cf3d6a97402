package mcmc

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A System is a state of Len bits that knows its energy and the energy change of each flip.
type System interface {
	Len() int
	// State returns the bits, 0 or 1. The system owns the slice: Flip changes
	// it, and callers must not write to it.
	State() []uint8
	Energy() float64
	// FlipCost returns E(x with bit i flipped) − E(x).
	FlipCost(i int) float64
	// Flip flips bit i and returns the indices of the other bits whose flip costs may have
	// changed; nil means all of them. Callers must not write to the slice.
	Flip(i int) (touched []int32)
}

// A Mover has the settings of a sampler.
type Mover interface {
	// Bind checks the settings against s and returns a chain on s at inverse
	// temperature beta ≥ 0. The chain flips only the given sites; all sites
	// if they are nil. The error says why the settings do not fit s, or that
	// the chain could not reach all states.
	Bind(s System, beta float64, sites []int32) (Chain, error)
}

// A Chain changes the state of one system by moves that leave the distribution ∝ exp(−βE) invariant. It
// may keep caches derived from the state.
type Chain interface {
	// Move makes one move, with random numbers from r alone.
	Move(r *rand.Rand) Info
	// Reset recomputes the caches. Call it after the state has changed
	// other than by Move.
	Reset()
}

// A Warner is a chain that can warn about its settings, for example that it may
// be reducible. The empty string means no warning.
type Warner interface{ Warning() string }

// Info has counts of moves. Add sums the counts of several moves or chains.
type Info struct {
	Moves     int64 // calls of Move
	Updates   int64 // single-site updates, attempted exchanges of pairs, or cluster updates
	Proposals int64 // proposals, each with an acceptance test
	Accepted  int64 // proposals that were accepted
	Flips     int64 // bits flipped, including those of rejected walks
}

// Add adds o to i.
func (i *Info) Add(o Info) {
	i.Moves += o.Moves
	i.Updates += o.Updates
	i.Proposals += o.Proposals
	i.Accepted += o.Accepted
	i.Flips += o.Flips
}

// Acceptance returns the fraction of proposals that were accepted, and false if
// there were none.
func (i Info) Acceptance() (float64, bool) {
	if i.Proposals == 0 {
		return 0, false
	}
	return float64(i.Accepted) / float64(i.Proposals), true
}

// bindable checks the arguments of Bind and returns a copy of the sites. If sites is nil, it returns
// all sites except those of a softmax label of an RBM.
func bindable(s System, beta float64, sites []int32) ([]int32, error) {
	if !(beta >= 0) || !finite(beta) {
		return nil, fmt.Errorf("inverse temperature %g: give a finite number, 0 or more", beta)
	}
	n := s.Len()
	r, isRBM := s.(*RBM)
	switch {
	case sites == nil && isRBM:
		return r.parameters.sites(), nil
	case sites == nil:
		return everySite(n), nil
	case len(sites) == 0:
		return nil, fmt.Errorf("no sites to move on: give at least one, or nil for all")
	}
	seen := make([]bool, n)
	for _, i := range sites {
		switch {
		case i < 0 || int(i) >= n:
			return nil, fmt.Errorf("site %d: sites are numbered 0 to %d", i, n-1)
		case seen[i]:
			return nil, fmt.Errorf("site %d is given twice", i)
		case isRBM && r.parameters.isLabel(i):
			return nil, fmt.Errorf("site %d belongs to a softmax label, of which exactly one unit must be on; leave out sites %d to %d and redraw the label from p(y|h)", i, r.parameters.labels[0], r.parameters.labels[1]-1)
		}
		seen[i] = true
	}
	return slices.Clone(sites), nil
}

// costs calls FlipCost and Flip of any System. It calls the methods of Ising and RBM directly, which is
// faster than through the interface.
type costs struct {
	system System
	ising  *Ising  // the system, if it is an Ising
	rbm    *RBM    // the system, if it is an RBM
	all    []int32 // all sites, for a system of another type
}

func newCosts(s System) costs {
	switch s := s.(type) {
	case *Ising:
		return costs{system: s, ising: s}
	case *RBM:
		return costs{system: s, rbm: s}
	}
	return costs{system: s, all: everySite(s.Len())}
}

// cost returns the energy change of a flip of site i.
func (c *costs) cost(i int32) float64 {
	if c.ising != nil {
		return c.ising.FlipCost(int(i))
	}
	if c.rbm != nil {
		return c.rbm.FlipCost(int(i))
	}
	return c.system.FlipCost(int(i))
}

// flip flips site i and returns the sites whose costs may have changed.
func (c *costs) flip(i int32) []int32 {
	if c.ising != nil {
		return c.ising.Flip(int(i))
	}
	if touched := c.system.Flip(int(i)); touched != nil {
		return touched
	}
	return c.all
}

// everySite returns 0 … n−1.
func everySite(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// copyState overwrites dst with a state. It panics if the lengths differ or an
// element is neither 0 nor 1.
func copyState(dst, state []uint8) {
	if len(state) != len(dst) {
		panic("mcmc: a state of the wrong length")
	}
	for _, x := range state {
		if x > 1 {
			panic("mcmc: a state that is not of zeros and ones")
		}
	}
	copy(dst, state)
}
