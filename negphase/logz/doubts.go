package logz

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/rbm/partition"
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
	// leastChains weights are to be worth leastShare of their number at least:
	// what all of them miss, their spread does not show, and if half of them are
	// wasted, a part of the model is likely missed altogether. On 303 models that can
	// be enumerated, with a hundred chains, at 500 and at 5000 temperatures, four
	// times each, the interval of 95 % held the truth in 95 % of the cases where they
	// were worth 70 or more, by AIS and by its reverse; between 50 and 70 in 85 % and
	// in 74 %. Four hundred chains were no better at equal shares.
	leastShare  = 0.7
	leastChains = 100
	// leastTrips are the round trips that every group is to make on average. Of
	// two models of MNIST (784 × 500 units) Bennett's ratio was below AIS of
	// 20000 temperatures at six seeds of six where each group made one, and
	// agreed with it where each made seven. Of the 303 models above, on few of which
	// they were fewer than ten, the interval then held the truth in two of three.
	leastTrips = 10
	// leastDraws are the independent draws that those of a group are to be
	// worth. A quarter as many rounds as are sampled go before them on the frozen
	// ladder: these are then ten autocorrelation times, with room for the error of
	// the error of ten groups. Of the same models, where each group made its round
	// trips, the interval held the truth in 95 % of the cases above 40 draws,
	// in eight of nine between 30 and 40, and in two of three below.
	leastDraws = 40
)

// judge holds the estimates of b against its bound and says what is wrong with
// them.
func (s Settings) judge(b *Bracket) {
	b.doubtWeights(ByAIS, b.AIS, "above")
	b.doubtWeights(ByReverse, b.Reverse, "below")
	s.doubtLadder(b)
	b.holdToBound()
	b.doubtPairs()
}

func (b *Bracket) warn(of []Method, format string, args ...any) {
	b.Warnings = append(b.Warnings, Warning{of, fmt.Sprintf(format, args...)})
}

func (b *Bracket) doubtWeights(m Method, a *partition.Annealed, side string) {
	if a == nil {
		return
	}
	n, chains := len(a.LogWeights), ""
	if n < leastChains {
		chains = fmt.Sprintf(" and %d chains", leastChains)
	}
	if least := leastShare * float64(max(n, leastChains)); a.ESS < least {
		b.warn([]Method{m}, "its %d weights are worth %.1f (below %.4g their spread is no guide), and log Z is likely %s its estimate; take more temperatures%s",
			n, a.ESS, least, side, chains)
	}
}

// doubtLadder says what is wrong with the chains at the model, if there are
// any.
func (s Settings) doubtLadder(b *Bracket) {
	var of []Method // the estimates that rest on them
	if b.Bennett != nil {
		of = append(of, ByBennett)
	}
	if b.Reverse != nil {
		of = append(of, ByReverse)
	}
	if len(of) == 0 {
		return
	}
	r := b.Bennett
	if r != nil && math.IsNaN(r.LogZ) {
		b.warn([]Method{ByBennett}, "neighbouring temperatures overlap by %.2g %%, and below 1 %% there is no number; take more rounds of the ladder, so that it is tuned longer",
			100*r.Overlap)
	}
	if b.RoundTrips < leastTrips*int64(s.Groups) {
		b.warn(of, "its %d ladders made %d round trips together, fewer than %d each: the chains at the model may have missed parts of it, which no error bar shows; take more rounds of the ladder",
			s.Groups, b.RoundTrips, leastTrips)
	}
	if r != nil && !math.IsNaN(r.LogZ) && r.ESS < leastDraws*float64(s.Groups) {
		b.warn(of, "the draws of its %d ladders are worth %.0f independent ones, fewer than %d each: the ladders disagree, and each may still depend on where it started; take more rounds of the ladder",
			s.Groups, r.ESS, leastDraws)
	}
}

// holdToBound raises an estimate that is below the bound by no more than chance,
// and of which nothing else warns, to the bound: log Z is nearer to that. All
// others below are impossible, which is the first thing to say and takes the
// place of other doubts of them.
func (b *Bracket) holdToBound() {
	var gone []Method
	var numbers []string
	for _, m := range []Method{ByAIS, ByReverse, ByBennett} {
		x, stdErr := b.value(m)
		switch {
		case !b.Impossible(m):
		case !b.Doubtful(m) && b.LowerBound-x <= normal95*stdErr:
			b.raise(m)
		default:
			gone, numbers = append(gone, m), append(numbers, fmt.Sprintf("%.3f", x))
		}
	}
	if gone == nil {
		return
	}
	doubts := b.Warnings
	b.Warnings = nil
	what := "impossible estimate"
	if len(gone) > 1 {
		what += "s"
	}
	b.warn(gone, "%s, %s: the distinct rows at hand alone make log Z at least %.3f, and the chains have missed them; take many more temperatures, chains and rounds of the ladder, or train at a smaller rate, so that chains mix",
		what, strings.Join(numbers, ", "), b.LowerBound)
	if b.Impossible(ByBennett) && b.Reverse != nil && !b.Impossible(ByReverse) {
		b.warn([]Method{ByReverse}, "its chains are those of Bennett's estimate, which is impossible")
	}
	for _, w := range doubts {
		var of []Method
		for _, m := range w.Of {
			if !slices.Contains(gone, m) {
				of = append(of, m)
			}
		}
		if of != nil {
			b.Warnings = append(b.Warnings, Warning{of, w.Text})
		}
	}
}

// raise sets the estimate of m to the bound.
func (b *Bracket) raise(m Method) {
	b.Raised = append(b.Raised, m)
	switch m {
	case ByAIS:
		b.AIS.LogZ = b.LowerBound
	case ByReverse:
		b.Reverse.LogZ = b.LowerBound
	case ByBennett:
		b.Bennett.LogZ = b.LowerBound
	}
}

// doubtPairs compares each two estimates that have a number: those that differ
// by more than their errors cannot both be right.
func (b *Bracket) doubtPairs() {
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
			b.warn(c.of, "%s says %.2f and %s %.2f, which their errors do not explain: %s",
				c.low.Name(), low, c.high.Name(), high, c.text)
		}
	}
}
