package logz

import (
	"errors"
	"fmt"
	"math"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// Settings say which estimates are made, and how much work goes into each.
type Settings struct {
	AIS, Reverse, Bennett bool

	// Annealing are the settings of AIS, and of its reverse but for the number
	// of chains, which is rounded up to as many from each group. Its Base is
	// where the ladder ends too.
	Annealing partition.Annealing
	// Groups are independent ladders of replicas. Each takes BurnIn rounds of a
	// Gibbs step and swaps, in the first half of which its temperatures are
	// tuned, and then Rounds from which draws are taken.
	Groups, BurnIn, Rounds int

	// LowerBound is what log Z is known to be at least, as the function of this
	// name tells from states at hand; −Inf if nothing is known.
	LowerBound float64
}

// DefaultSettings returns all three estimates at some fifteen seconds of two
// processors for a model of 784 × 500 units: most of them the ladder's, so AIS
// gets 5000 temperatures.
func DefaultSettings() Settings {
	s := Settings{AIS: true, Reverse: true, Bennett: true,
		Annealing: partition.DefaultAnnealing(), Groups: 10, BurnIn: 1000, Rounds: 2000, LowerBound: math.Inf(-1)}
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
		return fmt.Errorf("log Z: %d ladders; it takes 2 to %d, for errors are told from the spread between them", s.Groups, maxGroups)
	case s.ladder() && (s.BurnIn < 0 || s.BurnIn > maxRounds):
		return fmt.Errorf("log Z: a burn-in of %d rounds; it takes 0 to %d", s.BurnIn, maxRounds)
	case s.ladder() && (s.Rounds < 2 || s.Rounds > maxRounds):
		return fmt.Errorf("log Z: %d rounds of the ladder; it takes 2 to %d", s.Rounds, maxRounds)
	case math.IsNaN(s.LowerBound) || math.IsInf(s.LowerBound, 1):
		return fmt.Errorf("log Z: a lower bound of %v; it takes a number, or −Inf for none", s.LowerBound)
	case s.Reverse && s.Rounds < s.rowsOfGroup():
		return fmt.Errorf("log Z: %d rounds of %d ladders for %d chains of reverse AIS; it takes %d rounds, or more ladders",
			s.Rounds, s.Groups, s.Annealing.Chains, s.rowsOfGroup())
	}
	return s.Annealing.Check(m)
}

// rowsOfGroup returns the number of chains of reverse AIS that start from one
// group.
func (s Settings) rowsOfGroup() int {
	return (s.Annealing.Chains + s.Groups - 1) / s.Groups
}

// negative returns the settings of the ladder.
func (s Settings) negative() (negphase.Settings, error) {
	n, err := negphase.Parse(fmt.Sprintf("pt:chains=%d:tau=auto", s.Groups), negphase.Settings{})
	if base := s.Annealing.Base; base != nil {
		n.SetBase(base)
	}
	return n, err
}
