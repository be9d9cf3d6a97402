package informed

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Path is the path auxiliary sampler (Sun, Dai, Xia & Ramamurthy 2022). A move draws a path of sites, one after the
// other, with the locally balanced weights of the first state, and flips them. The acceptance ratio is
// exp(−βΔE) times the probability of the reverse path divided by that of the path. The reverse path draws the same sites in reverse order,
// with the weights of the last state. Sites are drawn without replacement (PAFS in the authors' program). With Correct a
// site may be drawn again, and the cost of its flip, an energy difference, changes sign after each draw, as in the
// authors' PAS with correction. A path of one site is the locally balanced sampler of single flips (Zanella 2020). If
// also the costs are first-order approximations, it is Gibbs with gradients (Grathwohl et al. 2021).
//
// SARDONICS recomputes the weights after each flip; a path keeps those of its first state.
type Path struct {
	Balance Balance
	Length  int // a move draws Length or Length−1 sites, with probability ½ each; 0: a warm-up tunes it
	Correct bool
}

// Bind implements mcmc.Mover. The chain updates all sites.
func (m Path) Bind(s mcmc.System, beta float64, _ []int32) (mcmc.Chain, error) {
	return first(Bind(m, beta, s))
}

func (m Path) setting(n int) (*setting, error) {
	if m.Length < 0 || m.Length > n {
		return nil, fmt.Errorf("paths of %d flips on %d sites", m.Length, n)
	}
	s := &setting{given: m.Length > 0, value: float64(m.Length), log: rbm.Log(float64(min(20, n))), high: rbm.Log(float64(max(1, n-1))),
		take: func(s *setting) { s.value = max(1, math.Round(rbm.Exp(s.log))) }}
	s.curve.fill(m.Balance.at)
	if !s.given {
		s.take(s)
	}
	return s, nil
}

func (m Path) chain(shared chain) Chain {
	c := &pathChain{chain: shared, settings: m}
	c.proposal = c
	for k := range c.ends {
		n := c.system.Len()
		c.ends[k] = ending{cost: make([]float64, n), tree: newTree(n)}
	}
	return c
}

// An ending is the first or the last state of a path.
type ending struct {
	cost []float64 // β times the costs of flips
	tree tree      // weights
}

type pathChain struct {
	chain
	settings Path
	ends     [2]ending  // first and last state
	there    logProduct // probability of the path
}

// weigh implements proposal.
func (c *pathChain) weigh(last bool) {
	e := &c.ends[0]
	if last {
		e = &c.ends[1]
	}
	c.costs(e.cost)
	leaves := e.tree.leaves()
	for i, x := range e.cost {
		leaves[i] = c.curve.at(x)
	}
	e.tree.sum()
}

// draw implements proposal.
func (c *pathChain) draw(r *rand.Rand) int64 {
	length := int(c.value)
	if length > 1 { // with a single length, parity could make half of the states unreachable
		length -= r.IntN(2)
	}
	c.there = logProduct{}
	c.sites = c.sites[:0]
	first := &c.ends[0]
	for range length {
		i := first.tree.draw(r.Float64())
		c.pass(first, i, &c.there)
		c.sites = append(c.sites, int32(i))
	}
	c.restore(first)
	return int64(length)
}

// score implements proposal.
func (c *pathChain) score() float64 {
	var back logProduct
	last := &c.ends[1]
	for _, i := range slices.Backward(c.sites) {
		c.pass(last, int(i), &back)
	}
	c.restore(last)
	return back.value() - c.there.value()
}

// keep implements proposal.
func (c *pathChain) keep() { c.ends[0], c.ends[1] = c.ends[1], c.ends[0] }

// pass multiplies p by the probability of drawing site i, and sets the weight of the site for the following draws.
func (c *pathChain) pass(e *ending, i int, p *logProduct) {
	p.times(e.tree.at(i), e.tree.total())
	if !c.settings.Correct {
		e.tree.set(i, 0)
		return
	}
	e.cost[i] = -e.cost[i]
	e.tree.set(i, c.curve.at(e.cost[i]))
}

// restore undoes the changes that the draws of a path made.
func (c *pathChain) restore(e *ending) {
	for _, i := range c.sites {
		if c.settings.Correct {
			e.cost[i] = -e.cost[i]
		}
		e.tree.set(int(i), c.curve.at(e.cost[i]))
	}
}

// A tree has the weights as its leaves, and the sum of both children in every other node. So a sum depends only on the weights, and not on
// the order of changes.
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

// draw returns a site with probability proportional to its weight, for u uniform in [0,1). The site has a positive weight.
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

// times multiplies the product by a/b. Weights are between exp(−32) and exp(32), and sums have at most about 10⁴ terms, so that eight
// factors do not overflow.
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
