package mcmc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Mixture draws one of its samplers, all with equal chance, makes HeldMoves moves
// with it and draws again. If each of them leaves exp(−βE) invariant, the mixture
// does, because the draws do not depend on the state.
//
// Mixtures of Sardonics, or of Intracluster moves, that have
// the same form of weights share the caches of one chain. On classes of equal
// cost a change of sampler then costs next to nothing. The chains of other
// mixtures renew their caches whenever the sampler changes.
type Mixture []Mover

// HeldMoves is the number of moves that a Mixture makes with one sampler, so that
// a change of sampler costs little compared with the moves: with 10 it took a fifth of the
// time of walks of 1 to 5 flips on 128 spins.
const HeldMoves = 100

// Bind returns the chain; see Mover. It is an error if one of the samplers does
// not fit s or finds its lengths itself, or if there are none.
func (m Mixture) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if len(m) == 0 {
		return nil, errors.New("a mixture of no samplers: give at least one")
	}
	for _, kernel := range m {
		if FindsLength(kernel) {
			return nil, fmt.Errorf("%s in a mixture: each of its samplers needs lengths of its own; give k a number or a range", FormatMover(kernel))
		}
	}
	if walks, ok := all[Sardonics](m); ok && !slices.ContainsFunc(walks, func(x Sardonics) bool { return x.Weights != walks[0].Weights }) {
		return bindSardonics(walks, s, beta, sites)
	}
	if moves, ok := all[Intracluster](m); ok && !slices.ContainsFunc(moves, func(x Intracluster) bool { return x.Weights != moves[0].Weights }) {
		return bindIntracluster(moves, s, beta, sites)
	}
	c := new(mixtureChain)
	for _, kernel := range m {
		chain, err := kernel.Bind(s, beta, sites)
		if err != nil {
			return nil, err
		}
		c.kernels = append(c.kernels, chain)
	}
	return c, nil
}

// all returns the samplers of m as values of one type, if they have it.
func all[M Mover](m Mixture) (of []M, ok bool) {
	for _, kernel := range m {
		x, ok := kernel.(M)
		if !ok {
			return nil, false
		}
		of = append(of, x)
	}
	return of, true
}

// bindSardonics binds walks of equal Weights to one walker.
func bindSardonics(m []Sardonics, s System, beta float64, sites []int32) (Chain, error) {
	longest, two := 0, false
	for _, x := range m {
		longest, two = max(longest, x.MaxLength), two || x.mixed()
	}
	c := new(mixtureChain)
	var all []int32
	for _, x := range m {
		sites, err := x.bindable(s, beta, sites)
		if err != nil {
			return nil, err
		}
		b, err := x.biases(s, beta, len(sites), two)
		if err != nil {
			return nil, err
		}
		c.biases, all = append(c.biases, b), sites
	}
	c.shared = newSardonicsWalker(m[0].Weights, s, all, c.biases[0], longest)
	for _, x := range m {
		c.kernels = append(c.kernels, x.chain(c.shared, beta))
	}
	return c, nil
}

// bindIntracluster binds moves of equal Weights to one walker.
func bindIntracluster(m []Intracluster, s System, beta float64, sites []int32) (Chain, error) {
	c := new(mixtureChain)
	var shell shellWalker
	for i, x := range m {
		sites, b, err := x.bindable(s, beta, sites)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			shell = newShellWalker(x.Weights, s, sites, b)
		}
		chain, err := x.chain(shell, beta, len(sites))
		if err != nil {
			return nil, err
		}
		c.kernels, c.biases = append(c.kernels, chain), append(c.biases, b)
	}
	c.shared = shell
	return c, nil
}

// A mixtureChain is a Mixture on one system.
type mixtureChain struct {
	kernels []Chain
	last    int // the kernel whose caches, or whose biases, are current
	left    int // moves to make with it

	// Of kernels that share a walker; nil otherwise.
	shared walker
	biases []biases // of each kernel
}

// Reset takes over the state of the system after it was changed elsewhere. The next
// move draws a kernel, so that what follows does not depend on what was before.
func (c *mixtureChain) Reset() {
	c.left = 0
	if c.shared == nil {
		c.kernels[c.last].Reset()
		return
	}
	c.shared.reset()
	for _, k := range c.kernels {
		if im, ok := k.(*intraclusterChain); ok {
			im.fit()
		}
	}
}

// Move makes one move. It draws a kernel for it if one is due.
func (c *mixtureChain) Move(r *rand.Rand) Info {
	if c.left == 0 {
		c.left = HeldMoves
		c.take(r.IntN(len(c.kernels)))
	}
	c.left--
	return c.kernels[c.last].Move(r)
}

// take makes kernel k the current one.
func (c *mixtureChain) take(k int) {
	switch {
	case k == c.last:
		return
	case c.shared != nil:
		c.shared.rebias(c.biases[k])
	default:
		c.kernels[k].Reset()
	}
	c.last = k
}

// Warning returns the first warning of a kernel, if no kernel is without one:
// a mixture with one kernel that reaches all states reaches all states.
func (c *mixtureChain) Warning() string {
	first := ""
	for _, k := range c.kernels {
		w, ok := k.(Warner)
		if !ok || w.Warning() == "" {
			return ""
		}
		if first == "" {
			first = fmt.Sprintf("each sampler of the mixture: %s", w.Warning())
		}
	}
	return first
}

var _ Mover = Mixture(nil)
