package logz

import (
	"math"
	"slices"

	"gorbm/negphase"
	"gorbm/rbm/partition"
)

// A Bracket is what the estimates that were asked for say of log Z, in nats;
// those that were not are nil. Standard errors are such that LogZ ± 1.96·StdErr
// is an interval of 95 % confidence: where they are told from the spread of few
// values, ten ladders as a rule, they are widened by Student's t. They say
// nothing of what all chains have missed; Warnings may.
type Bracket struct {
	AIS     *partition.Annealed // on average too low
	Reverse *partition.Annealed // on average too high; StdErr is that between ladders
	Bennett *Ratio

	// LowerBound of log Z is that of the settings; −Inf if there was none. An
	// estimate that is below it by 1.96 standard errors at most, and of which
	// nothing warns, is Raised to it; all others below are impossible.
	LowerBound float64
	Raised     []Method

	Start, Ladder negphase.Ladder // before it was first tuned; frozen, at the end
	RoundTrips    int64           // of all particles of the ladder in the rounds sampled

	// Warnings say in words why an estimate, or all of them, may be wrong.
	Warnings []Warning
}

// A Ratio is an estimate of log Z along a ladder.
type Ratio struct {
	LogZ         float64 // NaN if the overlap is below 1 %
	StdErr       float64 // from the spread between groups
	ESS          float64 // independent draws that those of all groups at one temperature are worth
	Overlap      float64 // the smallest between neighbouring temperatures: see partition.Bennett
	Groups       int
	Temperatures int
	RoundTrips   int64
}

// A Method names an estimate.
type Method string

const (
	ByAIS     Method = "ais"
	ByReverse Method = "reverse_ais"
	ByBennett Method = "bennett"
)

// Name returns what m is called in words.
func (m Method) Name() string {
	switch m {
	case ByAIS:
		return "AIS"
	case ByReverse:
		return "reverse AIS"
	}
	return "Bennett"
}

// value returns what method m says; NaN if it was not asked for or has no
// number.
func (b Bracket) value(m Method) (logZ, stdErr float64) {
	switch {
	case m == ByAIS && b.AIS != nil:
		return b.AIS.LogZ, b.AIS.StdErr
	case m == ByReverse && b.Reverse != nil:
		return b.Reverse.LogZ, b.Reverse.StdErr
	case m == ByBennett && b.Bennett != nil:
		return b.Bennett.LogZ, b.Bennett.StdErr
	}
	return math.NaN(), math.NaN()
}

// Impossible reports whether what m says lies below LowerBound, where log Z
// cannot be.
func (b Bracket) Impossible(m Method) bool {
	x, _ := b.value(m)
	return impossible(x, b.LowerBound)
}

// By returns what method m says, with its standard error; NaN if it was not
// asked for, has no number or is impossible.
func (b Bracket) By(m Method) (logZ, stdErr float64) {
	if b.Impossible(m) {
		return math.NaN(), math.NaN()
	}
	return b.value(m)
}

// Doubtful reports whether a warning is about m.
func (b Bracket) Doubtful(m Method) bool {
	return slices.ContainsFunc(b.Warnings, func(w Warning) bool { return slices.Contains(w.Of, m) })
}

// Best returns the estimate to go by, with its standard error: Bennett's,
// which is biased to neither side; AIS where Bennett has no number, or a lower
// one by more than their errors, as chains that miss a part of the model do;
// the reverse where there is nothing else, unless Bennett's ratio, from the same
// chains, is impossible. An impossible estimate is never the best. NaN if none
// has a number.
func (b Bracket) Best() (logZ, stdErr float64, by Method) {
	by = ByReverse
	ais, aisErr := b.By(ByAIS)
	ratio, ratioErr := b.By(ByBennett)
	switch {
	case !math.IsNaN(ais) && (math.IsNaN(ratio) || above(ais, aisErr, ratio, ratioErr)):
		by = ByAIS
	case !math.IsNaN(ratio):
		by = ByBennett
	case b.Impossible(ByBennett):
		return math.NaN(), math.NaN(), ""
	}
	if logZ, stdErr = b.By(by); math.IsNaN(logZ) {
		by = ""
	}
	return logZ, stdErr, by
}

// above reports whether x lies above y by more than chance: three standard
// errors of the difference, which chance exceeds once in 300 times by Student's t
// of ten groups, and once in 700 times by the normal law.
func above(x, xErr, y, yErr float64) bool {
	return x-y > 3*math.Hypot(xErr, yErr)
}
