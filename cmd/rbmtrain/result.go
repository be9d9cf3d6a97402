package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm/exact"
	"gorbm/train"
	"gorbm/train/rundir"
)

// fixedColumns is the number of columns of metrics.csv in every run: step and seconds.
const fixedColumns = 2

// columns returns the names of the columns of metrics.csv.
func (p *plan) columns() []string {
	c := []string{"step", "seconds"}
	for _, m := range p.metrics {
		c = append(c, m.Values...)
	}
	c = append(c, ladderColumns(p.settings.Negative)...)
	for _, f := range columnFigures(p.settings.Negative, negphase.Info{}, 0, false) {
		c = append(c, f.Key)
	}
	return c
}

// measures reports whether there is anything to draw in curves.png.
func (p *plan) measures() bool { return len(p.columns()) > fixedColumns }

// row returns the evaluation as a row of metrics.csv.
func (r *runner) row(e train.Evaluation) []float64 {
	row := []float64{float64(e.Step), r.seconds()}
	for _, v := range e.Values {
		row = append(row, v.Value)
	}
	row = append(row, r.ladder.values(e, e.Step-r.state.Measured)...)
	for _, f := range columnFigures(r.plan.settings.Negative, e.Info, e.Step-r.state.Measured, false) {
		row = append(row, f.Value)
	}
	return row
}

// openEvents opens the file of -tensorboard.
func (r *runner) openEvents() error {
	if !r.plan.opts.tensorboard {
		return nil
	}
	_, rows, err := rundir.ReadTable(r.folder.Path(rundir.MetricsFile))
	if err != nil {
		return err
	}
	r.events, err = r.folder.NewEvents(r.plan.columns(), rows, time.Now())
	return err
}

// columnFigures returns the quantities of the estimator that metrics.csv has, computed from the counts i of
// the given number of updates. If ladder is set, it returns the quantities about the ladder, otherwise all
// others.
func columnFigures(s negphase.Settings, i negphase.Info, updates int, ladder bool) []negphase.Figure {
	return slices.DeleteFunc(s.Figures(i, updates), func(f negphase.Figure) bool { return !f.Column || f.Ladder != ladder })
}

// leadingColumns returns the columns of the main metrics of a run, in the order of -metrics.
func leadingColumns(metrics []train.Metric) (columns []train.Column) {
	for _, m := range metrics {
		for _, c := range m.Columns {
			if c.First {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// choice returns the column that selects the best model on the rows held out: the column of lowest rank that
// is not an estimate, or an empty column if there is none. With a discriminative part in the objective
// (byClass) it is the classification error, if that is measured. For skewed classes (see train.Skewed) the
// balanced error replaces the error.
func choice(metrics []train.Metric, byClass, skewed bool) train.Column {
	name, other := "error", "balanced_error"
	if skewed {
		name, other = other, name
	}
	all := slices.DeleteFunc(leadingColumns(metrics), func(c train.Column) bool { return c.Estimate || c.Name == other })
	if at := slices.IndexFunc(all, func(c train.Column) bool { return c.Name == name }); at >= 0 && byClass {
		return all[at]
	}
	return lowest(all)
}

// goal returns the column of lowest rank among the metrics that training should improve, or
// an empty column.
func goal(metrics []train.Metric, discriminative bool) train.Column {
	return lowest(slices.DeleteFunc(leadingColumns(metrics), func(c train.Column) bool { return !c.Goal || discriminative }))
}

// lowest returns the column of the lowest rank, or an empty one.
func lowest(columns []train.Column) train.Column {
	if len(columns) == 0 {
		return train.Column{}
	}
	return slices.MinFunc(columns, func(a, b train.Column) int { return a.Rank - b.Rank })
}

// latest returns the text of the progress bar: the last value of the first main metric, on
// test rows if there are any.
func (r *runner) latest() string {
	for _, c := range leadingColumns(r.plan.metrics) {
		for _, part := range []string{"_test", "_train"} {
			if v, ok := r.last.Value(c.Name + part); ok {
				return c.Label + " " + c.Text(v)
			}
		}
	}
	return "training"
}

// worseMargin is the smallest relative change of a metric on the training rows that counts
// as better or worse. In short runs random changes are smaller than this.
const worseMargin = 0.01

// worse returns a warning if the model is worse than before the first step, or none.
func (r *runner) worse() []diag.Warning {
	goal := r.plan.goal
	end, ok := r.last.Value(goal.Name + "_train") // on the same rows as state.First
	if r.state.First == nil || !ok || diag.Has(r.standing, train.FallKind) {
		return nil
	}
	worse := *r.state.First - end
	if goal.Smaller {
		worse = -worse
	}
	if worse <= worseMargin*math.Abs(*r.state.First) {
		return nil
	}
	help := []diag.Remedy{train.SmallerRate}
	if r.plan.model.Real() { // at a small rate a model of real units may hardly change
		help = []diag.Remedy{train.AnotherRate}
	}
	return []diag.Warning{{Kind: train.WorseKind, Of: []string{goal.Name + "_train"}, Numbers: diag.Numbers{"last": end, "first": *r.state.First},
		Help: append(help, train.Remedies(r.plan.settings, r.plan.model)...)}}
}

func (r *runner) warn(w string) {
	r.bar.Clear()
	r.plan.flags.Warn(w)
}

func (r *runner) warnOf(all []diag.Warning) {
	for _, text := range cli.Sentences(all) {
		r.warn(text)
	}
}

// longExact is the expected duration from which a run with the exact negative phase warns.
const longExact = 10 * time.Minute

// warnOfCost warns if a run with the exact negative phase will take long. step is the duration of the first step.
func (r *runner) warnOfCost(step time.Duration, steps int) {
	if whole := time.Duration(steps) * step; r.plan.settings.Negative.Kind == "exact" && whole >= longExact {
		r.warn(fmt.Sprintf("the exact negative phase lists all states of a layer, which took %v in the first step: %d steps take some %v; use fewer -steps, or -negphase pcd",
			step.Round(time.Millisecond), steps, whole.Round(time.Minute)))
	}
}

// print writes the final report and result.json, and prints the result and the warnings.
func (r *runner) print() error {
	total, _ := r.evaluator.Counts() // complete, because the last step was measured
	if logZ, stdErr, ok, err := r.trainer.LogZ(); err != nil {
		return err
	} else if ok {
		r.logZ, r.logZErr = &logZ, &stdErr
	}
	r.reading = r.read()
	end := slices.Concat(r.standing, r.never(), r.worse(), r.untrainedWarning()) // the most important first
	warnings := slices.Concat(cli.Sentences(end), r.plan.warnings)
	for _, text := range cli.Sentences(r.withdrawn) {
		r.warn("this does not hold at the end: " + text)
	}
	result := r.result(total, warnings)
	if err := r.finalReport(result, warnings); err != nil {
		return err
	}
	if err := r.folder.WriteJSON(rundir.ResultFile, result); err != nil { // last, because the file marks a finished run
		return err
	}
	return r.plan.flags.Print(result, func(w io.Writer) error {
		if !r.plan.flags.Quiet {
			result.Print(w, 0)
		}
		printed := slices.Concat(cli.Sentences(r.health.Open), r.plan.warnings) // during the run
		for _, w := range end {
			if ladder := w.Kind == diag.FewSwaps || w.Kind == negphase.NoOffWeight; ladder && diag.Has(r.health.Open, w.Kind) {
				printed = append(printed, cli.Sentence(w)) // with other numbers
			}
		}
		for _, text := range warnings {
			if !slices.Contains(printed, text) {
				r.warn(text)
			}
		}
		return nil
	})
}

// precisions returns the smallest and the largest learned precision. ok is false if all columns are
// constant, so that there is none.
func (r *runner) precisions() (least, greatest float64, ok bool) {
	least = math.Inf(1)
	for i, p := range r.trainer.Model().VisibleParams()[0] {
		if d := r.plan.sets.Train.Deviations; p > 0 && i < len(d) && d[i] > 0 { // other units have no precision
			least, greatest, ok = min(least, float64(p)), max(greatest, float64(p)), true
		}
	}
	return least, greatest, ok
}

// result returns the JSON result and the closing lines: the main metrics first, then other results.
func (r *runner) result(total negphase.Info, warnings []string) (rec cli.Record) {
	say := func(format string, args ...any) { rec.Say("", fmt.Sprintf(format, args...)) }
	report := func(first bool) {
		for _, m := range r.plan.metrics {
			if m.Name == "mixing" && r.health.Decides() {
				continue // the likelihood decides; a single drift at the last measurement would not refute it
			}
			for _, line := range m.Report(r.final, first) {
				say("%s", line)
			}
		}
	}
	report(true)
	steps, seconds, inAll := r.trainer.Steps(), r.seconds(), r.secondsInAll()
	r.times = fmt.Sprintf("%d steps in %.3g s, %s steps/s; %.3g s in all", steps, seconds, cli.FourDigits(float64(steps)/seconds), inAll)
	rec.Add("steps", steps)
	rec.Add("seconds", seconds)
	rec.Add("steps_per_second", float64(steps)/seconds)
	rec.Add("seconds_in_all", inAll)
	if t := r.plan.opts.tuned; t.chose() {
		rec.Add("trials", t.trials)
		rec.Add("trial_rows", t.held)
	}
	say("%s", r.times)
	if r.stopped {
		say("stopped at step %d of %d: no better %s_holdout in %d measurements", steps, r.plan.steps, r.plan.choice.Name, r.plan.opts.stopAfter)
	}
	say("results in %s", r.folder.Dir)
	var next []string
	for _, s := range r.suggestions() {
		next = append(next, s.String())
	}
	say("next: %s", strings.Join(next, "; "))
	metrics := map[string]float64{}
	for _, v := range r.final.Values {
		metrics[v.Name] = v.Value
	}
	rec.Add("metrics", metrics)
	if best := r.health.BestLikelihoods(); best != nil {
		rec.Add("best", best)
	}
	report(false)
	if r.plan.settings.LearnPrecision {
		if least, greatest, ok := r.precisions(); ok {
			rec.Add("precisions", [2]float64{least, greatest})
			say("precisions given the hidden units: %.3g to %.3g, of columns of variance 1", least, greatest)
		}
	}
	if truth, known := train.TrueLikelihood(r.plan.sets.Train, r.plan.model.Classes() > 0); known {
		rec.Add("true_log_likelihood_train", truth)
	}
	if r.reading != nil {
		rec.Add("balanced_error", r.reading.confusion.BalancedError()) // on the rows of read
	}
	if b := r.state.Best; b != nil {
		v, c := b.Value, r.plan.choice
		if c.Smaller {
			v = -v
		}
		if r.untrained() {
			say("best on the rows held out: none; no step was better than the start, %s_holdout %.5g", c.Name, v)
		} else {
			say("best on the rows held out: step %d, %s_holdout %.5g; use %s", b.Step, c.Name, v, r.folder.Path(r.bestFile()))
		}
	}
	figures := r.plan.settings.Negative.Figures(total, steps)
	rec.Add("swap_rates", total.SwapRates())
	rec.AddFigures(figures)
	rec.Add("ladder", r.ladder.json())
	rec.Say("", r.ladder.describe(total, figures, r.standing))
	rec.Add("log_z", r.logZ)
	rec.Add("log_z_std_err", r.logZErr)
	if r.logZ != nil {
		say("log Z: %.6g ± %.2g nats (Bennett's ratio along the rungs)", *r.logZ, *r.logZErr)
	}
	if b := r.state.Best; b != nil {
		rec.Add("best_step", b.Step)
	}
	if s := r.samples; s.missing == "" {
		rec.Add("samples_of_class", s.agreement)
		rec.Add("samples_mixed", s.mixed)
	}
	say("%s", r.samples.describe(r.plan.model.Classes(), len(r.standing) > 0))
	for _, f := range figures {
		if !f.Ladder {
			rec.Say("", f.Text)
		}
	}
	rec.Add("warnings", warnings)
	rec.Add("data", data.Absolute(r.plan.sets.Train.Name))
	rec.Add("binarize", r.plan.sets.Train.Binarize)
	rec.AddSome("objective", r.plan.settings.Objective) // missing if it is joint
	rec.AddSome("alpha", r.plan.settings.Alpha)
	rec.Add("negphase", r.plan.settings.Negative.String()) // "" if the objective has none
	rec.Add("model", r.folder.Path(rundir.ModelFile))
	rec.Add("folder", r.folder.Dir)
	return rec
}

// secondsInAll returns the time since the command began, plus the time of the earlier parts
// of a resumed run.
func (r *runner) secondsInAll() float64 { return r.state.All + time.Since(r.begin).Seconds() }

// bestFile returns the file of the recommended model: the best on the rows held out, unless that is the first or
// the last model of the run.
func (r *runner) bestFile() string {
	if b := r.state.Best; b != nil && 0 < b.Step && b.Step < r.trainer.Steps() {
		return rundir.BestFile
	}
	return rundir.ModelFile
}

// untrained reports whether no step was better on the rows held out than step 0.
func (r *runner) untrained() bool {
	return r.state.Best != nil && r.state.Best.Step == 0 && r.trainer.Steps() > 0
}

// untrainedWarning returns a warning if no step was better on the rows held out than step 0, or none. Its
// advice depends on whether the metric improved on the training rows.
func (r *runner) untrainedWarning() []diag.Warning {
	if !r.untrained() {
		return nil
	}
	c := r.plan.choice
	w := diag.Warning{Kind: train.UntrainedKind, Of: []string{c.Name + "_holdout"}}
	end, _ := r.last.Value(c.Name + "_train")
	switch gained, _ := r.gains(c.Name+"_train", c.Smaller); {
	case gained > worseMargin*math.Abs(end):
		w.Help = []diag.Remedy{train.MoreRows, train.FewerHidden, train.WeightDecay}
	case gained >= -worseMargin*math.Abs(end) && r.plan.settings.Rate < maxAdvised:
		w.Help = []diag.Remedy{train.MoreSteps, train.LargerRate}
	default:
		w.Help = []diag.Remedy{train.AnotherRate, train.MoreSteps}
	}
	if s := r.plan.settings; !discriminative(s) && !s.Negative.Traits().Moments {
		if _, err := exact.New(r.plan.model, exact.GradientLimit); err == nil {
			w.Help = append(w.Help, train.ExactPhase)
		}
	}
	return []diag.Warning{w}
}

// maxAdvised is the rate from which on no warning advises a larger one: presets have no more than 0.4.
const maxAdvised = 0.3

// learnt reports whether more steps cannot help: the last pastBest measurements found no better model on the
// rows held out, or no training row is classified wrongly.
func (r *runner) learnt() bool {
	wrong, ok := r.final.Value("error_train")
	return ok && wrong == 0 || r.state.Best != nil && !r.untrained() && r.state.Best.Since >= pastBest
}

// Training rows count as learnt if their error is at most learntError, and at most learntPart times the error
// of other rows.
const learntError, learntPart = 0.02, 0.25

// memorised returns a sentence if more steps hardly help: the training rows are learnt far better than
// others, and the error of the others has stopped falling. Otherwise, or if there is a warning, it returns
// "".
func (r *runner) memorised() string {
	const beyondChance = 3 // standard errors of the other rows
	part, others := "holdout", r.plan.sets.Holdout
	if others == nil {
		part, others = "test", r.plan.sets.Test
	}
	train, ok := r.final.Value("error_train")
	other, known := r.final.Value("error_" + part)
	if !ok || !known || len(r.standing) > 0 || train > min(learntError, learntPart*other) {
		return ""
	}
	stdErr := math.Sqrt(other * (1 - other) / float64(others.Len()))
	if _, last := r.gains("error_"+part, true); other-train <= beyondChance*stdErr || last > stdErr {
		return ""
	}
	text := fmt.Sprintf("the training rows are learnt, %.3g %% of the others are wrong: more rows, fewer -hidden or some -l2 may help; more steps hardly help", 100*other)
	if part == "test" {
		text += "; -holdout 0.1 keeps the best model"
	}
	return text
}

// pastBest is the number of measurements without a better model after which a run counts as learnt.
const pastBest = 3

// A suggestion is advice on what to do next: a command line and what it does, or a sentence. With both, the
// sentence stands for the command where the command would be too long.
type suggestion struct{ line, does, words string }

func (s suggestion) String() string { return cmp.Or(s.words, s.line+" "+s.does) }

// again returns the command line of the run with another number of steps, for a new folder.
func (r *runner) again(steps int) string {
	words := []string{"rbmtrain"}
	flags := r.plan.given()
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if slices.Contains([]string{"steps", "epochs", "out", "force"}, name) || name == "eval-every" && !r.plan.flags.Given(name) {
			continue
		}
		value := flags[name]
		if strings.ContainsAny(value, " \t\n'\"\\$*?[]{}()<>|&;#~!`") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, "-"+name+"="+value)
	}
	return strings.Join(append(words, fmt.Sprintf("-steps=%d", steps)), " ")
}

func (r *runner) suggestions() []suggestion {
	set := r.plan.sets.Train
	look := "look at its " + rundir.SamplesFile
	if r.samples.missing != "" {
		look = "look at its " + rundir.FiltersFile
	}
	switch {
	case r.plan.opts.pictures == "none" || !set.IsPicture():
		look = "look at its " + rundir.ReportFile
	case r.plan.measures():
		look += " and " + rundir.CurvesFile
	}
	all := []suggestion{{words: look}}
	model := r.folder.Dir
	if file := r.bestFile(); file != rundir.ModelFile {
		model = r.folder.Path(file)
	}
	_, known := r.last.Value("log_likelihood_train")
	if discriminative(r.plan.settings) {
		all = append(all, suggestion{line: fmt.Sprintf("rbmeval -model %s -classify", model), does: "scores it"})
	} else if !known && r.plan.model.Constraint == nil {
		all = append(all, suggestion{line: "rbmeval -model " + model, does: "estimates the log-likelihood"})
	}
	switch steps, memorised := 2*r.trainer.Steps(), r.memorised(); {
	case memorised != "":
		all = append(all, suggestion{words: memorised})
	case r.stopped || steps > train.MaxSteps || len(r.standing) > 0 || r.learnt() || r.level() || r.plan.opts.tuned.chose(): // trials chose the length
	case train.Ends(r.plan.settings.Schedule):
		s := suggestion{r.again(steps), "trains for longer, in a new run", fmt.Sprintf("a new run with -steps %d trains for longer", steps)}
		if _, known := train.TrueLikelihood(set, r.plan.model.Classes() > 0); !known && r.plan.sets.Test == nil && r.plan.sets.Holdout == nil {
			s.words += "; with -holdout 0.1 it says whether it overfits"
		}
		all = append(all, s)
	default:
		all = append(all, suggestion{line: fmt.Sprintf("rbmtrain -resume %s -steps %d", r.folder.Dir, steps), does: "continues"})
	}
	return all
}
