package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gorbm/cmd/cli"
)

// records returns the results of each snapshot.
func (h *history) records() (all []cli.Record) {
	number := func(sign string, x float64) string {
		if !cli.Finite(x) {
			return "–"
		}
		return fmt.Sprintf("%s%.3f", sign, x)
	}
	doubtful := slices.ContainsFunc(h.snapshots, func(s snapshot) bool { return len(s.Warnings) > 0 })
	for _, s := range h.snapshots {
		logZ, stdErr, by, above, below := s.logZ, s.stdErr, methods[s.by], "", ""
		if s.by == "" || s.by == byExact {
			stdErr = math.NaN()
		}
		if s.by == "" {
			logZ = math.NaN()
			if cli.Finite(s.LowerBound) {
				logZ, by, above, below = s.LowerBound, "bound", "≥ ", "≤ "
			}
		}
		var rec, bounds cli.Record
		rec.Show("step", "step", s.Step, strconv.Itoa(s.Step))
		rec.Say("log Z", number(above, logZ))
		rec.Say("±", number("", stdErr))
		rec.Say("by", by)
		for i, part := range []string{"train", "test"}[:len(h.parts)] {
			mean, bound := math.NaN(), math.NaN()
			if i < len(s.free) {
				mean, bound = s.logLikelihood(s.free[i])
			}
			shown := mean
			if !cli.Finite(mean) {
				shown = bound
			}
			rec.Show("log_likelihood_"+part, part, cli.Known(mean), number(below, shown))
			bounds.Add("log_likelihood_"+part+"_upper_bound", cli.Known(bound)) // if there is no estimate
		}
		if doubtful {
			rec.Say("", map[bool]string{true: "!"}[len(s.Warnings) > 0])
		}
		rec = append(rec, bounds...)
		for _, f := range s.record() { // JSON has all methods, the table only the best
			if f.Key != "" {
				rec.Add(f.Key, f.Value)
			}
		}
		all = append(all, rec)
	}
	return all
}

// report prints the result and writes the files of -out.
func (h *history) report() error {
	all, p := h.records(), h.parts[0]
	if h.out != "" {
		if err := h.write(all); err != nil {
			return err
		}
	}
	var r cli.Record
	r.Add("run", h.run)
	r.Add("data", p.set.Name)
	r.Add("binarize", p.set.Binarize)
	r.Add("n_train", p.n)
	r.Add("n_test", h.testRows())
	if c := p.m.Constraint; c != nil {
		r.Add("constraint", c.String())
	}
	r.Add("snapshots", all)
	if err := h.flags.Print(r, func(w io.Writer) error { return h.print(w, all) }); err != nil {
		return err
	}
	doubtful, last := 0, ""
	for _, s := range h.snapshots {
		switch {
		case len(s.free) == 0:
			h.flags.Warn(fmt.Sprintf("step %d is shown without numbers: %s", s.Step, cli.Sentence(s.Warnings[0])))
		case len(s.Warnings) > 0:
			doubtful++
			last = fmt.Sprintf("of step %d: %s", s.Step, cli.Sentence(s.Warnings[0]))
		}
	}
	if doubtful > 0 {
		h.flags.Warn(fmt.Sprintf("the estimates of %d snapshots, marked by !, are doubtful; -json and -out have the reason for each; %s", doubtful, last))
	}
	return nil
}

func (h *history) testRows() int {
	if len(h.parts) < 2 {
		return 0
	}
	return h.parts[1].n
}

// print prints the results as a table.
func (h *history) print(w io.Writer, all []cli.Record) error {
	p := h.parts[0]
	fmt.Fprintf(w, "%s: %s\n%s: %d training rows", h.run, cli.Units(p.m), p.set.Name, p.n)
	if len(h.parts) > 1 {
		fmt.Fprintf(w, ", %d test rows", h.testRows())
	}
	fmt.Fprintf(w, " (%s); mean %s in nats%s\n", p.set.Binarize, p.likelihoodName(), weighted(p.set))
	err := cli.PrintTable(w, cli.Table(all), false)
	if h.out != "" {
		fmt.Fprintf(w, "likelihood written to %s\n", h.out)
	}
	return err
}

// write writes the table and the picture of -out, or one of them if -out names a .csv or
// a picture.
func (h *history) write(all []cli.Record) error {
	columns := []string{"step", "log_likelihood_train", "log_likelihood_test", "log_z", "log_z_by", "log_z_std_err", "log_z_lower_bound"}
	for _, name := range []string{"ais", "reverse_ais", "bennett"} {
		columns = append(columns, name+"="+name+".log_z", name+"_std_err="+name+".std_err", name+"_ess="+name+".ess")
	}
	columns = append(columns, "bennett_overlap=bennett.overlap", "round_trips=bennett.round_trips", "warnings")
	return writeResults(h.out, "likelihood", cli.WriteCSV(cli.Columns(all, 12, columns...)), h.picture(), "-out: no snapshot after step 0 has a likelihood, so there is nothing to draw")
}
