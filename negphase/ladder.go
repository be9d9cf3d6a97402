package negphase

import (
	"fmt"
	"slices"

	"gorbm/rbm"
)

// A ladder runs groups of replicas, one at each temperature. A group's
// particles are neighbouring rows of the chains; a swap exchanges temperatures,
// never states.
type ladder struct {
	chains
	steps, swaps int
	beta         []float64 // inverse temperatures, falling from 1
	at           []int32   // at[g·K+k]: row of the particle of group g at temperature k
	journey      []uint8   // of each row: where on its round trip it is
	rowBeta      []float32
	weight       []float32 // of each row in the estimate
	info         Info
}

// Stations of a round trip.
const (
	nowhere  = iota
	upward   // last seen at the lowest temperature
	downward // has been at the highest since
)

func newLadder(s Settings) ladder {
	k := len(s.Temperatures)
	rows := s.Chains * k
	l := ladder{
		chains: chains{rows: rows, start: s.Start}, steps: s.K, swaps: s.Swaps,
		beta: make([]float64, k), at: make([]int32, rows), journey: make([]uint8, rows),
		rowBeta: make([]float32, rows), weight: make([]float32, rows),
		info: Info{SwapTries: make([]int64, k-1), Swaps: make([]int64, k-1)},
	}
	for i, t := range s.Temperatures {
		l.beta[i] = float64(float32(1 / t)) // the Gibbs steps take float32
	}
	for r := range l.at {
		l.at[r] = int32(r)
	}
	return l
}

// groups returns the number of groups.
func (l *ladder) groups() int { return l.rows / len(l.beta) }

// group returns the rows of group g's particles by temperature.
func (l *ladder) group(g int) []int32 {
	k := len(l.beta)
	return l.at[g*k : (g+1)*k]
}

// advance takes all particles through the Gibbs steps of one round, each at
// the temperature it is assigned to.
func (l *ladder) advance(m *rbm.RBM, key rbm.Key) error {
	for g := range l.groups() {
		for k, row := range l.group(g) {
			l.rowBeta[row] = float32(l.beta[k])
		}
	}
	m.Step(l.states, l.rowBeta, l.steps, key.Child(stepKey))
	l.info.Updates += int64(l.steps) * int64(l.rows)
	return finite(l.states)
}

// crossed counts an opportunity to exchange at each pair of temperatures of a
// group whose particles were at the rows before, and each pair that a
// particle crossed.
func (l *ladder) crossed(before, after []int32) {
	for k := range l.info.Swaps {
		l.info.SwapTries[k]++
		for _, row := range after[k+1:] {
			if slices.Contains(before[:k+1], row) {
				l.info.Swaps[k]++
				break
			}
		}
	}
	l.trace(after)
}

// trace follows the round trips of a group's particles.
func (l *ladder) trace(rows []int32) {
	if top := &l.journey[rows[len(rows)-1]]; *top == upward {
		*top = downward
	}
	bottom := &l.journey[rows[0]]
	if *bottom == downward {
		l.info.RoundTrips++
	}
	*bottom = upward
}

// phase returns the weighted particles.
func (l *ladder) phase() rbm.Phase {
	return rbm.Phase{Batch: rbm.Batch{V: l.states.V, H: l.states.Mean, Weight: l.weight}}
}

// MarshalBinary appends to the chains each group's rank of particles by
// temperature and each particle's journey, one byte each.
func (l *ladder) MarshalBinary() ([]byte, error) {
	b := l.appendBinary(nil)
	for i, row := range l.at {
		b = append(b, uint8(int(row)-i/len(l.beta)*len(l.beta)))
	}
	return append(b, l.journey...), nil
}

// UnmarshalBinary changes nothing unless all of b fits.
func (l *ladder) UnmarshalBinary(b []byte) error {
	h, b, err := l.readBinary(b)
	if err != nil {
		return err
	}
	if len(b) != 2*l.rows {
		return fmt.Errorf("%w: the saved ladder has %d bytes after its chains, want %d", rbm.ErrFormat, len(b), 2*l.rows)
	}
	k := len(l.beta)
	at := make([]int32, l.rows)
	for g := range l.groups() {
		seen := make([]bool, k)
		for i, x := range b[g*k : (g+1)*k] {
			if int(x) >= k || seen[x] {
				return fmt.Errorf("%w: the saved temperatures of group %d are not a permutation", rbm.ErrFormat, g)
			}
			seen[x] = true
			at[g*k+i] = int32(g*k + int(x))
		}
	}
	journey := b[l.rows:]
	for i, x := range journey {
		if x > downward {
			return fmt.Errorf("%w: saved journey %d of particle %d", rbm.ErrFormat, x, i)
		}
	}
	l.restore(h)
	copy(l.at, at)
	copy(l.journey, journey)
	return nil
}
