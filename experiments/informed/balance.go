package main

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A balance is the function g of a locally balanced proposal, g(t) = t·g(1/t) with t the ratio of the
// probabilities of two states (Zanella 2020).
type balance string

const (
	root    balance = "√t"
	ratio   balance = "t/(1+t)" // Barker's
	least   balance = "min(1,t)"
	largest balance = "max(1,t)"
)

var balances = []balance{root, ratio, least, largest}

// of returns g(exp(−x)) for a flip of cost x in units of temperature.
func (b balance) of(x float64) float64 {
	switch b {
	case root:
		return rbm.Exp(-x / 2)
	case least:
		return rbm.Exp(-max(x, 0))
	case largest:
		return rbm.Exp(-min(x, 0))
	}
	return heat(x)
}

// heat returns 1/(1 + exp(x)), the heat bath's probability of a flip of cost x in units of temperature.
func heat(x float64) float64 { return 1 / (1 + rbm.Exp(x)) }

const (
	curveEdge  = 32 // a curve is flat beyond
	curveCells = 32 // in a unit of βΔE
)

// A curve is a positive function of βΔE, linear between the entries of a table. Proposals and the acceptance use
// the curve itself on both ways, so that a move leaves exp(−βE) invariant whatever the curve is.
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

// A coster is a system that knows costs of all flips at once, to first order, where exact ones
// would take far longer.
type coster interface{ Costs(dst []float64) }

// flips are what informed proposals need of a system: the costs of all flips in a state, and flips of many bits.
type flips struct {
	system mcmc.System
	ising  *mcmc.Ising // the system, if it is an Ising: its calls are direct
	rbm    *mcmc.RBM   // the system, if it is an RBM
	coster coster      // the system, if it is one
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

// flip flips the sites, one after the other, and returns β times the rise of the energy.
func (f *flips) flip(sites []int32) float64 {
	before := f.system.Energy()
	for _, i := range sites {
		f.system.Flip(int(i))
	}
	return f.beta * (f.system.Energy() - before)
}

const (
	// warmMoves is the number of moves of a warm-up.
	warmMoves = mcmc.WarmUpMoves
)

// A dial is the logarithm of a length or of a step size that a warm-up drives to mcmc.TargetAcceptance and then
// freezes. The schedule is that of mcmc's walks: gains fall as 1/√t, and what stays is the mean of the second half.
type dial struct{ log, low, high float64 }

// warmUp drives d. move makes a move with the present setting and returns the probability with which it was accepted.
func (d *dial) warmUp(take func(), move func() (mcmc.Info, float64)) (total mcmc.Info) {
	mean := 0.0
	for t := range warmMoves {
		take()
		info, acceptance := move()
		total.Add(info)
		d.adapt(acceptance, 1/math.Sqrt(float64(1+t)))
		if t >= warmMoves/2 {
			mean += d.log / (warmMoves / 2)
		}
	}
	d.log = mean
	take()
	return total
}

// adapt moves d by gain times the difference of an acceptance from its target.
func (d *dial) adapt(acceptance, gain float64) {
	d.log = min(max(d.low, d.log+gain*(acceptance-mcmc.TargetAcceptance)), d.high)
}

// accept decides a move by the logarithm of its ratio and returns the probability of acceptance.
func accept(r *rand.Rand, log float64) (yes bool, p float64) {
	p = rbm.Exp(min(0, log))
	return r.Float64() < p, p
}

// A warmer is a chain that finds a setting in a warm-up and freezes it. Chains of package mcmc are, too.
type warmer interface {
	WarmUp(r *rand.Rand) mcmc.Info
}
