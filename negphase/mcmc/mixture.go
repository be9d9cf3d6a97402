package mcmc

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// A Mixture draws one of its samplers, all with equal chance, makes HeldMoves moves
// with it and draws again. If each of them leaves exp(−βE) invariant, the mixture
// does, because the draws do not depend on the state.
//
// Its samplers have the same form of weights and share the caches of one chain. On classes
// of equal cost a change of sampler then costs next to nothing.
type Mixture []Sardonics

// HeldMoves is the number of moves that a Mixture makes with one sampler, so that
// a change of sampler costs little compared with the moves: with 10 it took a fifth of the
// time of walks of 1 to 5 flips on 128 spins.
const HeldMoves = 100

// Bind returns the chain; see Mover. It is an error if one of the samplers does
// not fit s, finds its lengths itself or has another form of weights, or if there are none.
func (m Mixture) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if len(m) == 0 {
		return nil, errors.New("a mixture of no samplers: give at least one")
	}
	longest, two := 0, false
	for _, x := range m {
		switch {
		case x.Auto:
			return nil, fmt.Errorf("%s in a mixture: each of its samplers needs lengths of its own; give k a number or a range", FormatMover(x))
		case x.Weights != m[0].Weights:
			return nil, fmt.Errorf("a mixture of %s and %s weights: give all samplers the same", m[0].Weights, x.Weights)
		}
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

// A mixtureChain is a Mixture on one system.
type mixtureChain struct {
	kernels []*sardonicsChain
	biases  []biases // for each kernel
	shared  walker
	last    int // the kernel whose biases are current
	left    int // moves to make with it
}

// Reset takes over the state of the system after it was changed elsewhere. The next
// move draws a kernel, so that what follows does not depend on what was before.
func (c *mixtureChain) Reset() {
	c.left = 0
	c.shared.reset()
}

// Move makes one move. It draws a kernel for it if one is due.
func (c *mixtureChain) Move(r *rand.Rand) Info {
	if c.left == 0 {
		c.left = HeldMoves
		if k := r.IntN(len(c.kernels)); k != c.last {
			c.shared.rebias(c.biases[k])
			c.last = k
		}
	}
	c.left--
	return c.kernels[c.last].Move(r)
}

var _ Mover = Mixture(nil)
