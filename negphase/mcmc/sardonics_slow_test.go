package mcmc

import (
	"math"
	"slices"

	"gorbm/negphase/mcmc/internal/walk"
)

// scorePath makes a given path as if it had been drawn in a move of
// type kind, and undoes it. It returns the logarithms of the
// probabilities of the path and of its reverse, and the increase of the energy, from which Move decides.
func (c *sardonicsChain) scorePath(kind int, p path) (forward, reverse, rise float64) {
	c.begin()
	for i, sites := range p {
		half := i / c.settings.Walks
		c.walker.segment(nil, sites, len(sites), typeBias[kind][half], &c.half[half])
	}
	forward, reverse = c.density()
	rise = c.walker.rise()
	c.walker.undo()
	return forward, reverse, rise
}

// A slowWalk is a simple implementation of SARDONICS as the paper states it. At every flip it recomputes the weights of
// all sites that may flip from the couplings, and it makes the
// reverse walk to compute its probability. Its flaws are mistakes that the tests
// must detect.
type slowWalk struct {
	Sardonics
	model  plain
	sites  []int32
	weight [2]func(cost float64) float64

	noFreed, noSwap bool
}

// newSlow returns a slowWalk with the weight function of the chain: any positive function
// is valid, but the two must agree up to rounding errors.
func newSlow(m Sardonics, g *Graph, beta float64, sites []int32, table bool) *slowWalk {
	s := &slowWalk{Sardonics: m, model: plainOf(g), sites: sites}
	if sites == nil {
		s.sites = everySite(g.Len())
	}
	family := walk.HeatBath
	if m.Weights == Boltzmann {
		family = walk.Boltzmann
	}
	for b, gamma := range []float64{m.Gamma1, m.Gamma2} {
		weights := walk.NewBias(family, len(s.sites), gamma*beta*2*g.maxField)
		if table {
			interpolated := walk.NewTable(weights)
			s.weight[b] = func(cost float64) float64 { return float64(interpolated.Weight(gamma * beta * cost)) }
		} else {
			s.weight[b] = func(cost float64) float64 { return float64(weights.Weight(gamma * beta * cost)) }
		}
	}
	return s
}

// walked makes one walk from x and returns its log probability. Sites in never
// cannot be drawn.
func (s *slowWalk) walked(x []uint8, walk []int32, bias int, never []int32) float64 {
	logp := 0.0
	for t, i := range walk {
		sum, own := 0.0, 0.0
		for _, j := range s.sites {
			if slices.Contains(walk[:t], j) || slices.Contains(never, j) && j != i {
				continue
			}
			w := s.weight[bias](s.model.delta(x, int(j)))
			sum += w
			if j == i {
				own = w
			}
		}
		logp += math.Log(own / sum)
		x[i] ^= 1
	}
	return logp
}

// path makes a path of the given type from x and returns its log probability.
func (s *slowWalk) path(x []uint8, p path, kind int, back bool) float64 {
	logp := 0.0
	for i, walk := range p {
		half := 0
		if !s.Single && i >= s.Walks {
			half = 1
		}
		if back && s.noSwap {
			half = 1 - half
		}
		var never []int32
		if back && s.noFreed {
			never = walk // broken: the sites that the walk flipped stay forbidden
		}
		logp += s.walked(x, walk, typeBias[kind][half], never)
	}
	return logp
}

// proportion returns the log probability of a type.
func (s *slowWalk) proportion(kind int) float64 {
	if s.Single {
		return math.Log([3]float64{1, 0, 0}[kind])
	}
	return math.Log(s.Mix[kind] / (s.Mix[0] + s.Mix[1] + s.Mix[2]))
}

func (s *slowWalk) scorePath(x0 []uint8, kind int, p path) (forward, reverse, rise float64) {
	x := slices.Clone(x0)
	var f, b float64
	for t := range 3 {
		x = slices.Clone(x0)
		f += math.Exp(s.proportion(t) + s.path(x, p, t, false))
		b += math.Exp(s.proportion(t) + s.path(x, reversed(p), t, true))
	}
	for _, w := range p {
		for _, i := range w {
			x[i] ^= 1
		}
	}
	return math.Log(f), math.Log(b), s.model.energy(x) - s.model.energy(x0)
}
