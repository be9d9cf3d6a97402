package logz

import (
	"errors"
	"fmt"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// Settings select the estimates, and the amount of work for each.
type Settings struct {
	AIS, Reverse, Bennett bool

	// Annealing are the settings of AIS and of its reverse. The reverse rounds the number of chains up
	// to a multiple of Groups. Base is also the distribution of the ladder at β = 0. Group divides the
	// replicas of the ladder among ranks, like the chains of AIS.
	Annealing partition.Annealing
	// Groups is the number of independent ladders. A round is a Gibbs step and swaps. Each ladder makes
	// BurnIn rounds, and then Rounds rounds from which draws are taken. The temperatures are tuned in
	// the first half of the burn-in. While the draws are not enough, the ladder doubles its
	// rounds, with the same fraction of burn-in, and places temperatures again where this pays. It stops
	// before it exceeds Longest rounds, burn-in included, or Work, and as soon as its round trips show that it
	// cannot have enough of them by then. If Longest is 0, the ladder never doubles its rounds.
	Groups, BurnIn, Rounds, Longest int
	// Work bounds the rounds of a ladder that doubles them; 0 stands for two minutes of a core. Its unit is one
	// weight of one replica in one round, or of one chain at one temperature of AIS.
	Work float64

	// LowerBound is a lower bound of log Z from known states, as the function LowerBound computes it;
	// −Inf if there is none.
	LowerBound float64
}

// DefaultSettings returns settings for all three estimates. For a model of 784 × 500 units they take
// ten seconds of two processors if the chains mix, and up to two minutes if they do not. Most of this
// time is for the ladder, so AIS can have 5000 temperatures.
func DefaultSettings() Settings {
	s := Settings{AIS: true, Reverse: true, Bennett: true,
		Annealing: partition.DefaultAnnealing(), Groups: 10, BurnIn: 1000, Rounds: 2000, Longest: maxRounds, LowerBound: math.Inf(-1)}
	s.Annealing.Temperatures = 5000
	return s
}

const (
	// maxGroups and maxRounds bound memory and time. A replica has some hundred bytes of state.
	maxGroups = 10_000
	maxRounds = 100_000_000
)

// ladder reports whether the ladder is needed.
func (s Settings) ladder() bool { return s.Reverse || s.Bennett }

// Check returns an error that names the setting that is out of range, or the error of
// Annealing.Check.
func (s Settings) Check(m *rbm.RBM) error {
	switch {
	case !s.AIS && !s.Reverse && !s.Bennett:
		return errors.New("log Z: no estimate is requested; use AIS, its reverse or Bennett")
	case s.ladder() && (s.Groups < 2 || s.Groups > maxGroups):
		return fmt.Errorf("log Z: %d ladders; it takes 2 to %d, as errors come from the spread between them", s.Groups, maxGroups)
	case s.ladder() && (s.BurnIn < 0 || s.BurnIn > maxRounds):
		return fmt.Errorf("log Z: a burn-in of %d rounds; it takes 0 to %d", s.BurnIn, maxRounds)
	case s.ladder() && (s.Rounds < 2 || s.Rounds > maxRounds):
		return fmt.Errorf("log Z: %d rounds of the ladder; it takes 2 to %d", s.Rounds, maxRounds)
	case s.ladder() && (s.Longest < 0 || s.Longest > maxRounds):
		return fmt.Errorf("log Z: at most %d rounds of the ladder; it takes 0 to %d", s.Longest, maxRounds)
	case math.IsNaN(s.LowerBound) || math.IsInf(s.LowerBound, 1):
		return fmt.Errorf("log Z: a lower bound of %v; it takes a number, or −Inf for none", s.LowerBound)
	case s.Reverse && s.Rounds < s.rowsOfGroup():
		return fmt.Errorf("log Z: %d rounds of %d ladders for %d chains of reverse AIS; it takes %d rounds, or more ladders",
			s.Rounds, s.Groups, s.Annealing.Chains, s.rowsOfGroup())
	case s.ladder() && s.Longest > s.BurnIn+s.Rounds && s.BurnIn > s.Rounds:
		return fmt.Errorf("log Z: a burn-in of %d rounds, and then %d rounds; if the ladder may run longer, the burn-in must not be the longer part", s.BurnIn, s.Rounds)
	}
	return s.Annealing.Check(m)
}

// rowsOfGroup returns the number of chains of reverse AIS that start from one
// group.
func (s Settings) rowsOfGroup() int {
	return (s.Annealing.Chains + s.Groups - 1) / s.Groups
}
