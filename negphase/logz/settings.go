package logz

import (
	"errors"
	"fmt"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// Settings say which estimates are made, and how much work goes into each.
type Settings struct {
	AIS, Reverse, Bennett bool

	// Annealing are the settings of AIS and of its reverse, which rounds the number
	// of chains up to as many from each group. The ladder ends at its Base too, and its
	// Group divides the replicas of the ladder as it does the chains.
	Annealing partition.Annealing
	// Groups are independent ladders of replicas. Each takes BurnIn rounds of a
	// Gibbs step and swaps, in the first half of which its temperatures are
	// tuned, and then Rounds from which draws are taken. While the draws do not suffice, the frozen
	// ladder continues to twice as many rounds, with the same fraction of burn-in, but to no more than
	// Longest rounds in all and for some two minutes of a core; 0: it does not continue.
	Groups, BurnIn, Rounds, Longest int

	// LowerBound is a lower bound of log Z, as the function of this name finds it
	// from known states; −Inf if none is known.
	LowerBound float64
}

// DefaultSettings returns the settings of all three estimates, which take two
// processors ten seconds for a model of 784 × 500 units that mixes, and up to two
// minutes for one that does not. The ladder takes most of it, so AIS has 5000
// temperatures.
func DefaultSettings() Settings {
	s := Settings{AIS: true, Reverse: true, Bennett: true,
		Annealing: partition.DefaultAnnealing(), Groups: 10, BurnIn: 1000, Rounds: 2000, Longest: maxRounds, LowerBound: math.Inf(-1)}
	s.Annealing.Temperatures = 5000
	return s
}

const (
	// maxGroups and maxRounds bound memory and time: ladders of 64
	// temperatures have some hundred bytes of state a replica.
	maxGroups = 10_000
	maxRounds = 100_000_000
)

// ladder reports whether the ladder is needed.
func (s Settings) ladder() bool { return s.Reverse || s.Bennett }

// Check returns an error that names the setting that is out of range, or what
// Annealing.Check says.
func (s Settings) Check(m *rbm.RBM) error {
	switch {
	case !s.AIS && !s.Reverse && !s.Bennett:
		return errors.New("log Z: no estimate is asked for; take AIS, its reverse or Bennett")
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
		return fmt.Errorf("log Z: a burn-in of %d rounds before %d; of a ladder that may run longer it is half of them at most", s.BurnIn, s.Rounds)
	}
	return s.Annealing.Check(m)
}

// rowsOfGroup returns the number of chains of reverse AIS that start from one
// group.
func (s Settings) rowsOfGroup() int {
	return (s.Annealing.Chains + s.Groups - 1) / s.Groups
}
