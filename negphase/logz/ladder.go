package logz

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// draws are the samples from the frozen ladder.
type draws struct {
	before, after negphase.Ladder // statistics of the ladder before its first tuning, and at the end
	rounds        int             // number of rounds, including the burn-in
	sampled       int             // number of rounds since the burn-in on the last temperatures
	stopped       *diag.Warning   // why the ladder stopped early, or nil
	trips         int64           // round trips in the sampled rounds

	start  rbm.Values  // visible states at temperature 1: row i belongs to group i mod Groups
	excess [][]float64 // for each temperature: the energies of negphase.Tempered.Excess, group after group
}

// maxDraws is the largest number of energies, summed over all temperatures. If the rounds have more
// energies, only some of the rounds are used. Newton's method for Bennett's estimate then takes some
// tenths of a second, and little information is lost, because neighbouring rounds are correlated.
const maxDraws = 200_000

// A record stores a value of type T for every n-th round of a frozen ladder. When it has twice as many
// rounds as needed, it drops every second round and doubles n.
type record[T any] struct {
	every, most int // n, and the number of rounds needed
	rounds      []recorded[T]
}

type recorded[T any] struct {
	round int
	value T
}

// add records the round if its number is a multiple of n. get returns its value.
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

// from returns the recorded rounds from number first on.
func (r *record[T]) from(first int) []recorded[T] {
	at := slices.IndexFunc(r.rounds, func(x recorded[T]) bool { return x.round >= first })
	return r.rounds[at:]
}

// particles has the energies of the particles in a round, in the order of negphase.Tempered.Excess, and
// the number of round trips up to this round.
type particles struct {
	excess []float64
	trips  int64
}

// records has the records of a ladder: energies for Bennett's estimate, and, for reverse AIS, the visible
// states at temperature 1 with one row per group.
type records struct {
	groups, rows int // rows: chains of reverse AIS that start from each group; 0 without reverse AIS
	energies     record[particles]
	states       record[rbm.Values]
}

// newRecords returns empty records for a ladder with the given number of temperatures.
func (s Settings) newRecords(temperatures int) *records {
	r := &records{groups: s.Groups, energies: record[particles]{every: 1, most: max(maxDraws/(2*s.Groups*temperatures), 4*diag.LeastDraws)}}
	if s.Reverse {
		r.rows = s.rowsOfGroup()
		r.states = record[rbm.Values]{every: 1, most: 2 * r.rows}
	}
	return r
}

// add records a round of the ladder. phase is the result of its call of Estimate.
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

// draws returns the draws from the recorded rounds from number first on. These must be at least half of
// all recorded rounds. For reverse AIS it divides the recorded rounds into r.rows equal parts, and
// takes the states of the last round in each part.
func (r *records) draws(first int) draws {
	kept := r.energies.from(first)
	d := draws{trips: -kept[0].value.trips}
	var rounds [][]float64
	for _, x := range kept {
		rounds = append(rounds, x.value.excess)
	}
	d.excess = byTemperature(rounds, r.groups, len(rounds[0])/r.groups)
	if r.rows > 0 {
		kept := r.states.from(first)
		d.start = rbm.NewValues(r.rows*r.groups, kept[0].value.Cols, kept[0].value.IsReal())
		for i := range r.rows {
			d.start.Slice(i*r.groups, (i+1)*r.groups).CopyFrom(kept[(i+1)*len(kept)/r.rows-1].value)
		}
	}
	return d
}

// tunedLadder returns settings of parallel tempering with tuned temperatures and the given number of
// groups. Its path ends at base; nil is the uniform distribution.
func tunedLadder(groups int, base *rbm.Base) (negphase.Settings, error) {
	n, err := negphase.Parse(fmt.Sprintf("pt:chains=%d:tau=auto", groups), negphase.Settings{})
	if err == nil && base != nil {
		n.SetBase(base)
	}
	return n, err
}

// runLadder runs the ladder on m, and returns draws from the rounds after the burn-in. It tunes the
// ladder in the first half of the burn-in. While the draws are not enough, it doubles the number of
// rounds, unless they cannot become enough: see hopeless. At the first doubling the ladder is tuned again by all
// that was measured, if some pair rejects more than retuneAbove; draws of the earlier temperatures are dropped. The
// fraction of burn-in is always the same. Each doubling is a stage for progress.
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
	ladder := e.(negphase.Tempered)
	round, total := 0, s.BurnIn+s.Rounds
	stage, begun := Ladder, 0
	advance := func() (rbm.Phase, error) { // makes one round
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
		if l := ladder.Ladder(); l.Tuned == 0 { // tuning clears the statistics
			before = l
		}
	}
	ladder.Freeze()
	var kept *records
	tuned, from := 0, round // rounds at which the temperatures were placed, and from which rounds are recorded
	for doubled := false; ; doubled = true {
		for round < total {
			phase, err := advance()
			if err != nil {
				return draws{}, err
			}
			if round <= from {
				continue
			}
			if kept == nil {
				kept = s.newRecords(len(ladder.Ladder().Beta))
			}
			kept.add(ladder, m, round-1-from, phase)
		}
		first := tuned + s.burnIn(total-tuned)
		d = kept.draws(first - from)
		d.before, d.after, d.rounds, d.sampled = before, ladder.Ladder(), round, round-first
		d.trips += d.after.RoundTrips
		if d.before.Beta == nil {
			d.before = d.after
		}
		longest := s.longest(m, len(d.after.Beta))
		if 2*total > longest || s.enough(m, d) {
			return d, nil
		}
		if d.stopped = s.hopeless(d, longest); d.stopped != nil && (doubled || s.BurnIn >= DefaultSettings().BurnIn) {
			return d, nil
		}
		if !doubled && slices.Max(d.after.Rejection) > retuneAbove {
			ladder.Retune()
			kept, tuned = nil, total
			from = total + s.burnIn(total)
		}
		total *= 2
		stage, begun = fmt.Sprintf("%s, doubled to %d rounds", Ladder, total), round
	}
}

// burnIn returns the burn-in of the given number of rounds.
func (s Settings) burnIn(rounds int) int { return rounds * s.BurnIn / (s.BurnIn + s.Rounds) }

// hopeless returns the warning that the ladder cannot reach diag.LeastTrips within the given number of rounds,
// or nil. The expected number of round trips is taken to be as large as the counted number allows: with a
// probability of 5 % or less, a Poisson variable of a mean above n + 2√n + 3 is n or less.
func (s Settings) hopeless(d draws, longest int) *diag.Warning {
	n := float64(d.trips)
	rate := (n + 2*math.Sqrt(n) + 3) / float64(d.sampled)
	need := diag.LeastTrips * float64(s.Groups) / rate
	if need <= float64(longest-s.burnIn(longest)) {
		return nil
	}
	return &diag.Warning{Kind: Hopeless, Help: []diag.Remedy{MoreRounds, SmallerRate},
		Numbers: diag.Numbers{"rounds": float64(d.rounds), "needed": need + float64(s.burnIn(int(need))), "longest": float64(longest)}}
}

// retuneAbove is the rejection rate of a pair of neighbours above which temperatures are placed again at the
// first doubling. Equal rates are ½; from the rounds of a first burn-in their error is some 0.03. Later, new
// temperatures cost more than they gain, because earlier draws are dropped: on a model of the built-in digits
// (784 × 500 units), tuning at each of three doublings to 12000 rounds left 161 round trips to the estimate and
// an error of 0.22, and none after the first burn-in 419 and 0.13.
const retuneAbove = 0.58

// enough reports whether the ladder may stop: if its estimate has no warning and the wanted error, within one
// standard deviation of an error that is computed from the spread of the groups, or
// if there is no estimate because neighbours do not overlap. More rounds of a frozen ladder would not
// change the overlap. The lower bound has no influence, because only rank 0 may know it and all ranks
// must decide alike.
func (s Settings) enough(m *rbm.RBM, d draws) bool {
	if !s.Bennett { // reverse AIS only
		return d.trips >= diag.LeastTrips*int64(s.Groups)
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
	return len(b.Warnings) == 0 && r.StdErr <= wantedError*(1+1/math.Sqrt(2*float64(s.Groups-1)))
}

const (
	// wantedError is the standard error at which a ladder stops before Settings.Longest. An
	// interval of 95 % is then ±0.4 nats, enough to rank models that differ by a nat.
	wantedError = 0.2
	// mostWork bounds the rounds of a ladder that continues beyond BurnIn + Rounds. Its unit is one
	// weight of one replica in one round. It allows some two minutes of one core with AVX-512 (50000
	// rounds of 300 replicas with 784 × 500 units). A replica has a fixed cost of about replicaCosts
	// weights. A real hidden unit needs logarithms and exponentials, and costs about realCosts weights
	// more.
	mostWork     = 7e12 // the default of Settings.Work
	replicaCosts = 50_000
	realCosts    = 2000
)

// longest returns the largest number of rounds of a ladder with the given number of temperatures on m.
func (s Settings) longest(m *rbm.RBM, temperatures int) int {
	replica := float64(float64(m.Visible())*float64(m.Hidden())) + replicaCosts
	if m.RealHidden() {
		replica += float64(realCosts * float64(m.Hidden()))
	}
	work := replica * float64(s.Groups) * float64(temperatures)
	most := mostWork
	if s.Work > 0 {
		most = min(most, s.Work)
	}
	return int(min(float64(s.Longest), most/work))
}

// copyColdest overwrites dst with the visible states at temperature 1, one row per group. In pt only
// particles at temperature 1 have weight.
func copyColdest(dst rbm.Values, phase rbm.Phase) {
	n := 0
	for r, w := range phase.Weight {
		if w > 0 {
			dst.CopyRow(n, phase.V, r)
			n++
		}
	}
}
