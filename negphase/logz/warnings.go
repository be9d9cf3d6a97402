package logz

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A Warning says why estimates may be wrong.
type Warning struct {
	Of   []Method // the estimates to which it applies
	Text string
}

// String returns the text of the warning after the names of the
// estimates.
func (w Warning) String() string {
	if len(w.Of) == 0 {
		return w.Text
	}
	var names []string
	for _, m := range w.Of {
		names = append(names, m.Name())
	}
	return strings.Join(names, ", ") + ": " + w.Text
}

const (
	// There is a warning if the effective sample size (ESS) of the weights of AIS, or of its reverse, is
	// below leastShare times the number of weights, or times leastChains if there are fewer weights. With
	// a small ESS the chains probably miss modes of the model, which their spread does not show. The
	// threshold was chosen on 303 models that can
	// be enumerated, with a hundred chains at 500 and at 5000 temperatures, four
	// times each. With an ESS of 70 or more, the interval of 95 % contained log Z in 95 % of the cases, for
	// both AIS and its reverse. With an ESS between 50 and 70 it did in 85 % (AIS) and
	// 74 % (reverse). Four hundred chains gave no better results at equal ESS per chain.
	leastShare  = 0.7
	leastChains = 100
	// leastTrips is the least mean number of round trips of a group. On a model of MNIST (784 × 500
	// units) with one round trip per group, Bennett's estimate was below AIS with 20000 temperatures
	// for all of six seeds. On another model, with seven round trips per group, the two agreed. On the
	// few of the 303 models above with fewer than ten round trips, the interval contained log Z in two
	// of three cases.
	leastTrips = 10
	// leastDraws is the least number of independent draws of a group. The burn-in on the frozen ladder
	// has a quarter of the number of sampled rounds. With 40 draws, one every 2τ rounds, it is 20τ
	// long, which allows for the inaccurate errors of ten groups. On the same models with enough round
	// trips, the interval contained log Z in 95 % of the cases with more than 40 draws, in eight of
	// nine between 30 and 40, and in two of three below.
	leastDraws = 40
)

// check compares the estimates of b with its lower bound and with each other, and adds
// the warnings. AIS or its reverse can be a bound only if Bennett's estimate has no warning. If a warning
// is added later, check starts again without bounds.
func (s Settings) check(b *Bracket) {
	for _, bounds := range []bool{true, false} {
		b.Warnings, b.Bounds = nil, nil
		s.checkLadder(b)
		b.checkWeights(bounds)
		b.applyBound()
		b.checkPairs()
		if len(b.Bounds) == 0 || !b.Doubtful(ByBennett) {
			return
		}
	}
}

func (b *Bracket) warn(methods []Method, format string, args ...any) {
	b.Warnings = append(b.Warnings, Warning{methods, fmt.Sprintf(format, args...)})
}

// checkWeights warns if the effective size of the weights of AIS or its reverse is too small. log
// Z then probably lies above AIS and below the reverse. If bounds is set, an estimate that can serve as a
// bound is added to Bounds instead.
func (b *Bracket) checkWeights(bounds bool) {
	var methods []Method
	var worth, sides []string
	n := 0
	for _, c := range []struct {
		Method
		*partition.Annealed
		side string
	}{{ByAIS, b.AIS, "above"}, {ByReverse, b.Reverse, "below"}} {
		switch {
		case c.Annealed == nil || c.ESS >= leastShare*float64(max(len(c.LogWeights), leastChains)):
		case bounds && b.boundedBy(c.Method):
			b.Bounds = append(b.Bounds, c.Method)
		default:
			n = len(c.LogWeights)
			methods, worth, sides = append(methods, c.Method), append(worth, fmt.Sprintf("%.1f", c.ESS)), append(sides, c.side)
		}
	}
	if methods == nil {
		return
	}
	its, estimate, chains := "its", sides[0]+" its estimate", ""
	if len(methods) > 1 {
		its, estimate = "their", "between them"
	}
	if n < leastChains {
		chains = fmt.Sprintf(" and %d chains", leastChains)
	}
	b.warn(methods, "%s %d weights are worth %s (below %.4g their spread does not show the error), and log Z is likely %s; use more temperatures%s",
		its, n, strings.Join(worth, " and "), leastShare*float64(max(n, leastChains)), estimate, chains)
}

// boundedBy reports whether the estimate of m, AIS or its reverse, can serve as a bound: Bennett's
// estimate has no warning, and AIS is not significantly above Bennett's estimate, or reverse AIS not
// significantly below it.
func (b *Bracket) boundedBy(m Method) bool {
	ratio, ratioErr := b.By(ByBennett)
	if math.IsNaN(ratio) || b.Doubtful(ByBennett) {
		return false
	}
	switch x, _ := b.By(m); {
	case math.IsNaN(x):
		return false
	case m == ByAIS:
		return !above(x, 0, ratio, ratioErr)
	default:
		return !above(ratio, ratioErr, x, 0)
	}
}

// checkLadder warns if the chains of the ladder have mixed too slowly.
func (s Settings) checkLadder(b *Bracket) {
	var methods []Method // the estimates from these chains
	if b.Bennett != nil {
		methods = append(methods, ByBennett)
	}
	if b.Reverse != nil {
		methods = append(methods, ByReverse)
	}
	if len(methods) == 0 {
		return
	}
	r := b.Bennett
	if r != nil && math.IsNaN(r.LogZ) {
		b.warn([]Method{ByBennett}, "neighbouring temperatures overlap by %.2g %%, and below 1 %% there is no estimate; use more rounds of the ladder, so that it is tuned longer",
			100*r.Overlap)
	}
	if b.RoundTrips < leastTrips*int64(s.Groups) {
		b.warn(methods, "its %d ladders made %d round trips together, fewer than %d each: the samples may miss modes of the model, and no error bar shows this; use more rounds of the ladder",
			s.Groups, b.RoundTrips, leastTrips)
	} else if r != nil && !math.IsNaN(r.LogZ) && r.ESS < leastDraws*float64(s.Groups) {
		b.warn(methods, "the draws of its %d ladders are worth %.0f independent ones together, fewer than %d each: the ladders disagree, and each may still depend on where it started; use more rounds of the ladder",
			s.Groups, r.ESS, leastDraws)
	}
}

// applyBound compares the estimates with the lower bound. An estimate without a warning that is at most
// 1.96 standard errors below is set to the bound. Other estimates below the bound
// are impossible. The warning of this is the first one and replaces other warnings of these estimates.
func (b *Bracket) applyBound() {
	var gone []Method
	var numbers []string
	for _, m := range []Method{ByAIS, ByReverse, ByBennett} {
		x, stdErr := b.estimate(m)
		switch {
		case !b.Impossible(m):
		case !b.Doubtful(m) && b.LowerBound-*x <= normal95**stdErr:
			b.Raised, *x = append(b.Raised, m), b.LowerBound
		default:
			gone, numbers = append(gone, m), append(numbers, fmt.Sprintf("%.3f", *x))
		}
	}
	if gone == nil {
		return
	}
	others := b.Warnings
	b.Warnings = nil
	what := "impossible estimate"
	if len(gone) > 1 {
		what += "s"
	}
	b.warn(gone, "%s, %s: the distinct rows of the data alone make log Z at least %.3f, and the chains have missed them; use many more temperatures, chains and rounds of the ladder, or train at a smaller rate, so that chains mix",
		what, strings.Join(numbers, ", "), b.LowerBound)
	if b.Impossible(ByBennett) && b.Reverse != nil && !b.Impossible(ByReverse) {
		b.warn([]Method{ByReverse}, "its chains are those of Bennett's estimate, which is impossible")
	}
	for _, w := range others {
		w.Of = slices.DeleteFunc(slices.Clone(w.Of), b.Impossible)
		if len(w.Of) > 0 {
			b.Warnings = append(b.Warnings, w)
		}
	}
}

// checkPairs warns of each pair of estimates that differ
// significantly, because they cannot both be correct. It adds no warning if the suspected estimates already
// have one.
func (b *Bracket) checkPairs() {
	const longer = "take more rounds of the ladder"
	for _, c := range []struct {
		low, high Method
		methods   []Method
		text      string
	}{
		{ByAIS, ByBennett, []Method{ByAIS}, "AIS is too low where its chains miss modes of the model; use more temperatures"},
		{ByBennett, ByAIS, []Method{ByBennett}, "the samples of the ladder have missed modes that AIS found; " + longer},
		{ByAIS, ByReverse, []Method{ByAIS, ByReverse}, "log Z lies between them, if the chains of the ladder have mixed; use more temperatures and more rounds of the ladder"},
		{ByReverse, ByAIS, []Method{ByReverse}, "the upper estimate is below the lower one: the samples of the ladder have missed modes that AIS found; " + longer},
		{ByBennett, ByReverse, []Method{ByReverse}, "reverse AIS is too high where few chains have all the weight; use more temperatures"},
		{ByReverse, ByBennett, []Method{ByBennett, ByReverse}, "but both come from the same chains, which then have not mixed; " + longer},
	} {
		low, lowErr := b.By(c.low)
		high, highErr := b.By(c.high)
		if b.Bound(c.low) || b.Bound(c.high) {
			continue // checkWeights has compared bounds with Bennett's estimate
		}
		if !slices.ContainsFunc(c.methods, func(m Method) bool { return !b.Doubtful(m) }) {
			continue
		}
		if above(high, highErr, low, lowErr) {
			b.warn(c.methods, "%s says %.2f and %s %.2f, which their errors do not explain: %s",
				c.low.Name(), low, c.high.Name(), high, c.text)
		}
	}
}

// LowerBound returns log Σ exp(−free[r]) over the distinct rows r of v, where free[r] is the free energy of
// row r. The sum is a part of Z, so this is a lower bound of log Z. It returns −Inf if there are no rows or
// if rows are real, because they then have densities instead of weights. It panics if the
// lengths differ.
func LowerBound(free []float64, v rbm.Values) float64 {
	if len(free) != v.Rows {
		panic("logz: LowerBound needs one free energy per row")
	}
	if v.IsReal() {
		return math.Inf(-1)
	}
	order := make([]int, v.Rows)
	for r := range order {
		order[r] = r
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(v.Row(a), v.Row(b)) })
	var weight []float64
	for i, r := range order {
		if i == 0 || !slices.Equal(v.Row(r), v.Row(order[i-1])) {
			weight = append(weight, -free[r])
		}
	}
	return rbm.LogSumExp(weight)
}

// impossible reports whether x is below bound, a lower bound of log Z, by more than the rounding error of
// float64. Free energies and log weights are sums of up to some million terms, whose relative error is
// below 1e-9.
func impossible(x, bound float64) bool {
	return x < bound-float64(1e-9*max(1, math.Abs(bound)))
}
