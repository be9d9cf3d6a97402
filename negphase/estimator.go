package negphase

import (
	"encoding"
	"fmt"
	"slices"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// An Estimator estimates the negative phase of a model's log-likelihood
// gradient. It holds the chains that it continues from call to call; use one
// estimator for one model in training, and not concurrently.
type Estimator interface {
	// Estimate advances the chains under m and returns the negative phase and
	// what happened on the way; both are valid until the next call. pos is
	// the positive phase, a batch with its hidden means; estimators that do
	// not start at the data ignore it. Neither m nor pos is changed. Equal
	// state, m, pos and key give equal bits at any GOMAXPROCS. The error wraps
	// rbm.ErrDiverged if an energy is not finite, exact.ErrTooLarge if the model
	// cannot be enumerated.
	Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error)

	// The binary form holds all that the next call needs beyond the model
	// and the settings: restored into an estimator of the same settings, it
	// goes on with the same bits.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Info counts what an estimator did. Counts add exactly over calls; rates are
// derived from them.
type Info struct {
	Updates int64 // block Gibbs steps and moves, summed over all chains and replicas

	// Of each pair of neighbouring temperatures, from the coldest: how often
	// an exchange was possible and how often a particle crossed. For pt these
	// are attempted and accepted swaps; for ins, permutations drawn and those
	// that took a particle across.
	SwapTries, Swaps []int64
	// Tuned is the number of times that the ladder was tuned before. Counts
	// of pairs are of that ladder alone.
	Tuned int64
	// RoundTrips counts journeys of a particle from the lowest temperature to
	// the highest and back.
	RoundTrips int64

	// Off sums, over the Groups of ins and pins replicas that were weighed, the weight
	// that did not lie on the particle simulated at temperature 1.
	Off    float64
	Groups int64

	// Of ucd: the pairs of chains that met, the sum of the Gibbs steps at which
	// they did, and the pairs that were cut before they met.
	Meetings, MeetingTime, Cuts int64

	// Of samplers of binary systems: what their moves did, in all chains and
	// replicas.
	Moves mcmc.Info
}

// Add adds o to i. Counts of pairs are kept of the ladder that was tuned more
// often; those of the other are dropped. It panics if the numbers of pairs of
// ladders that were tuned equally often differ and neither is zero.
func (i *Info) Add(o Info) {
	i.Updates += o.Updates
	i.RoundTrips += o.RoundTrips
	i.Off += o.Off
	i.Groups += o.Groups
	i.Meetings += o.Meetings
	i.MeetingTime += o.MeetingTime
	i.Cuts += o.Cuts
	i.Moves.Add(o.Moves)
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

// Reset makes all counts zero and keeps their room.
func (i *Info) Reset() {
	clear(i.SwapTries)
	clear(i.Swaps)
	*i = Info{SwapTries: i.SwapTries, Swaps: i.Swaps, Tuned: i.Tuned}
}

// SwapRates returns the rate of exchange of each pair of neighbouring
// temperatures, from the coldest, 0 of a pair that was not tried; nil if there
// are no pairs or none was tried.
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

// OffWeight returns the mean weight of ins or pins that did not lie on the particle
// simulated at temperature 1, and whether there is any.
func (i Info) OffWeight() (float64, bool) {
	if i.Groups == 0 {
		return 0, false
	}
	return i.Off / float64(i.Groups), true
}

// MeanMeetingTime returns the mean number of Gibbs steps after which pairs of ucd
// met, and whether any did; pairs that were cut are not in it.
func (i Info) MeanMeetingTime() (float64, bool) {
	if i.Meetings == 0 {
		return 0, false
	}
	return float64(i.MeetingTime) / float64(i.Meetings), true
}

// CutWarning says in words that estimates of ucd are biased because chains
// were cut before they met; empty if none were.
func (i Info) CutWarning() string {
	if i.Cuts == 0 {
		return ""
	}
	pairs := i.Meetings + i.Cuts
	return fmt.Sprintf("the estimates of ucd are biased: %d of its %d pairs of chains (%.3g %%) had not met by the step that max allows; "+
		"raise max, or take pt or ins: chains of a model as sharp as this meet late or never", i.Cuts, pairs, 100*float64(i.Cuts)/float64(pairs))
}
