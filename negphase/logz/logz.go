package logz

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Stage is a part of the work: what a progress bar names.
type Stage string

const (
	Annealing Stage = "AIS"
	Ladder    Stage = "tempered chains"
	Reversing Stage = "reverse AIS"
)

// Purposes of the keys.
const (
	aisKey = iota
	ladderKey
	reverseKey
)

// Estimate brackets log Z of m. progress, if not nil, is called now and then
// with the part that is done of a stage. Errors name the setting that is out
// of range, wrap rbm.ErrDiverged if a number is not finite, or are the
// context's; that an estimate is poor is no error but one of the Warnings.
// Equal settings, model and key give equal bits at any GOMAXPROCS.
func Estimate(ctx context.Context, m *rbm.RBM, s Settings, key rbm.Key, progress func(stage Stage, done float64)) (Bracket, error) {
	if err := s.Check(m); err != nil {
		return Bracket{}, err
	}
	of := func(stage Stage) func(done float64) {
		if progress == nil {
			return nil
		}
		return func(done float64) { progress(stage, done) }
	}
	var b Bracket
	annealing := s.Annealing
	if s.AIS {
		a, err := partition.AIS(ctx, m, annealing, key.Child(aisKey), of(Annealing))
		if err != nil {
			return Bracket{}, err
		}
		a.StdErr = widened(a.StdErr, len(a.LogWeights))
		b.AIS = &a
		annealing.Path = a.Path // need not be placed again
	}
	if s.ladder() {
		d, err := s.climb(ctx, m, key.Child(ladderKey), of(Ladder))
		if err != nil {
			return Bracket{}, err
		}
		b.Start, b.Ladder, b.RoundTrips = d.before, d.after, d.trips
		if s.Reverse {
			a, err := partition.ReverseAIS(ctx, m, annealing, d.start, key.Child(reverseKey), of(Reversing))
			if err != nil {
				return Bracket{}, err
			}
			a.StdErr = s.errorOf(groupedStdErr(a.LogWeights, s.Groups), a.StdErr)
			b.Reverse = &a
		}
		if s.Bennett {
			if b.Bennett, err = s.ratio(m, d); err != nil {
				return Bracket{}, err
			}
		}
	}
	b.LowerBound = s.LowerBound
	s.judge(&b)
	return b, nil
}

// errorOf returns the standard error for a Bracket from that between groups and
// that of independent draws. Ten groups tell an error to a quarter of its size
// only, and sometimes far too low; but draws of chains are never worth more than
// independent ones.
func (s Settings) errorOf(groups, independent float64) float64 {
	return max(widened(groups, s.Groups), independent)
}

// ratio is the multistate Bennett estimate from the draws of the ladder.
func (s Settings) ratio(m *rbm.RBM, d draws) (*Ratio, error) {
	z, err := partition.Bennett(d.after.Beta, d.excess, s.Groups, s.Annealing.Base.LogZ(m))
	r := &Ratio{Overlap: z.Overlap, Groups: s.Groups, Temperatures: len(d.after.Beta), RoundTrips: d.trips, LogZ: math.NaN(), StdErr: math.NaN()}
	switch {
	case errors.Is(err, partition.ErrOverlap):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("log Z: %w", err)
	}
	groups, independent := z.StdErr[0], z.IndependentErr[0]
	r.LogZ, r.StdErr = z.LogZ[0], s.errorOf(groups, independent)
	r.ESS = float64(len(d.excess[0]))
	if groups > independent && groups > rounding {
		r.ESS *= independent / groups * (independent / groups)
	}
	return r, nil
}

// rounding is the error, in nats, below which nothing is uncertain but
// roundings: that of independent draws is a root of a difference of terms near
// one over their number.
const rounding = 1e-8
