package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

const (
	// reportInterval is the least time between two reports of a run under way.
	reportInterval = 5 * time.Second
	// reportShare bounds the part of the time that they take: a report that took a
	// second is followed by reportShare seconds without one.
	reportShare = 50
)

// reportSoFar writes the report of a run under way, now and then. Training continues
// if it cannot be written: what must not be lost is in the checkpoint and the tables,
// whose writers say what is wrong.
func (r *runner) reportSoFar() {
	if time.Since(r.reported) < max(reportInterval, reportShare*r.reportTook) {
		return
	}
	begin := time.Now()
	defer func() { r.reported, r.reportTook = time.Now(), time.Since(begin) }()
	words := []string{fmt.Sprintf("Step %d of %d, after %.3g s.", r.trainer.Steps(), r.plan.steps, r.seconds()), r.latest()}
	if page, err := r.page(words, r.state.Early); err == nil {
		page.Running = true
		_ = r.writePage(page)
	}
}

// finalReport writes the report of a run that has ended: with its pictures, and what
// takes time to compute.
func (r *runner) finalReport(result cli.Record, warnings []string) error {
	var b bytes.Buffer
	result.Print(&b, 0)
	page, err := r.page(strings.Split(strings.TrimSpace(b.String()), "\n"), warnings)
	if err != nil {
		return err
	}
	m := r.trainer.Model()
	var filters []report.Picture
	if r.plan.opts.snapshots > 0 && r.plan.opts.pictures != "none" {
		var values []plots.Chart
		if values, filters, err = history(r.folder.Dir, m, r.plan.sets.Train, r.plan.settings, r.trainer.Steps()); err != nil {
			return err
		}
		page.Charts = append(page.Charts, values...)
	}
	for _, p := range []struct{ file, title, alt string }{
		{rundir.SamplesFile, "Samples of the model", "a sheet of samples, a line for each class where there are classes; " + r.samples.classes + r.samples.verdict},
		{rundir.FiltersFile, "Filters", "the weights between the inputs and each of the first hidden units, red above zero and blue below"},
		{rundir.LadderFile, "The ladder", "rejection rates between neighbouring temperatures, moves of particles between them, and their ways along the ladder, before and after it was tuned"},
	} {
		if picture, err := os.ReadFile(r.folder.Path(p.file)); err == nil {
			page.Pictures = append(page.Pictures, report.Picture{Title: p.title, Alt: p.alt, PNG: picture})
		}
	}
	page.Pictures = append(page.Pictures, filters...)
	errors, table, err := mistakes(m, r.reading)
	if err != nil {
		return err
	}
	page.Pictures = append(page.Pictures, errors...)
	page.Tables = append(table, page.Tables...)
	return r.writePage(page)
}

func (r *runner) writePage(page report.Report) error {
	return atomicfile.Write(r.folder.Path(rundir.ReportFile), func(w io.Writer) error { return report.Write(w, page) })
}

// page returns what every report has: words, the curves of metrics.csv and the
// settings.
func (r *runner) page(words, warnings []string) (report.Report, error) {
	page := report.Report{
		Title: r.folder.Dir, Lead: strings.ReplaceAll(r.plan.describe(), "\n", "; "),
		Words: words, Warnings: warnings, Tables: []report.Table{r.settingsTable()},
	}
	if !r.plan.measures() {
		return page, nil
	}
	columns, rows, err := rundir.ReadTable(r.folder.Path(rundir.MetricsFile))
	if err != nil {
		return page, err
	}
	page.Charts = charts(r.plan.metrics, columns, rows)
	return page, nil
}

// settingsTable lists what was run, where, and when.
func (r *runner) settingsTable() report.Table {
	c := r.plan.config(r.trainer.Hash())
	var t cli.Record
	t.Say("command", strings.Join(c.Command, " "))
	for _, flags := range []map[string]string{c.Flags, c.Preset.Flags} {
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			note := ""
			if _, given := c.Flags[name]; !given {
				note = ", by the preset " + c.Preset.Name
			}
			t.Say("-"+name, flags[name]+note)
		}
	}
	t.Say("seed", strconv.FormatUint(c.Training.Seed, 10))
	t.Say("data", fmt.Sprintf("%s, sha256 %s", c.Data.Name, c.Data.Hash))
	if c.Data.Test != "" {
		t.Say("test data", fmt.Sprintf("%s, sha256 %s", c.Data.Test, c.Data.TestHash))
	}
	t.Say("machine", fmt.Sprintf("%s, %d processors, kernels %s, %s", c.Processor, runtime.GOMAXPROCS(0), c.Kernels, c.Version))
	t.Say("time", fmt.Sprintf("%.4g s of training, %.4g s in all; report of %s", r.seconds(), r.secondsInAll(), time.Now().Format("2006-01-02 15:04:05")))
	return report.TableOf("Settings", t.Lines())
}

const (
	// historyModels is the number of snapshots that a report looks at.
	historyModels = 8
	// historyUnits is the number of hidden units whose filters it shows.
	historyUnits = 12
	// historyValues is the number of singular values that it draws.
	historyValues = 6
	// historyWork bounds inputs · hidden · (the smaller of both), for the singular
	// values: some seconds in all.
	historyWork = 1 << 30
	// historyRows is what the singular values take for each of the smaller of inputs and
	// hidden units, in the rows of work. A short run, of whose work this or the samples along
	// it are more than historyShare, has none.
	historyRows, historyShare = 160, 0.05
)

// history returns the singular values of the weights along the run in a folder, and filters of
// the first hidden units, from the snapshots of models like m, trained on set. Without
// snapshots it returns nothing.
func history(folder string, m *rbm.RBM, set *data.Set, settings train.Settings, steps int) (charts []plots.Chart, pictures []report.Picture, err error) {
	all, err := rundir.ReadSnapshots(folder)
	if err != nil {
		return nil, nil, nil // a run may have none, as one of a single step
	}
	all = slices.DeleteFunc(all, func(s rundir.Snapshot) bool { return s.Err != nil || s.Step == 0 })
	for len(all) > historyModels { // as the steps grow geometrically, every other one still does
		var half []rundir.Snapshot
		for i := (len(all) - 1) % 2; i < len(all); i += 2 {
			half = append(half, all[i])
		}
		all = half
	}
	if len(all) < 2 {
		return nil, nil, nil
	}
	size, rank := float64(m.Visible())*float64(m.Hidden()), float64(min(m.Visible(), m.Hidden()))
	// short reports whether the given rows of work would take too much of the time of so short a run.
	short := func(rows float64) bool {
		return rows*size > samplesFree && rows > historyShare*work(settings, steps)
	}
	if size*rank <= historyWork && !short(historyRows*rank) {
		charts = append(charts, singularValues(all))
	}
	units := min(historyUnits, m.Hidden(), max(1, plots.MaxValues/(len(all)*m.Inputs())))
	weights := rbm.NewMatrix(len(all)*units, m.Inputs())
	for k, s := range all {
		for j := range units {
			row := weights.Row(k*units + j)
			for i := range row {
				row[i] = s.Model.Weight(i, j)
			}
		}
	}
	var names []string
	for _, s := range all {
		names = append(names, strconv.Itoa(s.Step))
	}
	sheet, err := plots.Caption(plots.Weights(weights, set.Height, set.Width, units), names, "")
	if err != nil {
		return nil, nil, err
	}
	filters, err := report.NewPicture("Filters along the run", fmt.Sprintf("the weights of the first %d hidden units, a line for each of %d steps, from the first to the last", units, len(all)), sheet)
	if err != nil {
		return nil, nil, err
	}
	pictures = []report.Picture{filters}
	if short(2 * historyModels * alongSamples * alongSteps) {
		return charts, pictures, nil
	}
	samples, err := samplesAlong(all, names, set, settings)
	if samples != nil {
		pictures = append(pictures, *samples)
	}
	return charts, pictures, err
}

const (
	// alongSamples is the number of chains of a snapshot, and alongSteps that of their
	// Gibbs steps: together some tenths of a second at 784 × 500 units.
	alongSamples, alongSteps = 12, 200
	// alongWork bounds inputs · hidden units: models of more would take long.
	alongWork = 1 << 23
	// alongKey is the purpose of their key.
	alongKey = 1 << 34
)

// samplesAlong draws a strip of samples for each snapshot: chains of Gibbs steps that
// start at random and have the same random numbers in all. It returns nil for models
// that have no such chains, or that are very large.
func samplesAlong(all []rundir.Snapshot, names []string, set *data.Set, settings train.Settings) (*report.Picture, error) {
	m := all[0].Model
	if settings.Objective == train.Discriminative || m.Constraint != nil && m.Constraint.On == rbm.AllUnits || m.Visible()*m.Hidden() > alongWork ||
		len(all)*alongSamples*m.Inputs() > plots.MaxValues {
		return nil, nil
	}
	key := rbm.NewKey(settings.Seed).Child(alongKey)
	rows := rbm.NewMatrix(len(all)*alongSamples, m.Inputs())
	means := rbm.NewMatrix(alongSamples, m.Visible())
	for k, s := range all {
		chains := rbm.NewStates(s.Model, alongSamples)
		chains.H.Randomize(key.Child(0))
		s.Model.Step(chains, nil, alongSteps, key.Child(1))
		s.Model.VisibleMean(means, chains.H)
		for i := range alongSamples {
			copy(rows.Row(k*alongSamples+i), means.Row(i)) // without the label
		}
	}
	sheet, err := plots.Caption(plots.Tiles(rows, set.Height, set.Width, alongSamples, plots.InkOf(m)), names, "")
	if err != nil {
		return nil, err
	}
	picture, err := report.NewPicture("Samples along the run",
		fmt.Sprintf("%d samples of the model at each of %d steps, from the first to the last, a line for each", alongSamples, len(all)), sheet)
	picture.Note = fmt.Sprintf("Each line is a step of training. Its chains start at random and take %d Gibbs steps: those of a model with far modes have not forgotten where they started.", alongSteps)
	return &picture, err
}

// singularValues draws the largest singular values of the weights.
func singularValues(all []rundir.Snapshot) plots.Chart {
	chart := plots.Chart{Title: "Largest singular values of the weights", X: "step (logarithmic)", Y: "singular value", LogX: true}
	for k := range historyValues {
		chart.Lines = append(chart.Lines, plots.Line{Name: fmt.Sprintf("no. %d", k+1)})
	}
	for _, s := range all {
		w := mat.NewDense(s.Model.Visible(), s.Model.Hidden(), nil)
		for i := range s.Model.Visible() {
			for j := range s.Model.Hidden() {
				w.Set(i, j, float64(s.Model.Weight(i, j)))
			}
		}
		var svd mat.SVD
		var values []float64
		if svd.Factorize(w, mat.SVDNone) {
			values = svd.Values(nil)
		}
		for k := range chart.Lines {
			v := math.NaN()
			if k < len(values) {
				v = values[k]
			}
			l := &chart.Lines[k]
			l.X, l.Y = append(l.X, float64(s.Step)), append(l.Y, v)
		}
	}
	return chart
}

// mistakesShown is the number of misclassified rows on the sheet.
const mistakesShown = 40

// A reading is what a model takes the rows of a set for.
type reading struct {
	set       *data.Set
	rows      []int32   // that have a class
	logp      []float64 // of each row the classes
	confusion train.Confusion
}

// readRows bounds the training rows that are read.
const readRows = 10_000

// read reads the test rows of the run, or else those held out, or else the first training rows.
// It returns nil for a model without classes.
func (r *runner) read() *reading {
	m := r.trainer.Model()
	set := cmp.Or(r.plan.sets.Test, r.plan.sets.Holdout, r.plan.sets.Train)
	if m.Classes() < 2 || set.Y == nil {
		return nil
	}
	rows := set.Labelled()
	if set == r.plan.sets.Train {
		rows = rows[:min(len(rows), readRows)]
	}
	logp, rows := train.ClassLogProbs(m, set, rows)
	if len(rows) == 0 {
		return nil
	}
	y := make([]int32, len(rows))
	for i, row := range rows {
		y[i] = set.Y[row]
	}
	return &reading{set, rows, logp, train.Confuse(logp, y, set.WeightsOf(rows), m.Classes())}
}

// balanced returns the closing line about classes of unequal size, or "".
func (c *reading) balanced() string {
	if c == nil || !c.confusion.Unequal() {
		return ""
	}
	return fmt.Sprintf("balanced error: %s of %s (mean over the classes, whatever their sizes)", cli.Percent(c.confusion.BalancedError()), c.set.Name)
}

// neverWarning returns a warning of classes of unequal size that no row is taken for, or "".
func (c *reading) neverWarning() string {
	if c == nil || !c.confusion.Unequal() || len(c.confusion.Never()) == 0 {
		return ""
	}
	var names []string
	for _, k := range c.confusion.Never() {
		names = append(names, c.set.Classes[k])
	}
	return fmt.Sprintf("never predicted: class %s of %s; look at the balanced error, %s, not at the error; more steps, -preset discriminative or as many rows of each class may help",
		strings.Join(names, ", "), c.set.Name, cli.Percent(c.confusion.BalancedError()))
}

// mistakes returns the confusion matrix of a reading by m, which may be nil, and a sheet of
// rows that are classified wrongly, the surest mistakes first. It is
// empty for more classes than a page has room for.
func mistakes(m *rbm.RBM, c *reading) ([]report.Picture, []report.Table, error) {
	const mostClasses = 30
	classes := m.Classes()
	if c == nil || classes > mostClasses {
		return nil, nil, nil
	}
	set := c.set
	type mistake struct {
		row   int32
		guess int
		p     float64
	}
	var wrong []mistake
	for i, row := range c.rows {
		p := c.logp[i*classes : (i+1)*classes]
		if guess := train.Likeliest(p); guess != int(set.Y[row]) {
			wrong = append(wrong, mistake{row, guess, p[guess]})
		}
	}
	of := ""
	if set.Missing.Rows > 0 {
		of = ", " + train.FewGaps
	}
	table := report.Table{Title: fmt.Sprintf("Confusion matrix of %s: %d of %d rows are wrong", set.Name, len(wrong), len(c.rows)) + of, Head: append([]string{"true \\ read as"}, set.Classes...)}
	for y := range classes {
		line := []string{set.Classes[y]}
		for k := range classes {
			line = append(line, strconv.FormatFloat(c.confusion.Rows[y*classes+k], 'g', 6, 64))
		}
		table.Rows = append(table.Rows, line)
	}
	slices.SortStableFunc(wrong, func(a, b mistake) int { return cmp.Compare(b.p, a.p) })
	wrong = wrong[:min(len(wrong), mistakesShown, max(1, plots.MaxValues/m.Inputs()))]
	if len(wrong) == 0 || set.Missing.Rows > 0 { // whose pictures would show draws
		return nil, []report.Table{table}, nil
	}
	pictures := rbm.NewMatrix(len(wrong), m.Inputs())
	texts := make([]string, len(wrong))
	for i, w := range wrong {
		if set.Grey.Rows > 0 {
			copy(pictures.Row(i), set.Grey.Row(int(w.row)))
		} else {
			set.X.Each(int(w.row), func(j int) { pictures.Row(i)[j] = 1 })
		}
		texts[i] = fmt.Sprintf("%s read as %s", set.Classes[set.Y[w.row]], set.Classes[w.guess])
	}
	note := "Row by row: " + strings.Join(texts, ", ") + "."
	picture, err := report.NewPicture("The surest mistakes", "rows that the model classifies wrongly, the surest first",
		plots.Tiles(pictures, set.Height, set.Width, 10, plots.InkOf(m)))
	picture.Note = note
	return []report.Picture{picture}, []report.Table{table}, err
}
