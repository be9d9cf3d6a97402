package mcmc

import (
	"fmt"
	"math/rand/v2"

	"gorbm/data/grammar"
)

// Intracluster moves are pairs of walks that start and end at the same number n
// of bits that are on (Hamze & de Freitas 2010, at the distance n from the state of
// zeros; at that from another state they are the same moves of a system whose bits are
// exchanged where it is 1). One walk flips k bits that are on, one after the other, each
// drawn in proportion to its weight φ among all that are on then (equation 2). The other
// flips k bits that are off. A fair coin before the move says which comes first. The second
// walk may flip bits back that the first one flipped. The move is accepted or
// rejected by equation 6, which leaves exp(−βE) on the shell |x| = n
// invariant. Every k ≥ 1 reaches all of the shell.
//
// The paper's walk "upward" from S_n to S_(n−k), and its figure, flip bits that are on.
// Here down means a flip of such a bit, and up one of a bit that is off.
//
// The number n is that of the system's state at Bind or Reset. The paper's
// experiments have heat-bath weights.
type Intracluster struct {
	MinLength int     // flips of a walk, drawn before the move
	MaxLength int     // most flips of a walk
	Auto      bool    // the chain finds the length instead; see Adaptive
	GammaDown float64 // bias of flips that turn a bit off, in units of β
	GammaUp   float64 // bias of flips that turn a bit on, in units of β
	Weights   Weights
}

// keys returns the keys of m.
func (m *Intracluster) keys() grammar.Keys {
	return grammar.Keys{
		lengthsKey(&m.MinLength, &m.MaxLength, &m.Auto),
		gammaKey("1", &m.GammaDown, &m.GammaUp, func() bool { return m.GammaDown != m.GammaUp }),
		weightsKey(&m.Weights),
	}
}

// DefaultIntracluster returns walks of 1 to 25 flips at γ = β.
func DefaultIntracluster() (m Intracluster) {
	m.keys().Initialize()
	return m
}

// balanced returns m at locally balanced biases, if it finds its length.
func (m Intracluster) balanced() Mover {
	if m.Auto {
		m.GammaDown, m.GammaUp = m.Weights.Balanced(), m.Weights.Balanced()
	}
	return m
}

// Check returns an error that names the setting that is out of range.
func (m Intracluster) Check() error { return m.keys().Check("im") }

// Bind returns the chain; see Mover. Besides what Check finds, it is an error
// if MaxLength exceeds the number of sites that are on or of those that are off.
//
// After a Reset to another number, lengths that no longer fit are not drawn.
// If none fits, moves do nothing.
func (m Intracluster) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, b, err := m.bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	return m.chain(newShellWalker(m.Weights, s, sites, b), beta, len(sites))
}

// bindable checks the settings against s and returns a copy of the sites, and
// the weights of flips on both sides of the shell.
func (m *Intracluster) bindable(s System, beta float64, sites []int32) ([]int32, biases, error) {
	if err := m.Check(); err != nil {
		return nil, biases{}, err
	}
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, biases{}, err
	}
	b, err := newBiases("im", m.Weights, s, beta, len(sites), m.GammaUp, m.GammaDown) // of sites that are off, and that are on
	return sites, b, err
}

// newShellWalker returns the walker on s.
func newShellWalker(weights Weights, s System, sites []int32, b biases) shellWalker {
	if lists, ok := newClasses(s, sites, true, b); ok {
		return &classShell{lists}
	}
	if r, ok := s.(*RBM); ok && weights == HeatBath {
		return newDenseShell(r, sites, b)
	}
	return newBlockShell(s, sites, b)
}

// chain returns the chain of m on a walker, which other chains may share.
func (m Intracluster) chain(w shellWalker, beta float64, sites int) (*intraclusterChain, error) {
	c := &intraclusterChain{settings: m, walker: w, beta: beta, low: m.MinLength, high: m.MaxLength}
	w.reset()
	n := w.sizes()
	if m.Auto {
		c.settings.MaxLength = min(n[sideOff], n[sideOn], MaxLength) // of the longest walk
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

// The sides of a shell: sites that are off, and that are on.
const (
	sideOff = 0
	sideOn  = 1
)

// A shellWalker is a walker between shells. Its biases are the sides: a segment
// flips sites of a side, each drawn among those that are on it then. Scores are
// those of the first bias.
type shellWalker interface {
	walker
	sizes() [2]int // number of sites on each side
}

// An intraclusterChain is Intracluster on one system.
type intraclusterChain struct {
	settings Intracluster
	walker   shellWalker
	beta     float64
	low      int // range of the lengths of walks
	high     int
	shortest int // range of the lengths that the number of active units allows
	longest  int
	score    score
}

// Reset takes over the state of the system after it was changed elsewhere.
func (c *intraclusterChain) Reset() {
	c.walker.reset()
	c.fit()
}

// fit sets the lengths of walks that the shell has room for. A length of k=auto that has
// none becomes the longest that does.
func (c *intraclusterChain) fit() {
	n := c.walker.sizes()
	c.shortest, c.longest = c.low, min(c.high, n[sideOff], n[sideOn])
	if c.settings.Auto {
		c.shortest = max(1, min(c.low, c.longest))
	}
}

// NewLength returns the length before a warm-up; see Adaptive.
func (c *intraclusterChain) NewLength() *Length {
	if !c.settings.Auto {
		return nil
	}
	return newLength(c.settings.MaxLength)
}

// TakeLength sets the length of walks; see Adaptive.
func (c *intraclusterChain) TakeLength(l *Length) {
	c.low, c.high = l.Flips(), l.Flips()
	c.fit()
}

// Lengths returns the lengths of walks; see Adaptive.
func (c *intraclusterChain) Lengths() (low, high int) { return c.low, c.high }

// WarmUp finds the length of walks; see Adaptive.
func (c *intraclusterChain) WarmUp(r *rand.Rand) Info {
	return warmUp(c, func() (Info, float64) { return c.move(r) })
}

// Move takes one pair of walks and accepts or rejects it.
func (c *intraclusterChain) Move(r *rand.Rand) Info {
	info, _ := c.move(r)
	return info
}

// move is Move. It returns the probability of acceptance too.
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
