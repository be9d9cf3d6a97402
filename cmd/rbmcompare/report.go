package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/train/report"
)

// page returns the report of the comparison: text and curves for the last model, and
// curves along the run if there are several models.
func (p *plan) page(results []result) report.Report {
	last := results[len(results)-1]
	what := last.Path
	if p.options.run != "" {
		what = p.options.run
	}
	page := report.Report{
		Title: "rbmcompare: " + what, Lead: fmt.Sprintf("%s; %s", cli.Units(last.Model), p.truthInWords(last)),
		Words: append(p.words(last), p.ladderNotes()...), Warnings: p.warnings(results), Section: report.Section{Charts: p.charts(last)},
	}
	if len(results) > 1 {
		page.Words = append([]string{fmt.Sprintf("The estimators were compared on %s, of steps %d to %d. The text below is about the last.",
			cli.Count(len(results), "snapshot"), results[0].Step, last.Step)}, page.Words...)
		page.Charts = append(p.alongRun(results), page.Charts...)
	}
	for i := len(results) - 1; i >= 0; i-- {
		page.Tables = append(page.Tables, report.TableOf(results[i].Path, cli.Table(p.records(results[i]))))
	}
	page.Tables = append(page.Tables, p.settingsTable())
	return page
}

// truthInWords describes the negative phase that the estimators are compared with.
func (p *plan) truthInWords(r result) string {
	if r.truth.Exact {
		return "the truth is exact, by enumeration"
	}
	return fmt.Sprintf("the truth is a reference run by %s, with an error of %.3g", short(r.reference), r.truth.StdErr)
}

// words returns sentences on the results for a model, and advice.
func (p *plan) words(r result) (lines []string) {
	nearest, quickest := -1, -1
	var fair []string // estimators without significant bias
	distance := func(i int) float64 { return r.curves[i].Last().Distance.Mean }
	seconds := math.Inf(1) // computing time of the quickest estimator
	for i, c := range r.curves {
		if c.Repeats > 0 && !c.Estimator.Traits().Moments {
			seconds = min(seconds, c.Last().Seconds)
			if nearest < 0 || distance(i) < distance(nearest) {
				nearest = i
			}
		}
	}
	if nearest < 0 {
		return nil
	}
	at := func(i int) compare.Point { // last point of estimator i within the time seconds
		points := r.curves[i].Points
		best := points[0]
		for _, pt := range points {
			if pt.Seconds <= seconds {
				best = pt
			}
		}
		return best
	}
	for i, c := range r.curves {
		if c.Repeats > 0 && !c.Estimator.Traits().Moments && (quickest < 0 || at(i).Distance.Mean < at(quickest).Distance.Mean) {
			quickest = i
		}
	}
	lines = append(lines, fmt.Sprintf("At the last step %s is nearest to the truth, with a distance of %s. A negative phase of zeros would be %.3g away.",
		p.names[nearest], plusMinus(r.curves[nearest].Last().Distance), r.truth.Norm()))
	if len(p.names) > 1 && seconds > 0 {
		lines = append(lines, fmt.Sprintf("Within %s s, the computing time of the quickest estimator, it is %s: %s away.",
			cli.Number(seconds), p.names[quickest], plusMinus(at(quickest).Distance)))
	}
	for i, c := range r.curves {
		if c.Repeats < 2 || c.Estimator.Traits().Moments || math.IsNaN(c.Bias.Floor) {
			continue
		}
		// The norm of pure noise varies by some tenths of the floor, so twice the floor is significant.
		if c.Bias.Norm > 2*c.Bias.Floor {
			lines = append(lines, fmt.Sprintf("%s is biased: its mean over the repeats is %s away, and noise explains only %s. More repeats do not help; try %s.",
				p.names[i], cli.Number(c.Bias.Norm), cli.Number(c.Bias.Floor), biasRemedy(c.Estimator)))
		} else {
			fair = append(fair, p.names[i])
		}
	}
	if fair != nil {
		lines = append(lines, fmt.Sprintf("The repeats show no bias of %s beyond the noise: more chains or steps reduce the distance.", strings.Join(fair, ", ")))
	}
	return lines
}

// biasRemedy returns advice on how to lower the bias of an estimator. More steps do not lower it if chains
// restart at each update, as in cd.
func biasRemedy(s negphase.Settings) string {
	switch {
	case negphase.Has(s.Kind, "tau"):
		return "more steps, more temperatures or another estimator"
	case !s.Persists() && negphase.Has(s.Kind, "k"):
		return "a larger k, or chains that persist, such as pcd; more steps do not help either"
	}
	return "more steps, or a ladder of temperatures, such as ins"
}

// settingsTable lists the settings of the comparison.
func (p *plan) settingsTable() report.Table {
	t := p.flags.Settings()
	if p.set != nil {
		t.Say("data", p.set.Name)
	}
	t.Say("seed", strconv.FormatUint(p.seed, 10))
	t.Say("machine", fmt.Sprintf("%s, kernels %s, %s", cli.Count(p.processors(), "processor"), rbm.KernelLevel(), cli.Version()))
	t.Say("time", "report of "+time.Now().Format("2006-01-02 15:04:05"))
	return report.TableOf("Settings", t.Lines())
}
