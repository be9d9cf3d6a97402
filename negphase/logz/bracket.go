package logz

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Bracket has up to three estimates of log Z, in nats; estimates that Settings do not select are nil.
// Standard errors are such that LogZ ± 1.96·StdErr is an interval of 95 % confidence. Errors that are
// computed from the spread of few values, usually ten ladders, are widened by Student's t. Standard
// errors do not account for parts of the model that all chains have missed. Warnings may say that there
// are such parts.
type Bracket struct {
	AIS     *partition.Annealed // too low on average
	Reverse *partition.Annealed // too high on average; StdErr is from the spread between ladders
	Bennett *Ratio

	// LowerBound is the lower bound of log Z from the settings; −Inf if there is none. An
	// estimate below it is impossible. If such an estimate has no warning and is at most 1.96
	// standard errors below, it is set to the bound, and Raised has its method.
	LowerBound float64
	Raised     []Method

	Start, Ladder negphase.Ladder // statistics of the ladder before its first tuning, and at the end
	RoundTrips    int64           // round trips of all particles of the ladder in the sampled rounds
	Rounds        int             // rounds of the ladder, including the burn-in

	// Bounds has the methods (AIS, its reverse, or both) whose estimates are used as bounds only. The
	// effective size of their weights is too small for an error, but Bennett's estimate has no warning
	// and agrees with the bound. AIS is more than x nats above log Z with a probability of at most
	// e^−x, for any effective size, by Markov's inequality (Grosse, Ghahramani & Adams 2015). The same
	// holds for the reverse below log Z.
	Bounds []Method

	// Warnings say why an estimate, or all of them, may be wrong. Of has the names of the estimates.
	Warnings []diag.Warning

	Stopped *diag.Warning // why the ladder stopped before its estimate was good enough, or nil; Warnings has it too
}

// A Ratio is the multistate Bennett estimate of log Z along a ladder.
type Ratio struct {
	LogZ         float64 // NaN if the overlap is below 1 %
	StdErr       float64 // from the spread between groups
	ESS          float64 // number of independent draws per temperature, over all groups, with the same error
	Overlap      float64 // smallest overlap of neighbouring temperatures: see partition.Bennett
	Groups       int     // number of independent ladders
	Temperatures int
}

// A Method identifies an estimate.
type Method string

const (
	ByAIS     Method = "ais"
	ByReverse Method = "reverse_ais"
	ByBennett Method = "bennett"
)

// Name returns the name of m in texts.
func (m Method) Name() string {
	switch m {
	case ByAIS:
		return "AIS"
	case ByReverse:
		return "reverse AIS"
	}
	return "Bennett"
}

// estimate returns pointers to the estimate of m and its standard error. Without this estimate
// both point to NaN.
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

// Impossible reports whether the estimate of m lies below LowerBound by more than rounding.
func (b Bracket) Impossible(m Method) bool {
	x, _ := b.estimate(m)
	return impossible(*x, b.LowerBound)
}

// By returns the estimate of m with its standard error; NaN if the bracket has no such estimate or it is
// impossible.
func (b Bracket) By(m Method) (logZ, stdErr float64) {
	if b.Impossible(m) {
		return math.NaN(), math.NaN()
	}
	x, e := b.estimate(m)
	return *x, *e
}

// Doubtful reports whether a warning is about m.
func (b Bracket) Doubtful(m Method) bool {
	return slices.ContainsFunc(b.Warnings, func(w diag.Warning) bool { return slices.Contains(w.Of, m.Name()) })
}

// Bound reports whether Bounds has m.
func (b Bracket) Bound(m Method) bool { return slices.Contains(b.Bounds, m) }

// Best returns the most reliable estimate with its standard error. The first choice is Bennett's
// estimate, which has no known bias. It is AIS instead if there is no Bennett estimate, or if Bennett's
// is significantly lower, because the chains of the ladder have then missed modes of the model. It is
// reverse AIS if there is no other estimate, unless Bennett's estimate, from the same chains, is
// impossible. An impossible estimate is never the best. If there is no estimate, the result is NaN.
func (b Bracket) Best() (logZ, stdErr float64, by Method) {
	by = ByReverse
	ais, aisErr := b.By(ByAIS)
	ratio, ratioErr := b.By(ByBennett)
	switch {
	case !math.IsNaN(ais) && (math.IsNaN(ratio) || diag.Above(ais, aisErr, ratio, ratioErr)):
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

// confidence is the probability for which LogZ ± normal95·StdErr is a confidence interval. normal95 is the
// corresponding quantile of the normal distribution.
const (
	confidence = 0.95
	normal95   = 1.959963984540054
)

// widened multiplies stdErr, which is computed from the spread of n independent values,
// by the quantile of Student's t with n − 1 degrees of freedom divided by that of the normal
// distribution. So ± 1.96 times the result is an interval of 95 %. The factor is 1.154 for ten values and
// 1.012 for a hundred.
func widened(stdErr float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	return stdErr * t.Quantile((1+confidence)/2) / normal95
}

// groupedStdErr returns the standard error of the logarithm of the mean weight,
// to first order. Weight i belongs to group i mod groups. Weights in different groups are
// independent, weights in one group need not be.
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
