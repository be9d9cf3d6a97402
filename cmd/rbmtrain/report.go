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

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

const (
	// reportInterval is the shortest time between two reports during a run.
	reportInterval = 5 * time.Second
	// reportShare limits the time for reports: after a report that took a second, the next follows at least
	// reportShare seconds later.
	reportShare = 50
)

// reportSoFar writes the report of an unfinished run, if the next one is due. It ignores
// errors: the checkpoint and the tables have the data, and their writers report errors.
func (r *runner) reportSoFar() {
	if time.Since(r.reported) < max(reportInterval, reportShare*r.reportTook) {
		return
	}
	begin := time.Now()
	defer func() { r.reported, r.reportTook = time.Now(), time.Since(begin) }()
	if page, err := r.page(); err == nil {
		page.Running, page.Warnings = true, cli.Sentences(r.health.Open)
		page.Figures = []string{r.latest()}
		page.Verdict = fmt.Sprintf("Step %d of %d, after %.3g s of training.", r.trainer.Steps(), r.plan.steps, r.seconds())
		page.Folded = append(page.Folded, r.settingsSection())
		_ = r.writePage(page)
	}
}

// finalReport writes the report at the end of a run. Unlike earlier reports it has pictures
// and other results that take time to compute.
func (r *runner) finalReport(result cli.Record, warnings []string) error {
	page, err := r.page()
	if err != nil {
		return err
	}
	m, set, steps := r.trainer.Model(), r.plan.sets.Train, r.trainer.Steps()
	page.Figures, page.Verdict, page.Warnings, page.Words = r.headlines(), r.judgement(warnings), warnings, []string{r.times + "."}
	for _, s := range r.suggestions() {
		if s.line != "" {
			page.Commands = append(page.Commands, report.Command{Does: s.does, Line: s.line})
		}
	}
	if r.samples.missing == "" {
		page.Commands = append(page.Commands, report.Command{Does: "draws more samples, by longer chains", Line: sampleCommand(r.folder.Dir, set)})
	}
	if err := r.addSamples(&page); err != nil {
		return err
	}
	weights := report.Section{Name: "Weights"}
	if set.IsPicture() {
		if picture, err := os.ReadFile(r.folder.Path(rundir.FiltersFile)); err == nil {
			weights.Pictures = append(weights.Pictures, report.Picture{Title: "Filters", PNG: picture, Alt: "the weights between the inputs and each of the first hidden units, red above zero and blue below",
				Note: "Good filters are strokes or spots that differ from unit to unit. Empty ones have learnt nothing; against noise, more steps or some -l2 help."})
		}
	} else if r.plan.opts.pictures != "none" {
		weights.Bars = append(weights.Bars, weightBars(m, set))
	}
	if r.plan.opts.snapshots > 0 && r.plan.opts.pictures != "none" {
		if err := r.addHistory(m, &weights); err != nil {
			return err
		}
	}
	wrong, err := mistakes(m, r.reading)
	if err != nil {
		return err
	}
	temperatures, err := r.ladder.section(steps, r.ladderPage)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	result.Print(&lines, 0)
	page.Folded[0].Words = strings.Split(strings.TrimSpace(lines.String()), "\n")
	temperatures.Charts, page.Folded[1].Charts = page.Folded[1].Charts, nil
	if len(wrong.Tables) > 0 { // the confusion matrix
		page.First, wrong.Tables = wrong.Tables[:1], wrong.Tables[1:]
	}
	page.Folded = []report.Section{wrong, weights, page.Folded[0], temperatures, r.settingsSection()}
	return r.writePage(page)
}

// headlines returns a line for each main metric of the run.
func (r *runner) headlines() (lines []string) {
	for _, m := range r.plan.metrics {
		lines = append(lines, m.Report(r.final, true)...)
	}
	return lines
}

// addSamples adds the samples to the first section of a page.
func (r *runner) addSamples(page *report.Report) error {
	s, set := r.samples, r.plan.sets.Train
	note := s.classes + s.judgement(len(r.standing) > 0)
	if s.fromData && !s.mixed {
		note += ", so the samples are from chains that started at training rows"
	}
	switch {
	case s.missing != "":
		page.Section.Words = append(page.Section.Words, "There are no samples: "+s.missing+".")
	case !s.columns:
		picture, err := os.ReadFile(r.folder.Path(rundir.SamplesFile))
		if err != nil {
			return err
		}
		page.Pictures = append(page.Pictures, report.Picture{Title: "Samples of the model", PNG: picture,
			Alt:  "a sheet of samples, a line for each class where there are classes; " + note,
			Note: "Good samples look like training rows, and are not all alike. Here " + note + "."})
	case set.Schema != nil && set.Schema.Alphabet != "":
		list, chart := sequenceSamples(set, s.drawn, note)
		page.Listings, page.Charts = append(page.Listings, list), append([]plots.Chart{chart}, page.Charts...)
	default:
		page.Bars = append(page.Bars, sampleBars(set, s.drawn, note))
	}
	return nil
}

// stillShare is a fraction of a run's whole improvement. If the last part of the run added more than that, the
// model still improves, and more steps may help. This part is the last fifth or, if the schedule ends at rate
// 0, where the last steps hardly change anything, the last half.
const stillShare = 0.02

// lastPart returns the last part of the run, as a fraction of its steps and in words.
func (r *runner) lastPart() (fraction float64, name string) {
	if train.Ends(r.plan.settings.Schedule) {
		return 0.5, "half"
	}
	return 0.2, "fifth"
}

// level reports whether the goal of training has improved and then stopped improving.
func (r *runner) level() bool {
	name := r.plan.goal.Name + "_train"
	gained, last := r.gains(name, r.plan.goal.Smaller)
	end, _ := r.last.Value(name)
	return gained > worseMargin*math.Abs(end) && last <= stillShare*gained
}

// judgement describes in one or two sentences how the run went. warnings has the most important warning
// first. The closing lines of the command have the same advice.
func (r *runner) judgement(warnings []string) string {
	memorised := r.memorised()
	text := r.verdict(warnings, memorised != "")
	if memorised != "" {
		text += " " + strings.ToUpper(memorised[:1]) + memorised[1:] + "."
	}
	return text
}

// verdict returns the first sentence of a judgement. memorised is set if more steps hardly help.
func (r *runner) verdict(warnings []string, memorised bool) string {
	if len(warnings) > 0 {
		what, _, _ := strings.Cut(warnings[0], ": ") // the report has the whole warning below
		what, _, _ = strings.Cut(what, "; ")
		return fmt.Sprintf("This run has %s: %s.", cli.Count(len(warnings), "warning"), what)
	}
	truth, known := train.TrueLikelihood(r.plan.sets.Train, r.plan.model.Classes() > 0)
	if v, ok := r.final.Value("log_likelihood_train"); ok && known {
		if gap := truth - v; gap >= 0 {
			return fmt.Sprintf("No warnings. The log-likelihood of the training rows is %.2g nats per row below that of the true distribution.", gap)
		}
		return "No warnings. The log-likelihood of the training rows is at least that of the true distribution."
	}
	if b := r.state.Best; b != nil && r.bestFile() == rundir.BestFile {
		return fmt.Sprintf("No warnings. The model of step %d is the best on the rows held out; use %s.", b.Step, r.folder.Path(rundir.BestFile))
	}
	_, part := r.lastPart()
	switch gained, _ := r.gains(r.plan.goal.Name+"_train", r.plan.goal.Smaller); {
	case !(gained > 0), memorised:
		return "No warnings."
	case r.level():
		return fmt.Sprintf("No warnings. The model hardly improved in the last %s of the run.", part)
	}
	return fmt.Sprintf("No warnings. The model was still improving in the last %s of the run.", part)
}

// gains returns the improvement of a column of metrics.csv over the run and over its lastPart, or 0 if they
// are unknown. smaller is set if lower values are better.
func (r *runner) gains(column string, smaller bool) (gained, last float64) {
	columns, rows, err := rundir.ReadTable(r.folder.Path(rundir.MetricsFile))
	at := slices.Index(columns, column)
	if err != nil || at < 0 || len(rows) == 0 {
		return 0, 0
	}
	end := rows[len(rows)-1]
	before := rows[0]
	part, _ := r.lastPart()
	for _, row := range rows {
		if row[0] <= (1-part)*end[0] {
			before = row
		}
	}
	gained, last = end[at]-rows[0][at], end[at]-before[at]
	if smaller {
		gained, last = -gained, -last
	}
	return gained, last
}

func (r *runner) writePage(page report.Report) error {
	return atomicfile.Write(r.folder.Path(rundir.ReportFile), func(w io.Writer) error { return report.Write(w, page) })
}

// page returns the content that reports during and after the run share: the curves of the main metrics and,
// folded, those of the other metrics and of the ladder.
func (r *runner) page() (report.Report, error) {
	page := report.Report{Title: r.folder.Dir, Lead: strings.ReplaceAll(r.plan.describe(), "\n", "; "),
		Folded: []report.Section{{Name: "How the run went"}, {Name: "The ladder of temperatures"}}}
	if !r.plan.measures() {
		return page, nil
	}
	columns, rows, err := rundir.ReadTable(r.folder.Path(rundir.MetricsFile))
	if err != nil {
		return page, err
	}
	var first, others []panel
	for _, p := range panels(r.plan.metrics) {
		if p.first {
			first = append(first, p)
		} else {
			others = append(others, p)
		}
	}
	page.Charts, page.Folded[0].Charts, page.Folded[1].Charts = charts(first, columns, rows), charts(others, columns, rows), charts(ladderPanels, columns, rows)
	return page, nil
}

// settingsSection lists the settings, data, machine and time of the run.
func (r *runner) settingsSection() report.Section {
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
	t.Say("time", cmp.Or(r.times, fmt.Sprintf("%.3g s of training so far", r.seconds())))
	t.Say("report of", time.Now().Format("2006-01-02 15:04:05"))
	return report.Section{Name: "Settings", Tables: []report.Table{report.TableOf("What was run", t.Lines())}}
}

const (
	// historyModels is the largest number of snapshots in a report.
	historyModels = 8
	// historyUnits is the number of hidden units whose filters are shown.
	historyUnits = 12
)

// addHistory adds the weights of the first hidden units at the run's snapshots to filters. It adds nothing if there
// are fewer than two snapshots. m has the shape of the models.
func (r *runner) addHistory(m *rbm.RBM, filters *report.Section) error {
	set := r.plan.sets.Train
	if !set.IsPicture() {
		return nil
	}
	all, err := rundir.ReadSnapshots(r.folder.Dir, historyModels)
	if err != nil {
		return nil // a run of a single step has no snapshots
	}
	if all = slices.DeleteFunc(all, func(s rundir.Snapshot) bool { return s.Err != nil }); len(all) < 2 {
		return nil
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
		return err
	}
	picture, err := report.NewPicture("Filters along the run", fmt.Sprintf("the weights of the first %d hidden units, a line for each of %d steps, from the first to the last", units, len(all)), sheet)
	if err != nil {
		return err
	}
	picture.Note = "Each line is a step. Good filters take shape and then stay. If they only grow stronger at the end, training was long enough."
	filters.Pictures = append(filters.Pictures, picture)
	return nil
}

// mistakesShown is the largest number of misclassified rows in the report.
const mistakesShown = 40

// A reading is the classification of rows of a set by the model.
type reading struct {
	set       *data.Set
	rows      []int32   // indices of the classified rows, which have a label
	logp      []float64 // rows × classes: log p(y|x)
	confusion train.Confusion
}

// readRows is the largest number of training rows that read classifies.
const readRows = 10_000

// read classifies the test rows of the run, or the rows held out if there are no test rows, or the first
// training rows if there are neither. It returns nil for a model without classes.
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
	logp, all := []float64(nil), len(rows)
	for _, metric := range r.plan.metrics { // reuse a measurement of the same rows
		if s := metric.Scores; s != nil && s.Set == set && len(s.Rows) == all {
			logp, rows = s.LogP, s.Rows
		}
	}
	if logp == nil {
		logp, rows = train.ClassLogProbs(m, set, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	return &reading{set, rows, logp, train.Confuse(logp, set.ClassesOf(rows), set.WeightsOf(rows), m.Classes())}
}

// never returns a warning if classes are of unequal size and some are never predicted, or none.
// It advises only remedies that this run allows.
func (r *runner) never() []diag.Warning {
	c := r.reading
	if c == nil || !c.confusion.Unequal() || len(c.confusion.Never()) == 0 {
		return nil
	}
	w := diag.Warning{Kind: train.NeverKind, Numbers: diag.Numbers{"error": c.confusion.BalancedError()}}
	for _, k := range c.confusion.Never() {
		w.Of = append(w.Of, c.set.Classes[k])
	}
	if p := r.plan; !p.flags.Given("reweight") { // -reweight excludes -weights
		w.Help = append(w.Help, train.LargerWeights)
	}
	w.Help = append(w.Help, train.EqualClasses)
	if p := r.plan; !byClass(p.settings) && p.sets.Train.Missing.Rows == 0 && p.model.Constraint == nil && p.group.Size() == 1 {
		w.Help = append(w.Help, train.ByClasses)
	}
	return []diag.Warning{w}
}

// mistakes returns the confusion matrix of the reading c by m, and a picture or a table of misclassified rows,
// the most probable mistakes first. It is empty if c is nil or has too many classes for a page.
func mistakes(m *rbm.RBM, c *reading) (all report.Section, err error) {
	all.Name = "Mistakes"
	const mostClasses = 30
	classes := m.Classes()
	if c == nil || classes > mostClasses {
		return all, nil
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
	table := report.Table{Title: fmt.Sprintf("Confusion matrix of %s: %d of %d rows are wrong", set.Name, len(wrong), len(c.rows)) + of, Matrix: true, Note: "A line for each true class, a column for each predicted class. Good: all rows on the diagonal.",
		Head: append([]string{""}, set.Classes...)}
	for y := range classes {
		line := []string{set.Classes[y]}
		for k := range classes {
			line = append(line, strconv.FormatFloat(c.confusion.Rows[y*classes+k], 'g', 6, 64))
		}
		table.Rows = append(table.Rows, line)
	}
	all.Tables = []report.Table{table}
	slices.SortStableFunc(wrong, func(a, b mistake) int { return cmp.Compare(b.p, a.p) })
	wrong = wrong[:min(len(wrong), mistakesShown, max(1, plots.MaxValues/m.Inputs()))]
	if len(wrong) == 0 {
		return all, nil
	}
	const good = "Good mistakes are those that a person would make."
	if !set.IsPicture() {
		list := report.Table{Title: "The surest mistakes", Note: good + " Rows are counted from 1.", Head: []string{"row", "true", "read as", "probability"}}
		for _, w := range wrong {
			list.Rows = append(list.Rows, []string{strconv.Itoa(int(w.row) + 1), set.Classes[set.Y[w.row]], set.Classes[w.guess], fmt.Sprintf("%.3g", math.Exp(w.p))})
		}
		all.Tables = append(all.Tables, list)
		return all, nil
	}
	if set.Missing.Rows > 0 { // pictures would show random values in missing cells
		return all, nil
	}
	var rows []int32
	var texts []string
	for _, w := range wrong {
		rows, texts = append(rows, w.row), append(texts, fmt.Sprintf("%s read as %s", set.Classes[set.Y[w.row]], set.Classes[w.guess]))
	}
	pictures := rbm.NewMatrix(len(rows), m.Inputs())
	set.Inputs(pictures.Values(), rows)
	note := good + " Row by row: " + strings.Join(texts, ", ") + "."
	picture, err := report.NewPicture("The surest mistakes", "rows that the model classifies wrongly, the surest first",
		plots.Tiles(pictures, set.Height, set.Width, 10, plots.InkOf(m)))
	picture.Note = note
	all.Pictures = []report.Picture{picture}
	return all, err
}
