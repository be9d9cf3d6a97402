package main

import (
	"math/rand/v2"
	"slices"

	"gorbm/experiments/internal/informed"
	"gorbm/negphase/mcmc"
)

// A contestant is a sampler in a contest.
type contestant struct {
	name  string
	mover mcmc.Mover
	free  bool // samples p(v), with energy differences to first order
	new   bool // an informed proposal that rbmtrain and isingmc do not have
	every int  // moves between observations
}

const (
	observeEvery = 4
	// singleEvery is for moves of one flip on lattices and on both layers, which take 1 µs.
	singleEvery = 64
)

// Names of contestants in claims and pictures.
const (
	blockGibbs = "block Gibbs"
	withIM     = "block Gibbs + IM"
	tempering  = "tempering"
	sardonics  = "SARDONICS"
	single     = "LB"
	pasRoot    = "PAS, √t"
	gibbs      = "Gibbs"
	metropolis = "Metropolis"
	clusters   = "Wolff"
)

// fresh returns the new samplers that a warm-up tunes, and on p(v) also LB.
func fresh(free bool) (all []contestant) {
	if free {
		all = append(all, contestant{name: single, mover: informed.Path{Balance: informed.Ratio, Length: 1}})
	}
	for _, m := range informed.Tuned() {
		all = append(all, contestant{name: m.Name, mover: m.Mover})
	}
	for i := range all {
		all[i].free, all[i].new, all[i].every = free, true, observeEvery
	}
	return all
}

// mover parses a sampler.
func mover(text string) mcmc.Mover {
	m, err := mcmc.ParseMover(text, mcmc.Linear)
	if err != nil {
		panic(err) // a constant of this file
	}
	return m
}

// old returns first and the samplers that run on both kinds of systems. SARDONICS with walks of one flip is the locally balanced
// sampler of single flips, and faster than a path of one flip.
func old(first []contestant, ladder mcmc.Mover) []contestant {
	all := append(first,
		contestant{name: tempering, mover: ladder, every: observeEvery},
		contestant{name: sardonics, mover: mover("sardonics:k=auto"), every: observeEvery},
		contestant{name: single, mover: mover("sardonics:k=1:gamma=1:walks=single"), every: singleEvery, new: true})
	for i := range first {
		all[i].every = observeEvery
	}
	return all
}

func onRBM() []contestant {
	ladder := mcmc.Tempering{Swapping: mcmc.Swaps, Mover: mcmc.BlockGibbs{}, Replicas: 6, Hottest: 1.5}
	all := old([]contestant{{name: blockGibbs, mover: mcmc.BlockGibbs{}}, {name: withIM, mover: alternate{mcmc.BlockGibbs{}, mover("im:k=auto")}}}, ladder)
	return append(append(all, fresh(false)...), fresh(true)...)
}

// longNames are the samplers of figure long: the old ones, and the fastest new one of each kind on both layers.
var longNames = []string{blockGibbs, tempering, sardonics, single, "PAS, t/(1+t)", string(informed.DLMCRatio)}

// only returns the contestants with these names that sample both layers.
func only(all []contestant, names []string) []contestant {
	return slices.DeleteFunc(all, func(x contestant) bool { return x.free || !slices.Contains(names, x.name) })
}

func onLattice() []contestant {
	ladder := mcmc.Tempering{Swapping: mcmc.Swaps, Mover: mcmc.Gibbs{}, Replicas: 8, Hottest: 2}
	all := old([]contestant{{name: gibbs, mover: mcmc.Gibbs{}}, {name: metropolis, mover: mover("modified-metropolis:order=chessboard")}, {name: clusters, mover: mover("wolff")}}, ladder)
	return append(all, fresh(false)...)
}

// A move of alternate is a move of the first sampler and then a move of the second. The second keeps the number of units
// that are on.
type alternate struct{ first, second mcmc.Mover }

// Bind implements mcmc.Mover.
func (m alternate) Bind(s mcmc.System, beta float64, sites []int32) (mcmc.Chain, error) {
	a, err := m.first.Bind(s, beta, sites)
	if err != nil {
		return nil, err
	}
	b, err := m.second.Bind(s, beta, sites)
	return &alternating{a, b}, err
}

type alternating struct{ first, second mcmc.Chain }

// Move implements mcmc.Chain.
func (c *alternating) Move(r *rand.Rand) mcmc.Info {
	info := c.first.Move(r)
	c.second.Reset()
	info.Add(c.second.Move(r))
	c.first.Reset()
	info.Moves = 1
	return info
}

// Reset implements mcmc.Chain.
func (c *alternating) Reset() {
	c.first.Reset()
	c.second.Reset()
}

// WarmUp implements mcmc.Adaptive. It tunes the second sampler.
func (c *alternating) WarmUp(r *rand.Rand) mcmc.Info {
	info := c.second.(mcmc.Adaptive).WarmUp(r)
	c.first.Reset()
	return info
}

// setting returns the setting that the warm-up of a chain found: flips of a walk or path, a step size, or 0 if there is none.
func setting(c mcmc.Chain) float64 {
	if a, ok := c.(*alternating); ok {
		c = a.second
	}
	switch c := c.(type) {
	case informed.Chain:
		return c.Setting()
	case mcmc.Adaptive:
		_, high := c.Lengths()
		return float64(high)
	}
	return 0
}

// newNames returns the names of the new samplers that sample p(v), if free, and otherwise of the other new samplers.
func newNames(all []contestant, free bool) (names []string) {
	for _, c := range all {
		if c.new && c.free == free {
			names = append(names, c.name)
		}
	}
	return names
}
