package mcmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorbm/rbm"
)

// TargetAcceptance is the share of accepted moves at which locally balanced
// proposals of many flips go farthest for their cost, as the number of sites
// grows (Sun, Dai & Schuurmans 2022, Optimal scaling for locally balanced
// proposals in discrete spaces). That of random-walk Metropolis is 0.234.
const TargetAcceptance = 0.574

const (
	// WarmUpMoves is the number of moves of a WarmUp. Ten warm-ups after 100 sweeps
	// of Gibbs found 117 to 133 flips on 60×60 spins at β = 1/2.27, 24 to 28 on a 9×9×9
	// glass at β = 1, and 24 to 32 on 16×16 spins at β = 0.4.
	WarmUpMoves = 1000
	startLength = 20 // before a warm-up
)

// An Adaptive chain finds the length of its walks itself, if the settings say so
// (k=auto). Its moves have a fixed length, and so leave exp(−βE) unchanged; only
// WarmUp and TakeLength change it.
type Adaptive interface {
	Chain
	// WarmUp makes WarmUpMoves moves that drive the length to TargetAcceptance and
	// leaves it there. States on the way are not of exp(−βE). If the settings give
	// the lengths, it does nothing.
	WarmUp(r *rand.Rand) Info
	// Lengths returns the least and the largest number of flips of a walk.
	Lengths() (low, high int)
	// NewLength returns the length before a warm-up, for TakeLength; nil if the settings
	// give the lengths.
	NewLength() *Length
	// TakeLength makes walks as long as l says.
	TakeLength(l *Length)
}

// FindsLength reports whether chains of m find the length of their walks.
func FindsLength(m Mover) bool {
	switch m := m.(type) {
	case Sardonics:
		return m.Auto
	case Intracluster:
		return m.Auto
	}
	return false
}

// A Length is a number of flips that is driven to TargetAcceptance.
type Length struct {
	Log  float64 // its natural logarithm, from 0 to that of the longest walk
	most float64 // the largest Log
}

func newLength(most int) *Length {
	return &Length{rbm.Log(float64(min(startLength, most))), rbm.Log(float64(most))}
}

// Adapt lengthens walks that were accepted more often than TargetAcceptance, and
// shortens others: the logarithm changes by gain times the difference.
func (l *Length) Adapt(acceptance, gain float64) {
	l.Log = min(max(0, l.Log+float64(gain*(acceptance-TargetAcceptance))), l.most)
}

// Flips returns the length in flips, at least 1.
func (l *Length) Flips() int { return int(rbm.Exp(l.Log) + 0.5) }

// Check returns an error if no walk has this length.
func (l *Length) Check() error {
	if !(l.Log >= 0 && l.Log <= l.most) {
		return fmt.Errorf("walks of exp(%v) flips; the logarithm must lie in 0 … %.3g", l.Log, l.most)
	}
	return nil
}

// warmUp is WarmUp of a chain. move makes a move and returns the probability with
// which it was accepted. Gains fall as 1/√t (Robbins & Monro 1951), and the length is
// the geometric mean of those of the second half (Polyak & Juditsky 1992).
func warmUp(c Adaptive, move func() (Info, float64)) (total Info) {
	l := c.NewLength()
	if l == nil {
		return total
	}
	mean := 0.0
	for t := range WarmUpMoves {
		c.TakeLength(l)
		info, acceptance := move()
		total.Add(info)
		l.Adapt(acceptance, 1/math.Sqrt(float64(1+t)))
		if t >= WarmUpMoves/2 {
			mean += l.Log / (WarmUpMoves / 2)
		}
	}
	l.Log = min(mean, l.most)
	c.TakeLength(l)
	return total
}

// Balanced returns the bias γ at which weights are locally balanced: those of a flip and of
// its reverse are in the ratio of the probabilities of the two states (Zanella 2020).
func (w Weights) Balanced() float64 {
	if w == Boltzmann {
		return 0.5
	}
	return 1
}
