package logz

import (
	"context"
	"math"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Tally collects the energies of a ladder round by round, for an estimate of log
// Z of the model that the ladder is on. It is short work: chains of a run that are
// warm already need no burn-in but for what the model has changed.
type Tally struct {
	ladder negphase.Tempered
	groups int
	beta   []float64
	rounds [][]float64 // the energies that β multiplies, group by group, from the coldest
}

// NewTally returns an empty tally of a ladder of so many groups, 2 or more, which has
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

// LogZ returns Bennett's ratio along the ladder, whose path begins at base (nil: the
// uniform law) and has β = 0 in it, from the rounds added, four or more. ais, if not
// nil, is an independent estimate to go with it. The standard error is that of a
// Bracket. Where the two halves of the rounds differ by more than their errors, the
// chains have not settled, and their difference is added to it. An estimate below
// lowerBound is treated as Settings.LowerBound says. There are no warnings of round
// trips and of effective draws, which so few rounds cannot tell.
func (t *Tally) LogZ(m *rbm.RBM, base *rbm.Base, ais *partition.Annealed, lowerBound float64) (Bracket, error) {
	s := Settings{Groups: t.groups}
	s.Annealing.Base = base
	whole, err := s.bennett(m, t.draws(t.rounds))
	if err != nil {
		return Bracket{}, err
	}
	half := len(t.rounds) / 2
	var halves [2]*Ratio
	for i, rounds := range [][][]float64{t.rounds[:half], t.rounds[half:]} {
		if halves[i], err = s.bennett(m, t.draws(rounds)); err != nil {
			return Bracket{}, err
		}
	}
	a, b := halves[0], halves[1]
	if d := math.Abs(a.LogZ - b.LogZ); d > 3*math.Hypot(a.StdErr, b.StdErr) {
		whole.StdErr = math.Hypot(whole.StdErr, d)
	}
	out := Bracket{Bennett: whole, AIS: ais, LowerBound: lowerBound}
	if math.IsNaN(whole.LogZ) {
		s.checkLadder(&out)
		out.Warnings = out.Warnings[:1]
	}
	out.applyBound()
	return out, nil
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

// A FollowerState is what the next estimate depends on beside model and key, for a
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
	firstRounds, laterRounds, tallyRounds = 500, 200, 100
	// AIS is the check of the ladder, as it starts anew each time.
	followerChains, followerTemperatures = 50, 500
)

// NewFollower returns a follower of models on a path from base.
func NewFollower(base *rbm.Base) *Follower { return &Follower{base: base} }

// Estimate brackets log Z of m by Bennett's ratio along the ladder and by AIS. Its
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
	return tally.LogZ(m, f.base, &ais, lowerBound)
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

// newLadder returns a ladder that goes on from its binary form, or anew.
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
