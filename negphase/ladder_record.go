package negphase

import (
	"math"

	"gorbm/negphase/diag"
)

// A record holds what is measured of a ladder, in memory that does not grow:
// sums for each pair of neighbouring temperatures, counts for each particle and
// temperature, and the last rounds of the first group.
type record struct {
	groups, temperatures int
	rounds               int64

	// Sums of 1 − acceptance of each pair: one for each group, or with a single
	// group one for each batch of rounds. All batches have one length, which doubles
	// when there is no room for more.
	samples []float64
	length  int64
	rises   []float64 // Σ over rounds and groups of the hotter neighbour's energy above the colder's

	// Counts of rounds over all groups. A particle's number is the
	// temperature it started from.
	stays   []int64 // [particle·K + temperature after the round]
	moves   []int64 // [temperature before the swaps · K + after]
	journal []uint8 // [round mod journalRounds · K + particle], temperatures of the first group's particles
}

const (
	// journalRounds is the number of rounds of a trajectory.
	journalRounds = 1024
	// loneBatches is the largest number of batches of a single group: an error
	// from 32 to 64 batches is itself known to 1/√(2·31), some 13 %.
	loneBatches = 64
)

func newRecord(groups, k int) record {
	r := record{groups: groups, temperatures: k, length: 1,
		stays: make([]int64, k*k), moves: make([]int64, k*k), journal: make([]uint8, journalRounds*k)}
	rows := groups
	if groups == 1 {
		rows = loneBatches
	}
	r.samples, r.rises = make([]float64, rows*(k-1)), make([]float64, k-1)
	return r
}

// sample returns the sums, one a pair, to which this round of group g adds.
func (r *record) sample(g int) []float64 {
	if r.groups == 1 {
		g = int(r.rounds / r.length)
	}
	return r.row(g)
}

func (r *record) row(i int) []float64 {
	pairs := r.temperatures - 1
	return r.samples[i*pairs : (i+1)*pairs]
}

// visit records that a particle of group g went from one temperature to
// another in this round.
func (r *record) visit(g, particle, from, to int) {
	r.stays[particle*r.temperatures+to]++
	r.moves[from*r.temperatures+to]++
	if g == 0 {
		r.journal[int(r.rounds%journalRounds)*r.temperatures+particle] = uint8(to)
	}
}

// next ends a round.
func (r *record) next() {
	r.rounds++
	if r.groups > 1 || r.rounds < loneBatches*r.length {
		return
	}
	for i := range loneBatches / 2 {
		for k, x := range r.row(2 * i) {
			r.row(i)[k] = x + r.row(2*i + 1)[k]
		}
	}
	clear(r.samples[loneBatches/2*(r.temperatures-1):])
	r.length *= 2
}

// complete returns the number of complete samples and the rounds of each.
func (r *record) complete() (samples int, rounds int64) {
	if r.groups == 1 || r.rounds == 0 {
		return int(r.rounds / r.length), r.length
	}
	return r.groups, r.rounds
}

// allPairs stands for the sum over all pairs.
const allPairs = -1

// rejection returns the mean rejection of pair k, or of allPairs, with its
// standard error, which is 0 if there are not two samples.
func (r *record) rejection(k int) (mean, err float64) {
	if r.rounds == 0 {
		return 0, 0
	}
	value := func(i int) (sum float64) {
		if k != allPairs {
			return r.row(i)[k]
		}
		for _, x := range r.row(i) {
			sum += x
		}
		return sum
	}
	sum := 0.0
	for i := range len(r.samples) / (r.temperatures - 1) {
		sum += value(i)
	}
	mean = sum / float64(r.rounds) / float64(r.groups)

	whole, rounds := r.complete()
	if whole < 2 {
		return mean, 0
	}
	samples := make([]float64, whole)
	for i := range samples {
		samples[i] = value(i) / float64(rounds)
	}
	_, variance := diag.MeanVariance(samples)
	return mean, math.Sqrt(variance / float64(whole-1))
}

// rise returns the mean difference of energy between the neighbours of pair k.
func (r *record) rise(k int) float64 {
	return r.rises[k] / float64(max(1, r.rounds)) / float64(r.groups)
}

// rates returns a K × K matrix of counts as fractions of the rounds of all
// groups.
func (r *record) rates(counts []int64) [][]float64 {
	m := make([][]float64, r.temperatures)
	for i := range m {
		m[i] = make([]float64, r.temperatures)
		for j := range m[i] {
			if r.rounds > 0 {
				m[i][j] = float64(counts[i*r.temperatures+j]) / float64(r.rounds) / float64(r.groups)
			}
		}
	}
	return m
}

// kept returns the number of rounds in the journal.
func (r *record) kept() int { return int(min(r.rounds, journalRounds)) }

// trajectory returns the temperatures of the first group's particles in the
// last rounds, the oldest first.
func (r *record) trajectory() [][]uint8 {
	t := make([][]uint8, r.kept())
	for i := range t {
		n := int((r.rounds - int64(len(t)) + int64(i)) % journalRounds)
		t[i] = append([]uint8(nil), r.journal[n*r.temperatures:(n+1)*r.temperatures]...)
	}
	return t
}
