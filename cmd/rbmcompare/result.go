package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/finitejson"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

// A result is the comparison on one model.
type result struct {
	*subject
	truth  *compare.Truth
	curves []compare.Curve
}

// completed returns the number of repeats that all estimators of the last
// model completed.
func completed(results []result) int {
	if len(results) == 0 {
		return 0
	}
	least := math.MaxInt
	for _, c := range results[len(results)-1].curves {
		least = min(least, c.Repeats)
	}
	return least
}

// json returns the object of -json and compare.json for one model.
func (p *plan) json(r result) (out cli.Record) {
	out.Add("model", r.Path)
	out.AddSome("step", r.Step)
	if p.set != nil {
		out.Add("data", p.set.Name)
	}
	out.Add("exact", r.truth.Exact)
	if !r.truth.Exact {
		var reference cli.Record
		reference.Add("negphase", r.reference.String())
		reference.Add("std_err", r.truth.StdErr)
		reference.Add("swap_rates", r.truth.Info.SwapRates())
		out.Add("reference", reference)
	}
	out.Add("norm", r.truth.Norm())
	out.Add("gradient_norm", cli.Known(r.truth.GradientNorm()))
	out.Add("seed", p.seed)
	out.Add("workers", p.processors())
	out.Add("kernels", rbm.KernelLevel())
	out.Add("estimators", p.records(r))
	return out
}

// records returns the results of the estimators at the last point. With one repeat, numbers that need
// several are null in JSON.
func (p *plan) records(r result) (all []cli.Record) {
	for i, c := range r.curves {
		if c.Repeats == 0 {
			continue
		}
		last := c.Last()
		bias := cli.Number(c.Bias.Norm)
		if !math.IsNaN(c.Bias.Floor) {
			bias += " (noise " + cli.Number(c.Bias.Floor) + ")"
		}
		var e cli.Record
		e.Show("name", "negphase", p.names[i], p.names[i])
		e.Add("negphase", c.Estimator.String())
		e.Add("repeats", c.Repeats)
		e.Add("updates", last.Updates)
		e.Show("steps", "steps", last.Steps, fmt.Sprintf("%.6g", last.Steps))
		e.Show("gibbs_steps", "Gibbs steps", last.GibbsSteps, fmt.Sprintf("%.6g", last.GibbsSteps))
		e.Add("seconds", last.Seconds)
		e.Add("seconds_per_step", cli.Known(c.SecondsPerStep()))
		e.Show("distance_mean", "distance", last.Distance.Mean, plusMinus(last.Distance))
		e.Add("distance_sd", cli.Known(last.Distance.SD))
		e.Show("bias_norm", "bias", c.Bias.Norm, bias)
		e.Add("bias_floor", cli.Known(c.Bias.Floor))
		e.Add("bias", cli.Known(c.Bias.Corrected()))
		e.Show("variance", "noise", cli.Known(c.Variance), cli.Number(math.Sqrt(c.Variance)))
		e.Show("cosine_mean", "cosine", cli.Known(c.Cosine.Mean), fmt.Sprintf("%.6f", c.Cosine.Mean))
		e.Add("cosine_sd", cli.Known(c.Cosine.SD))
		e.Add("swap_rates", c.Info.SwapRates())
		e.AddFigures(c.Estimator.Figures(c.Info, c.Repeats*last.Updates))
		e.Say("µs/step", cli.Number(1e6*c.SecondsPerStep()))
		e.Say("seconds", cli.Number(last.Seconds))
		all = append(all, e)
	}
	return all
}

// processors returns the number of processors that estimators use.
func (p *plan) processors() int {
	if p.workers > 0 {
		return min(p.workers, runtime.GOMAXPROCS(0))
	}
	return runtime.GOMAXPROCS(0)
}

// report prints the results and writes the files.
func (p *plan) report(results []result) error {
	objects := make([]cli.Record, len(results))
	for i, r := range results {
		objects[i] = p.json(r)
	}
	var object any = objects[0]
	if p.options.run != "" {
		object = map[string]any{"run": p.options.run, "models": objects}
	}
	if p.out != "" {
		if err := p.write(results, object); err != nil {
			return err
		}
	}
	err := p.flags.Print(object, func(w io.Writer) error {
		for _, r := range results {
			p.describe(r, w)
		}
		for _, note := range p.ladderNotes() {
			fmt.Fprintln(w, note)
		}
		if p.out != "" {
			fmt.Fprintf(w, "results in %s\n", p.out)
		}
		return nil
	})
	p.flags.Warn(p.warnings(results)...)
	return err
}

// describe prints the results on one model.
func (p *plan) describe(r result, w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.Path, cli.Units(r.Model))
	how := "exact"
	if !r.truth.Exact {
		how = fmt.Sprintf("by %s, ± %.3g in all", short(r.reference), r.truth.StdErr)
	}
	fmt.Fprintf(w, "negative phase %s, length %.4g", how, r.truth.Norm())
	if p.set != nil {
		name := p.set.Name
		if weights := p.set.DescribeWeights(); weights != "" {
			name += " (" + weights + ")"
		}
		fmt.Fprintf(w, "; gradient of %s, length %.4g", name, r.truth.GradientNorm())
	}
	fmt.Fprintf(w, "\n%s, seconds of %s (%s)\n", cli.Count(r.curves[0].Repeats, "repeat"), cli.Count(p.processors(), "processor"), rbm.KernelLevel())
	cli.PrintTable(w, cli.Table(p.records(r)), false)
}

// ladderNotes returns lines on the default temperatures of estimators, where those of rbmtrain
// differ.
func (p *plan) ladderNotes() (notes []string) {
	for i, s := range p.estimators {
		if tau := train.DefaultSettings(s.Kind).Negative.Get("tau"); tau != "" && tau != s.Get("tau") && !strings.Contains(p.names[i], ":tau=") {
			notes = append(notes, fmt.Sprintf("%s has the default ladder tau=%s; rbmtrain has %s:tau=%s", p.names[i], s.Get("tau"), p.names[i], tau))
		}
	}
	return notes
}

// shortList is the largest number of temperatures that the function short writes one by one.
const shortList = 8

// short returns s as in -negphase. It replaces a long list of temperatures by their
// number.
func short(s negphase.Settings) string {
	text := s.String()
	if t, at := s.Ladder().Temperatures.List, strings.Index(text, ":tau="); at >= 0 && len(t) > shortList {
		text = fmt.Sprintf("%s at %d temperatures up to %g", text[:at], len(t), t[len(t)-1])
	}
	return text
}

func plusMinus(m compare.Moment) string {
	if math.IsNaN(m.SD) {
		return cli.Number(m.Mean)
	}
	return cli.Number(m.Mean) + " ± " + cli.Number(m.SD)
}

// warnings returns the warnings about the results on all models.
func (p *plan) warnings(results []result) (warnings []string) {
	// A tuned ladder differs between models: the worst is reported.
	ladder := func(what string, s negphase.Settings, info func(r result) negphase.Info) {
		var worst *diag.Warning
		for _, r := range results {
			if w := s.Exchange(info(r)); w != nil && (worst == nil || w.Numbers["rate"] < worst.Numbers["rate"]) {
				worst = w
			}
		}
		if worst != nil {
			worst.Of, worst.Help = []string{what}, []diag.Remedy{negphase.CloserTemperatures}
			warnings = append(warnings, cli.Sentence(*worst))
		}
	}
	if p.reference != nil {
		ladder("the reference run", *p.reference, func(r result) negphase.Info { return r.truth.Info })
	}
	for i := range p.estimators {
		var info negphase.Info // counts over all models, without the counts of pairs of temperatures
		drowned, updates := 0, 0
		for _, r := range results {
			c := &r.curves[i]
			counts := c.Info
			counts.SwapTries, counts.Swaps = nil, nil
			info.Add(counts)
			updates += c.Repeats * c.Last().Updates
			if c.Repeats > 0 && c.Last().Distance.Mean < 2*r.truth.StdErr {
				drowned++
			}
		}
		if drowned > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: its distance is less than twice the error of the reference (%s), and may be only that error; increase -reference-steps",
				p.names[i], cli.Count(drowned, "model")))
		}
		ladder(p.names[i], p.estimators[i], func(r result) negphase.Info { return r.curves[i].Info })
		for _, w := range p.estimators[i].Warnings(info, info, updates) {
			w.Of = []string{p.names[i]}
			warnings = append(warnings, cli.Sentence(w))
		}
	}
	return append(warnings, p.samplerWarnings...)
}

// write makes the folder of -out and writes its files.
func (p *plan) write(results []result, object any) error {
	if err := os.Mkdir(p.out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	file := func(name string, write func(w io.Writer) error) error {
		return atomicfile.Write(filepath.Join(p.out, name), write)
	}
	if err := file("compare.json", finitejson.Writer(object, "  ")); err != nil {
		return err
	}
	if err := file("curves.csv", cli.WriteCSV(p.table(results))); err != nil {
		return err
	}
	for _, r := range results {
		name := "curves"
		if p.options.run != "" {
			name = fmt.Sprintf("curves-%07d", r.Step)
		}
		if err := p.draw(name, p.charts(r)); err != nil {
			return err
		}
	}
	if len(results) > 1 {
		if err := p.draw("run", p.alongRun(results)); err != nil {
			return err
		}
	}
	return file(rundir.ReportFile, func(w io.Writer) error { return report.Write(w, p.page(results)) })
}

// draw writes a picture of charts, unless they are empty.
func (p *plan) draw(name string, charts []plots.Chart) error {
	page := picture(charts)
	if page == nil {
		return nil
	}
	return cli.WritePictures(p.out, name, p.pictures, page)
}

// table returns all points of all curves as the lines of a CSV file. With one repeat
// standard deviations are empty.
func (p *plan) table(results []result) [][]string {
	lines := [][]string{{"model", "negphase", "repeats", "updates", "steps", "gibbs_steps", "seconds", "distance_mean", "distance_sd"}}
	for _, r := range results {
		for i, c := range r.curves {
			if c.Repeats == 0 {
				continue
			}
			for _, pt := range c.Points {
				line := []string{r.Path, p.names[i], strconv.Itoa(c.Repeats), strconv.Itoa(pt.Updates)}
				for _, x := range []float64{pt.Steps, pt.GibbsSteps, pt.Seconds, pt.Distance.Mean, pt.Distance.SD} {
					line = append(line, cli.Field(x, 10))
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}
