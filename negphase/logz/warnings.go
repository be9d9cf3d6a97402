package logz

import (
	"math"
	"slices"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// Kinds of warnings about estimates of log Z, in addition to diag.FewTrips, diag.FewDraws and
// diag.Unsettled. Of has the names of the estimates.
const (
	FewWeightsLow  diag.Kind = "few_weights_low"  // AIS: its weights are worth too few; log Z is likely above it
	FewWeightsHigh diag.Kind = "few_weights_high" // its reverse: log Z is likely below it
	NoOverlap      diag.Kind = "no_overlap"       // neighbouring temperatures overlap too little for an estimate
	Impossible     diag.Kind = "impossible"       // below the lower bound
	Hopeless       diag.Kind = "hopeless"         // the ladder stopped, because it cannot make enough round trips
	SameChains     diag.Kind = "same_chains"      // from the same chains as an impossible estimate
	OffExact       diag.Kind = "off_exact"        // an estimate differs from the exact log Z
	Disagree       diag.Kind = "disagree"         // two estimates differ: see pairs; the kind has their methods appended
)

// Remedies for estimates of log Z.
const (
	MoreRounds       diag.Remedy = "ladder_rounds"
	MoreTemperatures diag.Remedy = "ais_temperatures"
	MoreChains       diag.Remedy = "ais_chains"
	SmallerRate      diag.Remedy = "rate"
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
		if b.Stopped != nil {
			b.Warnings = append(b.Warnings, *b.Stopped)
		}
		if len(b.Bounds) == 0 || !b.Doubtful(ByBennett) {
			return
		}
	}
}

// warn adds a warning about the estimates of methods.
func (b *Bracket) warn(kind diag.Kind, methods []Method, numbers diag.Numbers, help ...diag.Remedy) {
	w := diag.Warning{Kind: kind, Numbers: numbers, Help: help}
	for _, m := range methods {
		w.Of = append(w.Of, m.Name())
	}
	b.Warnings = append(b.Warnings, w)
}

// checkWeights warns if the effective size of the weights of AIS or its reverse is too small: see
// diag.LeastWeight. If bounds is set, an estimate that can serve as a bound is added to Bounds instead.
func (b *Bracket) checkWeights(bounds bool) {
	for _, c := range []struct {
		Method
		*partition.Annealed
		kind diag.Kind
	}{{ByAIS, b.AIS, FewWeightsLow}, {ByReverse, b.Reverse, FewWeightsHigh}} {
		if c.Annealed == nil {
			continue
		}
		n := len(c.LogWeights)
		switch least := diag.LeastWeight * float64(max(n, diag.LeastWeights)); {
		case c.ESS >= least:
		case bounds && b.boundedBy(c.Method):
			b.Bounds = append(b.Bounds, c.Method)
		default:
			help := []diag.Remedy{MoreTemperatures}
			if n < diag.LeastWeights {
				help = append(help, MoreChains)
			}
			b.warn(c.kind, []Method{c.Method}, diag.Numbers{"weights": float64(n), "worth": c.ESS, "limit": least}, help...)
		}
	}
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
		return !diag.Above(x, 0, ratio, ratioErr)
	default:
		return !diag.Above(ratio, ratioErr, x, 0)
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
	r, groups := b.Bennett, float64(s.Groups)
	if r != nil && math.IsNaN(r.LogZ) {
		b.warn(NoOverlap, []Method{ByBennett}, diag.Numbers{"overlap": r.Overlap}, MoreRounds)
	}
	if n := float64(b.RoundTrips); n < diag.LeastTrips*groups {
		b.warn(diag.FewTrips, methods, diag.Numbers{"ladders": groups, "trips": n, "limit": diag.LeastTrips}, MoreRounds)
	} else if r != nil && !math.IsNaN(r.LogZ) && r.ESS < diag.LeastDraws*groups {
		b.warn(diag.FewDraws, methods, diag.Numbers{"ladders": groups, "draws": r.ESS, "limit": diag.LeastDraws}, MoreRounds)
	}
}

// applyBound compares the estimates with the lower bound. An estimate without a warning that is at most
// 1.96 standard errors below is set to the bound. Other estimates below the bound
// are impossible. The warning of this is the first one and replaces other warnings of these estimates.
func (b *Bracket) applyBound() {
	var gone []Method
	lowest := b.LowerBound
	for _, m := range []Method{ByAIS, ByReverse, ByBennett} {
		x, stdErr := b.estimate(m)
		switch {
		case !b.Impossible(m):
		case !b.Doubtful(m) && b.LowerBound-*x <= normal95**stdErr:
			b.Raised, *x = append(b.Raised, m), b.LowerBound
		default:
			gone, lowest = append(gone, m), min(lowest, *x)
		}
	}
	if gone == nil {
		return
	}
	others := b.Warnings
	b.Warnings = nil
	b.warn(Impossible, gone, diag.Numbers{"estimate": lowest, "bound": b.LowerBound}, MoreTemperatures, MoreChains, MoreRounds, SmallerRate)
	if b.Impossible(ByBennett) && b.Reverse != nil && !b.Impossible(ByReverse) {
		b.warn(SameChains, []Method{ByReverse}, nil)
	}
	for _, w := range others {
		w.Of = slices.DeleteFunc(slices.Clone(w.Of), func(name string) bool {
			return slices.ContainsFunc(gone, func(m Method) bool { return m.Name() == name })
		})
		if len(w.Of) > 0 {
			b.Warnings = append(b.Warnings, w)
		}
	}
}

// pairs lists which estimates are suspected if the first is significantly below the second, and what helps.
// The kind of the warning is DisagreeKind.
var pairs = []struct {
	low, high Method
	suspects  []Method
	help      []diag.Remedy
}{
	{ByAIS, ByBennett, []Method{ByAIS}, []diag.Remedy{MoreTemperatures}},
	{ByBennett, ByAIS, []Method{ByBennett}, []diag.Remedy{MoreRounds}},
	{ByAIS, ByReverse, []Method{ByAIS, ByReverse}, []diag.Remedy{MoreTemperatures, MoreRounds}},
	{ByReverse, ByAIS, []Method{ByReverse}, []diag.Remedy{MoreRounds}},
	{ByBennett, ByReverse, []Method{ByReverse}, []diag.Remedy{MoreTemperatures}},
	{ByReverse, ByBennett, []Method{ByBennett, ByReverse}, []diag.Remedy{MoreRounds}},
}

// DisagreeKind is the kind of a warning that low is significantly below high.
func DisagreeKind(low, high Method) diag.Kind {
	return Disagree + "_" + diag.Kind(low) + "_below_" + diag.Kind(high)
}

// checkPairs warns of each pair of estimates that differ
// significantly, because they cannot both be correct. It adds no warning if the suspected estimates already
// have one.
func (b *Bracket) checkPairs() {
	for _, c := range pairs {
		low, lowErr := b.By(c.low)
		high, highErr := b.By(c.high)
		if b.Bound(c.low) || b.Bound(c.high) {
			continue // checkWeights has compared bounds with Bennett's estimate
		}
		if !slices.ContainsFunc(c.suspects, func(m Method) bool { return !b.Doubtful(m) }) {
			continue
		}
		if diag.Above(high, highErr, low, lowErr) {
			b.warn(DisagreeKind(c.low, c.high), c.suspects, diag.Numbers{"low": low, "high": high}, c.help...)
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
