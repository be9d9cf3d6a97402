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
	// Ladder returns the inverse temperatures of the last call, and a copy of the measurements.
	Ladder() Ladder
	// Excess overwrites dst with the energy that β multiplies, in nats, of each particle after the
	// last call. This is E or, on the path from a Base with energy E₀, E − E₀. dst has
	// groups × temperatures elements: group by group, from the coldest temperature. Bennett's
	// estimate of log Z is computed from these energies. Excess panics before the first call and
	// if dst has another length.
	Excess(dst []float64)
	// Freeze stops the tuning of the ladder permanently, except for Retune. To sample a fixed
	// model, tune during burn-in and then freeze: from then on the chain is Markov.
	Freeze()
	// Retune tunes the temperatures of a frozen ladder once, before the next call of Estimate, by what was
	// measured since the last tuning.
	Retune()
}

// A Ladder has statistics of how particles are exchanged between K temperatures, since the first call
// or since the ladder was last tuned. A round consists of the Gibbs steps or moves of each particle,
// and the swaps after them.
type Ladder struct {
	Beta []float64 // inverse temperatures, falling from 1

	// Rejection is the mean probability 1 − min(1, ratio) that a swap is rejected, for each pair of
	// neighbours from the coldest. It is computed from the energies after the Gibbs steps and before
	// the swaps of a round. For ins and pins, which do not swap pairs, it is computed in the same way.
	// RejectionErr has the standard errors, from the spread over the independent groups, or over up to
	// 64 batches of rounds of a single group. It is nil before there are two groups or batches.
	Rejection, RejectionErr []float64
	// Barrier is the sum of Rejection, an estimate of the communication barrier
	// Λ between the ends of the ladder (Syed et al. 2022, eq. 10). It underestimates Λ. For normally
	// distributed energies the bias is 2 % where pairs reject a quarter of their swaps, 6 % at a half,
	// as in a tuned ladder, and 20 % at three quarters (TestBarrierFromBelow). BarrierErr is the
	// standard error of the sum without this bias; 0 if it is unknown.
	Barrier, BarrierErr float64

	Rounds     int64 // rounds measured
	RoundTrips int64 // from the lowest temperature to the highest and back, of all particles since the first call

	// Association[i][j] is the fraction of rounds, over all groups, that the
	// particle that started at temperature i spent at temperature j. Each element tends to
	// 1/K; Deviation is the largest difference from 1/K.
	Association [][]float64
	Deviation   float64
	// Moves[i][j] is the fraction of rounds in which the particle at temperature i
	// went to temperature j.
	Moves [][]float64
	// Trajectory[t][i] is the index of the temperature of particle i of the first group after round t
	// of the last rounds, the oldest first. It has at most 1024 rounds.
	Trajectory [][]uint8

	// Tuned is the number of times that the ladder was tuned. Capped reports that the barrier
	// required more temperatures at the last tuning than the kind may have.
	Tuned  int64
	Capped bool
}

// Check returns an error if the fields of a ladder that was read from a file do not fit together: all
// must have the same number of temperatures.
func (l Ladder) Check() error {
	k := len(l.Beta)
	square := func(m [][]float64) bool {
		return len(m) == k && !slices.ContainsFunc(m, func(row []float64) bool { return len(row) != k })
	}
	switch {
	case k < 2 || k > maxTemperatures:
		return fmt.Errorf("a ladder of %d temperatures; there are 2 … %d", k, maxTemperatures)
	case slices.ContainsFunc(l.Beta, func(b float64) bool { return !(b >= 0 && b <= math.MaxFloat32) }):
		return errors.New("an inverse temperature that is negative or not finite")
	case len(l.Rejection) != k-1 || l.RejectionErr != nil && len(l.RejectionErr) != k-1 || !square(l.Association) || !square(l.Moves):
		return fmt.Errorf("statistics of another number of temperatures than %d", k)
	case l.Rounds < int64(len(l.Trajectory)) || len(l.Trajectory) > journalRounds:
		return fmt.Errorf("a trajectory of %d rounds of a ladder that made %d", len(l.Trajectory), l.Rounds)
	}
	for _, at := range l.Trajectory {
		if len(at) != k || slices.ContainsFunc(at, func(j uint8) bool { return int(j) >= k }) {
			return fmt.Errorf("a trajectory of another number of temperatures than %d", k)
		}
	}
	return nil
}

// Ladder implements Tempered.
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

// Excess implements Tempered.
func (l *ladder) Excess(dst []float64) {
	if l.states == nil || len(dst) != len(l.at) {
		panic("negphase: Excess before the first call of Estimate, or with another number of elements than particles")
	}
	for i, row := range l.at {
		dst[i] = l.energy(row)
	}
}
