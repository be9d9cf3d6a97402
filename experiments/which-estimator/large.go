package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
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
	name: fmt.Sprintf("MNIST, %d units", largeUnits), hidden: largeUnits, load: builtIn("mnist"), unknown: true, file: true, ladder: 43,
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

// brackets returns the table of the brackets at the ends of the runs: means over the runs whose ladder settled.
func brackets(t *figures.Table) string {
	var lines []figures.Line
	for _, d := range larges {
		for _, e := range estimators {
			lines = append(lines, figures.Line{Words: []string{d.name, e.name}, Prefix: d.name, Curve: e.name, X: t.LastX(d.name + settledPanel)})
		}
	}
	return t.Markdown([]string{"data", "estimator"}, lines, []figures.Column{
		{Title: "AIS", Panel: aisPanel, Write: figures.Mean(2)}, {Title: "Bennett", Write: figures.Mean(2)}, {Title: "reverse AIS", Panel: reversePanel, Write: figures.Mean(2)},
		{Title: "error", Panel: errorPanel, Write: figures.Mean(2)},
		{Title: "settled", Panel: settledPanel, Write: func(r figures.Repeats) string { return fmt.Sprintf("%s of %d", figures.Sum(r), len(r)) }},
	})
}

// A test has the rows on which models are measured.
type test struct {
	problem
	set    *data.Set
	values rbm.Values
	free   []float64 // free energies of the rows
	truth  float64   // mean log p of the rows under the distribution of the data; 0 if it is unknown
}

// likelihoodRows is the largest number of rows of a mean log-likelihood.
const likelihoodRows = 1000

// test returns at most likelihoodRows rows of the data, evenly spaced, because the rows may be sorted.
func (d problem) test(set *data.Set) *test {
	rows := data.EvenRows(likelihoodRows, set.Len())
	x := &test{problem: d, set: set, free: make([]float64, len(rows))}
	for _, r := range rows {
		if set.LogProb != nil {
			x.truth += set.LogProb(set.X.Row(int(r)), -1) / float64(len(rows))
		}
	}
	x.values = set.Rows(rows, 0)
	return x
}

// measure adds the nats of m below the truth, or its −log-likelihood.
func (x *test) measure(ctx context.Context, m *rbm.RBM, seed uint64, add func(panel string, y float64)) error {
	m.FreeEnergy(x.free, x.values)
	energy := train.Mean(x.free)
	if x.brackets == nil {
		logZ, err := exact.LogZ(ctx, m)
		add(x.name, x.truth+energy+logZ)
		return err
	}
	return x.bracket(ctx, m, seed, energy, add)
}
