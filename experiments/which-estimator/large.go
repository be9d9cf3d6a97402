package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/train"
)

// Suffixes of the panels of a bracket. The name of the data comes before them. The panel without a suffix has the
// estimate by Bennett's ratio.
const (
	aisPanel     = ": AIS"
	reversePanel = ": reverse AIS"
	errorPanel   = ": standard error of log Z"
	settledPanel = ": settled" // 1 if there is an estimate
)

// bracketed returns settings for estimates of log Z of the large models.
func bracketed(temperatures, burnIn, rounds int) logz.Settings {
	s := logz.DefaultSettings()
	s.Annealing.Temperatures, s.BurnIn, s.Rounds, s.Longest = temperatures, burnIn, rounds, 0
	return s
}

const (
	largeUnits   = 100 // hidden units
	largeSeconds = 5
)

// larges are the problems whose models are too large to enumerate.
var larges = []problem{{
	name: fmt.Sprintf("MNIST, %d units", largeUnits), hidden: largeUnits, load: builtIn("mnist"), unknown: true, mixes: true, file: true, falls: true, ladder: 43,
	brackets: []logz.Settings{bracketed(2000, 1000, 3000), bracketed(2000, 1000, 12000)},
}}

// quickLarge returns the problem for -quick, which needs no files.
func quickLarge(d problem) problem {
	d.hidden, d.brackets = 8, []logz.Settings{bracketed(100, 100, 400)}
	d.file, d.load = false, builtIn("fontdigits:200")
	return d
}

// bracket adds the estimates of a bracket of log Z. If no ladder settles, there are no estimates.
func (x *test) bracket(ctx context.Context, m *rbm.RBM, seed uint64, energy float64, add func(panel string, y float64)) error {
	for k, s := range x.brackets {
		s.Annealing.Base, s.LowerBound = train.Base(m, x.set), logz.LowerBound(x.free, x.values)
		b, err := logz.Estimate(ctx, m, s, rbm.NewKey(measureKey).Child(seed).Child(uint64(k)), nil)
		if err != nil {
			return err
		}
		logZ, stdErr := b.By(logz.ByBennett)
		if math.IsNaN(logZ) || b.Doubtful(logz.ByBennett) {
			continue
		}
		add(x.name+settledPanel, 1)
		add(x.name, energy+logZ)
		add(x.name+errorPanel, stdErr)
		for _, end := range []struct {
			panel string
			by    logz.Method
		}{{aisPanel, logz.ByAIS}, {reversePanel, logz.ByReverse}} {
			if logZ, _ := b.By(end.by); !math.IsNaN(logZ) {
				add(x.name+end.panel, energy+logZ)
			}
		}
		return nil
	}
	add(x.name+settledPanel, 0)
	return nil
}

// measureKey is the key of the random numbers of measurements. Training has the seeds as keys, which are
// smaller.
const measureKey = 1 << 40

// brackets returns the table of the brackets at the ends of the runs.
func brackets(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe rate of a run falls linearly to about 0 at its end. For this, a run of a quarter of the time, which does not count, forecasts the number of updates. So the two times have separate runs. Log Z is by Bennett's ratio along a ladder of temperatures (`negphase/logz`). AIS and reverse AIS bracket it: by AIS, −log-likelihood is too low on average, and by reverse AIS too high. "+
		"If the ladder of a run did not settle, there is no estimate. Numbers are means over the other runs, at %d s. The column \"error\" has the mean standard error of log Z.\n\n"+
		"| data | estimator | AIS | Bennett | reverse AIS | error | settled |\n| --- | --- | --- | --- | --- | --- | --- |\n", largeSeconds)
	for _, d := range larges {
		for _, e := range estimators {
			settled := t.Last(d.name+settledPanel, e.name)
			if len(settled) == 0 {
				continue
			}
			xs := t.Xs(d.name+settledPanel, e.name)
			text := func(panel string) string {
				r := t.At(d.name+panel, e.name, xs[len(xs)-1])
				if len(r) == 0 {
					return "none"
				}
				mean, _ := r.Average()
				return fmt.Sprintf("%.2f", mean)
			}
			fraction, _ := settled.Average()
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.0f of %d |\n", d.name, e.name, text(aisPanel), text(""), text(reversePanel), text(errorPanel), fraction*float64(len(settled)), len(settled))
		}
	}
	return b.String()
}
