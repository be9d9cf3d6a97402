package logz

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/rbm"
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
		a, err := m.AIS(ctx, annealing, key.Child(aisKey), of(Annealing))
		if err != nil {
			return Bracket{}, err
		}
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
			a, err := m.ReverseAIS(ctx, annealing, d.start, key.Child(reverseKey), of(Reversing))
			if err != nil {
				return Bracket{}, err
			}
			a.StdErr = groupedStdErr(a.LogWeights, s.Groups)
			b.Reverse = &a
		}
		if s.Bennett {
			if b.Bennett, err = s.ratio(m, d); err != nil {
				return Bracket{}, err
			}
		}
	}
	b.Warnings = s.warnings(b)
	return b, nil
}

// ratio is the multistate Bennett estimate from the draws of the ladder.
func (s Settings) ratio(m *rbm.RBM, d draws) (*Ratio, error) {
	counts := make([]float64, len(d.excess))
	for k, x := range d.excess {
		counts[k] = effective(x, s.Groups)
	}
	z, err := rbm.Bennett(d.after.Beta, d.excess, counts, s.Annealing.Base.LogZ(m))
	r := &Ratio{Overlap: z.Overlap, Temperatures: len(d.after.Beta), RoundTrips: d.trips, LogZ: math.NaN(), StdErr: math.NaN()}
	switch {
	case errors.Is(err, rbm.ErrOverlap):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("log Z: %w", err)
	}
	r.LogZ, r.StdErr = z.LogZ[0], z.StdErr[0]
	return r, nil
}

// groupedStdErr returns the standard error of the logarithm of the mean weight,
// to first order, where weight i is of group i mod groups and only groups are
// independent.
func groupedStdErr(logw []float64, groups int) float64 {
	top := math.Inf(-1)
	for _, w := range logw {
		top = max(top, w)
	}
	sums, total := make([]float64, groups), 0.0
	for i, w := range logw {
		e := rbm.Exp(w - top)
		sums[i%groups] += e
		total += e
	}
	n, squares := float64(groups), 0.0
	for _, x := range sums {
		d := x/total - 1/n
		squares += d * d
	}
	return math.Sqrt(squares * n / (n - 1))
}
