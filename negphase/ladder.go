package negphase

import (
	"cmp"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A ladder runs groups of replicas, called particles. A group has one particle at each temperature.
// Its particles are adjacent rows of the chains; a swap exchanges temperatures, never states.
type ladder struct {
	chains
	groups       int
	steps, swaps int           // Gibbs steps per round, rounds per call
	beta         []float64     // K inverse temperatures, falling from 1
	at           []int32       // at[g·K+k]: row of the particle of group g at temperature k
	last         []int32       // for each row: index of the temperature of its last Gibbs steps
	journey      mcmc.Journeys // for each row: its stage of the round trip
	rowBeta      []float32     // for each row: its inverse temperature
	weight       []float32     // for each row: its weight in the estimate
	crossing     []bool        // scratch of countCrossings: one element per pair of neighbours

	rounds int64 // since the first call; its parity selects the pairs of pt and the partition of pins
	trips  int64 // round trips since the first call
	record record
	tuner
	base  *rbm.Base    // the distribution at β = 0; nil is the uniform distribution
	moves *binaryMoves // used instead of Gibbs steps if not nil
	info  Info
}

// RoundTrips names the count of round trips of particles from the lowest temperature to the highest
// and back.
const RoundTrips = "RoundTrips"

// Figures implements Reporter.
func (l *LadderSettings) Figures(i Info, updates int) []Figure {
	trips := i.Get(RoundTrips)
	return append([]Figure{{Key: "round_trips", Value: trips, Ladder: true, Text: plural(trips, "round trip")}}, l.samplerSettings.Figures(i, updates)...)
}

func newLadder(all Settings) ladder {
	s := all.ladder()
	l := ladder{chains: chains{settings: all, start: s.start}, groups: s.chains, steps: s.k, swaps: s.swaps, tuner: newTuner(s)}
	if s.Path == ToData {
		l.base = s.Base
	}
	if s.mover != nil {
		l.moves, l.joint = newMoves(s.samplerSettings, s.k), true
	}
	l.setBeta(s.firstBeta())
	return l
}

// firstBeta returns the inverse temperatures of a new ladder. Without a list in the settings, they are
// equally spaced until the first tuning. All are rounded to float32, because Gibbs steps compute with
// float32.
func (s *LadderSettings) firstBeta() []float64 {
	if !s.Temperatures.Auto {
		beta := make([]float64, len(s.Temperatures.List))
		for k, t := range s.Temperatures.List {
			beta[k] = float64(float32(1 / t))
		}
		return beta
	}
	beta := make([]float64, cmp.Or(s.Temperatures.Number, startTemperatures))
	far := s.lowestBeta()
	if s.Temperatures.Reach {
		far = max(far, 1/reachStart)
	}
	for k := range beta {
		beta[k] = float64(float32(1 - (1-far)*float64(k)/float64(len(beta)-1)))
	}
	return beta
}

// lowestBeta returns the inverse of the highest temperature that a tuned ladder may
// have, rounded to float32.
func (s *LadderSettings) lowestBeta() float64 {
	if s.Hottest == 0 {
		return 0
	}
	return float64(float32(1 / s.Hottest))
}

// setBeta gives l the inverse temperatures beta. It assigns particles to temperatures in the order of
// their rows and clears the record.
func (l *ladder) setBeta(beta []float64) {
	k := len(beta)
	l.beta, l.rows = beta, l.groups*k
	l.at, l.last = make([]int32, l.rows), make([]int32, l.rows)
	l.journey = make(mcmc.Journeys, l.rows)
	l.rowBeta, l.weight = make([]float32, l.rows), make([]float32, l.rows)
	l.crossing = make([]bool, k-1)
	l.record = newRecord(l.groups, k)
	l.info = Info{SwapTries: make([]int64, k-1), Swaps: make([]int64, k-1)}
	for r := range l.at {
		l.at[r] = int32(r)
	}
}

// group returns the rows of the particles of group g, by temperature.
func (l *ladder) group(g int) []int32 {
	k := len(l.beta)
	return l.at[g*k : (g+1)*k]
}

// prepare makes the chains ready for a call of Estimate with m.
func (l *ladder) prepare(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if l.states == nil {
		if err := l.base.Check(m); err != nil {
			return err
		}
		if l.base == nil && (m.Real() || m.RealHidden()) { // no flat distribution over real values exists for β = 0
			l.base = rbm.UniformBase(m)
		}
	}
	if err := l.begin(m, pos, key); err != nil {
		return err
	}
	l.states.Base = l.base
	if l.due() {
		l.retune(m)
	}
	l.info.Reset()
	l.info.Tuned = l.tuned
	l.info.Count(RoundTrips, 0)
	if l.moves == nil {
		return nil
	}
	l.moves.base = l.base
	return l.moves.prepare(m, l.beta, l.groups)
}

// energy returns the energy that β multiplies, for the particle in a row. This is E or, with a base of
// energy E₀, E − E₀.
func (l *ladder) energy(row int32) float64 {
	if l.base == nil {
		return l.states.Energy[row]
	}
	return l.states.Energy[row] - l.states.BaseEnergy[row]
}

// advance makes the Gibbs steps or moves of one round for each particle at its temperature. It records
// the rejection probabilities of swaps between neighbours, and their differences of energy.
func (l *ladder) advance(m *rbm.RBM, key rbm.Key) error {
	for g := range l.groups {
		for k, row := range l.group(g) {
			l.last[row] = int32(k)
			l.rowBeta[row] = float32(l.beta[k])
		}
	}
	if l.moves != nil {
		if err := l.moves.run(m, l.states, l.at, l.rowBeta, key, &l.info, &l.team); err != nil {
			return err
		}
	} else {
		if err := l.step(m, l.states, l.rowBeta, l.steps, key.Child(stepKey)); err != nil {
			return err
		}
		l.info.Updates += int64(l.steps) * int64(l.rows)
	}
	lo, hi := l.dealt()
	for g := range l.groups {
		sums, rows := l.record.sample(g), l.group(g)
		for k := range sums {
			cold, hot := l.energy(rows[k]), l.energy(rows[k+1])
			if lo <= g && g < hi {
				sums[k] += 1 - swapProbability(l.beta[k], l.beta[k+1], cold, hot)
			}
			l.record.rises[k] += hot - cold
		}
	}
	if hi-lo == l.groups {
		return nil
	}
	return ranks.GatherRows(l.team.group, l.record.samples, l.groups)
}

// shareReplicas is the smallest number of replicas for which permutations are divided among ranks: each
// rank draws the permutations of its groups only. A draw takes some 0.35 µs per replica (Zen 4, blocks
// of 8). For 1024 replicas all draws take several times as long as a gather of their results
// (experiments/scale). The swaps of pt are too cheap to divide.
const shareReplicas = 512

// dealt returns the groups lo … hi−1 whose permutations this rank draws: all groups if they are few.
func (l *ladder) dealt() (lo, hi int) {
	if l.team.group.Size() == 1 || l.groups == 1 || l.rows < shareReplicas {
		return 0, l.groups
	}
	return l.team.group.Rows(l.groups)
}

// countCrossings counts exchanges between neighbours among the temperatures lo … hi−1 of a group. Each
// pair has one attempt, and one exchange if a particle has crossed the pair since the last Gibbs steps.
// rows[k] is the row of the particle that is now at temperature k.
func (l *ladder) countCrossings(rows []int32, lo, hi int) {
	clear(l.crossing)
	for k := lo; k < hi; k++ {
		for j := int(l.last[rows[k]]); j < k; j++ {
			l.crossing[j] = true // upward; as many cross downward
		}
	}
	for k := lo; k < hi-1; k++ {
		l.info.SwapTries[k]++
		if l.crossing[k] {
			l.info.Swaps[k]++
		}
	}
}

// finish records the temperatures of the particles after a round.
func (l *ladder) finish() {
	for g := range l.groups {
		rows := l.group(g)
		for k, row := range rows {
			l.record.visit(g, int(row)-g*len(rows), int(l.last[row]), k)
		}
		l.trace(rows)
	}
	l.record.next()
	l.rounds++
}

// trace updates the round trips of a group's particles.
func (l *ladder) trace(rows []int32) {
	if l.journey.Trace(int(rows[len(rows)-1]), int(rows[0])) {
		l.info.Count(RoundTrips, 1)
		l.trips++
	}
}

func (l *ladder) phase(m *rbm.RBM) (rbm.Phase, error) {
	phase := rbm.Phase{Batch: rbm.Batch{V: l.states.V, H: l.states.Mean, Weight: l.weight}}
	if l.moves != nil {
		return phase, l.moves.gatherMeans(m, l.states, l.weight, &l.team)
	}
	return phase, l.gatherMeans(l.states.Mean, l.weight)
}
