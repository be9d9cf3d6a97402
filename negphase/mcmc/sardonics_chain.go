package mcmc

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gorbm/rbm"
)

// typeBias has the biases of both halves of each of the three types of a move.
var typeBias = [3][2]int{{0, 0}, {1, 0}, {0, 1}}

// A sardonicsChain is Sardonics on one system.
type sardonicsChain struct {
	settings Sardonics
	walker   walker
	beta     float64
	low      int // of the lengths of walks
	high     int
	logMix   [3]float64 // −Inf for types that do not occur
	half     [2]score
}

// Bind returns the chain; see Mover. Besides what Check finds, walks longer than
// the number of sites, settings under which the chain would be reducible or
// periodic, and biases too large for the weights are errors.
func (m Sardonics) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, err := m.bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	b, err := m.biases(s, beta, len(sites), m.mixed())
	if err != nil {
		return nil, err
	}
	if m.Auto { // at first; Lengths has those in force
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
		return nil, fmt.Errorf("sardonics: walks of always %d flips, all units of the system, only ever reach two states; give shorter walks too", n)
	}
	if !m.Auto && m.MinLength == m.MaxLength && (beta == 0 || flat(s)) {
		return nil, errors.New("sardonics: at beta 0, or without couplings and fields, every move is accepted, so that walks of one odd length alternate between two halves of the states; let the length vary")
	}
	return sites, nil
}

// autoRoom is the length of the longest walk of k=auto on a system of n ≥ 2 sites. A walk over
// all sites has but one end.
func autoRoom(n int) int { return min(max(2, n-1), MaxLength) }

// biases returns the weights of flips under Gamma1, and with two under Gamma2.
func (m *Sardonics) biases(s System, beta float64, sites int, two bool) (biases, error) {
	gamma := []float64{m.Gamma1, m.Gamma2}
	if !two {
		gamma = gamma[:1]
	}
	return newBiases("sardonics", m.Weights, s, beta, sites, gamma...)
}

// chain returns the chain of m on a walker, which other chains may share.
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

// newSardonicsWalker returns the walker on s for walks of up to longest flips:
// lists of classes where costs are few and equal, whole layers on an RBM, block
// sums elsewhere.
func newSardonicsWalker(weights Weights, s System, sites []int32, b biases, longest int) walker {
	if c, ok := newClasses(s, sites, false, b); ok {
		return newClassWalk(c, b.n, longest)
	}
	if s, ok := s.(*RBM); ok && weights == HeatBath {
		return newDenseWalk(s, sites, b, longest)
	}
	return newBlockWalk(s, sites, b, longest)
}

// Reset takes over the state of the system after it was changed elsewhere.
func (c *sardonicsChain) Reset() { c.walker.reset() }

// NewLength returns the length before a warm-up; see Adaptive.
func (c *sardonicsChain) NewLength() *Length {
	if !c.settings.Auto {
		return nil
	}
	return newLength(c.settings.MaxLength)
}

// TakeLength sets the length of walks; see Adaptive. Walks of one length cannot reach all
// states, so there are two.
func (c *sardonicsChain) TakeLength(l *Length) {
	c.high = max(2, l.Flips())
	c.low = c.high - 1
}

// Lengths returns the lengths of walks; see Adaptive.
func (c *sardonicsChain) Lengths() (low, high int) { return c.low, c.high }

// WarmUp finds the length of walks; see Adaptive.
func (c *sardonicsChain) WarmUp(r *rand.Rand) Info {
	return warmUp(c, func() (Info, float64) { return c.move(r) })
}

// Move takes one chain of walks and accepts or rejects it.
func (c *sardonicsChain) Move(r *rand.Rand) Info {
	info, _ := c.move(r)
	return info
}

// move is Move. It returns the probability of acceptance too.
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

// begin starts the scores of a move.
func (c *sardonicsChain) begin() { c.half = [2]score{emptyScore, emptyScore} }

// density returns the logarithms of the probabilities of the walks taken, over all types
// of moves, and of their reverse. The reverse takes the walks from the last
// to the first. So its first half is the reverse of the second half, scored under
// the bias of the first half of the reverse.
func (c *sardonicsChain) density() (forward, reverse float64) {
	if !c.settings.mixed() { // one type, one bias
		for h := range c.half {
			forward += c.half[h].forward[0].Log()
			reverse += c.half[h].reverse[0].Log()
		}
		return forward, reverse
	}
	var f, b [2][2]float64 // by half and bias
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
