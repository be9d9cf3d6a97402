package mcmc

import (
	"fmt"
	"math/rand/v2"

	"gorbm/data/grammar"
)

// Intracluster samples states with a fixed number n of active sites, by pairs of walks (Hamze & de
// Freitas 2010). One walk flips k sites that are on, one after the other. Each site is drawn in
// proportion to its weight φ among the sites that are on at that step (equation 2). The other walk
// flips k sites that are off, in the same way. A fair coin decides before the move which walk is first.
// The second walk may flip sites back that the first one flipped. The move is accepted or rejected by
// equation 6, which leaves exp(−βE) invariant on the shell |x| = n. With any k ≥ 1 the chain can reach
// all states of the shell.
//
// The paper defines shells by the distance n from an arbitrary state; here this state is all zeros. The
// paper's walk "upward" from S_n to S_(n−k) flips bits that are on; here turning a bit off is down, and
// turning it on is up.
//
// The state of the system at Bind or Reset sets n. The paper's experiments use heat-bath weights.
type Intracluster struct {
	MinLength int     // smallest number k of flips of a walk; k is drawn uniformly before each move
	MaxLength int     // largest number of flips of a walk
	Auto      bool    // the chain adapts the length instead; see Adaptive
	GammaDown float64 // bias γ of flips that turn a site off, in units of β; see Weights
	GammaUp   float64 // bias γ of flips that turn a site on, in units of β
	Weights   Weights
}

func (m *Intracluster) keys() grammar.Keys {
	return grammar.Keys{
		lengthsKey(&m.MinLength, &m.MaxLength, &m.Auto),
		gammaKey("1", &m.GammaDown, &m.GammaUp, func() bool { return m.GammaDown != m.GammaUp }),
		weightsKey(&m.Weights),
	}
}

// DefaultIntracluster returns settings with walks of 1 to 25 flips at γ = 1 in units of β.
func DefaultIntracluster() (m Intracluster) {
	m.keys().Initialize()
	return m
}

// balanced returns m with locally balanced biases if Auto is set, and otherwise m.
func (m Intracluster) balanced() Mover {
	if m.Auto {
		m.GammaDown, m.GammaUp = m.Weights.Balanced(), m.Weights.Balanced()
	}
	return m
}

// Check returns an error that names the setting that is out of range.
func (m Intracluster) Check() error { return m.keys().Check("im") }

// Bind returns the chain; see Mover. In addition to the errors of Check, it is an error
// if MaxLength exceeds the number of sites that are on or the number that are off.
//
// If a Reset finds another number of active sites, lengths that have become too large are not drawn.
// If all have become too large, moves do nothing.
func (m Intracluster) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, b, err := m.bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	return m.chain(newShellWalker(m.Weights, s, sites, b), beta, len(sites))
}

// bindable checks the settings against s. It returns a copy of the sites, and
// the weights of flips for each side of the shell.
func (m *Intracluster) bindable(s System, beta float64, sites []int32) ([]int32, biases, error) {
	if err := m.Check(); err != nil {
		return nil, biases{}, err
	}
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, biases{}, err
	}
	b, err := newBiases("im", m.Weights, s, beta, len(sites), m.GammaUp, m.GammaDown) // in the order sideOff, sideOn
	return sites, b, err
}

// newShellWalker returns the fastest shellWalker that supports s and the weights.
func newShellWalker(weights Weights, s System, sites []int32, b biases) shellWalker {
	if lists, ok := newClasses(s, sites, true, b); ok {
		return &classShell{lists}
	}
	if r, ok := s.(*RBM); ok && weights == HeatBath {
		return newDenseShell(r, sites, b)
	}
	return newBlockShell(s, sites, b)
}

// chain returns a chain with the settings m on a walker, which other chains may share.
func (m Intracluster) chain(w shellWalker, beta float64, sites int) (*intraclusterChain, error) {
	c := &intraclusterChain{settings: m, walker: w, beta: beta, low: m.MinLength, high: m.MaxLength}
	w.reset()
	n := w.sizes()
	if m.Auto {
		c.settings.MaxLength = min(n[sideOff], n[sideOn], MaxLength)
		c.TakeLength(newLength(max(1, c.settings.MaxLength)))
	}
	c.fit()
	switch {
	case n[sideOn] == 0 || n[sideOff] == 0:
		return nil, fmt.Errorf("im: %d of %d sites are on, so nothing can move on this shell; start elsewhere", n[sideOn], sites)
	case !m.Auto && c.longest < m.MaxLength:
		return nil, fmt.Errorf("im: walks of k=%s flips do not fit a shell where %d sites are on and %d are off; give k at most %d",
			lengths(m.MinLength, m.MaxLength), n[sideOn], n[sideOff], c.longest)
	}
	return c, nil
}

// The sides of a shell: the sites that are off, and the sites that are on.
const (
	sideOff = 0
	sideOn  = 1
)

// A shellWalker is a walker whose segments flip sites of one side of a shell. The argument bias of
// segment is the side. Each site is drawn among the sites that are on this side at that step. Only the
// first element of the scores is used.
type shellWalker interface {
	walker
	sizes() [2]int // number of sites on each side
}

// An intraclusterChain is Intracluster on one system.
type intraclusterChain struct {
	settings Intracluster
	walker   shellWalker
	beta     float64
	low      int // the range of lengths, set by the settings or by TakeLength
	high     int
	shortest int // the part of this range that the number of active sites allows
	longest  int
	score    score
}

// Reset recomputes the weights and the range of lengths; see Chain.
func (c *intraclusterChain) Reset() {
	c.walker.reset()
	c.fit()
}

// fit limits the lengths of walks to the number of sites on each side of the shell. With k=auto, a length
// that is too large is reduced to the largest possible one.
func (c *intraclusterChain) fit() {
	n := c.walker.sizes()
	c.shortest, c.longest = c.low, min(c.high, n[sideOff], n[sideOn])
	if c.settings.Auto {
		c.shortest = max(1, min(c.low, c.longest))
	}
}

// NewLength implements Adaptive.
func (c *intraclusterChain) NewLength() *Length {
	if !c.settings.Auto {
		return nil
	}
	return newLength(c.settings.MaxLength)
}

// TakeLength implements Adaptive.
func (c *intraclusterChain) TakeLength(l *Length) {
	c.low, c.high = l.Flips(), l.Flips()
	c.fit()
}

// Lengths implements Adaptive.
func (c *intraclusterChain) Lengths() (low, high int) { return c.low, c.high }

// WarmUp implements Adaptive.
func (c *intraclusterChain) WarmUp(r *rand.Rand) Info {
	return warmUp(c, func() (Info, float64) { return c.move(r) })
}

// Move makes one pair of walks and accepts or rejects it.
func (c *intraclusterChain) Move(r *rand.Rand) Info {
	info, _ := c.move(r)
	return info
}

// move is Move, and also returns the acceptance probability.
func (c *intraclusterChain) move(r *rand.Rand) (Info, float64) {
	if c.longest < c.shortest {
		return Info{Moves: 1}, 0
	}
	side := int(r.Uint64() >> 63)
	k := c.shortest + r.IntN(c.longest-c.shortest+1)
	c.score = emptyScore
	c.walker.segment(r, nil, k, side, &c.score)
	c.walker.segment(r, nil, k, 1-side, &c.score)
	return finish(c.walker, r, c.beta, c.score.reverse[0].Log()-c.score.forward[0].Log(), 2*k)
}

var _ Adaptive = (*intraclusterChain)(nil)
