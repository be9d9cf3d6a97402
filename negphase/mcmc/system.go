package mcmc

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gorbm/rbm"
)

// A System is a configuration of Len bits whose flip costs are kept current.
type System interface {
	Len() int
	// State returns the bits, 0 or 1. The slice is the system's own: it
	// changes under Flip and is not to be written to.
	State() []uint8
	Energy() float64
	// Deltas returns E(x with bit i flipped) − E(x) for each i, in a slice
	// that stays current under Flip and is not to be written to. The first
	// call may cost more.
	Deltas() []float64
	// Flip flips bit i and returns the bits whose flip costs changed, i among
	// them; nil means maybe all. The slice is valid until the next call.
	Flip(i int) (touched []int32)
}

// A Mover is the settings of a sampler.
type Mover interface {
	// Bind checks the settings against s and returns a chain on s at inverse
	// temperature beta ≥ 0, which changes the given sites only, all if nil.
	// The error says why the settings do not fit, or leave states unreachable.
	Bind(s System, beta float64, sites []int32) (Chain, error)
}

// A Chain is a transition on one system that leaves exp(−βE) unchanged, and
// its caches. A chain owns its system while it moves.
type Chain interface {
	// Move makes one move with draws from r alone.
	Move(r *rand.Rand) Info
	// Reset renews the caches after the system was changed by others.
	Reset()
}

// A Warner is a chain that may have something to say against its settings;
// the empty string means nothing.
type Warner interface{ Warning() string }

// Info counts what moves did. Counts add exactly over moves and chains; rates
// are derived from them.
type Info struct {
	Moves     int64 // calls of Move
	Updates   int64 // single-site updates, pair attempts, cluster updates
	Proposals int64 // changes that were proposed to an acceptance test
	Accepted  int64 // proposals that were accepted
	Flips     int64 // bits flipped, those of walks rejected later included
}

// Add adds o to i.
func (i *Info) Add(o Info) {
	i.Moves += o.Moves
	i.Updates += o.Updates
	i.Proposals += o.Proposals
	i.Accepted += o.Accepted
	i.Flips += o.Flips
}

// Acceptance returns the share of proposals that were accepted, and whether
// there were any.
func (i Info) Acceptance() (float64, bool) {
	if i.Proposals == 0 {
		return 0, false
	}
	return float64(i.Accepted) / float64(i.Proposals), true
}

// bindable checks what every mover's Bind is given and returns the sites, all
// of them for nil, in a slice of the caller's own. On an RBM all are all but
// softmax labels.
func bindable(s System, beta float64, sites []int32) ([]int32, error) {
	if !(beta >= 0) || !finite(beta) {
		return nil, fmt.Errorf("inverse temperature %g: give a finite number, 0 or more", beta)
	}
	n := s.Len()
	machine, isRBM := machineOf(s)
	if sites == nil {
		if isRBM {
			return machine.Sites(), nil
		}
		return everySite(n), nil
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("no sites to move on: give at least one, or nil for all")
	}
	seen := make([]bool, n)
	for _, i := range sites {
		switch {
		case i < 0 || int(i) >= n:
			return nil, fmt.Errorf("site %d: sites are numbered 0 to %d", i, n-1)
		case seen[i]:
			return nil, fmt.Errorf("site %d is given twice", i)
		case isRBM && machine.isLabel(i):
			return nil, fmt.Errorf("site %d is one of a softmax label, of which a flip would leave none or two on; leave out sites %d to %d and redraw the label from p(y|h)", i, machine.labels[0], machine.labels[1]-1)
		}
		seen[i] = true
	}
	return slices.Clone(sites), nil
}

func everySite(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
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
			panic("mcmc: a reference of the wrong length")
		}
		copy(x, reference)
	}
	for _, i := range key.Rand().Perm(n)[:active] {
		x[i] ^= 1
	}
	return x, nil
}

// copyState overwrites dst with a state that came from outside. It panics if
// the lengths differ or the state holds anything but 0 and 1.
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
