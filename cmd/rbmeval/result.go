package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// calibrationKey chooses the half of the rows on which the temperature is fitted. It is
// fixed, so that equal numbers of rows give the same half.
var calibrationKey = rbm.NewKey(0)

// record returns the results. The error is errNotFinite if a result is not finite.
func (e *evaluation) record() (rec cli.Record, err error) {
	number := func(key, label string, x float64) {
		if !cli.Finite(x) {
			err = errNotFinite
		}
		rec.Show(key, label, x, fmt.Sprintf("%.6f", x))
	}
	rec.Add("model", e.model.Path)
	rec.Add("data", e.set.Name)
	rec.Add("binarize", e.set.Binarize)
	rec.Add("n", e.n)
	if e.set.Weights != nil { // all means are weighted
		rec.Add("weights_sum", e.set.TotalWeight())
		rec.Add("equal_rows", e.set.EqualRows())
	}
	if e.m.Constraint != nil {
		rec.Add("constraint", e.m.Constraint.String())
	}
	if e.classify {
		s := train.ScoreRows(e.logp, e.set.Y, e.set.Weights)
		if !cli.Finite(s.MeanLogP) {
			err = errNotFinite
		}
		if err == nil {
			e.addScores(&rec, s)
		}
	}
	rec = append(rec, e.logZEstimates.record()...)
	if e.likely() {
		e.addLikelihood(&rec)
	}
	if truth, ok := train.TrueLikelihood(e.set, e.labelled()); ok && e.by != "" {
		number("true_log_likelihood", "  of the true distribution", truth)
	}
	if e.pl {
		number("pseudo_likelihood", "mean pseudo-log-likelihood", e.set.Mean(e.index, e.pseudo))
	}
	if e.likely() {
		number("free_energy", "mean free energy", e.set.Mean(e.index, e.free))
	}
	if s := e.sites; s != nil {
		text := func(s *train.SiteStatistics) string {
			return fmt.Sprintf("frequencies: Pearson %.4f, slope %.4f; of pairs: Pearson %.4f, slope %.4f; connected correlations of pairs: Pearson %.4f, slope %.4f", s.OnePearson, s.OneSlope, s.PairPearson, s.PairSlope, s.TwoPearson, s.TwoSlope)
		}
		rec.Show("samples", "samples against the rows", s, text(s))
		if s := e.trainingSites; s != nil {
			rec.Show("training_rows", "  training rows", s, text(s))
		} else if e.all == e.set {
			rec.Say("  training rows", "-test FILE compares them with test rows in the same way, which shows how much is noise")
		}
	}
	e.analysis.record(&rec)
	e.mutants.record(&rec)
	rec.AddSome("features", e.featuresName()) // formula of the means that -features wrote
	return rec, err
}

// shownClasses is the largest number of classes whose confusion matrix is printed.
const shownClasses = 20

// confusionText formats a confusion matrix, with the recall of each class at the end of its line.
func confusionText(c train.Confusion, names []string) string {
	cells := [][]string{append(append([]string{""}, names...), "recall")}
	for k, name := range names {
		line := []string{name}
		for _, w := range c.Rows[k*c.Classes : (k+1)*c.Classes] {
			line = append(line, strconv.FormatFloat(w, 'g', 6, 64))
		}
		recall := ""
		if r := c.Recall(k); !math.IsNaN(r) {
			recall = fmt.Sprintf("%.1f %%", 100*r)
		}
		cells = append(cells, append(line, recall))
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for j, cell := range line {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		b.WriteByte('\n')
		for j, cell := range line {
			fmt.Fprintf(&b, "  %*s", widths[j], cell)
		}
	}
	return b.String()
}

// addScores adds the classification scores s to rec.
func (e *evaluation) addScores(rec *cli.Record, s train.Score) {
	var c cli.Record
	c.Add("error", s.Error)
	c.Add("mean_log_p", s.MeanLogP)
	c.Add("n", s.N)
	confusion := train.Confuse(e.logp, e.set.Y, e.set.Weights, len(e.logp)/max(len(e.set.Y), 1))
	c.Add("balanced_error", confusion.BalancedError())
	never := []string{}
	for _, k := range confusion.Never() {
		never = append(never, e.set.Classes[k])
	}
	c.Add("never_predicted", never)
	c.Add("classes", e.set.Classes)
	matrix, recall := make([][]float64, confusion.Classes), make([]any, confusion.Classes)
	for k := range matrix {
		matrix[k] = confusion.Rows[k*confusion.Classes : (k+1)*confusion.Classes]
		recall[k] = cli.Known(confusion.Recall(k))
	}
	c.Add("confusion", matrix) // rows: true classes; columns: predicted ones; sums of weights
	c.Add("recall", recall)
	c.Add("negative_log_likelihood", -s.MeanLogP) // mean −log p(y|x), nats
	k, calibrated := train.Calibrate(e.logp, e.set.Y, e.set.Weights, calibrationKey)
	if calibrated {
		c.Add("calibration", k)
		c.AddSome("calibration_at_bound", k.AtBound())
	}
	rec.Show("classification", "classification error", c, fmt.Sprintf("%.3f %% of %s", 100*s.Error, cli.Count(s.N, "row")))
	if confusion.Unequal() {
		rec.Say("balanced error", fmt.Sprintf("%.3f %% (mean over the classes)", 100*confusion.BalancedError()))
	}
	if len(never) > 0 {
		rec.Say("never predicted", strings.Join(never, ", "))
	}
	if e.flags.Given("classify") && confusion.Classes <= shownClasses {
		rec.Say("confusion matrix", "lines: true classes; columns: predicted classes"+confusionText(confusion, e.set.Classes))
	}
	rec.Say("mean log p(y|x)", fmt.Sprintf("%.6f", s.MeanLogP))
	if !calibrated {
		return
	}
	rec.Say("calibration error", fmt.Sprintf("%.4f (ECE, %d bins)", k.ECE, k.Bins))
	if k.AtBound() {
		side := "rises"
		if k.Temperature < 1 {
			side = "falls"
		}
		rec.Say("calibration temperature", fmt.Sprintf("none (the likelihood of the %s of the fit grows as T %s, beyond %.4g)", cli.Count(k.Fitted, "row"), side, k.Temperature))
		return
	}
	rec.Say("calibration temperature", fmt.Sprintf("%.4g (T of p(y|x)^(1/T), fitted on %s)", k.Temperature, cli.Count(k.Fitted, "row")))
	rec.Say(fmt.Sprintf("  on the other %d rows", k.N), fmt.Sprintf("mean log p(y|x) %.6f, ECE %.4f; without it %.6f, %.4f", -k.After.NLL, k.After.ECE, -k.Before.NLL, k.Before.ECE))
}

// addLikelihood adds the mean log-likelihood to rec: the exact value, or the best estimate followed by the
// estimates of the other methods, or an upper bound.
func (e *evaluation) addLikelihood(rec *cli.Record) {
	what, free := "mean "+e.likelihoodName(), e.set.Mean(e.index, e.free)
	mean, bound := e.logLikelihood(free)
	switch {
	case e.by == byExact:
		rec.Show("mean_log_likelihood", what, mean, fmt.Sprintf("%.6f", mean))
		e.addPerSite(rec, mean)
	case e.by != "":
		mark := func(m logz.Method) string {
			switch {
			case e.Doubtful(m):
				return doubtful
			case e.Bound(m) && m == logz.ByAIS:
				return " (or less)"
			case e.Bound(m):
				return " (or more)"
			}
			return ""
		}
		text := fmt.Sprintf("%s by %s%s", cli.PlusMinus(mean, e.stdErr, 3), methods[e.by], mark(e.by))
		for _, m := range estimators {
			if x, _ := e.By(m); m != e.by && !math.IsNaN(x) {
				text += fmt.Sprintf("; %.3f by %s%s", -free-x, methods[m], mark(m))
			}
		}
		rec.Show("mean_log_likelihood", what, mean, text)
		e.addPerSite(rec, mean)
	case cli.Finite(bound):
		rec.Show("mean_log_likelihood_upper_bound", what, bound, fmt.Sprintf("at most %.3f, by the lower bound of log Z", bound))
	case e.asked():
		rec.Say("", fmt.Sprintf("no %s: no estimate of log Z has a number", what))
	}
}

// addPerSite adds the mean log-likelihood per site to rec, if the rows are sequences.
func (e *evaluation) addPerSite(rec *cli.Record, mean float64) {
	if s := e.set.Schema; s != nil && s.Alphabet != "" {
		x := mean / float64(len(s.Columns))
		rec.Show("log_likelihood_per_site", "  per site", x, fmt.Sprintf("%.4f (of uniform letters %.4f)", x, -math.Log(float64(len(s.Alphabet)))))
	}
}

// print prints the results, and lines on what was omitted and which files were written.
func (e *evaluation) print() error {
	rec, err := e.record()
	if err != nil {
		return err
	}
	if !e.likely() {
		rec.Say("", "no likelihood: with bernoulli labels, rows without labels have none")
	} else if enum, err := exact.New(e.m, exact.EvaluationLimit); err == nil && e.auto && !e.exact {
		rec.Say("", fmt.Sprintf("exact log Z was not computed, as it takes %d states; -exact computes it", enum.States()))
	} else if err != nil && e.m.Constraint.OnAll() {
		rec.Say("", fmt.Sprintf("no log-likelihood: the constraint %v leaves too many states to enumerate, and estimates take Gibbs steps, which cannot keep it", e.m.Constraint))
	}
	if e.auto && e.rows != "" && !e.asked() && e.likely() && !e.m.Constraint.OnAll() {
		rec.Say("", "log Z was not estimated, as there is -rows; -bennett estimates it")
	}
	if e.auto && e.gappy() && e.m.CheckSites() == nil {
		rec.Say("", "no pseudo-log-likelihood, as cells are missing: -pl sums them out for each known cell")
	}
	if e.rows != "" && !e.eachCell && e.set.Schema != nil && e.m.CheckSites() == nil && e.m.Constraint == nil {
		rec.Say("", "-cells adds log p of each cell to the file of -rows")
	}
	for _, file := range []struct{ path, what string }{{e.rows, "rows written to "}, {e.features, "features " + e.featuresName() + " written to "}, {e.ladder, "ladder drawn in "}, {e.analysis.files(), "written: "}, {e.out, "mutants written to "}} {
		if file.path != "" {
			rec.Say("", file.what+file.path)
		}
	}
	err = e.flags.Print(rec, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: %s\n%s: %s (%s)%s\n", e.model.Path, cli.Units(e.m), e.set.Name, cli.Count(e.n, "row"), e.set.Values(), weighted(e.set))
		rec.Print(w, 26)
		return nil
	})
	e.flags.Warn(cli.Sentences(e.Warnings)...)
	for _, x := range []*scored{&e.scored, e.bare} {
		if x != nil && x.gapDoubt() != "" {
			e.flags.Warn(x.gapDoubt())
		}
	}
	return err
}

// weighted returns the note that means over set are weighted, or "".
func weighted(set *data.Set) string {
	if weights := set.DescribeWeights(); weights != "" {
		return "; means are " + weights
	}
	return ""
}

// rowLines returns the lines of -rows, one for each row.
func (e *evaluation) rowLines() [][]string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }
	name := func(y int) string {
		switch {
		case e.about.ClassNames != nil:
			return e.about.ClassNames[y]
		case e.set.Classes != nil:
			return e.set.Classes[y]
		}
		return strconv.Itoa(y)
	}
	type column struct {
		name  string
		value func(p *scored, r int) string // "" if the row has none
	}
	classes := e.m.Classes()
	logp := func(p *scored, r int) []float64 { return p.logp[r*classes : (r+1)*classes] }
	columns := []column{{"free_energy", func(p *scored, r int) string { return number(p.free[r]) }}}
	if e.by != "" {
		what := "log_likelihood"
		if e.grey() {
			what = "score"
		}
		columns = append(columns, column{what, func(p *scored, r int) string { return number(-p.free[r] - e.logZ) }})
	}
	if e.pl {
		columns = append(columns, column{"pseudo_log_likelihood", func(p *scored, r int) string {
			if p.pseudo == nil {
				return ""
			}
			return number(p.pseudo[r])
		}})
	}
	if e.labelled() {
		columns = append(columns, column{"label", func(p *scored, r int) string {
			if !p.labelled() {
				return ""
			}
			return name(int(p.set.Y[r]))
		}})
	}
	if classes > 0 {
		columns = append(columns, column{"predicted", func(p *scored, r int) string { return name(train.Likeliest(logp(p, r))) }})
	}
	for y := range classes {
		columns = append(columns, column{"p_" + name(y), func(p *scored, r int) string { return number(rbm.Exp(logp(p, r)[y])) }})
	}
	if e.eachCell {
		for j, c := range e.set.Schema.Columns {
			columns = append(columns, column{"log_p(" + c.Name + ")", func(p *scored, r int) string {
				if p.cells == nil || math.IsNaN(p.cells[r][j]) {
					return ""
				}
				return number(p.cells[r][j])
			}})
		}
	}
	lines := [][]string{{"row"}}
	if e.set.RowNames != nil {
		lines[0] = []string{"name", "row"}
	}
	for _, c := range columns {
		lines[0] = append(lines[0], c.name)
	}
	e.inOrder(func(row int, p *scored, r int) {
		if p.set.Numbers != nil { // some rows of the file were left out
			row = int(p.set.Numbers[p.index[r]])
		}
		line := []string{strconv.Itoa(row)}
		if p.set.RowNames != nil {
			line = []string{p.set.RowNames[p.index[r]], line[0]}
		}
		for _, c := range columns {
			line = append(line, c.value(p, r))
		}
		lines = append(lines, line)
	})
	return lines
}
