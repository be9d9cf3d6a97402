package logz

import (
	"context"
	"fmt"
	"slices"

	"gorbm/negphase"
	"gorbm/rbm"
)

// draws are the samples that the frozen ladder yields.
type draws struct {
	before, after negphase.Ladder // before it was first tuned, and at the end
	rounds        int             // rounds run, the burn-in included
	trips         int64           // round trips in the rounds that are sampled

	start  rbm.Values  // visible states at temperature 1: row i is of group i mod Groups
	excess [][]float64 // of each temperature: the energies that β multiplies, group after group
}

// maxDraws is the largest number of energies, of all temperatures together. With
// more rounds, some are left out: Newton's method then takes some tenths of a
// second, and neighbouring rounds are nearly equal.
const maxDraws = 200_000

// A record keeps the particles of every so many rounds of a frozen ladder. When it
// has twice as many rounds as it needs, it forgets every other one.
type record struct {
	every, most int // rounds between two that are kept; rounds that are needed
	rounds      []recordedRound
}

type recordedRound struct {
	round  int
	trips  int64
	excess []float64  // group after group, from the coldest temperature
	v      rbm.Values // visible states at temperature 1, a row a group
}

// add records the round if it is one to keep.
func (r *record) add(ladder negphase.Tempered, m *rbm.RBM, groups, round int, phase rbm.Phase) {
	if round%r.every != 0 {
		return
	}
	l := ladder.Ladder()
	x := recordedRound{round: round, trips: l.RoundTrips, excess: make([]float64, groups*len(l.Beta)), v: rbm.NewBits(groups, m.Visible())}
	ladder.Excess(x.excess)
	copyColdest(x.v, phase)
	r.rounds = append(r.rounds, x)
	if len(r.rounds) < 2*r.most {
		return
	}
	r.every *= 2
	r.rounds = slices.DeleteFunc(r.rounds, func(x recordedRound) bool { return x.round%r.every != 0 })
}

// draws returns the draws of the rounds from first on, which are at least two. The
// visible states are those of the last of rows equal parts.
func (r *record) draws(first, groups, rows int) draws {
	at := slices.IndexFunc(r.rounds, func(x recordedRound) bool { return x.round >= first })
	kept := r.rounds[at:]
	d := draws{trips: -kept[0].trips}
	temperatures := len(kept[0].excess) / groups
	d.excess = make([][]float64, temperatures)
	for k := range d.excess {
		for g := range groups {
			for _, x := range kept {
				d.excess[k] = append(d.excess[k], x.excess[g*temperatures+k])
			}
		}
	}
	if rows > 0 {
		d.start = rbm.NewBits(rows*groups, kept[0].v.Cols)
		for i := range rows {
			d.start.Slice(i*groups, (i+1)*groups).CopyFrom(kept[(i+1)*len(kept)/rows-1].v)
		}
	}
	return d
}

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
// takes the draws after it. While these will not do, it doubles the rounds, of which
// the same part is the burn-in.
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
	rows := 0                       // of each group, for the reverse
	if s.Reverse {
		rows = s.rowsOfGroup()
	}
	round, total := 0, s.BurnIn+s.Rounds
	advance := func() (rbm.Phase, error) { // a Gibbs step and swaps
		if err := s.Annealing.Group.Done(ctx); err != nil {
			return rbm.Phase{}, err
		}
		phase, _, err := ladder.Estimate(m, rbm.Batch{}, key.Child(uint64(round)))
		round++
		if progress != nil {
			progress(float64(round) / float64(total))
		}
		return phase, err
	}
	var before negphase.Ladder
	for range s.BurnIn {
		if round == s.BurnIn/2 {
			ladder.Freeze()
		}
		if _, err := advance(); err != nil {
			return draws{}, err
		}
		if l := ladder.Ladder(); l.Tuned == 0 { // tuning clears the record of the ladder before
			before = l
		}
	}
	ladder.Freeze()
	var kept *record
	for {
		for round < total {
			phase, err := advance()
			if err != nil {
				return draws{}, err
			}
			if kept == nil {
				kept = s.newRecord(len(ladder.Ladder().Beta))
			}
			kept.add(ladder, m, s.Groups, round-1-s.BurnIn, phase)
		}
		first := total*s.BurnIn/(s.BurnIn+s.Rounds) - s.BurnIn // of the rounds recorded
		d = kept.draws(first, s.Groups, rows)
		d.before, d.after, d.rounds = before, ladder.Ladder(), round
		d.trips += d.after.RoundTrips
		if d.before.Beta == nil {
			d.before = d.after
		}
		if 2*total > s.longest(m, len(d.after.Beta)) {
			return d, nil
		}
		if enough, err := s.enough(m, d); enough || err != nil {
			return d, err
		}
		total *= 2
	}
}

// newRecord returns an empty record for a ladder of that many temperatures.
func (s Settings) newRecord(temperatures int) *record {
	most := max(maxDraws/(s.Groups*temperatures), 2*s.rowsOfGroup(), 2)
	return &record{every: 1, most: most}
}

// enough reports whether draws give an estimate that no warning is about, with the
// error that is wanted. All ranks decide alike, so the lower bound, which only the first
// may know, has no part in it.
func (s Settings) enough(m *rbm.RBM, d draws) (bool, error) {
	r, err := s.bennett(m, d)
	if err != nil {
		return false, err
	}
	b := Bracket{Bennett: r, RoundTrips: d.trips}
	s.checkLadder(&b)
	return len(b.Warnings) == 0 && r.StdErr <= wantedError, nil
}

const (
	// wantedError is the standard error at which a ladder that may run longer ends. An
	// interval of 95 % is then ±0.4 nats: models that differ by half a nat are told apart.
	wantedError = 0.2
	// mostWork bounds the rounds of a ladder that may run longer, in weights times
	// replicas times rounds: some two minutes of one core with AVX-512 (784 × 500 units
	// with 300 replicas: 50000 rounds). What a replica costs besides its weights is about
	// as much as that many weights do.
	mostWork     = 7e12
	replicaCosts = 50_000
)

// longest returns the most rounds of a ladder of that many temperatures on m.
func (s Settings) longest(m *rbm.RBM, temperatures int) int {
	work := (float64(float64(m.Visible())*float64(m.Hidden())) + replicaCosts) * float64(s.Groups) * float64(temperatures)
	return int(min(float64(s.Longest), mostWork/work))
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
