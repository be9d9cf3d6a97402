package informed

import (
	"math"
	"math/rand/v2"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A Mover is a proposal with its settings.
type Mover interface {
	mcmc.Mover
	// setting returns that of chains of n sites.
	setting(n int) (*setting, error)
	// chain returns a chain without the weights of its state.
	chain(c chain) Chain
}

// A Chain is one of a Mover.
type Chain interface {
	mcmc.Chain
	// WarmUp makes mcmc.WarmUpMoves moves that drive the setting to mcmc.TargetAcceptance and then freezes it, if it is not given.
	WarmUp(r *rand.Rand) mcmc.Info
	// Setting returns the flips of a path, or the step size.
	Setting() float64
	// Adapt changes the logarithm of a setting that is not given by gain times the difference of an acceptance from
	// mcmc.TargetAcceptance, for all chains that share it. They need a Reset then.
	Adapt(acceptance, gain float64)
}

// Bind returns a chain of m on each system, all with one setting. It takes all sites.
func Bind(m Mover, beta float64, systems ...mcmc.System) ([]Chain, error) {
	set, err := m.setting(systems[0].Len())
	if err != nil {
		return nil, err
	}
	all := make([]Chain, len(systems))
	for i, s := range systems {
		all[i] = m.chain(chain{flips: newFlips(s, beta), setting: set, sites: make([]int32, 0, s.Len())})
		all[i].Reset()
	}
	return all, nil
}

// first returns the chain of a Bind of one system.
func first(all []Chain, err error) (mcmc.Chain, error) {
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// A setting is a length or a step size with the function of costs that proposals use. If it is not given, a warm-up drives
// its logarithm and then freezes it. The schedule is that of mcmc's walks: gains fall as 1/√t, and what stays is the mean of the
// second half.
type setting struct {
	given          bool
	log, low, high float64
	value          float64
	curve          curve
	take           func(s *setting) // makes exp(log) the value
}

// Adapt implements Chain.
func (s *setting) Adapt(acceptance, gain float64) {
	if !s.given {
		s.log = min(max(s.low, s.log+gain*(acceptance-mcmc.TargetAcceptance)), s.high)
		s.take(s)
	}
}

// Setting implements Chain.
func (s *setting) Setting() float64 { return s.value }

// chain is what chains of all proposals share.
type chain struct {
	flips
	*setting
	sites []int32 // that the move flips, in the order of a path
	proposal
}

// A proposal draws sites to flip and scores them. Its first state is that before a move, its last one that after it.
type proposal interface {
	// weigh sets the weights of the first or of the last state, in which the system is.
	weigh(last bool)
	// draw sets the sites that a move flips. It returns the number of updates.
	draw(r *rand.Rand) int64
	// score returns the logarithm of the probability of the move back over that of the move there.
	score() float64
	// keep makes the last state the first one.
	keep()
}

// Reset implements mcmc.Chain.
func (c *chain) Reset() { c.weigh(false) }

// Move implements mcmc.Chain.
func (c *chain) Move(r *rand.Rand) mcmc.Info {
	info, _ := c.move(r)
	return info
}

// move returns the probability of acceptance, too.
func (c *chain) move(r *rand.Rand) (mcmc.Info, float64) {
	info := mcmc.Info{Moves: 1, Proposals: 1, Updates: c.draw(r), Flips: int64(len(c.sites))}
	rise := c.flip(c.sites)
	c.weigh(true)
	p := rbm.Exp(min(0, c.score()-rise))
	if r.Float64() < p {
		info.Accepted = 1
		c.keep()
	} else {
		c.flip(c.sites)
	}
	return info, p
}

// WarmUp implements Chain.
func (c *chain) WarmUp(r *rand.Rand) (total mcmc.Info) {
	if c.given {
		return total
	}
	mean := 0.0
	for t := range mcmc.WarmUpMoves {
		info, acceptance := c.move(r)
		total.Add(info)
		c.Adapt(acceptance, 1/math.Sqrt(float64(1+t)))
		c.Reset()
		if t >= mcmc.WarmUpMoves/2 {
			mean += c.log / (mcmc.WarmUpMoves / 2)
		}
	}
	c.log = mean
	c.take(c.setting)
	c.Reset()
	return total
}

// A Named proposal has a name for tables. A warm-up tunes its length or step.
type Named struct {
	Name  string
	Mover Mover
}

// Tuned returns the proposals that experiments race.
func Tuned() []Named {
	return []Named{
		{"PAS, √t", Path{Balance: Root}},
		{"PAS, t/(1+t)", Path{Balance: Ratio}},
		{"PAS, corrected", Path{Balance: Root, Correct: true}},
		{string(Langevin), Parallel{Coin: Langevin}},
		{string(DLMCRoot), Parallel{Coin: DLMCRoot}},
		{string(DLMCRatio), Parallel{Coin: DLMCRatio}},
	}
}
