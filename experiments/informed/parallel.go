package main

import (
	"fmt"
	"math/rand/v2"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A coin is the probability with which a parallel move flips a site, a function of β times the cost x of that flip and of the step size.
type coin string

const (
	// langevin is σ(−x/2 − 1/(2·step)): DMALA, the discrete Langevin proposal (Zhang, Liu & Liu 2022).
	langevin coin = "DMALA"
	// dlmcRoot is ν(1 − exp(−step·g/ν)), ν = σ(−x), with g = √t: DLMC (Sun et al. 2023), which follows the
	// jump process of rates g for a time step, each site as if the others stayed.
	dlmcRoot coin = "DLMC, √t"
	// dlmcRatio is the same with g = t/(1+t) = ν: a heat bath of each site with probability 1 − exp(−step).
	dlmcRatio coin = "DLMC, t/(1+t)"
)

// rare bounds probabilities of flips away from 0 and 1, for products of them.
const rare = 1e-9

func (c coin) chance(x, step float64) (p float64) {
	switch nu := heat(x); c {
	case langevin:
		p = heat(x/2 + 1/(2*step))
	case dlmcRoot:
		p = nu * (1 - rbm.Exp(-step*root.of(x)/nu))
	default:
		p = nu * (1 - rbm.Exp(-step))
	}
	return min(max(p, rare), 1-rare)
}

// A parallel move flips each site by a separate coin,
// and is accepted by Metropolis & Hastings' ratio.
type parallel struct {
	Coin coin
	Step float64 // 0: a warm-up finds it
}

// Bind implements mcmc.Mover. It takes all sites.
func (m parallel) Bind(s mcmc.System, beta float64, _ []int32) (mcmc.Chain, error) {
	if !(m.Step >= 0) {
		return nil, fmt.Errorf("%s: a step of %v", m.Coin, m.Step)
	}
	const first, decades = 0.1, 1e6
	n := s.Len()
	c := &parallelChain{flips: newFlips(s, beta), settings: m, step: m.Step, sites: make([]int32, 0, n),
		dial: dial{log: rbm.Log(first), low: -rbm.Log(decades), high: rbm.Log(decades)}}
	for k := range c.chance {
		c.chance[k] = make([]float64, n)
	}
	if m.Step == 0 {
		c.step = first
	}
	c.retable()
	c.Reset()
	return c, nil
}

type parallelChain struct {
	flips
	settings parallel
	curve    curve
	dial     dial
	step     float64
	chance   [2][]float64 // of a flip, by site, in the present state; and memory of the next one
	sites    []int32      // that the move flips
}

func (c *parallelChain) retable() {
	c.curve.fill(func(x float64) float64 { return c.settings.Coin.chance(x, c.step) })
}

// Reset implements mcmc.Chain.
func (c *parallelChain) Reset() { c.chances(c.chance[0]) }

// chances sets dst to the chances of flips in the present state.
func (c *parallelChain) chances(dst []float64) {
	c.costs(dst)
	for i, x := range dst {
		dst[i] = c.curve.at(x)
	}
}

// WarmUp implements warmer.
func (c *parallelChain) WarmUp(r *rand.Rand) mcmc.Info {
	if c.settings.Step > 0 {
		return mcmc.Info{}
	}
	return c.dial.warmUp(func() {
		c.step = rbm.Exp(c.dial.log)
		c.retable()
		c.Reset()
	}, func() (mcmc.Info, float64) { return c.move(r) })
}

// Move implements mcmc.Chain.
func (c *parallelChain) Move(r *rand.Rand) mcmc.Info {
	info, _ := c.move(r)
	return info
}

func (c *parallelChain) move(r *rand.Rand) (mcmc.Info, float64) {
	draws := rand.PCG{}
	draws.Seed(r.Uint64(), r.Uint64())
	c.sites = c.sites[:0]
	for i, p := range c.chance[0] {
		if float64(draws.Uint64()>>11)*0x1p-53 < p {
			c.sites = append(c.sites, int32(i))
		}
	}
	rise := c.flip(c.sites)
	c.chances(c.chance[1])
	yes, p := accept(r, c.scoreBack()-rise)
	info := mcmc.Info{Moves: 1, Updates: int64(len(c.chance[0])), Proposals: 1, Flips: int64(len(c.sites))}
	if yes {
		info.Accepted = 1
		c.chance[0], c.chance[1] = c.chance[1], c.chance[0]
	} else {
		c.flip(c.sites)
	}
	return info, p
}

// scoreBack returns the logarithm of the probability of the flips of sites by the chances of the last state over
// that by those of the first one.
func (c *parallelChain) scoreBack() (log float64) {
	const block = 32 // factors, rare each, that a product of float64 has room for
	there, back, k := 1.0, 1.0, 0
	for i, p := range c.chance[0] {
		q := c.chance[1][i]
		if k < len(c.sites) && c.sites[k] == int32(i) {
			k++
		} else {
			p, q = 1-p, 1-q
		}
		there, back = there*p, back*q
		if i%block == block-1 {
			log += rbm.Log(back) - rbm.Log(there)
			there, back = 1, 1
		}
	}
	return log + rbm.Log(back) - rbm.Log(there)
}
