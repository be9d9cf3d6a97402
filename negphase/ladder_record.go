package negphase

import (
	"math"

	"gorbm/negphase/diag"
)

// A record stores the measurements of a ladder in a fixed amount of memory: sums for each pair of
// neighbouring temperatures, counts for each particle and temperature, and the temperatures of the
// first group's particles in the last rounds.
type record struct {
	groups, temperatures int
	rounds               int64

	// samples has rows of rejection probabilities, one element for each of the K−1 pairs of neighbours
	// among K temperatures. With several groups, each group has one row, a sum over all rounds. A single
	// group has loneBatches rows, each a sum over length rounds. When these are full, length doubles.
	samples []float64
	length  int64
	rises   []float64 // for each pair: energy of the hotter particle minus that of the colder, summed over rounds and groups

	// Counts of rounds, summed over all groups. The number of a particle is the index of the
	// temperature at which it started.
	stays   []int64 // [particle·K + temperature after the round]
	moves   []int64 // [temperature before the swaps · K + temperature after them]
	journal []uint8 // [(round mod journalRounds)·K + particle]: temperatures of the first group's particles
}

const (
	// journalRounds is the largest number of rounds of a trajectory.
	journalRounds = 1024
	// loneBatches is the largest number of batches of a single group. At least 32 batches are full once
	// their length has doubled. A standard error from 32 batches has a relative error of 1/√(2·31),
	// some 13 %.
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

// sample returns the sums, one for each pair, to which this round of group g is added.
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

// next ends a round. For a single group it merges neighbouring batches when all are full.
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

// complete returns the number of complete rows of samples, and the number of rounds in each.
func (r *record) complete() (samples int, rounds int64) {
	if r.groups == 1 || r.rounds == 0 {
		return int(r.rounds / r.length), r.length
	}
	return r.groups, r.rounds
}

// allPairs, in place of a pair, selects the sum over all pairs.
const allPairs = -1

// rejection returns the mean rejection probability of pair k with its standard error; for allPairs, the
// mean and error of the sum over all pairs. The error is 0 if there are fewer than two samples.
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

// rise returns the mean energy of the hotter particle of pair k minus that of the colder.
func (r *record) rise(k int) float64 {
	return r.rises[k] / float64(max(1, r.rounds)) / float64(r.groups)
}

// rates divides a K × K matrix of counts by the number of rounds times the number of groups.
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
