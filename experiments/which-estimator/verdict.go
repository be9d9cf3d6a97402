package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/experiments/internal/figures"
)

// resolution is the number of nats below the truth at which models are no longer distinguished. The number is a choice: such a model
// gives a row 5 % less probability than the distribution of the data.
const resolution = 0.05

// scores returns the numbers of an estimator at x that are compared. They are logarithms of the nats below the truth if it is
// known, so that one very bad run of an estimator does not dominate the standard error, and otherwise nats.
func (d problem) scores(t *figures.Table, name string, x float64) figures.Repeats {
	r := t.At(d.name, name, x)
	for k, y := range r {
		if !d.unknown {
			r[k] = math.Log(max(y, resolution))
		}
	}
	return r
}

// measure returns what is measured.
func (d problem) measure() string {
	if d.unknown {
		return "−log-likelihood / nats"
	}
	return "nats below the truth"
}

// A verdict is the result for a data set at some x, in seconds.
type verdict struct {
	best   string   // best estimator
	nats   float64  // nats of the best estimator
	sure   bool     // the best is better than pcd by more than three standard errors
	others []string // estimators that are not worse than the best by three standard errors
}

// winner returns the verdict for the data set d at x.
func winner(t *figures.Table, d problem, x float64) (v verdict) {
	least := math.Inf(1)
	for _, e := range estimators {
		if mean := d.scores(t, e.name, x).Mean(); mean < least {
			least, v.best = mean, e.name
		}
	}
	v.nats = t.At(d.name, v.best, x).Mean()
	best := d.scores(t, v.best, x)
	v.sure = beats(best, d.scores(t, estimators[0].name, x))
	for _, e := range estimators {
		if its := d.scores(t, e.name, x); e.name != v.best && len(its) > 0 && !beats(best, its) {
			v.others = append(v.others, e.name)
		}
	}
	return v
}

// beats reports whether scores a are below b by more than three standard errors.
func beats(a, b figures.Repeats) bool { return figures.Smaller("", a, b).Pass }

// ends returns tables of the ends of the runs and of the estimators.
func ends(t *figures.Table, problems []problem) string {
	wins, losses, updates := map[string]int{}, map[string]int{}, map[string][]float64{}
	var rows [][]string
	var many []int
	for _, d := range problems {
		x := t.LastX(d.name)
		if x == 0 {
			continue
		}
		many = append(many, 10*d.temperatures())
		v := winner(t, d, x)
		row := []string{d.name, map[bool]string{false: "below the truth", true: "−log-likelihood"}[d.unknown]}
		base := d.scores(t, estimators[0].name, x)
		for _, e := range estimators {
			text, end := "none", t.At(d.name, e.name, x)
			if n := t.Last(d.name+updatesPanel, e.name); len(n) > 0 {
				updates[e.name] = append(updates[e.name], n.Mean())
			}
			if len(end) > 0 {
				text = figures.Spread(2)(end)
				if e.name == v.best || slices.Contains(v.others, e.name) {
					text = "**" + text + "**"
				}
			}
			row = append(row, text)
			its := d.scores(t, e.name, x)
			wins[e.name] += map[bool]int{true: 1}[beats(its, base)]
			losses[e.name] += map[bool]int{true: 1}[beats(base, its)]
		}
		rows = append(rows, row)
	}
	text := figures.Grid(append([]string{"data", "nats"}, names(estimators)...), rows)
	rows = nil
	for _, e := range estimators {
		settings, steps, better, worse := "`"+e.settings+"`", fmt.Sprintf("%.0f", slices.Min(updates[e.name])), "–", "–"
		if e.name != estimators[0].name {
			better, worse = fmt.Sprintf("%d of %d data sets", wins[e.name], len(many)), fmt.Sprint(losses[e.name])
		}
		if e.name == manyPCD {
			settings = strings.Replace(settings, "%d", fmt.Sprint(many[0]), 1)
			if most := slices.Max(many); most > many[0] {
				settings += fmt.Sprintf(" … %d", most)
			}
		}
		if len(updates[e.name]) > 1 {
			steps += fmt.Sprintf(" … %.0f", slices.Max(updates[e.name]))
		}
		rows = append(rows, []string{e.name, settings, steps, better, worse})
	}
	return text + "\n" + figures.Grid([]string{"estimator", "settings", "updates in a run", "better than pcd on", "worse on"}, rows)
}
