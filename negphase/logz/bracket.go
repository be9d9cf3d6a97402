package logz

import (
	"encoding/json"
	"fmt"
	"math"

	"gorbm/negphase"
	"gorbm/rbm"
)

// A Bracket is what the estimates that were asked for say of log Z, in nats;
// those that were not are nil.
type Bracket struct {
	AIS     *rbm.Annealed // on average too low
	Reverse *rbm.Annealed // on average too high; StdErr allows for rows of one group
	Bennett *Ratio

	Start, Ladder negphase.Ladder // before it was first tuned; frozen, at the end
	RoundTrips    int64           // of all particles of the ladder in the rounds sampled

	// Warnings say in words why an estimate, or all of them, may be wrong.
	Warnings []string
}

// A Ratio is an estimate of log Z along a ladder.
type Ratio struct {
	LogZ         float64 // NaN if the overlap is below 1 %
	StdErr       float64 // from the draws' number and autocorrelation
	Overlap      float64 // the smallest between neighbouring temperatures: see rbm.Bennett
	Temperatures int
	RoundTrips   int64
}

// MarshalJSON leaves out the estimate where there is none.
func (r Ratio) MarshalJSON() ([]byte, error) {
	out := struct {
		LogZ         *float64 `json:"log_z,omitempty"`
		StdErr       *float64 `json:"std_err,omitempty"`
		Overlap      float64  `json:"overlap"`
		Temperatures int      `json:"temperatures"`
		RoundTrips   int64    `json:"round_trips"`
	}{Overlap: r.Overlap, Temperatures: r.Temperatures, RoundTrips: r.RoundTrips}
	if !math.IsNaN(r.LogZ) {
		out.LogZ, out.StdErr = &r.LogZ, &r.StdErr
	}
	return json.Marshal(out)
}

// A Method names an estimate.
type Method string

const (
	ByAIS     Method = "ais"
	ByReverse Method = "reverse_ais"
	ByBennett Method = "bennett"
)

// Best returns the estimate to go by, with its standard error: Bennett's,
// which is biased to neither side; AIS where Bennett has no number, or a lower
// one by more than their errors, as chains that miss a part of the model do;
// the reverse where there is nothing else. NaN if none has a number.
func (b Bracket) Best() (logZ, stdErr float64, by Method) {
	ratio := b.Bennett != nil && !math.IsNaN(b.Bennett.LogZ)
	switch {
	case b.AIS != nil && (!ratio || above(b.AIS.LogZ, b.AIS.StdErr, b.Bennett.LogZ, b.Bennett.StdErr)):
		return b.AIS.LogZ, b.AIS.StdErr, ByAIS
	case ratio:
		return b.Bennett.LogZ, b.Bennett.StdErr, ByBennett
	case b.Reverse != nil:
		return b.Reverse.LogZ, b.Reverse.StdErr, ByReverse
	}
	return math.NaN(), math.NaN(), ""
}

// above reports whether x lies above y by more than chance: three standard
// errors of the difference, which are exceeded once in 700 times.
func above(x, xErr, y, yErr float64) bool {
	return x-y > 3*math.Hypot(xErr, yErr)
}

const (
	// leastESS is the effective sample size below which a mean of weights is
	// not to be trusted: on models that can be enumerated the truth lies within
	// two standard errors in nine runs of ten and more above it, but below it in
	// as few as eight, of a hundred weights from 10 to 50.
	leastESS = 50
	// leastTrips are the round trips that every group is to make on average. Of
	// two models of MNIST (784 × 500 units) Bennett's ratio was below AIS of
	// 20000 temperatures at six seeds of six where each group made one, and
	// agreed with it where each made seven.
	leastTrips = 5
	// widest is the width, in nats, above which a bracket decides little:
	// models are compared by differences of likelihood of that size.
	widest = 1
)

// span returns the least and the largest of the estimates.
func (b Bracket) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	take := func(x float64) { low, high = min(low, x), max(high, x) }
	for _, a := range []*rbm.Annealed{b.AIS, b.Reverse} {
		if a != nil {
			take(a.LogZ)
		}
	}
	if r := b.Bennett; r != nil && !math.IsNaN(r.LogZ) {
		take(r.LogZ)
	}
	return low, high
}

// warnings says what is wrong with b.
func (s Settings) warnings(b Bracket) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if a := b.AIS; a != nil && a.ESS < leastESS {
		add("the %d weights of AIS are worth %.1f (below %d their spread is no guide): log Z is likely above what AIS says; take more temperatures or chains",
			len(a.LogWeights), a.ESS, leastESS)
	}
	if a := b.Reverse; a != nil && a.ESS < leastESS {
		add("the %d weights of reverse AIS are worth %.1f (below %d their spread is no guide): log Z is likely below what reverse AIS says, if the chains at the model have mixed; take more temperatures or chains",
			len(a.LogWeights), a.ESS, leastESS)
	}
	if r := b.Bennett; r != nil && math.IsNaN(r.LogZ) {
		add("neighbouring temperatures overlap by %.2g %%, and below 1 %% Bennett's ratio gives no number; take more rounds of the ladder, so that it is tuned longer",
			100*r.Overlap)
	}
	unmixed := (b.Reverse != nil || b.Bennett != nil) && b.RoundTrips < leastTrips*int64(s.Groups)
	if unmixed {
		add("round trips of the ladder: %d of its %d groups of particles, fewer than %d each: the chains at the model may not have mixed; reverse AIS from them is then no upper bound, and the error of Bennett's ratio is too small; take more rounds of the ladder",
			b.RoundTrips, s.Groups, leastTrips)
	}
	upsideDown := b.AIS != nil && b.Reverse != nil && above(b.AIS.LogZ, b.AIS.StdErr, b.Reverse.LogZ, b.Reverse.StdErr)
	if upsideDown {
		add("the bracket is upside down: AIS says %.2f, reverse AIS from the chains at the model less, %.2f, so these have missed what AIS found; take more rounds of the ladder",
			b.AIS.LogZ, b.Reverse.LogZ)
	}
	if low, high := b.span(); high-low > widest && !upsideDown {
		where := "log Z lies somewhere in it"
		if unmixed {
			where = "log Z may lie above it"
		}
		add("the bracket is %.1f nats wide, from %.2f to %.2f, and %s; take more temperatures and more rounds of the ladder",
			high-low, low, high, where)
	}
	if r := b.Bennett; r != nil && b.AIS != nil && above(b.AIS.LogZ, b.AIS.StdErr, r.LogZ, r.StdErr) {
		add("Bennett's ratio lies below AIS, %.2f below %.2f, by more than their errors: the chains at the model have missed what AIS found",
			r.LogZ, b.AIS.LogZ)
	}
	if r := b.Bennett; r != nil && b.Reverse != nil && above(r.LogZ, r.StdErr, b.Reverse.LogZ, b.Reverse.StdErr) {
		add("Bennett's ratio lies above reverse AIS, %.2f above %.2f, by more than their errors, though both come of the same chains, which then have not mixed; take more rounds of the ladder",
			r.LogZ, b.Reverse.LogZ)
	}
	return out
}
