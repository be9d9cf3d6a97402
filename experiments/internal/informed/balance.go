// Package informed samples binary systems by locally balanced proposals, for experiments that compare them with the samplers of
// package mcmc. In these experiments none is faster than the best sampler of package mcmc.
package informed

import (
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Balance is the weight g(t) of a flip in a locally balanced proposal, where t is the probability of the new state
// divided by that of the current one, and g(t) = t·g(1/t) (Zanella 2020).
type Balance string

const (
	Root    Balance = "√t"
	Ratio   Balance = "t/(1+t)" // Barker's
	Least   Balance = "min(1,t)"
	Largest Balance = "max(1,t)"
)

// at returns g(exp(−x)) for a flip of cost x in units of temperature.
func (b Balance) at(x float64) float64 {
	switch b {
	case Root:
		return rbm.Exp(-x / 2)
	case Least:
		return rbm.Exp(-max(x, 0))
	case Largest:
		return rbm.Exp(-min(x, 0))
	}
	return heat(x)
}

// heat returns 1/(1 + exp(x)), the heat bath's probability of a flip of cost x in units of temperature.
func heat(x float64) float64 { return 1 / (1 + rbm.Exp(x)) }

const (
	curveEdge  = 32 // a curve is constant beyond ±curveEdge
	curveCells = 32 // cells per unit of βΔE
)

// A curve is a positive function of βΔE, linear between the entries of a table. Proposals and the acceptance both
// use the interpolated function, so that a move leaves exp(−βE) exactly invariant.
type curve [2*curveEdge*curveCells + 1]float64

// fill tabulates f.
func (c *curve) fill(f func(x float64) float64) {
	for k := range c {
		c[k] = f(float64(k)/curveCells - curveEdge)
	}
}

// at returns the function at x.
func (c *curve) at(x float64) float64 {
	t := (min(max(x, -curveEdge), curveEdge-0x1p-20) + curveEdge) * curveCells
	k := int(t)
	return c[k] + float64((t-float64(k))*(c[k+1]-c[k]))
}

// A coster is a system that computes the energy differences of all flips at once, to first order, because exact ones
// would take far longer.
type coster interface{ Costs(dst []float64) }

// flips wraps a system for locally balanced proposals: it computes the costs of all flips, and flips several bits at
// once. The cost of a flip is its energy difference.
type flips struct {
	system mcmc.System
	ising  *mcmc.Ising // the system, if it is an Ising system, for direct calls
	rbm    *mcmc.RBM   // the system, if it is an RBM
	coster coster      // the system, if it is a coster
	beta   float64
}

func newFlips(s mcmc.System, beta float64) flips {
	f := flips{system: s, beta: beta}
	switch s := s.(type) {
	case *mcmc.Ising:
		f.ising = s
	case *mcmc.RBM:
		f.rbm = s
	case coster:
		f.coster = s
	}
	return f
}

// costs overwrites dst with β times the cost of each flip.
func (f *flips) costs(dst []float64) {
	switch {
	case f.ising != nil:
		for i := range dst {
			dst[i] = f.beta * f.ising.FlipCost(i)
		}
	case f.rbm != nil:
		for i := range dst {
			dst[i] = f.beta * f.rbm.FlipCost(i)
		}
	case f.coster != nil:
		f.coster.Costs(dst)
		for i := range dst {
			dst[i] *= f.beta
		}
	default:
		for i := range dst {
			dst[i] = f.beta * f.system.FlipCost(i)
		}
	}
}

// flip flips the sites and returns β times the change of the energy.
func (f *flips) flip(sites []int32) float64 {
	before := f.system.Energy()
	for _, i := range sites {
		f.system.Flip(int(i))
	}
	return f.beta * (f.system.Energy() - before)
}
