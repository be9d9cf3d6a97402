package mcmc

import (
	"fmt"
	"math/rand/v2"

	"gorbm/data/grammar"
)

// Intracluster moves are pairs of walks that start and end at the same
// distance n from a reference state c (Hamze & de Freitas 2010). One walk flips
// k bits that differ from c, one after the other, each drawn in proportion to
// its weight φ among all that differ then (equation 2). The other flips k bits
// that agree. A fair coin before the move says which comes first. The second
// walk may flip bits back that the first one flipped. The move is accepted or
// rejected by equation 6, which leaves exp(−βE) on the shell |x ⊕ c| = n
// invariant. Every k ≥ 1 reaches all of the shell.
//
// The paper defines P(x) by agreement with c, but its walk "upward" from S_n
// to S_(n−k), and its figure, flip bits that differ. Here down means a flip to a
// state nearer to c, and up a flip to one farther away.
//
// The distance n is that of the system's state at Bind or Reset. The paper's
// experiments have heat-bath weights.
type Intracluster struct {
	MinLength int     // flips of a walk, drawn before the move
	MaxLength int     // most flips of a walk
	Auto      bool    // the chain finds the length instead; see Adaptive
	GammaDown float64 // bias of flips that go nearer to the reference, in units of β
	GammaUp   float64 // bias of flips that go farther away, in units of β
	Weights   Weights
	Reference []uint8 // of length Len; nil: all zeros
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
// if MaxLength exceeds the number of sites that differ from the reference or
// of those that agree.
//
// After a Reset at another distance, lengths that no longer fit are not drawn.
// If none fits, moves do nothing.
func (m Intracluster) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, b, err := m.bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	w, err := newShellWalker(m.Weights, m.Reference, s, sites, b)
	if err != nil {
		return nil, err
	}
	return m.chain(w, beta, len(sites))
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
	b, err := newBiases("im", m.Weights, s, beta, len(sites), m.GammaUp, m.GammaDown) // of sites that agree, and that differ
	return sites, b, err
}

// newShellWalker returns the walker on s.
func newShellWalker(weights Weights, reference []uint8, s System, sites []int32, b biases) (shellWalker, error) {
	reference, err := referenceOf("im", reference, s)
	if err != nil {
		return nil, err
	}
	if lists, ok := newClasses(s, sites, reference, b); ok {
		return &classShell{lists}, nil
	}
	if r, ok := s.(*RBM); ok && weights == HeatBath {
		return newDenseShell(r, sites, reference, b), nil
	}
	return newBlockShell(s, sites, reference, b), nil
}

// chain returns the chain of m on a walker, which other chains may share.
func (m Intracluster) chain(w shellWalker, beta float64, sites int) (*intraclusterChain, error) {
	c := &intraclusterChain{settings: m, walker: w, beta: beta, low: m.MinLength, high: m.MaxLength}
	w.reset()
	n := w.sizes()
	if m.Auto {
		c.settings.MaxLength = min(n[agrees], n[differs], MaxLength) // of the longest walk
		c.TakeLength(newLength(max(1, c.settings.MaxLength)))
	}
	c.fit()
	switch {
	case n[differs] == 0 || n[agrees] == 0:
		return nil, fmt.Errorf("im: %d of %d sites differ from the reference, so nothing can move on this shell; start elsewhere", n[differs], sites)
	case !m.Auto && c.longest < m.MaxLength:
		return nil, fmt.Errorf("im: walks of k=%s flips do not fit a shell where %d sites differ from the reference and %d agree; give k at most %d",
			lengths(m.MinLength, m.MaxLength), n[differs], n[agrees], c.longest)
	}
	return c, nil
}

// The sides of a shell: sites that agree with the reference, and that differ.
const (
	agrees  = 0
	differs = 1
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
	low      int // of the lengths of walks
	high     int
	shortest int // of those that fit the shell
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
	c.shortest, c.longest = c.low, min(c.high, n[agrees], n[differs])
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
