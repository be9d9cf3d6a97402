package negphase

import (
	"encoding"
	"fmt"
	"slices"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// An Estimator estimates the negative phase of a model's log-likelihood
// gradient. It keeps its chains from call to call. Use an estimator for one model
// in training only, and not concurrently.
type Estimator interface {
	// Estimate advances the chains under m and returns the negative phase and
	// the counts of this call. Both are valid until the next call. If a chain has
	// several particles in the phase, they follow each other. pos is the
	// positive phase, a batch with its hidden means; estimators that do not start
	// at the data ignore it. Neither m nor pos is changed. Equal state, m, pos and
	// key give equal bits at any GOMAXPROCS. The error wraps rbm.ErrDiverged if an
	// energy is not finite, and exact.ErrTooLarge if the model cannot be enumerated.
	Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error)

	// The binary form holds all that the next call needs beyond the model and
	// the settings. An estimator of the same settings that it is restored into
	// continues with the same bits.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Info counts what an estimator did. Counts add exactly over calls; rates are
// derived from them.
type Info struct {
	Updates int64 // block Gibbs steps and moves, summed over all chains and replicas

	// For each pair of neighbouring temperatures, from the coldest: how often
	// an exchange was tried, and how often particles were exchanged. For pt these
	// are proposed and accepted swaps; for ins and pins, the permutations drawn
	// and those that took a particle across.
	SwapTries, Swaps []int64
	// Tuned is the number of times that the ladder was tuned before. The counts
	// of pairs are those of that ladder alone.
	Tuned int64
	// RoundTrips counts round trips of particles from the lowest temperature to
	// the highest and back.
	RoundTrips int64

	// Groups counts the groups of replicas that ins and pins have weighted. Off
	// sums their weight that was not on the particle simulated at temperature 1.
	Off    float64
	Groups int64

	// For ptt: SwapTries and Swaps are of neighbours on the ladder, from the live model,
	// and Tuned is the number of rungs above the oldest. Ages sums, over Aged particles
	// of the live model, the calls since they were exact draws of the oldest rung.
	Ages, Aged int64

	// For ucd: the pairs of chains that met, the sum of the Gibbs steps after
	// which they met, and the pairs that were cut before they met.
	Meetings, MeetingTime, Cuts int64

	// For ptt: Vetoes counts the updates that were rejected since the call before.
	Vetoes int64

	// For samplers of binary systems: the counts of their moves, in all chains
	// and replicas; with tune, how often their settings were tuned, and the flips
	// of the trials that it took, which are not among Moves.
	Moves       mcmc.Info
	Tunings     int64
	TuningFlips int64
}

// Add adds o to i. If one ladder was tuned more often than the other, only its
// counts of pairs are kept. Add panics if the ladders were tuned equally often
// and have different numbers of pairs, neither of which is zero.
func (i *Info) Add(o Info) {
	i.Updates += o.Updates
	i.RoundTrips += o.RoundTrips
	i.Off += o.Off
	i.Groups += o.Groups
	i.Meetings += o.Meetings
	i.MeetingTime += o.MeetingTime
	i.Cuts += o.Cuts
	i.Ages += o.Ages
	i.Aged += o.Aged
	i.Vetoes += o.Vetoes
	i.Moves.Add(o.Moves)
	i.Tunings += o.Tunings
	i.TuningFlips += o.TuningFlips
	if len(o.Swaps) == 0 || o.Tuned < i.Tuned {
		return
	}
	if len(i.Swaps) == 0 || o.Tuned > i.Tuned {
		i.Tuned = o.Tuned
		i.SwapTries = append(i.SwapTries[:0], o.SwapTries...)
		i.Swaps = append(i.Swaps[:0], o.Swaps...)
		return
	}
	if len(i.Swaps) != len(o.Swaps) {
		panic("negphase: counts of different ladders")
	}
	for k := range o.Swaps {
		i.SwapTries[k] += o.SwapTries[k]
		i.Swaps[k] += o.Swaps[k]
	}
}

// Check returns an error if i, which was read from a file, cannot be counts: of so
// many pairs of temperatures where the ladder was tuned so often.
func (i Info) Check(pairs int, tuned int64) error {
	counts := append([]int64{i.Updates, i.Tuned, i.RoundTrips, int64(i.Groups), i.Ages, i.Aged, i.Meetings, i.MeetingTime, i.Cuts,
		i.Vetoes, i.Tunings, i.TuningFlips, i.Moves.Moves, i.Moves.Updates, i.Moves.Proposals, i.Moves.Accepted, i.Moves.Flips}, i.Swaps...)
	for _, n := range append(counts, i.SwapTries...) {
		if n < 0 || n > maxCount {
			return fmt.Errorf("a count of %d", n)
		}
	}
	switch n := len(i.Swaps); {
	case n != len(i.SwapTries):
		return fmt.Errorf("swaps of %d pairs and attempts of %d", n, len(i.SwapTries))
	case i.Tuned > tuned || n > 0 && i.Tuned == tuned && n != pairs:
		return fmt.Errorf("swaps of %d pairs of a ladder that was tuned %d times, where there are %d and it was tuned %d times", n, i.Tuned, pairs, tuned)
	}
	return nil
}

// maxCount is the largest count of a run: a thousand operations a nanosecond for
// a hundred days.
const maxCount = 1 << 60

// Reset sets all counts to zero and keeps their memory.
func (i *Info) Reset() {
	clear(i.SwapTries)
	clear(i.Swaps)
	*i = Info{SwapTries: i.SwapTries, Swaps: i.Swaps, Tuned: i.Tuned}
}

// SwapRates returns the rate of exchange of each pair of neighbouring
// temperatures, from the coldest; 0 for a pair that was not tried. It is nil if
// there are no pairs or none was tried.
func (i Info) SwapRates() []float64 {
	if !slices.ContainsFunc(i.SwapTries, func(n int64) bool { return n > 0 }) {
		return nil
	}
	rates := make([]float64, len(i.Swaps))
	for k, n := range i.Swaps {
		rates[k] = float64(n) / float64(max(1, i.SwapTries[k]))
	}
	return rates
}

// OffWeight returns the mean weight of ins or pins that was not on the particle
// simulated at temperature 1, and whether there are weights.
func (i Info) OffWeight() (float64, bool) {
	if i.Groups == 0 {
		return 0, false
	}
	return i.Off / float64(i.Groups), true
}

// MeanAge returns the mean number of rounds since particles of ptt's live model were
// exact draws of its oldest rung, and whether there are ages. Particles that are much
// younger than the run prove that the ladder renews them.
func (i Info) MeanAge() (float64, bool) {
	if i.Aged == 0 {
		return 0, false
	}
	return float64(i.Ages) / float64(i.Aged), true
}

// MeanMeetingTime returns the mean number of Gibbs steps after which pairs of ucd
// met, without those that were cut, and whether any met.
func (i Info) MeanMeetingTime() (float64, bool) {
	if i.Meetings == 0 {
		return 0, false
	}
	return float64(i.MeetingTime) / float64(i.Meetings), true
}

// CutWarning returns a warning if estimates of ucd are biased because chains were
// cut before they met, and "" if none were.
func (i Info) CutWarning() string {
	if i.Cuts == 0 {
		return ""
	}
	pairs := i.Meetings + i.Cuts
	return fmt.Sprintf("the estimates of ucd are biased: %d of its %d pairs of chains (%.3g %%) had not met by the step that max allows; "+
		"raise max, or take pt or ins: chains of a model as sharp as this meet late or never", i.Cuts, pairs, 100*float64(i.Cuts)/float64(pairs))
}

const (
	// vetoShare is the share of updates that an estimator may reject without a
	// warning: one in a hundred.
	vetoShare = 0.01
	// renewalShare is the mean age of particles, as a share of the run, above which
	// they count as not renewed. Over a run in which none is renewed it is a half.
	renewalShare = 0.25
)

// VetoWarning returns a warning if an estimator has rejected more than a hundredth of
// so many updates, and "" if not.
func (i Info) VetoWarning(updates int) string {
	if float64(i.Vetoes) <= vetoShare*float64(updates) {
		return ""
	}
	return fmt.Sprintf("the chains cannot follow the model: steps were halved %d times in %d updates; take a smaller rate or more chains", i.Vetoes, updates)
}

// RenewalWarning returns a warning if the particles of ptt hardly come from its oldest
// rung, after so many updates, and "" if they do or if there are no ages.
func (i Info) RenewalWarning(updates int) string {
	age, ok := i.MeanAge()
	if !ok || age < renewalShare*float64(updates) {
		return ""
	}
	return fmt.Sprintf("the ladder of ptt does not renew the chains: on average their particles left the oldest rung %.0f of %d updates ago; take a higher freeze or more rungs", age, updates)
}
