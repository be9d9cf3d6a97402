package mcmc

import (
	"cmp"
	"fmt"
	"slices"

	"gorbm/rbm"
)

// Gibbs is the heat bath: it draws the value of a site from its
// conditional distribution, so that the site flips with probability
// 1/(1 + exp(βΔE)). A move is a sweep with one update per site.
type Gibbs struct{ Order Order }

// Bind returns the chain; see Mover.
func (g Gibbs) Bind(s System, beta float64, sites []int32) (Chain, error) {
	return newSweep(s, beta, sites, g)
}

func (g Gibbs) order() Order         { return g.Order }
func (Gibbs) flip(x float64) float64 { return 1 / (1 + rbm.Exp(x)) }
func (Gibbs) proposes() bool         { return false }

// Metropolis proposes the flip of a site and accepts it with probability
// min(1, exp(−βΔE)). A move is a sweep with one update per site. In
// a fixed order the chain may be reducible if some flips have ΔE = 0 (Friedberg &
// Cameron 1970). Its chains are Warners and warn of this. Where every flip costs nothing, at β = 0 or
// without couplings and fields, a sweep would accept all flips, and the parity of the spins would depend
// on the number of sweeps alone. There the chain accepts with probability ½, as ModifiedMetropolis does.
type Metropolis struct{ Order Order }

// Bind returns the chain; see Mover.
func (m Metropolis) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if beta == 0 || flat(s) {
		return ModifiedMetropolis(m).Bind(s, beta, sites)
	}
	c, err := newSweep(s, beta, sites, m)
	if err != nil {
		return nil, err
	}
	return &metropolis{sweep: *c}, nil
}

func (m Metropolis) order() Order { return m.Order }
func (Metropolis) proposes() bool { return true }
func (Metropolis) flip(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return rbm.Exp(-x)
}

// ModifiedMetropolis is Metropolis, except that it accepts a flip with ΔE = 0
// with probability ½ (Brügge, Fischer & Igel 2020, eq. 2).
// This makes the chain irreducible and aperiodic in every fixed order (Theorem 1). On
// an Ising system ΔE has no rounding error.
type ModifiedMetropolis struct{ Order Order }

// Bind returns the chain; see Mover.
func (m ModifiedMetropolis) Bind(s System, beta float64, sites []int32) (Chain, error) {
	return newSweep(s, beta, sites, m)
}

func (m ModifiedMetropolis) order() Order { return m.Order }
func (ModifiedMetropolis) proposes() bool { return true }
func (ModifiedMetropolis) flip(x float64) float64 {
	if x == 0 {
		return 0.5
	}
	return Metropolis{}.flip(x)
}

// metropolis is a sweep that can warn that it may be reducible.
type metropolis struct{ sweep }

// Warning implements Warner.
func (c *metropolis) Warning() string {
	if c.order != Random && c.ising != nil && c.ising.graph.ties(c.sites) {
		return "metropolis in a fixed order accepts every flip that costs nothing and may never reach some states; use modified-metropolis, or order=random"
	}
	return ""
}

// tieWork is the largest number of sums that ties computes, in some 0.1 s.
const tieWork = 1 << 20

// ties reports whether some state of the graph has a flip of one of the sites with ΔE = 0.
// If the search exceeds tieWork, it reports whether the graph is an integer graph.
func (g *Graph) ties(sites []int32) bool {
	if g.weight != nil {
		return cancels(g, g.bias, g.weight, sites)
	}
	return cancels(g, g.field, g.coupling, sites)
}

// cancels implements ties: it reports whether the local field of one of the sites can be 0. All sums of
// field and coupling must be exact.
func cancels[T int32 | float64](g *Graph, field, coupling []T, sites []int32) bool {
	work := 0
	for _, i := range sites {
		lo, hi := g.start[i], g.start[i+1]
		// All possible values of the local field due to the neighbours so far.
		sums := map[T]bool{field[i]: true}
		for _, c := range coupling[lo:hi] {
			next := make(map[T]bool, 2*len(sums))
			for sum := range sums {
				next[sum-c], next[sum+c] = true, true
			}
			sums = next
			if work += len(sums); work > tieWork {
				return g.weight != nil
			}
		}
		if sums[0] {
			return true
		}
	}
	return false
}

// An Order is the order of the single-site updates of a sweep.
type Order int

const (
	// Linear updates the sites in the order in which Bind gets them, or all sites in ascending order if
	// Bind gets none.
	Linear Order = iota
	// Chessboard updates the sites with even x+y+z first, then those with odd x+y+z.
	// On a periodic side of odd length, neighbours across the boundary have the same parity.
	Chessboard
	// Random updates one uniformly random site at a time, in total as many as there are sites.
	Random
)

var orderNames = []string{"linear", "chessboard", "random"}

// Orders returns the names of all orders.
func Orders() []string { return slices.Clone(orderNames) }

func (o Order) String() string {
	if o < 0 || int(o) >= len(orderNames) {
		return fmt.Sprintf("Order(%d)", int(o))
	}
	return orderNames[o]
}

// sequence returns the sites of a sweep over s in the order of their updates; for Random, the sites to
// draw from.
func (o Order) sequence(s System, sites []int32) ([]int32, error) {
	switch o {
	case Linear, Random:
		return sites, nil
	case Chessboard:
	default:
		return nil, fmt.Errorf("order %v: one of linear, chessboard, random", o)
	}
	is, ok := s.(*Ising)
	if !ok || is.graph.parity == nil {
		return nil, fmt.Errorf("order chessboard: the system is not a lattice; use linear or random")
	}
	parity := is.graph.parity
	slices.SortStableFunc(sites, func(a, b int32) int { return cmp.Compare(parity[a], parity[b]) })
	return sites, nil
}
