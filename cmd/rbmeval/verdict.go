package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"gorbm/cmd/cli"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/train"
)

// A verdict is what a model comes to on its rows.
type verdict struct {
	partition
	free   []float64 // F of each row
	pseudo []float64
	logp   []float64 // log p(y|x), rows × classes
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

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
	Classification    *train.Score `json:"classification,omitempty"`
	Features          string       `json:"features,omitempty"` // which means -features wrote
}

func (v *verdict) result(j *judge) (jsonResult, error) {
	r := jsonResult{Model: j.model.Path, Data: j.set.Name, Binarize: j.set.Binarize, N: j.n, Features: j.featuresLaw()}
	if j.m.Constraint != nil {
		r.Constraint = j.m.Constraint.String()
	}
	bad := false
	set := func(dst **float64, x float64) {
		bad = bad || math.IsNaN(x) || math.IsInf(x, 0)
		*dst = &x
	}
	if j.likely() {
		set(&r.FreeEnergy, mean(v.free))
	}
	if v.by != "" {
		set(&r.MeanLogLikelihood, -mean(v.free)-v.logZ)
		if law, ok := train.LawLikelihood(j.set, j.labelled()); ok {
			set(&r.LawLogLikelihood, law)
		}
	} else if !math.IsInf(v.LowerBound, 0) {
		set(&r.UpperBound, -mean(v.free)-v.LowerBound)
	}
	if j.pl {
		set(&r.PseudoLikelihood, mean(v.pseudo))
	}
	if j.classify {
		s := train.ScoreRows(v.logp, j.set.Y)
		bad = bad || math.IsNaN(s.MeanLogP)
		r.Classification = &s
	}
	if bad {
		return r, errNotFinite
	}
	var err error
	r.logZResult, err = v.partition.result()
	return r, err
}

func (v *verdict) print(j *judge, w io.Writer) error {
	r, err := v.result(j)
	if err != nil {
		return err
	}
	if !j.json {
		v.describe(r, j, w)
	} else if err := json.NewEncoder(w).Encode(r); err != nil {
		return err
	}
	for _, warning := range v.Warnings {
		fmt.Fprintf(j.stderr, "rbmeval: warning: %s\n", warning)
	}
	return nil
}

// describe prints what -json puts into an object.
func (v *verdict) describe(r jsonResult, j *judge, w io.Writer) {
	fmt.Fprintf(w, "%s: %d inputs", r.Model, j.m.Inputs())
	if j.m.Classes() > 0 {
		fmt.Fprintf(w, " + %d %s labels", j.m.Classes(), j.m.LabelKind())
	}
	fmt.Fprintf(w, ", %d hidden units%s\n%s: %d rows (%s)\n", j.m.Hidden(), cli.Constrained(j.m), r.Data, r.N, r.Binarize)
	line := func(what string, x *float64) {
		if x != nil {
			fmt.Fprintf(w, "%-26s %.6f\n", what, *x)
		}
	}
	line("mean free energy", r.FreeEnergy)
	v.partition.print(w)
	v.printLikelihood(r, j, w)
	line("  of the data's own law", r.LawLogLikelihood)
	line("mean pseudo-log-likelihood", r.PseudoLikelihood)
	if c := r.Classification; c != nil {
		fmt.Fprintf(w, "%-26s %.3f %% of %d rows\n", "classification error", 100*c.Error, c.N)
		line("mean log p(y|x)", &c.MeanLogP)
	}
	if !j.likely() {
		fmt.Fprintln(w, "no likelihood: rows without labels have none under bernoulli labels")
	} else if enum, err := rbm.NewEnumeration(j.m, rbm.EvaluationLimit); err == nil && j.auto && !j.exact {
		fmt.Fprintf(w, "%d states were not enumerated unasked; -exact does\n", enum.States())
	} else if err != nil && j.shell() {
		fmt.Fprintf(w, "no log-likelihood: the constraint %v leaves too many states to enumerate, and estimates take Gibbs steps, which cannot keep it\n", j.m.Constraint)
	}
	if j.rows != "" {
		fmt.Fprintf(w, "rows written to %s\n", j.rows)
	}
	if j.features != "" {
		fmt.Fprintf(w, "features %s written to %s\n", r.Features, j.features)
	}
	if j.ladder != "" {
		fmt.Fprintf(w, "ladder drawn in %s\n", j.ladder)
	}
}

// printLikelihood prints the mean log-likelihood: of an estimate how it was
// found, and what the bracket of log Z leaves of it.
func (v *verdict) printLikelihood(r jsonResult, j *judge, w io.Writer) {
	what := "mean log-likelihood"
	if j.v.IsGrey() {
		what = "mean score −F − log Z"
	}
	switch free := mean(v.free); {
	case v.by == byExact:
		fmt.Fprintf(w, "%-26s %.6f\n", what, -free-v.logZ)
	case v.by != "":
		fmt.Fprintf(w, "%-26s %s by %s", what, plusMinus(-free-v.logZ, v.stdErr), methods[v.by])
		for _, m := range []logz.Method{logz.ByAIS, logz.ByReverse, logz.ByBennett} {
			if x, _ := v.By(m); string(m) != v.by && !math.IsNaN(x) {
				fmt.Fprintf(w, "; %.3f by %s", -free-x, methods[string(m)])
			}
		}
		fmt.Fprintln(w)
	case r.UpperBound != nil:
		fmt.Fprintf(w, "%-26s at most %.3f, by the lower bound of log Z\n", what, *r.UpperBound)
	case j.asked():
		fmt.Fprintf(w, "no %s: no estimate of log Z has a number\n", what)
	}
}

// writeRows writes the table of -rows.
func (v *verdict) writeRows(j *judge) error {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }
	name := func(y int) string {
		switch {
		case j.about.ClassNames != nil:
			return j.about.ClassNames[y]
		case j.set.Classes != nil:
			return j.set.Classes[y]
		}
		return strconv.Itoa(y)
	}
	header := []string{"row", "free_energy"}
	if v.by != "" {
		header = append(header, "log_likelihood")
	}
	if j.pl {
		header = append(header, "pseudo_log_likelihood")
	}
	if j.labelled() {
		header = append(header, "label")
	}
	if j.m.Classes() > 0 {
		header = append(header, "predicted")
		for y := range j.m.Classes() {
			header = append(header, "p_"+name(y))
		}
	}
	return rbm.ReplaceFile(j.rows, func(w io.Writer) error {
		table := csv.NewWriter(w)
		if err := table.Write(header); err != nil {
			return err
		}
		for r := range j.n {
			line := []string{strconv.Itoa(r), number(v.free[r])}
			if v.by != "" {
				line = append(line, number(-v.free[r]-v.logZ))
			}
			if j.pl {
				line = append(line, number(v.pseudo[r]))
			}
			if j.labelled() {
				line = append(line, name(int(j.set.Y[r])))
			}
			if c := j.m.Classes(); c > 0 {
				logp := v.logp[r*c : (r+1)*c]
				line = append(line, name(train.Likeliest(logp)))
				for _, lp := range logp {
					line = append(line, number(rbm.Exp(lp)))
				}
			}
			if err := table.Write(line); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	})
}
