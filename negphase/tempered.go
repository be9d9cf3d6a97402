package negphase

import (
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
	// Excess overwrites dst, groups × temperatures, with what β multiplies in
	// the energies of the particles as the last call left them: see
	// ladder.Excess.
	Excess(dst []float64)
	// Freeze stops the tuning of the ladder for good. To sample a fixed
	// model, tune in a burn-in and freeze: the chain is Markov from then on.
	Freeze()
}

// A Ladder says how particles exchange between K temperatures. It is measured
// from when the ladder stands: from the first call, or from the call that
// tuned it last. A round is κ Gibbs steps
// and the swaps after them.
type Ladder struct {
	Beta []float64 // inverse temperatures, falling from 1

	// Rejection is, of each pair of neighbours from the coldest, the mean
	// probability that a swap of the particles assigned to them is refused,
	// after the Gibbs steps and before any swap of the round: 1 − min(1, ratio). Also
	// ins and pins record it, from the same energies, although they do not
	// swap pairs. Its standard errors come from the spread over groups, which are
	// independent, or of a lone group over 32 to 64 batches of rounds; nil
	// before there are two.
	Rejection, RejectionErr []float64
	// Barrier is the sum of Rejection, an estimate of the communication
	// barrier Λ between the ends of the ladder (Syed et al. 2022, eq. 10). More
	// temperatures bring it up to Λ: for normal energies it lacks 2 % where
	// pairs reject a quarter of their swaps, 6 % at a half, as in a tuned
	// ladder, and 20 % at three quarters (TestBarrierFromBelow). BarrierErr is
	// the standard error of the sum, from the same spread, without what it
	// lacks; 0 before there is one.
	Barrier, BarrierErr float64

	Rounds     int64 // rounds measured
	RoundTrips int64 // of all particles since the first call, from the lowest temperature to the highest and back

	// Association is, of each particle of a group (numbered by the
	// temperature it started from), the fraction of rounds at each
	// temperature, over all groups. All tend to 1/K; Deviation is the largest
	// difference from it.
	Association [][]float64
	Deviation   float64
	// Moves is the fraction of rounds in which the particle at temperature i
	// went to temperature j.
	Moves [][]float64
	// Trajectory is, for each of the last rounds (at most 1024), the oldest first, the
	// temperature of each particle of the first group.
	Trajectory [][]uint8

	// Tuned is the number of times that the ladder was tuned. Capped tells
	// that the last time more temperatures were wanted than the kind may have.
	Tuned  int64
	Capped bool
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

// Excess overwrites dst, groups × temperatures, with what β multiplies in the
// energies of the particles as the last call left them, in nats: E, or E − E₀
// on the path from a Base; group by group, from the coldest. What it gives of
// one temperature is a draw of the law there, for partition.Bennett. It panics before
// the first call and if dst has another length.
func (l *ladder) Excess(dst []float64) {
	if l.states == nil || len(dst) != len(l.at) {
		panic("negphase: Excess needs a ladder that was called and one place a particle")
	}
	for i, row := range l.at {
		dst[i] = l.energy(row)
	}
}
