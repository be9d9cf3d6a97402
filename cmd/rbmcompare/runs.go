package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/finitejson"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

// A runSummary holds the settings and results of an rbmtrain run.
type runSummary struct {
	Path     string            `json:"path"`
	Settings map[string]string `json:"settings"` // all settings by name
	Metrics  map[string]metric `json:"metrics"`  // by column of metrics.csv
	Final    json.RawMessage   `json:"final,omitempty"`
	Steps    int               `json:"steps"`   // step of the last measurement
	Seconds  float64           `json:"seconds"` // time of training up to that step
	Finished bool              `json:"finished"`
	Diverged bool              `json:"diverged,omitempty"`

	final   map[string]bool // metrics whose last value is from result.json
	columns []string
	rows    [][]float64
}

// A metric holds the last and the best value of a column. The last value of a finished run is over all rows.
// Values along the run are over a sample if there are many rows. Best is omitted if neither larger nor smaller
// values are better.
type metric struct {
	Last     *float64 `json:"last"` // null if it is not finite
	Best     *float64 `json:"best,omitempty"`
	BestStep int      `json:"best_step,omitempty"`
}

// compareRuns carries out -runs: it prints a table of finished and unfinished runs.
func (o *options) compareRuns() error {
	if err := o.flags.CheckNew(); err != nil {
		return err
	}
	all, err := o.findRuns()
	if err != nil {
		return err
	}
	by, err := o.sortRuns(all)
	if err != nil {
		return err
	}
	differ := differing(all)
	object := map[string]any{"sorted_by": by, "differing": differ, "runs": all}
	runs := runRecords(all, by, differ)
	lines, chart := runs, runsChart(all, by, differ)
	if o.over != "" {
		groups, others, err := groupRuns(all, o.over, by, differ)
		if err != nil {
			return err
		}
		object["over"], object["means"] = o.over, groups
		if n := len(all) - grouped(groups); n > 0 {
			o.flags.Warn(fmt.Sprintf("-over: %s not finished, and left out of the means", cli.Count(n, "run")))
		}
		lines, chart = groupRecords(groups, by, others), groupsChart(groups, all, o.over, by, others)
	}
	if o.out != "" {
		if err := o.writeRuns(all, by, differ, runs, lines, chart, object); err != nil {
			return err
		}
	}
	return o.flags.Print(object, func(w io.Writer) error {
		cli.PrintTable(w, cli.Table(lines), false)
		if note := bestNote(all, by); note != "" && o.over == "" {
			fmt.Fprintln(w, note)
		}
		if o.out != "" {
			fmt.Fprintf(w, "results in %s\n", o.out)
		}
		return nil
	})
}

// findRuns reads the runs in the folders that match -runs. If no folder matches the whole value as a pattern,
// the value is a list of patterns separated by commas.
func (o *options) findRuns() (all []*runSummary, err error) {
	patterns := []string{o.runs}
	if whole, err := filepath.Glob(o.runs); err == nil && len(whole) == 0 {
		patterns = strings.Split(o.runs, ",")
	}
	read := map[string]bool{} // folders that were read, as several patterns may match the same folder
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, cli.Usagef("-runs %q: %w", pattern, err)
		}
		found := false
		for _, path := range paths {
			path = filepath.Clean(path)
			if read[path] {
				found = true
				continue
			}
			r, err := readRun(path)
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				continue // not a run, or a run without measurements
			}
			if err != nil {
				return nil, fmt.Errorf("-runs: %w", err)
			}
			found, read[path] = true, true
			all = append(all, r)
		}
		if !found {
			return nil, fmt.Errorf("-runs: no folder of a run matches %q; name folders that rbmtrain made, as in -runs 'runs/*' or -runs 'runs/a*,runs/b'", pattern)
		}
	}
	return all, nil
}

const maxFile = 1 << 26

// readRun reads the run in a folder.
func readRun(dir string) (*runSummary, error) {
	var c struct {
		Data     map[string]any
		Model    map[string]any
		Training map[string]any
		Steps    int
	}
	err := rundir.ReadConfig(dir, &c)
	if err != nil {
		return nil, err
	}
	r := &runSummary{Path: dir, Settings: map[string]string{"steps": strconv.Itoa(c.Steps)}, Metrics: map[string]metric{}, final: map[string]bool{}}
	delete(c.Training, "horizon") // equal to the steps
	r.set(c.Training)
	for _, name := range []string{"hidden", "labels", "init", "constraint"} {
		r.set(map[string]any{name: c.Model[name]})
	}
	r.Settings["hidden_units"] = "bernoulli" // the default, which the file omits
	r.set(map[string]any{"hidden_units": c.Model["hidden_units"]})
	r.set(map[string]any{"data": c.Data["name"], "binarize": c.Data["binarize"], "rows": c.Data["rows"]})
	if r.columns, r.rows, err = rundir.ReadTable(filepath.Join(dir, rundir.MetricsFile)); err != nil {
		return nil, err
	}
	r.measure()
	var result struct {
		Metrics json.RawMessage
		Best    map[string]train.BestValue // includes measurements between the rows of metrics.csv
		Seconds *float64
	}
	text, err := atomicfile.Read(filepath.Join(dir, rundir.ResultFile), maxFile)
	if errors.Is(err, os.ErrNotExist) {
		_, err := os.Stat(filepath.Join(dir, rundir.DivergedFile))
		r.Diverged = err == nil
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, rundir.ResultFile), err)
	}
	r.Finished, r.Final = true, result.Metrics
	var final map[string]*float64
	if err := json.Unmarshal(result.Metrics, &final); len(result.Metrics) > 0 && err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, rundir.ResultFile), err)
	}
	for name, x := range final {
		if m, ok := r.Metrics[name]; ok && x != nil {
			m.Last = x
			r.Metrics[name] = m
			r.final[name] = true
		}
	}
	for name, x := range result.Best {
		column, _ := train.ColumnOf(name)
		if m := r.Metrics[name]; m.Best != nil && better(column, x.Value, *m.Best) {
			m.Best, m.BestStep = &x.Value, x.Step
			r.Metrics[name] = m
		}
	}
	if result.Seconds != nil {
		r.Seconds = *result.Seconds
	}
	return r, nil
}

// set adds settings. It flattens nested settings, whose names differ from all others.
func (r *runSummary) set(settings map[string]any) {
	for name, value := range settings {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			r.Settings[name] = fmt.Sprint(v["kind"])
			delete(v, "kind")
			r.set(v)
		case string:
			r.Settings[name] = v
		default:
			text, _ := finitejson.Marshal(v) // cannot fail, because v was read from JSON
			r.Settings[name] = string(text)
		}
	}
}

// measure sets the metrics from the rows of metrics.csv.
func (r *runSummary) measure() {
	if len(r.rows) == 0 {
		return
	}
	last := r.rows[len(r.rows)-1]
	for i, name := range r.columns {
		switch name {
		case "step":
			r.Steps = int(last[i])
			continue
		case "seconds":
			r.Seconds = last[i]
			continue
		}
		var m metric
		if x := last[i]; cli.Finite(x) {
			m.Last = &x
		}
		column, ok := train.ColumnOf(name)
		for _, row := range r.rows {
			if x := row[i]; ok && column.First && cli.Finite(x) && (m.Best == nil || better(column, x, *m.Best)) {
				m.Best, m.BestStep = &x, int(row[0])
			}
		}
		r.Metrics[name] = m
	}
}

// inWords writes a value of the column name of metrics.csv as in the report of a run: classification errors are in
// per cent.
func inWords(name string, x float64) string {
	if c, ok := train.ColumnOf(name); ok && c.Format != "" && c.Scale != 0 {
		return c.Text(x)
	}
	return fmt.Sprintf("%.5g", x)
}

// better reports whether a is a better value than b.
func better(c train.Column, a, b float64) bool { return a != b && (a < b) == c.Smaller }

// sortRuns sorts the runs by the column of -sort, by default firstMetric, the best first. It returns the name
// of the column, or "" if no run has such a metric. In that case the runs are in the order of their paths.
func (o *options) sortRuns(all []*runSummary) (by string, err error) {
	known := map[string]bool{}
	for _, r := range all {
		for name := range r.Metrics {
			known[name] = true
		}
	}
	by = o.sort
	if by == "" {
		by = firstMetric(slices.Sorted(maps.Keys(known)))
	}
	slices.SortStableFunc(all, func(a, b *runSummary) int { return strings.Compare(a.Path, b.Path) })
	switch by {
	case "", "path":
		return by, nil
	case "seconds":
		slices.SortStableFunc(all, func(a, b *runSummary) int { return cmp.Compare(a.Seconds, b.Seconds) })
		return by, nil
	}
	if !known[by] {
		return "", cli.Usagef("-sort is %q; it must be path, seconds or a metric of the runs: %s", by, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	bestFirst(all, by, func(r *runSummary) *float64 { return r.Metrics[by].Last })
	return by, nil
}

// bestFirst sorts runs or groups by a column of metrics.csv, the best first and those without a value last.
func bestFirst[T any](all []T, by string, value func(x T) *float64) {
	column, _ := train.ColumnOf(by)
	slices.SortStableFunc(all, func(a, b T) int {
		x, y := value(a), value(b)
		switch {
		case x == nil || y == nil:
			return cmp.Compare(count(x == nil), count(y == nil))
		case better(column, *x, *y):
			return -1
		}
		return count(*x != *y)
	})
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// firstMetric returns the name of the default metric for comparing runs, or "" if there is none. It prefers test
// rows, then held-out rows, then training rows. The classification error ranks before the pseudo-likelihood,
// which favours models trained by contrastive divergence.
func firstMetric(names []string) (best string) {
	rank := math.MaxInt
	for i, part := range []string{"_test", "_holdout", "_train"} {
		for _, name := range names {
			c, ok := train.ColumnOf(name)
			at := 100*i + 2*c.Rank
			if c.Name == "error" {
				at = 100*i + 3 // between rank 1, the log-likelihood, and rank 2
			}
			if ok && c.First && strings.HasSuffix(name, part) && at < rank {
				best, rank = name, at
			}
		}
	}
	return best
}

// differing returns the names of the settings in which the runs differ.
func differing(all []*runSummary) []string {
	differ := map[string]bool{}
	for _, r := range all {
		for _, other := range []*runSummary{all[0], r} {
			for name := range other.Settings {
				if r.Settings[name] != all[0].Settings[name] {
					differ[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(differ))
}

// settingColumn returns the name of a setting's column in a table with columns for metrics and others:
// the name of the setting, preceded by "setting_" if another column has that name.
func settingColumn(name string, metrics map[string]bool, others ...string) string {
	if _, taken := metrics[name]; taken || slices.Contains(others, name) {
		return "setting_" + name
	}
	return name
}

// none is the text for a setting that a run does not have, or for an unknown value.
const none = "–"

// runRecords returns a record for each run, with the settings that differ and all metrics. Text has only the
// metric by which the runs are sorted.
func runRecords(all []*runSummary, by string, differ []string) (records []cli.Record) {
	known := map[string]bool{} // from a metric to whether it has a best value
	for _, r := range all {
		for name, m := range r.Metrics {
			known[name] = known[name] || m.Best != nil
		}
	}
	value := func(x *float64) string {
		if x == nil {
			return none
		}
		return inWords(by, *x)
	}
	for _, r := range all {
		var rec cli.Record
		rec.Show("run", "run", r.Path, r.Path)
		for _, name := range differ {
			column := settingColumn(name, known, "run", "steps", "seconds", "finished")
			rec.Show(column, column, r.Settings[name], cmp.Or(r.Settings[name], none))
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			m, step := r.Metrics[name], any(nil)
			if m.Best != nil {
				step = m.BestStep
			}
			if name != by {
				rec.Add(name, m.Last)
			} else {
				rec.Show(name, by, m.Last, value(m.Last))
				rec.Say("best along the run", value(m.Best))
				if m.Best == nil {
					rec.Say("at step", none)
				} else {
					rec.Say("at step", strconv.Itoa(m.BestStep))
				}
			}
			if known[name] {
				rec.Add(name+"_best", m.Best)
				rec.Add(name+"_best_step", step)
			}
		}
		rec.Show("steps", "steps done", r.Steps, strconv.Itoa(r.Steps))
		rec.Show("seconds", "seconds", r.Seconds, fmt.Sprintf("%.3g", r.Seconds))
		rec.Add("finished", r.Finished)
		switch {
		case r.Diverged:
			rec.Say("", "diverged")
		case !r.Finished:
			rec.Say("", "not finished")
		default:
			rec.Say("", "")
		}
		records = append(records, rec)
	}
	return records
}

// bestNote returns a note on the rows over which the last and the best value of a metric were measured, or ""
// if both values are over the same rows.
func bestNote(all []*runSummary, by string) string {
	if !slices.ContainsFunc(all, func(r *runSummary) bool { return r.final[by] && r.Metrics[by].Best != nil }) {
		return ""
	}
	return by + " of a finished run is its final value, over all rows or a large sample; the best along the run is from metrics.csv, over a smaller sample if there are many rows, or from a measurement between its steps"
}

// writeRuns writes the file of -out, or makes the folder of -out and writes its files. lines are the records
// of the table, and chart is its picture. Both show the runs or, with -over, the means over runs.
func (o *options) writeRuns(all []*runSummary, by string, differ []string, runs, lines []cli.Record, chart plots.Chart, object any) error {
	writeJSON := finitejson.Writer(object, "  ")
	table := func(records []cli.Record) func(w io.Writer) error { return cli.WriteCSV(cli.Columns(records, 10)) }
	measured := by != "" && by != "path" && by != "seconds"
	page := plots.Charts([]plots.Chart{chart}, 1, 18*vg.Centimeter, 10*vg.Centimeter) // nil: nothing to draw
	switch ext := strings.ToLower(filepath.Ext(o.out)); {
	case ext == ".csv":
		return atomicfile.Write(o.out, table(lines))
	case ext == ".json":
		return atomicfile.Write(o.out, writeJSON)
	case slices.Contains(cli.Pictures, ext) && !measured:
		return cli.Usagef("-out %s would show a metric along the runs; name the metric by -sort", o.out)
	case slices.Contains(cli.Pictures, ext) && page == nil:
		return nil
	case slices.Contains(cli.Pictures, ext):
		return cli.WritePicture(o.out, page)
	}
	if err := os.Mkdir(o.out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	file := func(name string, write func(w io.Writer) error) error {
		return atomicfile.Write(filepath.Join(o.out, name), write)
	}
	err := cmp.Or(file("runs.json", writeJSON), file("runs.csv", table(runs)))
	if err == nil && o.over != "" {
		err = file("means.csv", table(lines))
	}
	if err != nil || !measured {
		return err
	}
	if page != nil {
		if err := cli.WritePictures(o.out, "runs", o.pictures, page); err != nil {
			return err
		}
	}
	words := []string{fmt.Sprintf("%s is the best of %s by %s. Runs that differ only in the seed show how large chance differences are.",
		all[0].Path, cli.Count(len(all), "run"), metricWords(by))}
	if note := bestNote(all, by); note != "" {
		words = append(words, note+".")
	}
	html := report.Report{Title: "rbmcompare: runs", Lead: "settings that differ: " + cmp.Or(strings.Join(differ, ", "), "none"), Words: words, Section: report.Section{Charts: []plots.Chart{chart}}}
	if o.over != "" {
		html.Tables = append(html.Tables, report.TableOf("Means ± standard deviations over "+o.over, cli.Table(lines)))
	}
	html.Tables = append(html.Tables, report.TableOf("Runs", cli.Table(runs)))
	return file(rundir.ReportFile, func(w io.Writer) error { return report.Write(w, html) })
}

const (
	drawnRuns     = 12 // largest number of curves in a picture
	namedSettings = 3  // largest number of settings in the name of a curve
)

// metricWords returns the name of a column of metrics.csv in words.
func metricWords(by string) string {
	column, ok := train.ColumnOf(by)
	if !ok || column.Label == "" {
		return strings.ReplaceAll(by, "_", " ")
	}
	for ending, rows := range map[string]string{"_test": "test rows", "_holdout": "held-out rows", "_train": "training rows"} {
		if strings.HasSuffix(by, ending) {
			return column.Label + ", " + rows
		}
	}
	return column.Label
}

// metricChart returns an empty chart of a metric along runs, and the factor from its values to the chart's.
func metricChart(by string) (c plots.Chart, scale float64) {
	c, scale = plots.Chart{X: "step", Y: metricWords(by)}, 1
	if column, ok := train.ColumnOf(by); ok {
		scale = cmp.Or(column.Scale, 1)
		if _, unit, found := strings.Cut(column.Axis, " / "); found {
			c.Y += " (" + unit + ")"
		}
	}
	return c, scale
}

// settingsWords returns the name of a curve: the settings names and their values.
func settingsWords(settings map[string]string, names []string) string {
	var words []string
	for _, name := range names {
		words = append(words, name+" "+settings[name])
	}
	return strings.Join(words, ", ")
}

// runsChart returns a chart of a metric along the best runs. The name of a curve is the settings in which the
// runs differ, or its folder if there are many such settings.
func runsChart(all []*runSummary, by string, differ []string) plots.Chart {
	c, scale := metricChart(by)
	c.Title = fmt.Sprintf("The best %s by %s", cli.Count(min(len(all), drawnRuns), "run"), metricWords(by))
	differ = slices.DeleteFunc(slices.Clone(differ), func(name string) bool { // a setting that some runs lack follows from other settings
		return slices.ContainsFunc(all, func(r *runSummary) bool { return r.Settings[name] == "" })
	})
	for i, r := range all[:min(len(all), drawnRuns)] {
		l := plots.Line{Name: filepath.Base(r.Path), Dots: i%2 == 1, Dashed: i >= len(plots.Colors)}
		if n := len(differ); n > 0 && n <= namedSettings {
			l.Name = settingsWords(r.Settings, differ)
		}
		if at := slices.Index(r.columns, by); at >= 0 {
			for _, row := range r.rows {
				l.X, l.Y = append(l.X, row[0]), append(l.Y, scale*row[at])
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
