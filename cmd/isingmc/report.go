package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
	"gorbm/train/report"
)

// writeOut writes the file of -out: a picture, or a report if it ends in .html.
func (p *plan) writeOut(picture func() *plots.Page, page func() (report.Report, error)) error {
	if strings.ToLower(filepath.Ext(p.out)) != ".html" {
		return cli.WritePicture(p.out, picture())
	}
	html, err := page()
	if err != nil {
		return err
	}
	return atomicfile.Write(p.out, func(w io.Writer) error { return report.Write(w, html) })
}

// report returns the report of a run.
func (p *plan) report(rows []row) (report.Report, error) {
	warnings := p.warnings(rows)
	page := report.Report{
		Title: "isingmc: " + p.model, Lead: strings.ReplaceAll(p.describe(), "\n", "; "),
		Words: slices.Concat(p.tuning.lines(), lengthLines(rows), p.conclusions(rows), advice(rows)), Warnings: warnings,
		Section: report.Section{Charts: append([]plots.Chart{decayChart(rows)}, energyStrips(rows)...)},
	}
	for i := range page.Charts[1:] { // in a picture only the last strip has the axis label
		page.Charts[1+i].X = page.Charts[len(page.Charts)-1].X
	}
	if t := p.tuning; t != nil && t.result != nil {
		page.Charts = append(page.Charts, rewardChart(t))
		var b bytes.Buffer
		if err := plots.Grid([][]*plots.Plot{{policyPlot(t)}}, 18*vg.Centimeter, 9*vg.Centimeter).Write(&b, plots.PNG); err != nil {
			return page, err
		}
		page.Pictures = []report.Picture{{Title: "The policy", PNG: b.Bytes(),
			Alt: fmt.Sprintf("a column of dots for each setting that was tuned, one for each of %d kernels of the policy, and the best by the model", len(t.result.Points))}}
	}
	page.Tables = []report.Table{report.TableOf("Samplers", cli.Table(records(rows)))}
	if table := observablesTable(rows); table != nil {
		page.Tables = append(page.Tables, report.TableOf("Observables", table))
	}
	page.Tables = append(page.Tables, p.settingsTable())
	return page, nil
}

// advice returns lines on what to try next.
func advice(rows []row) (lines []string) {
	var trusted []string
	for _, r := range rows {
		tau := r.secondsOf(r.Time.Tau)
		switch {
		case r.Trusted():
			trusted = append(trusted, fmt.Sprintf("%s is worth %.0f independent energies", r.name, r.Effective))
		case tau > 0 && tau*2*diag.LeastEffective > r.seconds:
			lines = append(lines, fmt.Sprintf("%s: errors that can be trusted need a run of some %s s, by the estimate of τ so far, or another sampler.",
				r.name, cli.Number(2*tau*diag.LeastEffective)))
		default:
			lines = append(lines, fmt.Sprintf("%s: its errors cannot be trusted; run longer, or try another sampler.", r.name))
		}
	}
	if trusted != nil {
		lines = append(lines, fmt.Sprintf("The run of %s. Four times as long a run halves the errors.", strings.Join(trusted, ", that of ")))
	}
	return lines
}

// settingsTable lists the system and the settings.
func (p *plan) settingsTable() report.Table {
	var t cli.Record
	t.Say("system", fmt.Sprintf("%s: %s, %s", p.model, cli.Count(p.units, "unit"), cli.Count(p.pairs, "bond")))
	t = append(t, p.flags.Settings()...)
	if p.scan == nil { // otherwise -scan has the temperatures
		t.Say("inverse temperature", strconv.FormatFloat(p.beta, 'g', 6, 64))
	}
	t.Say("seed", strconv.FormatUint(p.seed, 10))
	t.Say("version", fmt.Sprintf("%s, kernels %s; report of %s", cli.Version(), rbm.KernelLevel(), time.Now().Format("2006-01-02 15:04:05")))
	return report.TableOf("Settings", t.Lines())
}
