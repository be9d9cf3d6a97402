package mcmc

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gorbm/rbm"
)

// typeBias has the index of the bias of each half, for the three types of a move.
var typeBias = [3][2]int{{0, 0}, {1, 0}, {0, 1}}

// A sardonicsChain is Sardonics on one system.
type sardonicsChain struct {
	settings Sardonics
	walker   walker
	beta     float64
	low      int        // smallest length of walks
	high     int        // largest length of walks
	logMix   [3]float64 // log probabilities of the types; −Inf for types that do not occur
	half     [2]score   // scores of the halves of the current move
}

// Bind returns the chain; see Mover. It returns the errors of Check, and an error if walks are longer
// than the number of sites, if the chain would be reducible or periodic, or if a bias is too large for
// the weights.
func (m Sardonics) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, err := m.bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	b, err := m.biases(s, beta, len(sites), m.mixed())
	if err != nil {
		return nil, err
	}
	if m.Auto { // the memory of the walker must suffice for the longest walk
		m.MaxLength = autoRoom(len(sites))
	}
	c := m.chain(newSardonicsWalker(m.Weights, s, sites, b, m.MaxLength), beta)
	if m.Auto {
		c.TakeLength(c.NewLength())
	}
	return c, nil
}

// bindable checks the settings against s and returns a copy of the sites.
func (m *Sardonics) bindable(s System, beta float64, sites []int32) ([]int32, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	n := len(sites)
	if m.Auto && n < 2 {
		return nil, errors.New("sardonics: k=auto needs 2 units or more, as walks have two lengths; with one unit take k=1:walks=single")
	}
	if m.MaxLength > n {
		return nil, fmt.Errorf("sardonics: walks of k=%s flips are longer than the system of %d units; give k at most %d", lengths(m.MinLength, m.MaxLength), n, n)
	}
	if !m.Auto && m.MinLength == n && n > 1 {
		return nil, fmt.Errorf("sardonics: if every walk flips all %d units of the system, only two states can be reached; give shorter walks too", n)
	}
	if !m.Auto && m.MinLength == m.MaxLength && (beta == 0 || flat(s)) {
		return nil, errors.New("sardonics: at beta 0, or without couplings and fields, every move is accepted, so that walks of one odd length alternate between two halves of the states; let the length vary")
	}
	return sites, nil
}

// autoRoom returns the length of the longest walk with k=auto on a system of n ≥ 2 sites. It is less than
// n, because a walk over all sites always ends in the same state.
func autoRoom(n int) int { return min(max(2, n-1), MaxLength) }

// biases returns the weights of flips with bias Gamma1 and, if two is set, also with bias Gamma2.
func (m *Sardonics) biases(s System, beta float64, sites int, two bool) (biases, error) {
	gamma := []float64{m.Gamma1, m.Gamma2}
	if !two {
		gamma = gamma[:1]
	}
	return newBiases("sardonics", m.Weights, s, beta, sites, gamma...)
}

// chain returns a chain with the settings m on a walker, which other chains may share.
func (m Sardonics) chain(w walker, beta float64) *sardonicsChain {
	c := &sardonicsChain{settings: m, walker: w, beta: beta, low: m.MinLength, high: m.MaxLength}
	if m.Single {
		c.settings.Walks, c.settings.Mix = 1, [3]float64{1, 0, 0}
	}
	sum := c.settings.Mix[0] + c.settings.Mix[1] + c.settings.Mix[2]
	for t, p := range c.settings.Mix {
		c.settings.Mix[t] = p / sum
		c.logMix[t] = rbm.Log(p / sum)
	}
	return c
}

// newSardonicsWalker returns the fastest walker for s, with memory for walks of up to longest flips. It
// has lists of sites of equal cost if there are few different costs, whole layers on an RBM, and block
// sums otherwise.
func newSardonicsWalker(weights Weights, s System, sites []int32, b biases, longest int) walker {
	if c, ok := newClasses(s, sites, false, b); ok {
		return newClassWalk(c, b.n, longest)
	}
	if s, ok := s.(*RBM); ok && weights == HeatBath {
		return newDenseWalk(s, sites, b, longest)
	}
	return newBlockWalk(s, sites, b, longest)
}

// Reset recomputes the weights; see Chain.
func (c *sardonicsChain) Reset() { c.walker.reset() }

// NewLength implements Adaptive.
func (c *sardonicsChain) NewLength() *Length {
	if !c.settings.Auto {
		return nil
	}
	return newLength(c.settings.MaxLength)
}

// TakeLength implements Adaptive. There are two lengths, because walks that all have one length do not
// reach all states.
func (c *sardonicsChain) TakeLength(l *Length) {
	c.high = max(2, l.Flips())
	c.low = c.high - 1
}

// Lengths implements Adaptive.
func (c *sardonicsChain) Lengths() (low, high int) { return c.low, c.high }

// WarmUp implements Adaptive.
func (c *sardonicsChain) WarmUp(r *rand.Rand) Info {
	return warmUp(c, func() (Info, float64) { return c.move(r) })
}

// Move makes the walks of one move and accepts or rejects them.
func (c *sardonicsChain) Move(r *rand.Rand) Info {
	info, _ := c.move(r)
	return info
}

// move is Move, and also returns the acceptance probability.
func (c *sardonicsChain) move(r *rand.Rand) (Info, float64) {
	kind := 0
	if c.settings.mixed() {
		u := r.Float64()
		for kind = 0; kind < 2 && u >= c.settings.Mix[kind]; kind++ {
			u -= c.settings.Mix[kind]
		}
	}
	c.begin()
	flips := 0
	n := c.settings.walks()
	for i := range n {
		half := i / c.settings.Walks
		k := c.low + r.IntN(c.high-c.low+1)
		c.walker.segment(r, nil, k, typeBias[kind][half], &c.half[half])
		flips += k
	}
	forward, reverse := c.density()
	return finish(c.walker, r, c.beta, reverse-forward, flips)
}

// begin resets the scores.
func (c *sardonicsChain) begin() { c.half = [2]score{emptyScore, emptyScore} }

// density returns the logarithms of the probabilities of proposing the walks of this move and of
// proposing their reverse. Both are sums over all types of moves. The reverse makes the walks from the
// last to the first. So its first half is the reverse of the second half, with
// the bias of the first half.
func (c *sardonicsChain) density() (forward, reverse float64) {
	if !c.settings.mixed() { // one type, one bias
		for h := range c.half {
			forward += c.half[h].forward[0].Log()
			reverse += c.half[h].reverse[0].Log()
		}
		return forward, reverse
	}
	var f, b [2][2]float64 // [half][bias] log probabilities forward and back
	for h := range c.half {
		for g := range 2 {
			f[h][g] = c.half[h].forward[g].Log()
			b[h][g] = c.half[h].reverse[g].Log()
		}
	}
	densityOf := func(t int) (forward, reverse float64) {
		first, second := typeBias[t][0], typeBias[t][1]
		return c.logMix[t] + (f[0][first] + f[1][second]), c.logMix[t] + (b[1][first] + b[0][second])
	}
	var all, back [3]float64
	for t := range typeBias {
		all[t], back[t] = densityOf(t)
	}
	return rbm.LogSumExp(all[:]), rbm.LogSumExp(back[:])
}

var _ Adaptive = (*sardonicsChain)(nil)
