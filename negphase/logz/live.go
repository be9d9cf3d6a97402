package logz

import (
	"context"
	"math"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Tally collects the energies of a ladder round by round, for an estimate of log
// Z of the model that the ladder is on.
type Tally struct {
	ladder negphase.Tempered
	groups int
	beta   []float64
	rounds [][]float64 // the energies that β multiplies, group by group, from the coldest
}

// NewTally returns an empty tally of a ladder of the given number of groups, 2 or more, which has
// been called and whose tuning is frozen.
func NewTally(ladder negphase.Tempered, groups int) *Tally {
	return &Tally{ladder: ladder, groups: groups, beta: ladder.Ladder().Beta}
}

// Add adds the particles of the last call of the ladder.
func (t *Tally) Add() {
	x := make([]float64, t.groups*len(t.beta))
	t.ladder.Excess(x)
	t.rounds = append(t.rounds, x)
}

// Drop forgets the first n rounds.
func (t *Tally) Drop(n int) { t.rounds = t.rounds[min(n, len(t.rounds)):] }

const (
	// earlyShare is the share of the rounds of a tally, the first, that its estimate
	// leaves out. They say whether the chains have settled.
	earlyShare = 1. / 3
	// unsettled is the difference, in standard errors, between the estimates from the
	// early rounds and from the others above which the chains have not settled.
	unsettled = 2
	// leastTally is the least number of independent draws of a group. It was found on ladders of runs
	// on MNIST (784 × 500 units, rates of 0.005 to 0.02) that continued for N rounds on the present
	// model, with the last three quarters of the rounds in a tally. Some were 17 nats too low at N = 50
	// and 11 at N = 400, with standard errors near 1. Of 84 tallies at N = 100 to 1000 that pass both
	// tests, three were off by more than 2 standard errors, and none by more than 2.2.
	leastTally = 14
)

// LogZ returns Bennett's ratio along the ladder, whose path begins at base (nil: the
// uniform distribution) and has β = 0 in it, from the last two thirds of the rounds added, four
// or more. The standard error is that of a Bracket. There is a warning in place of a number if the
// chains have not settled on the model: their first third differs by more than chance, or the draws have
// too small an effective size, because groups disagree. A difference within chance
// does not widen the error: it would count the noise of the last two thirds twice. ais, if not nil, is an
// independent estimate to go with it. An estimate below lowerBound is treated as
// Settings.LowerBound says.
func (t *Tally) LogZ(m *rbm.RBM, base *rbm.Base, ais *partition.Annealed, lowerBound float64) (Bracket, error) {
	s := Settings{Groups: t.groups}
	s.Annealing.Base = base
	n := max(1, int(earlyShare*float64(len(t.rounds))))
	early, err := s.bennett(m, t.draws(t.rounds[:n]))
	if err != nil {
		return Bracket{}, err
	}
	late, err := s.bennett(m, t.draws(t.rounds[n:]))
	if err != nil {
		return Bracket{}, err
	}
	if math.IsNaN(early.LogZ) { // as neighbours overlap too little
		late = early
	}
	out := Bracket{Bennett: late, AIS: ais, LowerBound: lowerBound}
	switch change := late.LogZ - early.LogZ; {
	case math.IsNaN(late.LogZ):
		s.checkLadder(&out)
		out.Warnings = out.Warnings[:1]
	case math.Abs(change) > unsettled*math.Hypot(early.StdErr, late.StdErr):
		out.unsettled("log Z moved by %.1f nats within %d rounds", change, len(t.rounds))
	case late.ESS < leastTally*float64(t.groups):
		out.unsettled("the draws of its %d ladders in %d rounds are worth %.0f independent ones, fewer than %d each", t.groups, len(t.rounds)-n, late.ESS, leastTally)
	}
	out.applyBound()
	return out, nil
}

// unsettled leaves Bennett's ratio without a number, and says why.
func (b *Bracket) unsettled(format string, args ...any) {
	b.Bennett.LogZ, b.Bennett.StdErr = math.NaN(), math.NaN()
	b.warn([]Method{ByBennett}, format+": its chains are not in equilibrium with the model", args...)
}

// draws returns the energies of these rounds by temperature, group after group.
func (t *Tally) draws(rounds [][]float64) draws {
	d := draws{after: negphase.Ladder{Beta: t.beta}, excess: make([][]float64, len(t.beta))}
	for k := range t.beta {
		for g := range t.groups {
			for _, x := range rounds {
				d.excess[k] = append(d.excess[k], x[g*len(t.beta)+k])
			}
		}
	}
	return d
}

// A Follower estimates log Z of a model that changes slowly, again and again. It
// keeps the chains and temperatures of its ladder from one estimate to the next.
type Follower struct {
	base *rbm.Base
	FollowerState
}

// A FollowerState is what the next estimate depends on besides model and key, for a
// checkpoint.
type FollowerState struct {
	Ladder []byte    `json:"ladder,omitempty"` // in its binary form
	Calls  int       `json:"calls"`            // estimates so far
	Path   []float64 `json:"path,omitempty"`   // of AIS
}

const (
	followerGroups = 10
	// The first estimate takes as many rounds to tune the ladder as a Bracket of
	// DefaultSettings does in the first half of its burn-in, later ones two fifths
	// of them; then come those from which draws are taken.
	firstRounds, laterRounds, tallyRounds = 500, 200, 200
	// AIS is the check of the ladder, as it restarts each time. Where its weights
	// are worth too little, it gives no number, but can still say that the ladder is
	// too low.
	followerChains, followerTemperatures = 50, 500
)

// NewFollower returns a follower of models on a path from base.
func NewFollower(base *rbm.Base) *Follower { return &Follower{base: base} }

// Estimate estimates log Z of m by Bennett's ratio along the ladder and by AIS, which
// is nil in the Bracket where its weights are worth too few independent ones. Its
// arguments and errors are those of package function Estimate; lowerBound is that of
// Settings.
func (f *Follower) Estimate(ctx context.Context, m *rbm.RBM, lowerBound float64, key rbm.Key) (Bracket, error) {
	annealing := partition.Annealing{Chains: followerChains, Temperatures: followerTemperatures, Pilot: followerChains, Path: f.Path, Base: f.base}
	ais, err := partition.AIS(ctx, m, annealing, key.Child(aisKey), nil)
	if err != nil {
		return Bracket{}, err
	}
	ais.StdErr = widened(ais.StdErr, len(ais.LogWeights))
	f.Path = ais.Path
	frozen, err := f.frozen(ctx, m, key.Child(ladderKey))
	if err != nil {
		return Bracket{}, err
	}
	f.Calls++
	tally := NewTally(frozen, followerGroups)
	for i := range tallyRounds {
		if err := ctx.Err(); err != nil {
			return Bracket{}, err
		}
		if _, _, err := frozen.Estimate(m, rbm.Batch{}, key.Child(reverseKey).Child(uint64(i))); err != nil {
			return Bracket{}, err
		}
		tally.Add()
	}
	if ais.ESS >= leastShare*followerChains {
		return tally.LogZ(m, f.base, &ais, lowerBound)
	}
	b, err := tally.LogZ(m, f.base, nil, lowerBound)
	if err == nil && above(ais.LogZ, ais.StdErr, b.Bennett.LogZ, b.Bennett.StdErr) {
		b.unsettled("AIS says %.1f, and the ladder %.1f", ais.LogZ, b.Bennett.LogZ)
	}
	return b, err
}

// frozen moves the ladder to m while it is tuned, keeps it, and returns a copy that
// is tuned no more.
func (f *Follower) frozen(ctx context.Context, m *rbm.RBM, key rbm.Key) (negphase.Tempered, error) {
	ladder, err := f.newLadder(f.Ladder)
	if err != nil {
		return nil, err
	}
	rounds := laterRounds
	if f.Ladder == nil {
		rounds = firstRounds
	}
	for i := range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, _, err := ladder.Estimate(m, rbm.Batch{}, key.Child(uint64(i))); err != nil {
			return nil, err
		}
	}
	if f.Ladder, err = ladder.MarshalBinary(); err != nil {
		return nil, err
	}
	ladder.Freeze()
	return ladder, nil
}

// newLadder returns a ladder that continues from its binary form, or a new one.
func (f *Follower) newLadder(form []byte) (negphase.Tempered, error) {
	s, err := tunedLadder(followerGroups, f.base)
	if err != nil {
		return nil, err
	}
	e, err := negphase.New(s)
	if err == nil && form != nil {
		err = e.UnmarshalBinary(form)
	}
	if err != nil {
		return nil, err
	}
	return e.(negphase.Tempered), nil // as pt is
}
