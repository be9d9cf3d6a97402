package mcmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorbm/rbm"
)

// TargetAcceptance is the acceptance rate at which locally balanced proposals of many flips are most
// efficient, in the limit of many sites (Sun, Dai & Schuurmans 2022, Optimal scaling for locally balanced
// proposals in discrete spaces). For random-walk Metropolis this rate is 0.234.
const TargetAcceptance = 0.574

const (
	// WarmUpMoves is the number of moves of a WarmUp. Ten warm-ups after 100 sweeps
	// of Gibbs found 117 to 133 flips on 60×60 spins at β = 1/2.27, 24 to 28 on a 9×9×9
	// glass at β = 1, and 24 to 32 on 16×16 spins at β = 0.4.
	WarmUpMoves = 1000
	startLength = 20 // length of walks before a warm-up
)

// An Adaptive chain can adapt the length of its walks to their acceptance rate, if the settings have
// k=auto. Only WarmUp and TakeLength change the length. Move does not, so that it leaves exp(−βE)
// invariant.
type Adaptive interface {
	Chain
	// WarmUp makes WarmUpMoves moves and adapts the length so that the acceptance rate is
	// TargetAcceptance. States during the warm-up are not distributed as exp(−βE). If the
	// settings fix the lengths, WarmUp does nothing.
	WarmUp(r *rand.Rand) Info
	// Lengths returns the smallest and the largest number of flips of a walk.
	Lengths() (low, high int)
	// NewLength returns the length before a warm-up, for TakeLength; nil if the settings
	// fix the lengths.
	NewLength() *Length
	// TakeLength sets the length of walks to l.
	TakeLength(l *Length)
}

// FindsLength reports whether chains of m adapt the length of their walks (k=auto).
func FindsLength(m Mover) bool {
	switch m := m.(type) {
	case Sardonics:
		return m.Auto
	case Intracluster:
		return m.Auto
	}
	return false
}

// A Length is a number of flips of a walk that adapts to the acceptance rate.
type Length struct {
	Log  float64 // natural logarithm of the length, 0 or more
	most float64 // largest value of Log
}

func newLength(most int) *Length {
	return &Length{rbm.Log(float64(min(startLength, most))), rbm.Log(float64(most))}
}

// Adapt increases the length if acceptance is above TargetAcceptance, and decreases it if below. The
// logarithm changes by gain times the difference.
func (l *Length) Adapt(acceptance, gain float64) {
	l.Log = min(max(0, l.Log+float64(gain*(acceptance-TargetAcceptance))), l.most)
}

// Flips returns the length as a number of flips, at least 1.
func (l *Length) Flips() int { return int(rbm.Exp(l.Log) + 0.5) }

// Check returns an error if no walk has this length.
func (l *Length) Check() error {
	if !(l.Log >= 0 && l.Log <= l.most) {
		return fmt.Errorf("walks of exp(%v) flips; the logarithm must lie in 0 … %.3g", l.Log, l.most)
	}
	return nil
}

// warmUp implements WarmUp for a chain. move makes a move and returns its acceptance probability. The
// gain falls as 1/√t (Robbins & Monro 1951). The final length is the geometric mean over the second half
// of the moves (Polyak & Juditsky 1992).
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

// Balanced returns the bias γ, in units of β, at which the weights are locally balanced (Zanella 2020):
// the weight of a flip divided by the weight of its reverse is the ratio of the probabilities of the
// two states.
func (w Weights) Balanced() float64 {
	if w == Boltzmann {
		return 0.5
	}
	return 1
}
