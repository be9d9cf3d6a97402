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
	// setting returns the setting of chains of n sites.
	setting(n int) (*setting, error)
	// chain returns a chain whose weights are not set yet.
	chain(c chain) Chain
}

// A Chain is a chain of a Mover.
type Chain interface {
	mcmc.Chain
	// WarmUp tunes a setting that is not given to mcmc.TargetAcceptance, by mcmc.WarmUpMoves moves, and then freezes it.
	WarmUp(r *rand.Rand) mcmc.Info
	// Setting returns the number of flips of a path, or the step size.
	Setting() float64
	// Adapt adds gain·(acceptance − mcmc.TargetAcceptance) to the logarithm of a setting that is not given, for all chains that
	// share it. Each of these chains then needs a Reset.
	Adapt(acceptance, gain float64)
}

// Bind returns a chain of m on each system. All chains share one setting and update all sites.
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

// first returns the only chain of a Bind of one system.
func first(all []Chain, err error) (mcmc.Chain, error) {
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// A setting is a length or a step size, with the curve of weights or probabilities that proposals use. If it is not given, a warm-up
// tunes its logarithm, as mcmc does for the length of walks. The gain at move t is 1/√t, and the final logarithm is the mean over
// the second half of the moves.
type setting struct {
	given          bool
	log, low, high float64
	value          float64
	curve          curve
	take           func(s *setting) // sets value to exp(log)
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

// chain has the state and the methods that chains of all proposals share.
type chain struct {
	flips
	*setting
	sites []int32 // sites that the move flips, in the order of a path
	proposal
}

// A proposal draws sites to flip and scores them. The first state is the state before a move, and the last
// state is the state after it.
type proposal interface {
	// weigh sets the weights of the first or the last state. The system must be in that state.
	weigh(last bool)
	// draw sets the sites that a move flips, and returns the number of updates.
	draw(r *rand.Rand) int64
	// score returns the logarithm of the probability of the reverse move divided by that of the move.
	score() float64
	// keep makes the last state the first one, after an accepted move.
	keep()
}

// Reset implements mcmc.Chain.
func (c *chain) Reset() { c.weigh(false) }

// Move implements mcmc.Chain.
func (c *chain) Move(r *rand.Rand) mcmc.Info {
	info, _ := c.move(r)
	return info
}

// move also returns the probability of acceptance.
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

// A Named proposal has a name for tables.
type Named struct {
	Name  string
	Mover Mover
}

// Tuned returns the proposals of the experiments, whose length or step size a warm-up tunes.
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
