package mcmc

import (
	"fmt"
	"math/rand/v2"
)

// BlockGibbs updates an RBM layer by layer: all hidden units given the visible ones, then all visible
// units given the hidden ones, each unit with the flip probabilities of Gibbs. The units of a layer are
// independent given the other layer, so a move equals a sweep of Gibbs in that order, but is faster. It
// updates only units among the sites.
type BlockGibbs struct{}

// Bind returns the chain; see Mover. It is an error if s is not an RBM.
func (BlockGibbs) Bind(s System, beta float64, sites []int32) (Chain, error) {
	return newLayerwise("block-gibbs", s, beta, sites, Gibbs{})
}

// FlipTheState updates an RBM layer by layer like BlockGibbs, but each unit with the probabilities of
// ModifiedMetropolis. A unit always flips to its more probable value. To the less probable value it flips
// with probability equal to the ratio of the two probabilities. Units flip more often than in Gibbs
// sampling (Brügge, Fischer & Igel 2013). Between two equally probable values a unit flips with
// probability ½. If it always flipped, the chain of a model without weights would alternate
// between two states (Brügge, Fischer & Igel 2020, eq. 2 and theorem 1).
type FlipTheState struct{}

// Bind returns the chain; see Mover. It is an error if s is not an RBM.
func (FlipTheState) Bind(s System, beta float64, sites []int32) (Chain, error) {
	return newLayerwise("flip", s, beta, sites, ModifiedMetropolis{})
}

// A layerwise chain updates all units of a layer at once with the probabilities of a
// singleSite mover.
type layerwise struct {
	s       *RBM
	beta    float64
	sites   [2][]int32 // for each layer: indices in the layer
	accept  *squeeze
	count   bool       // Info counts proposals and acceptances
	flipped [2][]int32 // scratch: units that turn off, and units that turn on
}

func newLayerwise(name string, s System, beta float64, sites []int32, m singleSite) (Chain, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	r, ok := s.(*RBM)
	if !ok {
		return nil, fmt.Errorf("%s: updates by layers need an RBM; use another sampler", name)
	}
	c := &layerwise{s: r, beta: beta, accept: newSqueeze(m.flip), count: m.proposes()}
	for _, i := range sites {
		l, k := r.parameters.place(int(i))
		c.sites[l] = append(c.sites[l], int32(k))
	}
	for b := range c.flipped {
		c.flipped[b] = make([]int32, 0, max(len(c.sites[visible]), len(c.sites[hidden])))
	}
	return c, nil
}

// Reset does nothing: the chain has no caches.
func (c *layerwise) Reset() {}

// Move updates the hidden layer, then the visible one.
func (c *layerwise) Move(r *rand.Rand) Info {
	draws := newStream(r)
	flips := c.update(hidden, &draws) + c.update(visible, &draws)
	return sweepInfo(len(c.sites[hidden])+len(c.sites[visible]), flips, c.count)
}

func (c *layerwise) update(l int, draws *stream) (flips int) {
	s := c.s
	state, field, quantum := s.layer(l), s.field[l], s.parameters.quantum
	off, on := c.flipped[0][:0], c.flipped[1][:0]
	for _, i := range c.sites[l] {
		cost := spin(state[i]) * field[i]
		if !c.accept.happens(c.beta*(float64(cost)*quantum), draws.next()) {
			continue
		}
		s.energy += int64(cost) // flips in a layer do not change the costs there
		if state[i] != 0 {
			off = append(off, i)
		} else {
			on = append(on, i)
		}
		state[i] ^= 1
	}
	s.subtract(l, off)
	s.add(l, on)
	return len(off) + len(on)
}
