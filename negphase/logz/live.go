package logz

import (
	"context"
	"math"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Tally collects the energies of a ladder of temperatures, round by round, for an estimate of log Z of
// the model that the ladder samples. A round is a call of the ladder's Estimate.
type Tally struct {
	ladder negphase.Tempered
	groups int
	beta   []float64
	rounds [][]float64 // energies by negphase.Tempered.Excess
}

// NewTally returns an empty tally of a ladder with the given number of groups, 2 or more. The ladder's
// Estimate must have been called, and its tuning must be frozen.
func NewTally(ladder negphase.Tempered, groups int) *Tally {
	return &Tally{ladder: ladder, groups: groups, beta: ladder.Ladder().Beta}
}

// Add adds the energies of the ladder's particles after its last round.
func (t *Tally) Add() {
	x := make([]float64, t.groups*len(t.beta))
	t.ladder.Excess(x)
	t.rounds = append(t.rounds, x)
}

// Drop removes the first n rounds.
func (t *Tally) Drop(n int) { t.rounds = t.rounds[min(n, len(t.rounds)):] }

// earlyShare is the fraction of the rounds of a tally, at its start, that the estimate leaves out.
// These early rounds only serve to test whether the chains have reached equilibrium.
const earlyShare = 1. / 3

// LogZ returns Bennett's estimate along the ladder, from the last two thirds of the rounds added. There
// must be four rounds or more. The path of the ladder must contain β = 0, where it has the distribution
// base (nil: uniform). The standard error is widened as in a Bracket.
//
// If the chains are not in equilibrium with the model, the estimate is NaN and there is a warning. LogZ
// concludes this if the estimate from the first third differs significantly, or if the effective size of the
// draws is too small because groups disagree. An insignificant difference does not widen the error: this
// would count the noise of the last two thirds twice.
//
// ais, if not nil, is an independent estimate for the Bracket. An estimate below lowerBound is treated as
// in Bracket.LowerBound.
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
	if math.IsNaN(early.LogZ) { // neighbours overlap too little
		late = early
	}
	out := Bracket{Bennett: late, AIS: ais, LowerBound: lowerBound}
	switch change := late.LogZ - early.LogZ; {
	case math.IsNaN(late.LogZ):
		s.checkLadder(&out)
		out.Warnings = out.Warnings[:1]
	case math.Abs(change) > diag.Unsettled*math.Hypot(early.StdErr, late.StdErr):
		out.unsettled(diag.Unsettling, diag.Numbers{"change": change, "rounds": float64(len(t.rounds))})
	case late.ESS < diag.LeastSettled*float64(t.groups):
		out.unsettled(diag.FewDraws, diag.Numbers{"ladders": float64(t.groups), "rounds": float64(len(t.rounds) - n), "draws": late.ESS, "limit": diag.LeastSettled})
	}
	out.applyBound()
	return out, nil
}

// unsettled sets Bennett's estimate to NaN, because the chains of the ladder are not in equilibrium with the
// model, and adds a warning that says why.
func (b *Bracket) unsettled(kind diag.Kind, numbers diag.Numbers) {
	b.Bennett.LogZ, b.Bennett.StdErr = math.NaN(), math.NaN()
	b.warn(kind, []Method{ByBennett}, numbers)
}

// draws returns the energies of the given rounds for each temperature, group after group.
func (t *Tally) draws(rounds [][]float64) draws {
	return draws{after: negphase.Ladder{Beta: t.beta}, excess: byTemperature(rounds, t.groups, len(t.beta))}
}

// byTemperature returns the energies of the rounds for each temperature, group after group.
func byTemperature(rounds [][]float64, groups, temperatures int) [][]float64 {
	excess := make([][]float64, temperatures)
	for k := range excess {
		for g := range groups {
			for _, x := range rounds {
				excess[k] = append(excess[k], x[g*temperatures+k])
			}
		}
	}
	return excess
}

// A Follower estimates log Z of a slowly changing model, such as a model in training. It
// keeps the chains and temperatures of its ladder from one estimate to the next.
type Follower struct {
	base *rbm.Base
	FollowerState
}

// A FollowerState is the state of a Follower for a checkpoint. The next estimate depends only on this
// state, the model and the key.
type FollowerState struct {
	Ladder []byte    `json:"ladder,omitempty"` // binary form of the ladder
	Calls  int       `json:"calls"`            // number of estimates so far
	Path   []float64 `json:"path,omitempty"`   // partition.Annealing.Path of AIS
}

const (
	followerGroups = 10
	// The first estimate tunes the ladder for firstRounds rounds, the number of tuning rounds under
	// DefaultSettings (half of their burn-in). Later estimates tune it for laterRounds. tallyRounds is the
	// number of rounds for the estimate itself.
	firstRounds, laterRounds, tallyRounds = 500, 200, 200
	// AIS checks the ladder, because the chains of AIS restart in each estimate. If the effective size of
	// the weights is too small, AIS is not reported, but it can still show that the estimate of the ladder
	// is too low.
	followerChains, followerTemperatures = 50, 500
)

// NewFollower returns a follower whose ladder and AIS have the distribution base at β = 0.
func NewFollower(base *rbm.Base) *Follower { return &Follower{base: base} }

// Estimate estimates log Z of m by Bennett's estimate along the ladder and by AIS. AIS is nil in the
// Bracket if the effective size of its weights is too small. Arguments and errors are as in the package
// function Estimate; lowerBound is Settings.LowerBound.
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
	if err := advance(ctx, frozen, m, tallyRounds, key.Child(reverseKey), tally.Add); err != nil {
		return Bracket{}, err
	}
	if ais.ESS >= diag.LeastWeight*followerChains {
		return tally.LogZ(m, f.base, &ais, lowerBound)
	}
	b, err := tally.LogZ(m, f.base, nil, lowerBound)
	if err == nil && diag.Above(ais.LogZ, ais.StdErr, b.Bennett.LogZ, b.Bennett.StdErr) {
		b.unsettled(DisagreeKind(ByBennett, ByAIS), diag.Numbers{"low": b.Bennett.LogZ, "high": ais.LogZ})
	}
	return b, err
}

// frozen runs the ladder on m with tuning, saves its state in f.Ladder, and then returns the ladder with
// its tuning frozen.
func (f *Follower) frozen(ctx context.Context, m *rbm.RBM, key rbm.Key) (negphase.Tempered, error) {
	ladder, err := f.newLadder(f.Ladder)
	if err != nil {
		return nil, err
	}
	rounds := laterRounds
	if f.Ladder == nil {
		rounds = firstRounds
	}
	if err := advance(ctx, ladder, m, rounds, key, func() {}); err != nil {
		return nil, err
	}
	if f.Ladder, err = ladder.MarshalBinary(); err != nil {
		return nil, err
	}
	ladder.Freeze()
	return ladder, nil
}

// advance makes rounds of a ladder and calls do after each.
func advance(ctx context.Context, ladder negphase.Tempered, m *rbm.RBM, rounds int, key rbm.Key, do func()) error {
	for i := range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := ladder.Estimate(m, rbm.Batch{}, key.Child(uint64(i))); err != nil {
			return err
		}
		do()
	}
	return nil
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
	return e.(negphase.Tempered), nil
}
