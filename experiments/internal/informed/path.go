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

// A Path is the path auxiliary sampler (Sun, Dai, Xia & Ramamurthy 2022): a move draws Length sites one after the
// other by locally balanced weights of the first state, flips them, and is accepted by the ratio of the probability of
// the path back, in reverse order by the weights of the last state, to that of the path there. Sites are drawn without
// replacement (PAFS of their program). With Correct a site may be drawn again, and after each draw the
// sign of its cost changes, as in their PAS with correction. Of one site it is the locally
// balanced sampler of single flips (Zanella 2020), which with costs to first order is Gibbs with gradients (Grathwohl et al. 2021).
//
// Of SARDONICS it differs in this alone: the weights of a walk are those of its first state, not of the state reached.
type Path struct {
	Balance Balance
	Length  int // sites of a move, or one less, equally likely; 0: a warm-up finds it
	Correct bool
}

// Bind implements mcmc.Mover. It takes all sites.
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
	cost []float64 // of flips, times β
	tree tree      // of weights
}

type pathChain struct {
	chain
	settings Path
	ends     [2]ending  // first and last
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
	if length > 1 { // with paths of one length parity would keep half of the states apart
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

// pass multiplies p by the probability of drawing a site and sets its weight for the draws after it.
func (c *pathChain) pass(e *ending, i int, p *logProduct) {
	p.times(e.tree.at(i), e.tree.total())
	if !c.settings.Correct {
		e.tree.set(i, 0)
		return
	}
	e.cost[i] = -e.cost[i]
	e.tree.set(i, c.curve.at(e.cost[i]))
}

// restore undoes the changes of all draws of the path.
func (c *pathChain) restore(e *ending) {
	for _, i := range c.sites {
		if c.settings.Correct {
			e.cost[i] = -e.cost[i]
		}
		e.tree.set(int(i), c.curve.at(e.cost[i]))
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
