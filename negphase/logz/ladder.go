package logz

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/negphase"
	"gorbm/rbm"
)

// draws are the samples that the frozen ladder yields.
type draws struct {
	before, after negphase.Ladder // before it was first tuned, and at the end
	rounds        int             // rounds run, the burn-in included
	trips         int64           // round trips in the rounds that are sampled

	start  rbm.Values  // visible states at temperature 1: row i belongs to group i mod Groups
	excess [][]float64 // for each temperature: the energies that β multiplies, group after group
}

// maxDraws is the largest number of energies, of all temperatures together. With
// more rounds, some are left out: Newton's method then takes some tenths of a
// second, and neighbouring rounds are nearly equal.
const maxDraws = 200_000

// A record keeps something from every n-th round of a frozen ladder. When it has twice
// as many rounds as it needs, it forgets every other one and doubles n.
type record[T any] struct {
	every, most int // n; the number of rounds needed
	rounds      []recorded[T]
}

type recorded[T any] struct {
	round int
	of    T
}

// add records a round if it is an n-th one; get returns what is kept of it.
func (r *record[T]) add(round int, get func() T) {
	if round%r.every != 0 {
		return
	}
	r.rounds = append(r.rounds, recorded[T]{round, get()})
	if len(r.rounds) < 2*r.most {
		return
	}
	r.every *= 2
	r.rounds = slices.DeleteFunc(r.rounds, func(x recorded[T]) bool { return x.round%r.every != 0 })
}

// from returns the rounds from first on.
func (r *record[T]) from(first int) []recorded[T] {
	at := slices.IndexFunc(r.rounds, func(x recorded[T]) bool { return x.round >= first })
	return r.rounds[at:]
}

// particles are those of a round: their energies, group after group from the coldest
// temperature, and the round trips so far.
type particles struct {
	excess []float64
	trips  int64
}

// records are what is kept of a ladder: energies for Bennett's ratio, and the visible states at
// temperature 1, a row a group, for the reverse.
type records struct {
	groups, rows int // rows of each group that the reverse starts from
	energies     record[particles]
	states       record[rbm.Values]
}

// newRecords returns empty records for a ladder of that many temperatures.
func (s Settings) newRecords(temperatures int) *records {
	r := &records{groups: s.Groups, energies: record[particles]{every: 1, most: max(maxDraws/(2*s.Groups*temperatures), 4*leastDraws)}}
	if s.Reverse {
		r.rows = s.rowsOfGroup()
		r.states = record[rbm.Values]{every: 1, most: 2 * r.rows}
	}
	return r
}

// add records the round of the ladder whose phase is given.
func (r *records) add(ladder negphase.Tempered, m *rbm.RBM, round int, phase rbm.Phase) {
	r.energies.add(round, func() particles {
		l := ladder.Ladder()
		p := particles{make([]float64, r.groups*len(l.Beta)), l.RoundTrips}
		ladder.Excess(p.excess)
		return p
	})
	if r.rows > 0 {
		r.states.add(round, func() rbm.Values {
			v := m.NewVisible(r.groups)
			copyColdest(v, phase)
			return v
		})
	}
}

// draws returns the draws of the rounds from first on, which are at least half of those
// recorded. They are cut into rows equal parts, and the last round of each gives the visible states.
func (r *records) draws(first int) draws {
	kept := r.energies.from(first)
	d := draws{trips: -kept[0].of.trips}
	temperatures := len(kept[0].of.excess) / r.groups
	d.excess = make([][]float64, temperatures)
	for k := range d.excess {
		for g := range r.groups {
			for _, x := range kept {
				d.excess[k] = append(d.excess[k], x.of.excess[g*temperatures+k])
			}
		}
	}
	if r.rows > 0 {
		kept := r.states.from(first)
		d.start = rbm.NewValues(r.rows*r.groups, kept[0].of.Cols, kept[0].of.IsReal())
		for i := range r.rows {
			d.start.Slice(i*r.groups, (i+1)*r.groups).CopyFrom(kept[(i+1)*len(kept)/r.rows-1].of)
		}
	}
	return d
}

// tunedLadder returns the settings of parallel tempering of the given number of groups, tuned on
// a path to base; nil is the uniform distribution.
func tunedLadder(groups int, base *rbm.Base) (negphase.Settings, error) {
	n, err := negphase.Parse(fmt.Sprintf("pt:chains=%d:tau=auto", groups), negphase.Settings{})
	if err == nil && base != nil {
		n.SetBase(base)
	}
	return n, err
}

// runLadder runs the ladder on m, tunes it in the first half of the burn-in and
// takes the draws after it. Until the draws are enough it doubles the number of rounds, with the
// same fraction of burn-in; each doubling is a stage.
func (s Settings) runLadder(ctx context.Context, m *rbm.RBM, key rbm.Key, progress func(stage string, done float64)) (d draws, err error) {
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
	ladder := e.(negphase.Tempered) // pt is one
	round, total := 0, s.BurnIn+s.Rounds
	stage, begun := Ladder, 0
	advance := func() (rbm.Phase, error) { // a Gibbs step and swaps
		if err := s.Annealing.Group.Done(ctx); err != nil {
			return rbm.Phase{}, err
		}
		phase, _, err := ladder.Estimate(m, rbm.Batch{}, key.Child(uint64(round)))
		round++
		if progress != nil {
			progress(stage, float64(round-begun)/float64(total-begun))
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
	var kept *records
	for {
		for round < total {
			phase, err := advance()
			if err != nil {
				return draws{}, err
			}
			if kept == nil {
				kept = s.newRecords(len(ladder.Ladder().Beta))
			}
			kept.add(ladder, m, round-1-s.BurnIn, phase)
		}
		first := total*s.BurnIn/(s.BurnIn+s.Rounds) - s.BurnIn // of the rounds recorded
		d = kept.draws(first)
		d.before, d.after, d.rounds = before, ladder.Ladder(), round
		d.trips += d.after.RoundTrips
		if d.before.Beta == nil {
			d.before = d.after
		}
		if 2*total > s.longest(m, len(d.after.Beta)) || s.enough(m, d) {
			return d, nil
		}
		total *= 2
		stage, begun = fmt.Sprintf("%s, doubled to %d rounds", Ladder, total), round
	}
}

// enough reports whether the ladder may end: its estimate has the wanted error and no warning, or
// there is no estimate because neighbours do not overlap, which more rounds of a frozen ladder would
// not change. The lower bound is not used: only rank 0 may know it, and all ranks must decide alike.
func (s Settings) enough(m *rbm.RBM, d draws) bool {
	if !s.Bennett { // the reverse alone
		return d.trips >= leastTrips*int64(s.Groups)
	}
	r, err := s.bennett(m, d)
	switch {
	case err != nil:
		return false
	case math.IsNaN(r.LogZ):
		return true
	}
	b := Bracket{Bennett: r, RoundTrips: d.trips}
	s.checkLadder(&b)
	return len(b.Warnings) == 0 && r.StdErr <= wantedError
}

const (
	// wantedError is the standard error at which a ladder that may run longer ends. An
	// interval of 95 % is then ±0.4 nats, enough to rank models that differ by a nat.
	wantedError = 0.2
	// mostWork bounds the rounds of a ladder that may run longer, in weights times
	// replicas times rounds: some two minutes of one core with AVX-512 (784 × 500 units
	// with 300 replicas: 50000 rounds). The fixed cost of a replica, besides its weights, is about that of
	// replicaCosts weights, and that of a real hidden unit, which takes logarithms and exponentials, that of
	// realCosts.
	mostWork     = 7e12
	replicaCosts = 50_000
	realCosts    = 2000
)

// longest returns the most rounds of a ladder of that many temperatures on m.
func (s Settings) longest(m *rbm.RBM, temperatures int) int {
	replica := float64(float64(m.Visible())*float64(m.Hidden())) + replicaCosts
	if m.RealHidden() {
		replica += float64(realCosts * float64(m.Hidden()))
	}
	work := replica * float64(s.Groups) * float64(temperatures)
	return int(min(float64(s.Longest), mostWork/work))
}

// copyColdest overwrites dst with the visible states at temperature 1, group by
// group: the particles to which pt gives weight.
func copyColdest(dst rbm.Values, phase rbm.Phase) {
	n := 0
	for r, w := range phase.Weight {
		if w > 0 {
			dst.CopyRow(n, phase.V, r)
			n++
		}
	}
}
