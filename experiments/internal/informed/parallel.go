package informed

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Coin is the probability that a parallel move flips a site, as a function of x, β times the cost of the flip, and of the step size.
type Coin string

const (
	// Langevin is σ(−x/2 − 1/(2·step)), the discrete Langevin proposal DMALA (Zhang, Liu & Liu 2022).
	Langevin Coin = "DMALA"
	// DLMCRoot is ν(1 − exp(−step·g/ν)) with ν = σ(−x), g = √t and t = exp(−x). This is DLMC (Sun et al. 2023), which
	// simulates the jump process with rates g for a time step, as if the other sites did not change.
	DLMCRoot Coin = "DLMC, √t"
	// DLMCRatio is the same with g = t/(1+t) = ν. It is a heat bath of each site with probability 1 − exp(−step).
	DLMCRatio Coin = "DLMC, t/(1+t)"
)

// rare is the least probability of a flip, and 1 − rare the largest, so that products of them do not underflow.
const rare = 1e-9

func (c Coin) chance(x, step float64) (p float64) {
	switch nu := heat(x); c {
	case Langevin:
		p = heat(x/2 + 1/(2*step))
	case DLMCRoot:
		p = nu * (1 - rbm.Exp(-step*Root.at(x)/nu))
	default:
		p = nu * (1 - rbm.Exp(-step))
	}
	return min(max(p, rare), 1-rare)
}

// A Parallel move flips each site independently, and is accepted by the Metropolis–Hastings rule.
type Parallel struct {
	Coin Coin
	Step float64 // step size; 0: a warm-up tunes it
}

// Bind implements mcmc.Mover. The chain updates all sites.
func (m Parallel) Bind(s mcmc.System, beta float64, _ []int32) (mcmc.Chain, error) {
	return first(Bind(m, beta, s))
}

func (m Parallel) setting(int) (*setting, error) {
	if !(m.Step >= 0) {
		return nil, fmt.Errorf("%s: a step of %v", m.Coin, m.Step)
	}
	const first, decades = 0.1, 1e6
	s := &setting{given: m.Step > 0, log: rbm.Log(cmp.Or(m.Step, first)), low: -rbm.Log(decades), high: rbm.Log(decades), take: func(s *setting) {
		s.value = rbm.Exp(s.log)
		s.curve.fill(func(x float64) float64 { return m.Coin.chance(x, s.value) })
	}}
	s.take(s)
	return s, nil
}

func (m Parallel) chain(shared chain) Chain {
	c := &parallelChain{chain: shared}
	c.proposal = c
	for k := range c.chance {
		c.chance[k] = make([]float64, c.system.Len())
	}
	return c
}

type parallelChain struct {
	chain
	chance [2][]float64 // probability of a flip by site, in the first and in the last state
}

// weigh implements proposal.
func (c *parallelChain) weigh(last bool) {
	dst := c.chance[0]
	if last {
		dst = c.chance[1]
	}
	c.costs(dst)
	for i, x := range dst {
		dst[i] = c.curve.at(x)
	}
}

// draw implements proposal.
func (c *parallelChain) draw(r *rand.Rand) int64 {
	draws := rand.PCG{}
	draws.Seed(r.Uint64(), r.Uint64())
	c.sites = c.sites[:0]
	for i, p := range c.chance[0] {
		if float64(draws.Uint64()>>11)*0x1p-53 < p {
			c.sites = append(c.sites, int32(i))
		}
	}
	return int64(len(c.chance[0]))
}

// keep implements proposal.
func (c *parallelChain) keep() { c.chance[0], c.chance[1] = c.chance[1], c.chance[0] }

// score implements proposal.
func (c *parallelChain) score() (log float64) {
	const block = 32 // number of factors of at least rare whose product does not underflow
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
