package mcmc

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// A Mixture repeatedly draws one of its samplers with equal probabilities and makes HeldMoves moves
// with it. Each sampler leaves exp(−βE) invariant, and the draws do not depend on the state, so the
// mixture leaves it invariant too.
//
// All samplers have the same form of weights and share the caches of one chain. On classes
// of equal cost, changing the sampler takes almost no time.
type Mixture []Sardonics

// HeldMoves is the number of moves that a Mixture makes with one sampler before it draws again. It keeps
// the cost of changing the sampler small: with 10 moves, changing took a fifth of the
// time of walks of 1 to 5 flips on 128 spins.
const HeldMoves = 100

// Bind returns the chain; see Mover. It is an error if there is no sampler, or if one does
// not fit s, has k=auto or differs in the form of weights.
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
	kernels []*sardonicsChain // one per sampler of the mixture
	biases  []biases          // for each kernel
	shared  walker            // of all kernels
	last    int               // the current kernel
	left    int               // moves left with the current kernel
}

// Reset recomputes the caches; see Chain. The next
// move draws a kernel, so that later moves do not depend on earlier ones.
func (c *mixtureChain) Reset() {
	c.left = 0
	c.shared.reset()
}

// Move makes one move. It draws a new kernel after HeldMoves moves.
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
