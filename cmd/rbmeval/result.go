package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"gorbm/cmd/cli"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// jsonResult is the object that -json prints.
type jsonResult struct {
	Model      string   `json:"model"`
	Data       string   `json:"data"`
	Binarize   string   `json:"binarize"`
	N          int      `json:"n"`
	Constraint string   `json:"constraint,omitempty"`
	FreeEnergy *float64 `json:"free_energy,omitempty"`
	logZResult
	MeanLogLikelihood *float64     `json:"mean_log_likelihood,omitempty"`
	UpperBound        *float64     `json:"mean_log_likelihood_upper_bound,omitempty"` // where no estimate will do
	LawLogLikelihood  *float64     `json:"law_log_likelihood,omitempty"`
	PseudoLikelihood  *float64     `json:"pseudo_likelihood,omitempty"`
	Classification    *labelResult `json:"classification,omitempty"`
	Features          string       `json:"features,omitempty"` // which means -features wrote
}

// A labelResult is what -json prints of p(y|x).
type labelResult struct {
	train.Score
	NLL         float64            `json:"negative_log_likelihood"` // mean −log p(y|x), nats
	Calibration *train.Calibration `json:"calibration,omitempty"`
}

// print prints the scores of p(y|x).
func (c labelResult) print(w io.Writer) {
	fmt.Fprintf(w, "%-26s %.3f %% of %d rows\n", "classification error", 100*c.Error, c.N)
	fmt.Fprintf(w, "%-26s %.6f\n", "mean log p(y|x)", c.MeanLogP)
	k := c.Calibration
	if k == nil {
		return
	}
	fmt.Fprintf(w, "%-26s %.4f (ECE, %d bins)\n", "calibration error", k.ECE, k.Bins)
	bound := ""
	if k.AtBound() {
		bound = ", at the bound of what is tried"
	}
	fmt.Fprintf(w, "%-26s %.4g (T of p(y|x)^(1/T), fitted on %s%s)\n", "calibration temperature", k.Temperature, cli.Count(k.Fitted, "row"), bound)
	fmt.Fprintf(w, "%-26s mean log p(y|x) %.6f, ECE %.4f; without it %.6f, %.4f\n", fmt.Sprintf("  on the other %d rows", k.N), -k.After.NLL, k.After.ECE, -k.Before.NLL, k.Before.ECE)
}

// calibrationKey chooses the half of the rows on which the temperature is fitted: of
// as many rows always the same.
var calibrationKey = rbm.NewKey(0)

func (e *evaluation) result() (jsonResult, error) {
	r := jsonResult{Model: e.model.Path, Data: e.set.Name, Binarize: e.set.Binarize, N: e.n, Features: e.featuresLaw(), logZResult: e.logZEstimates.result()}
	if e.m.Constraint != nil {
		r.Constraint = e.m.Constraint.String()
	}
	bad := false
	set := func(dst **float64, x float64) {
		bad = bad || cli.Finite(x) == nil
		*dst = &x
	}
	if e.likely() {
		set(&r.FreeEnergy, train.Mean(e.free))
		r.MeanLogLikelihood, r.UpperBound = e.logLikelihood(train.Mean(e.free))
	}
	if law, ok := train.LawLikelihood(e.set, e.labelled()); ok && e.by != "" {
		set(&r.LawLogLikelihood, law)
	}
	if e.pl {
		set(&r.PseudoLikelihood, train.Mean(e.pseudo))
	}
	if e.classify {
		s := labelResult{Score: train.ScoreRows(e.logp, e.set.Y)}
		bad = bad || cli.Finite(s.MeanLogP) == nil
		s.NLL = -s.MeanLogP
		if c, ok := train.Calibrate(e.logp, e.set.Y, calibrationKey); ok && !bad {
			s.Calibration = &c
		}
		r.Classification = &s
	}
	if bad {
		return r, errNotFinite
	}
	return r, nil
}

func (e *evaluation) print() error {
	r, err := e.result()
	if err != nil {
		return err
	}
	err = e.flags.Print(r, func(w io.Writer) error { return e.describe(r, w) })
	e.flags.Warn(r.Warnings...)
	return err
}

// describe prints what -json puts into an object.
func (e *evaluation) describe(r jsonResult, w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n%s: %d rows (%s)\n", r.Model, cli.Units(e.m), r.Data, r.N, r.Binarize)
	line := func(what string, x *float64) {
		if x != nil {
			fmt.Fprintf(w, "%-26s %.6f\n", what, *x)
		}
	}
	line("mean free energy", r.FreeEnergy)
	r.logZResult.print(w)
	e.printLikelihood(r, w)
	line("  of the data's own law", r.LawLogLikelihood)
	line("mean pseudo-log-likelihood", r.PseudoLikelihood)
	if c := r.Classification; c != nil {
		c.print(w)
	}
	if !e.likely() {
		fmt.Fprintln(w, "no likelihood: rows without labels have none under bernoulli labels")
	} else if enum, err := exact.New(e.m, exact.EvaluationLimit); err == nil && e.auto && !e.exact {
		fmt.Fprintf(w, "%d states were not enumerated unasked; -exact does\n", enum.States())
	} else if err != nil && constrainsAll(e.m) {
		fmt.Fprintf(w, "no log-likelihood: the constraint %v leaves too many states to enumerate, and estimates take Gibbs steps, which cannot keep it\n", e.m.Constraint)
	}
	if e.auto && e.rows != "" && !e.asked() && e.likely() && !constrainsAll(e.m) {
		fmt.Fprintln(w, "log Z is not estimated for -rows unasked; -bennett does")
	}
	if e.rows != "" {
		fmt.Fprintf(w, "rows written to %s\n", e.rows)
	}
	if e.features != "" {
		fmt.Fprintf(w, "features %s written to %s\n", r.Features, e.features)
	}
	if e.ladder != "" {
		fmt.Fprintf(w, "ladder drawn in %s\n", e.ladder)
	}
	return nil
}

// printLikelihood prints the mean log-likelihood: exact, or the best estimate
// with those of the other methods, or an upper bound.
func (e *evaluation) printLikelihood(r jsonResult, w io.Writer) {
	what := "mean " + e.likelihoodName()
	switch free := train.Mean(e.free); {
	case e.by == byExact:
		fmt.Fprintf(w, "%-26s %.6f\n", what, *r.MeanLogLikelihood)
	case e.by != "":
		mark := func(m logz.Method) string {
			if e.Doubtful(m) {
				return doubtful
			}
			return ""
		}
		fmt.Fprintf(w, "%-26s %s by %s%s", what, cli.PlusMinus(*r.MeanLogLikelihood, e.stdErr, 3), methods[e.by], mark(e.by))
		for _, m := range estimators {
			if x, _ := e.By(m); m != e.by && !math.IsNaN(x) {
				fmt.Fprintf(w, "; %.3f by %s%s", -free-x, methods[m], mark(m))
			}
		}
		fmt.Fprintln(w)
	case r.UpperBound != nil:
		fmt.Fprintf(w, "%-26s at most %.3f, by the lower bound of log Z\n", what, *r.UpperBound)
	case e.asked():
		fmt.Fprintf(w, "no %s: no estimate of log Z has a number\n", what)
	}
}

// rowLines returns the table of -rows, a line for each row.
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
		columns = append(columns, column{"log_likelihood", func(p *scored, r int) string { return number(-p.free[r] - e.logZ) }})
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
	lines := [][]string{{"row"}}
	for _, c := range columns {
		lines[0] = append(lines[0], c.name)
	}
	e.inOrder(func(row int, p *scored, r int) {
		line := []string{strconv.Itoa(row)}
		for _, c := range columns {
			line = append(line, c.value(p, r))
		}
		lines = append(lines, line)
	})
	return lines
}
