// Package logz estimates the logarithm of an RBM's partition function if the model is too large to be
// enumerated, and warns if the estimates cannot be trusted.
//
// Annealed importance sampling (AIS) is too low on average. Reverse annealed
// importance sampling, which starts at draws from the model, is too high. Together they bracket
// log Z if the draws are correct. The draws come from a ladder of
// temperatures on the model itself, never from data. The same ladder gives
// a third estimate, by the multistate Bennett acceptance ratio, which has no known bias.
//
//	AIS      exact draws of the base → the model, hidden units summed out
//	reverse  particles of the ladder at temperature 1 → the base
//	Bennett  the energies of the particles at all temperatures
//
// The base is a distribution of independent units. The ladder is parallel tempering (pt of package
// negphase), tuned in a burn-in and then frozen. It runs in several independent groups. The standard
// errors of Bennett's estimate and of the reverse are computed from the spread between groups. The
// standard error of AIS is computed from the spread between its chains. All are widened by Student's t,
// so that LogZ ± 1.96·StdErr is an interval of 95 %. On 58 models small enough to enumerate
// (experiments/log-z), the interval contained log Z for 93 to 98 % of the estimates without a warning.
// If all chains miss a part of the model, such as a mode of 4 % of Z, the spread does not show it, and
// the interval may miss log Z without a warning. Two checks can reveal some of these cases: the
// Warnings, and a lower bound of log Z from known states, such as the rows of the data (see
// LowerBound).
//
// # Where to begin
//
// Read Estimate, and Bracket for its results and warnings. ExampleEstimate, in example_test.go,
// compares the estimates with the exact value.
package logz

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// The names of stages of the work, for a progress bar.
const (
	Annealing = "AIS"
	Ladder    = "tempered chains"
	Reversing = "reverse AIS"
)

// Purposes of random streams.
const (
	aisKey = iota
	ladderKey
	reverseKey
)

// Estimate estimates log Z of m. progress, if not nil, is called repeatedly
// with the fraction of a stage that is done. An error names the setting that is out
// of range, wraps rbm.ErrDiverged if a number is not finite, or is the
// context's. A poor estimate is not an error but gives a warning.
// Equal settings, model and key give identical results at any GOMAXPROCS.
func Estimate(ctx context.Context, m *rbm.RBM, s Settings, key rbm.Key, progress func(stage string, done float64)) (Bracket, error) {
	if err := s.Check(m); err != nil {
		return Bracket{}, err
	}
	progressOf := func(stage string) func(done float64) {
		if progress == nil {
			return nil
		}
		return func(done float64) { progress(stage, done) }
	}
	var b Bracket
	annealing := s.Annealing
	if s.AIS {
		a, err := partition.AIS(ctx, m, annealing, key.Child(aisKey), progressOf(Annealing))
		if err != nil {
			return Bracket{}, err
		}
		a.StdErr, a.V = widened(a.StdErr, len(a.LogWeights)), rbm.Values{}
		b.AIS = &a
		annealing.Path = a.Path // so that the reverse need not compute it
	}
	if s.ladder() {
		d, err := s.runLadder(ctx, m, key.Child(ladderKey), progress)
		if err != nil {
			return Bracket{}, err
		}
		b.Start, b.Ladder, b.RoundTrips, b.Rounds, b.Stopped = d.before, d.after, d.trips, d.rounds, d.stopped
		if s.Reverse {
			a, err := partition.ReverseAIS(ctx, m, annealing, d.start, key.Child(reverseKey), progressOf(Reversing))
			if err != nil {
				return Bracket{}, err
			}
			a.StdErr, a.V = s.stdErr(groupedStdErr(a.LogWeights, s.Groups), a.StdErr), rbm.Values{}
			b.Reverse = &a
		}
		if s.Bennett {
			if b.Bennett, err = s.bennett(m, d); err != nil {
				return Bracket{}, err
			}
		}
	}
	b.LowerBound = s.LowerBound
	s.check(&b)
	return b, nil
}

// stdErr returns the standard error for a Bracket. groups is the error from the spread between groups,
// and independent the error if all draws were independent. The spread of ten groups has a relative
// error of a quarter, and may be far too small by chance. But draws of chains are never better than
// independent draws, so the result is at least the error of the latter.
func (s Settings) stdErr(groups, independent float64) float64 {
	return max(widened(groups, s.Groups), independent)
}

// bennett returns the multistate Bennett estimate from the draws of the ladder.
func (s Settings) bennett(m *rbm.RBM, d draws) (*Ratio, error) {
	z, err := partition.Bennett(d.after.Beta, d.excess, s.Groups, s.Annealing.Base.LogZ(m))
	r := &Ratio{Overlap: z.Overlap, Groups: s.Groups, Temperatures: len(d.after.Beta), LogZ: math.NaN(), StdErr: math.NaN()}
	switch {
	case errors.Is(err, partition.ErrOverlap):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("log Z: %w", err)
	}
	groups, independent := z.StdErr[0], z.IndependentErr[0]
	r.LogZ, r.StdErr = z.LogZ[0], s.stdErr(groups, independent)
	r.ESS = float64(len(d.excess[0]))
	if groups > independent && groups > rounding {
		r.ESS *= independent / groups * (independent / groups)
	}
	return r, nil
}

// rounding is a standard error, in nats, that rounding alone may cause: the error of
// independent draws is the square root of a difference of nearly equal terms.
const rounding = 1e-8
