package sample

import (
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/ranks"
)

// Settings determine how a Target is sampled.
type Settings struct {
	// Sampler moves the chains. If its Kind is "", Target.Draw chooses a sampler.
	Sampler negphase.Settings
	Samples int // number of samples
	// Rounds is the largest number of rounds that a chain runs before its first sample, at least 1;
	// DefaultRounds is suitable. A round is a call of the estimator.
	Rounds int
	// Start selects the chains from which the samples are taken: FromRandom or FromData. "" selects the
	// chains from data if there are data and the chains have not mixed, and otherwise the chains from
	// random states.
	Start string
	// Group has the ranks among which the chains are divided, with identical results; nil: one process. All
	// ranks must make the same calls, and each gets all samples.
	Group *ranks.Group
}

// Where the chains of samples start.
const (
	FromRandom = "random" // hidden states uniformly at random
	FromData   = "data"   // rows of Target.Data
)

// DefaultRounds is a suitable value of Settings.Rounds. With 784 × 500 units a hundred
// chains then take some ten seconds on two cores.
const DefaultRounds = 1 << 13

const (
	// The number of chains is the number of samples, within these bounds. The tests of mixing need at
	// least leastChains.
	leastChains = 20
	mostChains  = 100
	// ladderGroups is the number of ladders in each set of chains. Each has some forty
	// temperatures on MNIST.
	ladderGroups = 10
	// Ladders that Target.Draw chooses run for Settings.Rounds/ladderShare rounds.
	ladderShare = 8
	// tuningRounds is the number of rounds in which a ladder is tuned. The chains of these rounds
	// are discarded.
	tuningRounds = 300
)

// Defaults returns default settings of a kind of sampler, for negphase.Parse. There are as many chains as
// samples, within bounds. A ladder has ten groups and tuned temperatures.
func Defaults(kind string, samples int) negphase.Settings {
	s := negphase.DefaultSettings(kind)
	n := min(max(samples, leastChains), mostChains)
	if negphase.Has(kind, "tau") {
		n = ladderGroups
		_ = s.Set("tau", "auto") // valid for every ladder
	}
	if negphase.Has(kind, "chains") {
		_ = s.Set("chains", n) // n is in range
	}
	return s
}

// CheckSampler returns an error that says why a sampler with these settings cannot sample m.
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

// chosen returns the sampler that Target.Draw tries first if none is named.
func (s Settings) chosen(m *rbm.RBM) negphase.Settings {
	if m.Constraint.OnAll() {
		n, err := negphase.Parse("walk:exchange", Defaults("walk", s.Samples))
		if err != nil {
			panic("sample: " + err.Error()) // the text is a constant
		}
		return n
	}
	return Defaults("pcd", s.Samples)
}
