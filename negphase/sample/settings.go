package sample

import (
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/ranks"
)

// Settings say how a Law is sampled.
type Settings struct {
	// Sampler moves the chains. Without a kind it is chosen: chains of Gibbs steps,
	// and a ladder that is tuned to the model where these have not mixed. A model with real units of
	// few hidden states has its draws from a list of these.
	Sampler negphase.Settings
	Samples int // to draw
	// Rounds is the most rounds that a chain runs before its first sample, at least 1, such as
	// DefaultRounds; a round is a call of the estimator. Of a ladder that is chosen there are an eighth.
	Rounds int
	// Start says which chains the samples come from: FromRandom, FromData, or ""
	// for those from random states if the chains have mixed, else those from data, if
	// there are any.
	Start string
	// Group are the ranks that divide the chains, with identical results; nil: one process. All
	// of them must call alike, and each gets all samples.
	Group *ranks.Group
}

// Where the chains of samples start.
const (
	FromRandom = "random" // hidden states uniformly at random
	FromData   = "data"   // rows of Law.Data
)

// DefaultRounds is the default of Settings.Rounds. At 784 × 500 units a hundred
// chains take some ten seconds for it on two cores.
const DefaultRounds = 1 << 13

const (
	// Chains are as many as samples, within these bounds: fewer would tell too
	// little of whether they agree.
	leastChains = 20
	mostChains  = 100
	// ladderGroups is the number of ladders on each side. Each has some forty
	// temperatures on MNIST.
	ladderGroups = 10
	// ladderShare is the part of the rounds that ladders which are chosen get.
	ladderShare = 8
	// tuningRounds are those in which a ladder is tuned. The chains of these rounds
	// are not kept.
	tuningRounds = 300
)

// Defaults returns settings of a sampler from which negphase.Parse takes the keys that a text does not
// mention: as many chains as samples, within bounds, and for a ladder only as many groups as it needs.
func Defaults(kind string, samples int) negphase.Settings {
	s := negphase.DefaultSettings(kind)
	n := min(max(samples, leastChains), mostChains)
	if negphase.Has(kind, "tau") {
		n = ladderGroups
		_ = s.Set("tau", "auto") // which every ladder takes
	}
	if negphase.Has(kind, "chains") {
		_ = s.Set("chains", n) // a number in range
	}
	return s
}

// CheckSampler returns an error that says why these settings cannot sample m. Those of exact list the
// hidden states, in place of chains.
func CheckSampler(s negphase.Settings, m *rbm.RBM) error {
	if why := s.Traits().NoSamples; why != "" {
		return fmt.Errorf("%s %s", s.Kind, why)
	}
	if err := s.Check(); err != nil {
		return err
	}
	if s.Traits().Moments {
		return exact.CheckDraws(m)
	}
	_, err := s.CheckModel(m)
	return err
}

// chosen returns the sampler that comes first where none is named.
func (s Settings) chosen(m *rbm.RBM) negphase.Settings {
	if m.Constraint.OnAll() {
		n, err := negphase.Parse("walk:exchange", Defaults("walk", s.Samples))
		if err != nil {
			panic("sample: " + err.Error()) // the text is right
		}
		return n
	}
	return Defaults("pcd", s.Samples)
}
