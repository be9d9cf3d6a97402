package negphase

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Tempered is an Estimator that runs a ladder of temperatures: pt, ins and
// pins.
type Tempered interface {
	Estimator
	// Ladder returns the ladder of the last call and what was measured of it:
	// a copy.
	Ladder() Ladder
	// Excess overwrites dst, groups × temperatures, with the energies that β
	// multiplies, in nats: E, or E − E₀ on the path from a Base. They are those of
	// the particles after the last call, group by group, from the coldest. Those at
	// one temperature are draws from the distribution there, as Bennett's estimate
	// of log Z takes them. It panics before the first call and if dst has another
	// length.
	Excess(dst []float64)
	// Freeze stops the tuning of the ladder for good. To sample a fixed
	// model, tune in a burn-in and freeze: the chain is Markov from then on.
	Freeze()
}

// A Ladder says how particles exchange between K temperatures. It is measured
// since the first call, or since the ladder was last tuned. A round is κ Gibbs
// steps and the swaps after them.
type Ladder struct {
	Beta []float64 // inverse temperatures, falling from 1

	// Rejection is, for each pair of neighbours from the coldest, the mean
	// probability 1 − min(1, ratio) that a swap of its particles is rejected, as
	// they are after the Gibbs steps and before any swap of the round. For ins and
	// pins, which do not swap pairs, it is computed from the same energies. The
	// standard errors come from the spread over groups, which are independent, or
	// over 32 to 64 batches of rounds of a single group; nil before there are two.
	Rejection, RejectionErr []float64
	// Barrier is the sum of Rejection, an estimate of the communication barrier
	// Λ between the ends of the ladder (Syed et al. 2022, eq. 10). It is below Λ:
	// for normal energies by 2 % where pairs reject a quarter of their swaps, by
	// 6 % at a half, as in a tuned ladder, and by 20 % at three quarters
	// (TestBarrierFromBelow). BarrierErr is the standard error of the sum, without
	// this bias; 0 before there is one.
	Barrier, BarrierErr float64

	Rounds     int64 // rounds measured
	RoundTrips int64 // of all particles since the first call, from the lowest temperature to the highest and back

	// Association[i][j] is the fraction of rounds, over all groups, that the
	// particle that started at temperature i spent at temperature j. All tend to
	// 1/K; Deviation is the largest difference from it.
	Association [][]float64
	Deviation   float64
	// Moves is the fraction of rounds in which the particle at temperature i
	// went to temperature j.
	Moves [][]float64
	// Trajectory has the temperature of each particle of the first group in each
	// of the last rounds, at most 1024, the oldest first.
	Trajectory [][]uint8

	// Tuned is the number of times that the ladder was tuned. Capped reports that
	// the last tuning called for more temperatures than the kind may have.
	Tuned  int64
	Capped bool
}

// Check returns an error that says what is missing in a ladder that was read from a
// file: all parts must be those of one number of temperatures.
func (l Ladder) Check() error {
	k := len(l.Beta)
	square := func(m [][]float64) bool {
		return len(m) == k && !slices.ContainsFunc(m, func(row []float64) bool { return len(row) != k })
	}
	switch {
	case k < 2 || k > maxTemperatures:
		return fmt.Errorf("a ladder of %d temperatures; there are 2 … %d", k, maxTemperatures)
	case slices.ContainsFunc(l.Beta, func(b float64) bool { return !(b >= 0 && b <= math.MaxFloat32) }):
		return errors.New("an inverse temperature that is no number from 0 on")
	case len(l.Rejection) != k-1 || l.RejectionErr != nil && len(l.RejectionErr) != k-1 || !square(l.Association) || !square(l.Moves):
		return fmt.Errorf("statistics that are not of %d temperatures", k)
	case l.Rounds < int64(len(l.Trajectory)) || len(l.Trajectory) > journalRounds:
		return fmt.Errorf("a trajectory of %d rounds of %d", len(l.Trajectory), l.Rounds)
	}
	for _, at := range l.Trajectory {
		if len(at) != k || slices.ContainsFunc(at, func(j uint8) bool { return int(j) >= k }) {
			return fmt.Errorf("a trajectory that is not of %d temperatures", k)
		}
	}
	return nil
}

// Ladder returns what was measured.
func (l *ladder) Ladder() Ladder {
	r := &l.record
	out := Ladder{Beta: slices.Clone(l.beta), Rounds: r.rounds, RoundTrips: l.trips,
		Association: r.rates(r.stays), Moves: r.rates(r.moves), Trajectory: r.trajectory(),
		Tuned: l.tuned, Capped: l.capped}
	for k := range len(l.beta) - 1 {
		mean, err := r.rejection(k)
		out.Rejection = append(out.Rejection, mean)
		out.RejectionErr = append(out.RejectionErr, err)
	}
	out.Barrier, out.BarrierErr = r.rejection(allPairs)
	if samples, _ := r.complete(); samples < 2 {
		out.RejectionErr = nil
	}
	if r.rounds > 0 {
		for _, row := range out.Association {
			for _, x := range row {
				out.Deviation = max(out.Deviation, math.Abs(x-1/float64(r.temperatures)))
			}
		}
	}
	return out
}

// Excess overwrites dst with the energies; see Tempered.
func (l *ladder) Excess(dst []float64) {
	if l.states == nil || len(dst) != len(l.at) {
		panic("negphase: Excess needs a ladder that was called and one place a particle")
	}
	for i, row := range l.at {
		dst[i] = l.energy(row)
	}
}
