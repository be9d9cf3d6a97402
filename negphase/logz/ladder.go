package logz

import (
	"context"
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
)

// draws are the samples that the frozen ladder yields.
type draws struct {
	before, after negphase.Ladder // before it was first tuned, and at the end
	trips         int64           // round trips in the rounds that are sampled

	start  rbm.Values  // visible states at temperature 1: row i is of group i mod Groups
	excess [][]float64 // of each temperature: the energies that β multiplies, group after group
}

// maxDraws is the largest number of energies, of all temperatures together. With
// more rounds, some are left out: Newton's method then takes some tenths of a
// second, and neighbouring rounds are nearly equal.
const maxDraws = 200_000

// tunedLadder returns the settings of parallel tempering of so many groups, tuned on
// a path to base; nil is the uniform law.
func tunedLadder(groups int, base *rbm.Base) (negphase.Settings, error) {
	n, err := negphase.Parse(fmt.Sprintf("pt:chains=%d:tau=auto", groups), negphase.Settings{})
	if err == nil && base != nil {
		n.SetBase(base)
	}
	return n, err
}

// runLadder runs the ladder on m, tunes it in the first half of the burn-in and
// takes the draws after it.
func (s Settings) runLadder(ctx context.Context, m *rbm.RBM, key rbm.Key, progress func(done float64)) (d draws, err error) {
	n, err := tunedLadder(s.Groups, s.Annealing.Base)
	if err != nil {
		return draws{}, err
	}
	e, err := negphase.New(n)
	if err != nil {
		return draws{}, err
	}
	if err := negphase.Share(e, n, s.Annealing.Group); err != nil {
		return draws{}, err
	}
	ladder := e.(negphase.Tempered) // as pt is
	rounds := 0
	advance := func() (rbm.Phase, error) { // a Gibbs step and swaps
		if err := s.Annealing.Group.Done(ctx); err != nil {
			return rbm.Phase{}, err
		}
		phase, _, err := ladder.Estimate(m, rbm.Batch{}, key.Child(uint64(rounds)))
		rounds++
		if progress != nil {
			progress(float64(rounds) / float64(s.BurnIn+s.Rounds))
		}
		return phase, err
	}
	for round := range s.BurnIn {
		if round == s.BurnIn/2 {
			ladder.Freeze()
		}
		if _, err := advance(); err != nil {
			return draws{}, err
		}
		if d.after.Tuned == 0 { // tuning clears the record of the ladder before
			d.before, d.after = d.after, ladder.Ladder()
		}
	}
	ladder.Freeze()
	if err := s.sample(ladder, m, advance, &d); err != nil {
		return draws{}, err
	}
	return d, nil
}

// sample takes draws in the rounds after the burn-in.
func (s Settings) sample(ladder negphase.Tempered, m *rbm.RBM, advance func() (rbm.Phase, error), d *draws) error {
	begin := ladder.Ladder()
	temperatures := len(begin.Beta)
	excess := make([]float64, s.Groups*temperatures) // of one round
	every := (len(excess)*s.Rounds + maxDraws - 1) / maxDraws
	kept := (s.Rounds + every - 1) / every
	d.excess = make([][]float64, temperatures)
	for k := range d.excess {
		d.excess[k] = make([]float64, s.Groups*kept)
	}
	rows, taken := 0, 0 // rows of each group: in all, and taken so far
	if s.Reverse {
		rows = s.rowsOfGroup()
		d.start = rbm.NewBits(rows*s.Groups, m.Visible())
	}
	for round := range s.Rounds {
		phase, err := advance()
		if err != nil {
			return err
		}
		if round%every == 0 {
			ladder.Excess(excess)
			for i, x := range excess {
				d.excess[i%temperatures][i/temperatures*kept+round/every] = x
			}
		}
		// The last rounds of equal parts, so that the chains are far from where
		// they started, and the rows far from each other.
		if (round+1)*rows >= (taken+1)*s.Rounds {
			copyColdest(d.start.Slice(taken*s.Groups, (taken+1)*s.Groups), phase)
			taken++
		}
	}
	d.after = ladder.Ladder()
	d.trips = d.after.RoundTrips - begin.RoundTrips
	if d.before.Beta == nil {
		d.before = d.after
	}
	return nil
}

// copyColdest overwrites dst with the visible states at temperature 1, group by
// group: the particles to which pt gives weight.
func copyColdest(dst rbm.Values, phase rbm.Phase) {
	n := 0
	for r, w := range phase.Weight {
		if w > 0 {
			copy(dst.Row(n), phase.V.Row(r))
			n++
		}
	}
}
