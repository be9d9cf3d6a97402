package logz

import (
	"fmt"
	"math"

	"gorbm/rbm"
)

// A Warning says why estimates may be wrong.
type Warning struct {
	Of   []Method // the estimates that it is about
	Text string
}

// String returns the warning as a line that begins with the names of the
// estimates.
func (w Warning) String() string {
	names := ""
	for i, m := range w.Of {
		if i > 0 {
			names += ", "
		}
		names += m.Name()
	}
	if names != "" {
		names += ": "
	}
	return names + w.Text
}

const (
	// leastESS is the effective sample size below which the spread of weights is
	// no guide to what they miss. Of a hundred weights, at 500 and at 5000
	// temperatures, on 303 models that can be enumerated, four times each, the
	// interval of 95 % held the truth in 95 % of the cases from 70 up, by AIS and by
	// its reverse; between 50 and 70 in 85 % and in 74 %.
	leastESS = 70
	// leastTrips are the round trips that every group is to make on average. Of
	// two models of MNIST (784 × 500 units) Bennett's ratio was below AIS of
	// 20000 temperatures at six seeds of six where each group made one, and
	// agreed with it where each made seven.
	leastTrips = 5
	// leastDraws are the independent draws that those of a group are to be
	// worth: a quarter as many rounds as are sampled go before them on the frozen
	// ladder, which then are five autocorrelation times or more, with room for
	// an error of ten groups that is told to a quarter of its size.
	leastDraws = 20
)

// warnings says what is wrong with b.
func (s Settings) warnings(b Bracket) []Warning {
	var out []Warning
	add := func(of []Method, format string, args ...any) {
		out = append(out, Warning{of, fmt.Sprintf(format, args...)})
	}
	for _, m := range []Method{ByAIS, ByReverse, ByBennett} {
		if !b.Impossible(m) {
			continue
		}
		x, stdErr := b.value(m)
		why := "its chains miss a part of the model that the rows show"
		if b.LowerBound-x <= 2*stdErr {
			why = "if its error is right, log Z is hardly more than that"
		}
		add([]Method{m}, "its estimate %.3f ± %.3f is impossible: the distinct rows at hand alone make log Z at least %.3f; %s; take many more temperatures, chains and rounds of the ladder, or train at a smaller rate, so that chains mix",
			x, stdErr, b.LowerBound, why)
	}
	if b.Impossible(ByBennett) && b.Reverse != nil && !b.Impossible(ByReverse) {
		add([]Method{ByReverse}, "its chains are those of Bennett's estimate, which is impossible")
	}
	few := func(m Method, a *rbm.Annealed, side string) {
		if a != nil && !b.Impossible(m) && a.ESS < leastESS {
			add([]Method{m}, "its %d weights are worth %.1f (below %d their spread is no guide), and log Z is likely %s its estimate; take more temperatures or chains",
				len(a.LogWeights), a.ESS, leastESS, side)
		}
	}
	few(ByAIS, b.AIS, "above")
	few(ByReverse, b.Reverse, "below")
	s.doubtLadder(b, add)
	b.doubtPairs(add)
	return out
}

// doubtLadder says what is wrong with the chains at the model, if there are
// any. An estimate that is impossible needs no more doubts.
func (s Settings) doubtLadder(b Bracket, add func(of []Method, format string, args ...any)) {
	var of []Method // the estimates that rest on them
	if b.Bennett != nil && !b.Impossible(ByBennett) {
		of = append(of, ByBennett)
	}
	if b.Reverse != nil && !b.Impossible(ByReverse) {
		of = append(of, ByReverse)
	}
	if len(of) == 0 {
		return
	}
	r := b.Bennett
	if r != nil && math.IsNaN(r.LogZ) {
		add([]Method{ByBennett}, "neighbouring temperatures overlap by %.2g %%, and below 1 %% there is no number; take more rounds of the ladder, so that it is tuned longer",
			100*r.Overlap)
	}
	if b.RoundTrips < leastTrips*int64(s.Groups) {
		add(of, "its %d ladders made %d round trips together, fewer than %d each: the chains at the model may have missed parts of it, which no error bar shows; take more rounds of the ladder",
			s.Groups, b.RoundTrips, leastTrips)
	}
	if r != nil && !math.IsNaN(r.LogZ) && r.ESS < leastDraws*float64(s.Groups) {
		add(of, "the draws of its %d ladders are worth %.0f independent ones, fewer than %d each: the ladders disagree, and each may still depend on where it started; take more rounds of the ladder",
			s.Groups, r.ESS, leastDraws)
	}
}

// doubtPairs compares each two estimates that have a number: those that differ
// by more than their errors cannot both be right.
func (b Bracket) doubtPairs(add func(of []Method, format string, args ...any)) {
	const longer = "take more rounds of the ladder"
	for _, c := range []struct {
		low, high Method
		of        []Method
		text      string
	}{
		{ByAIS, ByBennett, []Method{ByAIS}, "AIS is too low where its chains miss a part of the model; take more temperatures"},
		{ByBennett, ByAIS, []Method{ByBennett}, "the chains at the model have missed what AIS found; " + longer},
		{ByAIS, ByReverse, []Method{ByAIS, ByReverse}, "log Z lies between them, if the chains at the model have mixed; take more temperatures and more rounds of the ladder"},
		{ByReverse, ByAIS, []Method{ByReverse}, "the bracket is upside down: the chains at the model have missed what AIS found; " + longer},
		{ByBennett, ByReverse, []Method{ByReverse}, "reverse AIS is too high where few chains have all the weight; take more temperatures"},
		{ByReverse, ByBennett, []Method{ByBennett, ByReverse}, "but both come of the same chains, which then have not mixed; " + longer},
	} {
		low, lowErr := b.By(c.low)
		high, highErr := b.By(c.high)
		if above(high, highErr, low, lowErr) {
			add(c.of, "%s says %.2f and %s %.2f, which their errors do not explain: %s",
				c.low.Name(), low, c.high.Name(), high, c.text)
		}
	}
}
