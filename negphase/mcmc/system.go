package mcmc

import "math/rand/v2"

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
