package logz

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Bracket holds the estimates of log Z that were asked for, in nats; the others
// are nil. Standard errors are such that LogZ ± 1.96·StdErr is an interval of
// 95 % confidence: those that come from the spread of few values, ten ladders as a
// rule, are widened by Student's t. They do not show what all chains have missed;
// Warnings may.
type Bracket struct {
	AIS     *partition.Annealed // on average too low
	Reverse *partition.Annealed // on average too high; StdErr is that between ladders
	Bennett *Ratio

	// LowerBound is the lower bound of log Z from the settings, or −Inf. An
	// estimate without a warning that is below it by 1.96 standard errors at most
	// is Raised to it; all others below are impossible.
	LowerBound float64
	Raised     []Method

	Start, Ladder negphase.Ladder // before it was first tuned; frozen, at the end
	RoundTrips    int64           // of all particles of the ladder in the rounds sampled
	Rounds        int             // of the ladder, the burn-in included

	// Bounds are the estimates, AIS or its reverse, whose weights are worth too few
	// independent ones for an error, while Bennett's ratio has no warning and lies on
	// their right side. They are bounds: by Markov's inequality AIS is above log Z by x
	// nats, and the reverse below it, with a probability of e^−x at most, whatever the
	// weights are worth (Grosse, Ghahramani & Adams 2015).
	Bounds []Method

	// Warnings say in words why an estimate, or all of them, may be wrong.
	Warnings []Warning
}

// A Ratio is an estimate of log Z along a ladder.
type Ratio struct {
	LogZ         float64 // NaN if the overlap is below 1 %
	StdErr       float64 // from the spread between groups
	ESS          float64 // number of independent draws with the same error, at one temperature, of all groups
	Overlap      float64 // the smallest between neighbouring temperatures: see partition.Bennett
	Groups       int
	Temperatures int
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

// estimate returns the estimate of m and its standard error, both to read or to
// change; NaN if it was not asked for or has no number.
func (b *Bracket) estimate(m Method) (logZ, stdErr *float64) {
	switch {
	case m == ByAIS && b.AIS != nil:
		return &b.AIS.LogZ, &b.AIS.StdErr
	case m == ByReverse && b.Reverse != nil:
		return &b.Reverse.LogZ, &b.Reverse.StdErr
	case m == ByBennett && b.Bennett != nil:
		return &b.Bennett.LogZ, &b.Bennett.StdErr
	}
	nan := math.NaN()
	return &nan, &nan
}

// Impossible reports whether the estimate of m lies below LowerBound, where log
// Z cannot be.
func (b Bracket) Impossible(m Method) bool {
	x, _ := b.estimate(m)
	return impossible(*x, b.LowerBound)
}

// By returns the estimate of m with its standard error; NaN if it was not asked
// for, has no number or is impossible.
func (b Bracket) By(m Method) (logZ, stdErr float64) {
	if b.Impossible(m) {
		return math.NaN(), math.NaN()
	}
	x, e := b.estimate(m)
	return *x, *e
}

// Doubtful reports whether a warning is about m.
func (b Bracket) Doubtful(m Method) bool {
	return slices.ContainsFunc(b.Warnings, func(w Warning) bool { return slices.Contains(w.Of, m) })
}

// Bound reports whether the estimate of m is only a bound: see Bounds.
func (b Bracket) Bound(m Method) bool { return slices.Contains(b.Bounds, m) }

// Best returns the estimate to use, with its standard error. It is Bennett's,
// which is biased to neither side. It is AIS where Bennett has no number, or one that is lower by
// more than their errors, because its chains have missed a part of the model. It is
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
// of ten groups, and once in 700 times by the normal distribution.
func above(x, xErr, y, yErr float64) bool {
	return x-y > 3*math.Hypot(xErr, yErr)
}

// The standard errors of a Bracket are made for intervals of this confidence, as
// wide as normal95 standard errors of a normal deviate on either side.
const (
	confidence = 0.95
	normal95   = 1.959963984540054
)

// widened returns stdErr, which comes from the spread of n independent values,
// times the ratio of Student's t with n − 1 degrees of freedom to the normal
// deviate. 1.96 of it on either side are then an interval of 95 %. Of ten values
// it is 1.154 times as wide, of a hundred 1.012 times.
func widened(stdErr float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	return stdErr * t.Quantile((1+confidence)/2) / normal95
}

// groupedStdErr returns the standard error of the logarithm of the mean weight,
// to first order, where weight i belongs to group i mod groups and only groups are
// independent.
func groupedStdErr(logw []float64, groups int) float64 {
	top := floats.Max(logw)
	sums, total := make([]float64, groups), 0.0
	for i, w := range logw {
		e := rbm.Exp(w - top)
		sums[i%groups] += e
		total += e
	}
	n, squares := float64(groups), 0.0
	for _, x := range sums {
		d := x/total - 1/n
		squares += float64(d * d)
	}
	return math.Sqrt(squares * n / (n - 1))
}
