package logz

import (
	"context"
	"errors"

	"gorbm/negphase"
	"gorbm/rbm"
)

// draws are what the frozen ladder yields.
type draws struct {
	before, after negphase.Ladder // before it was first tuned, and at the end
	trips         int64           // round trips in the rounds sampled

	start  rbm.Bits    // visible states at temperature 1: row i is of group i mod Groups
	excess [][]float64 // of each temperature: what β multiplies, draw by draw, group after group
}

// maxDraws is the number of energies, of all temperatures together, above
// which rounds are left out: Newton's method then takes some tenths of a second,
// and neighbouring rounds tell little of their own.
const maxDraws = 200_000

// A climber is a ladder that runs on a model.
type climber struct {
	Settings
	t        negphase.Tempered
	m        *rbm.RBM
	key      rbm.Key
	rounds   int // so far
	progress func(done float64)
}

// climb runs the ladder on m and takes its draws.
func (s Settings) climb(ctx context.Context, m *rbm.RBM, key rbm.Key, progress func(done float64)) (draws, error) {
	n, err := s.negative()
	if err != nil {
		return draws{}, err
	}
	e, err := negphase.New(n)
	if err != nil {
		return draws{}, err
	}
	t, ok := e.(negphase.Tempered)
	if !ok {
		return draws{}, errors.New("log Z: the estimator has no ladder")
	}
	c := climber{Settings: s, t: t, m: m, key: key, progress: progress}
	var d draws
	for round := range s.BurnIn {
		if round == s.BurnIn/2 {
			t.Freeze()
		}
		if _, err := c.round(ctx); err != nil {
			return draws{}, err
		}
		// The record of the ladder before it was tuned is gone when it is.
		if d.after.Tuned == 0 {
			d.before, d.after = d.after, t.Ladder()
		}
	}
	t.Freeze()
	if err := c.sample(ctx, &d); err != nil {
		return draws{}, err
	}
	return d, nil
}

// round takes one round of Gibbs steps and swaps.
func (c *climber) round(ctx context.Context) (rbm.Phase, error) {
	if err := ctx.Err(); err != nil {
		return rbm.Phase{}, err
	}
	phase, _, err := c.t.Estimate(c.m, rbm.Batch{}, c.key.Child(uint64(c.rounds)))
	c.rounds++
	if c.progress != nil {
		c.progress(float64(c.rounds) / float64(c.BurnIn+c.Rounds))
	}
	return phase, err
}

// sample takes draws in the rounds after the burn-in.
func (c *climber) sample(ctx context.Context, d *draws) error {
	begin := c.t.Ladder()
	rungs := len(begin.Beta)
	now := make([]float64, c.Groups*rungs)
	every := (len(now)*c.Rounds + maxDraws - 1) / maxDraws
	kept := (c.Rounds + every - 1) / every
	d.excess = make([][]float64, rungs)
	for k := range d.excess {
		d.excess[k] = make([]float64, c.Groups*kept)
	}
	rows, taken := 0, 0 // rows a group, of which so many are taken
	if c.Reverse {
		rows = c.rowsOfGroup()
		d.start = rbm.NewBits(rows*c.Groups, c.m.Visible())
	}
	for round := range c.Rounds {
		phase, err := c.round(ctx)
		if err != nil {
			return err
		}
		if round%every == 0 {
			c.t.Excess(now)
			for i, x := range now {
				d.excess[i%rungs][i/rungs*kept+round/every] = x
			}
		}
		// The last rounds of equal parts: the chains have gone as far as can be
		// from where they started, and from each other.
		if (round+1)*rows >= (taken+1)*c.Rounds {
			coldest(d.start.Slice(taken*c.Groups, (taken+1)*c.Groups), phase)
			taken++
		}
	}
	d.after = c.t.Ladder()
	d.trips = d.after.RoundTrips - begin.RoundTrips
	if d.before.Beta == nil {
		d.before = d.after
	}
	return nil
}

// coldest overwrites dst with the visible states at temperature 1, group by
// group: the particles that pt weighs.
func coldest(dst rbm.Bits, phase rbm.Phase) {
	n := 0
	for r, w := range phase.Weight {
		if w > 0 {
			copy(dst.Row(n), phase.V.Bits.Row(r))
			n++
		}
	}
}
