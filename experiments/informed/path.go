package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A path is the path auxiliary sampler (Sun, Dai, Xia & Ramamurthy 2022): a move draws Length sites one after the
// other by locally balanced weights of the first state, flips them, and is accepted by the ratio of the probability of
// the path back, in reverse order by the weights of the last state, to that of the path there. Sites are drawn without
// replacement (PAFS of their program). With Correct a site may be drawn again, and after each draw the
// sign of its cost changes, as in their PAS with correction. Of one site it is the locally
// balanced sampler of single flips (Zanella 2020), which with costs to first order is Gibbs with gradients (Grathwohl et al. 2021).
//
// Of SARDONICS it differs in this alone: the weights of a walk are those of its first state, not of the state reached.
type path struct {
	Balance balance
	Length  int // sites of a move, or one less, equally likely; 0: a warm-up finds it
	Correct bool
}

// Bind implements mcmc.Mover. It takes all sites.
func (m path) Bind(s mcmc.System, beta float64, _ []int32) (mcmc.Chain, error) {
	n := s.Len()
	if m.Length < 0 || m.Length > n {
		return nil, fmt.Errorf("paths of %d flips on %d sites", m.Length, n)
	}
	c := &pathChain{flips: newFlips(s, beta), settings: m, dial: dial{log: rbm.Log(float64(min(20, n))), high: rbm.Log(float64(max(1, n-1)))}, length: m.Length}
	c.weight.fill(m.Balance.of)
	for k := range c.ends {
		c.ends[k] = ending{cost: make([]float64, n), tree: newTree(n)}
	}
	c.sites = make([]int32, 0, n)
	if c.length == 0 {
		c.take()
	}
	c.Reset()
	return c, nil
}

// An ending is the first or the last state of a path.
type ending struct {
	cost []float64 // of flips, times β
	tree tree      // of weights
}

type pathChain struct {
	flips
	settings path
	weight   curve
	dial     dial
	length   int
	ends     [2]ending // of the state, and memory of the next one
	sites    []int32   // of the path
}

// Reset implements mcmc.Chain.
func (c *pathChain) Reset() { c.weigh(&c.ends[0]) }

// weigh sets costs and weights of the present state.
func (c *pathChain) weigh(e *ending) {
	c.costs(e.cost)
	leaves := e.tree.leaves()
	for i, x := range e.cost {
		leaves[i] = c.weight.at(x)
	}
	e.tree.sum()
}

func (c *pathChain) take() { c.length = max(1, int(math.Round(rbm.Exp(c.dial.log)))) }

// WarmUp implements warmer.
func (c *pathChain) WarmUp(r *rand.Rand) mcmc.Info {
	if c.settings.Length > 0 {
		return mcmc.Info{}
	}
	return c.dial.warmUp(c.take, func() (mcmc.Info, float64) { return c.move(r) })
}

// Move implements mcmc.Chain.
func (c *pathChain) Move(r *rand.Rand) mcmc.Info {
	info, _ := c.move(r)
	return info
}

func (c *pathChain) move(r *rand.Rand) (mcmc.Info, float64) {
	length := c.length
	if length > 1 { // with paths of one length parity would keep half of the states apart
		length -= r.IntN(2)
	}
	var there logProduct
	c.sites = c.sites[:0]
	first := &c.ends[0]
	for range length {
		i := first.tree.draw(r.Float64())
		c.draw(first, i, &there)
		c.sites = append(c.sites, int32(i))
	}
	c.restore(first)
	rise := c.flip(c.sites)
	back := c.scoreBack(&c.ends[1])
	yes, p := accept(r, back-there.value()-rise)
	info := mcmc.Info{Moves: 1, Updates: int64(length), Proposals: 1, Flips: int64(length)}
	if yes {
		info.Accepted = 1
		c.ends[0], c.ends[1] = c.ends[1], c.ends[0]
	} else {
		c.flip(c.sites)
	}
	return info, p
}

// scoreBack returns the logarithm of the probability of the path back from the present state, the last one, to
// which it sets e.
func (c *pathChain) scoreBack(e *ending) float64 {
	c.weigh(e)
	var back logProduct
	for t := len(c.sites) - 1; t >= 0; t-- {
		c.draw(e, int(c.sites[t]), &back)
	}
	c.restore(e)
	return back.value()
}

// draw multiplies p by the probability of drawing a site and sets its weight for the draws after it.
func (c *pathChain) draw(e *ending, i int, p *logProduct) {
	p.times(e.tree.at(i), e.tree.total())
	if !c.settings.Correct {
		e.tree.set(i, 0)
		return
	}
	e.cost[i] = -e.cost[i]
	e.tree.set(i, c.weight.at(e.cost[i]))
}

// restore undoes the changes of all draws of the path.
func (c *pathChain) restore(e *ending) {
	for _, i := range c.sites {
		if c.settings.Correct {
			e.cost[i] = -e.cost[i]
		}
		e.tree.set(int(i), c.weight.at(e.cost[i]))
	}
}

// A tree holds weights and sums of pairs of them, of pairs of pairs and so on. A sum depends on the weights alone.
type tree []float64

func newTree(n int) tree { return make(tree, 2<<bits.Len(uint(n-1))) }

func (t tree) leaves() []float64 { return t[len(t)/2:] }
func (t tree) at(i int) float64  { return t[len(t)/2+i] }
func (t tree) total() float64    { return t[1] }
func (t tree) sum() {
	for k := len(t)/2 - 1; k > 0; k-- {
		t[k] = t[2*k] + t[2*k+1]
	}
}

func (t tree) set(i int, w float64) {
	k := len(t)/2 + i
	t[k] = w
	for k /= 2; k > 0; k /= 2 {
		t[k] = t[2*k] + t[2*k+1]
	}
}

// draw returns the site into whose share of the total the share u falls. It has a weight.
func (t tree) draw(u float64) int {
	x, k := u*t[1], 1
	for k < len(t)/2 {
		k *= 2
		if x >= t[k] && t[k+1] > 0 {
			x -= t[k]
			k++
		}
	}
	return k - len(t)/2
}

// A logProduct is the logarithm of a product of quotients.
type logProduct struct {
	above, below, log float64
	n                 int
}

// times multiplies it by a/b. Weights reach from exp(−32) to exp(32) and sums to 10⁴ of them.
func (p *logProduct) times(a, b float64) {
	if p.n%8 == 0 {
		p.log = p.value()
		p.above, p.below = 1, 1
	}
	p.n++
	p.above *= a
	p.below *= b
}

func (p *logProduct) value() float64 {
	if p.n == 0 {
		return 0
	}
	return p.log + rbm.Log(p.above) - rbm.Log(p.below)
}
