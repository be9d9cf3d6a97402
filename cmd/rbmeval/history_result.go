package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/rbm/atomicfile"
)

// historyResult is the object that -json prints.
type historyResult struct {
	Run      string `json:"run"`
	Data     string `json:"data"`
	Binarize string `json:"binarize"`
	NTrain   int    `json:"n_train"`
	NTest    int    `json:"n_test"`

	Constraint string           `json:"constraint,omitempty"`
	Snapshots  []snapshotResult `json:"snapshots"`
}

type snapshotResult struct {
	Step       int      `json:"step"`
	Train      *float64 `json:"log_likelihood_train,omitempty"`
	Test       *float64 `json:"log_likelihood_test,omitempty"`
	TrainBound *float64 `json:"log_likelihood_train_upper_bound,omitempty"` // where no estimate will do
	TestBound  *float64 `json:"log_likelihood_test_upper_bound,omitempty"`
	logZResult
}

func (h *history) result() historyResult {
	p := h.parts[0]
	r := historyResult{Run: h.run, Data: p.set.Name, Binarize: p.set.Binarize, NTrain: p.n}
	if c := p.m.Constraint; c != nil {
		r.Constraint = c.String()
	}
	if len(h.parts) > 1 {
		r.NTest = h.parts[1].n
	}
	for _, s := range h.snapshots {
		one := snapshotResult{Step: s.Step, logZResult: s.logZEstimates.result()}
		if len(s.free) > 0 {
			one.Train, one.TrainBound = s.logLikelihood(s.free[0])
		}
		if len(s.free) > 1 {
			one.Test, one.TestBound = s.logLikelihood(s.free[1])
		}
		r.Snapshots = append(r.Snapshots, one)
	}
	return r
}

// report prints the result and writes the files of -out.
func (h *history) report() error {
	r := h.result()
	if h.out != "" {
		if err := h.write(r); err != nil {
			return err
		}
	}
	if err := h.flags.Print(r, func(w io.Writer) error { return h.print(r, w) }); err != nil {
		return err
	}
	doubtful, last := 0, ""
	for _, s := range h.snapshots {
		switch {
		case len(s.free) == 0:
			h.flags.Warn(fmt.Sprintf("step %d is shown without numbers: %s", s.Step, s.Warnings[0]))
		case len(s.Warnings) > 0:
			doubtful++
			last = fmt.Sprintf("of step %d: %s", s.Step, s.Warnings[0])
		}
	}
	if doubtful > 0 {
		h.flags.Warn(fmt.Sprintf("the estimates of %d snapshots, marked by !, are doubtful, as -json and -out tell of each; %s", doubtful, last))
	}
	return nil
}

// print prints the table.
func (h *history) print(r historyResult, w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n%s: %d training rows", r.Run, cli.Units(h.parts[0].m), r.Data, r.NTrain)
	if r.NTest > 0 {
		fmt.Fprintf(w, ", %d test rows", r.NTest)
	}
	fmt.Fprintf(w, " (%s); mean %s in nats\n%9s  %12s  %7s  %-15s  %10s", r.Binarize, h.parts[0].likelihoodName(), "step", "log Z", "±", "by", "train")
	if r.NTest > 0 {
		fmt.Fprintf(w, "  %10s", "test")
	}
	fmt.Fprintln(w)
	number := func(sign string, x *float64, width int) string {
		if x == nil {
			return fmt.Sprintf("%*s", width, "–")
		}
		return fmt.Sprintf("%*s", width, fmt.Sprintf("%s%.3f", sign, *x))
	}
	for _, s := range r.Snapshots {
		logZ, by, above, below, likelihoods := s.LogZ, methods[s.LogZBy], "", "", []*float64{s.Train, s.Test}
		if logZ == nil && s.LowerBound != nil {
			logZ, by, above, below, likelihoods = s.LowerBound, "bound", "≥ ", "≤ ", []*float64{s.TrainBound, s.TestBound}
		}
		fmt.Fprintf(w, "%9d  %s  %s  %-15s", s.Step, number(above, logZ, 12), number("", s.LogZStdErr, 7), by)
		for part := range h.parts {
			fmt.Fprintf(w, "  %s", number(below, likelihoods[part], 10))
		}
		if len(s.Warnings) > 0 {
			fmt.Fprint(w, "  !")
		}
		fmt.Fprintln(w)
	}
	if h.out != "" {
		fmt.Fprintf(w, "likelihood written to %s\n", h.out)
	}
	return nil
}

// write makes the folder of -out, or the picture or the table alone if -out
// is named as one.
func (h *history) write(r historyResult) error {
	table, picture := cli.WriteCSV(r.lines()), h.picture()
	ending := strings.ToLower(filepath.Ext(h.out))
	switch {
	case ending == ".csv":
		return atomicfile.Write(h.out, table)
	case slices.Contains(cli.Pictures, ending):
		if picture == nil {
			return fmt.Errorf("-out: no snapshot after step 0 has a likelihood, so there is nothing to draw")
		}
		return cli.WritePicture(h.out, picture)
	}
	if err := os.Mkdir(h.out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(h.out, "likelihood.csv"), table); err != nil || picture == nil {
		return err
	}
	return cli.WritePicture(filepath.Join(h.out, "likelihood.png"), picture)
}

// lines returns the table of -out, a line for each snapshot. What was not found
// is empty.
func (r historyResult) lines() [][]string {
	lines := [][]string{{"step", "log_likelihood_train", "log_likelihood_test", "log_z", "log_z_by", "log_z_std_err", "log_z_lower_bound",
		"ais", "ais_std_err", "ais_ess", "reverse_ais", "reverse_ais_std_err", "reverse_ais_ess", "bennett", "bennett_std_err", "bennett_ess", "bennett_overlap", "round_trips", "warnings"}}
	maybe := func(x *float64) string {
		if x == nil {
			return ""
		}
		return cli.Field(*x, 12)
	}
	for _, s := range r.Snapshots {
		line := []string{strconv.Itoa(s.Step), maybe(s.Train), maybe(s.Test), maybe(s.LogZ), string(s.LogZBy), maybe(s.LogZStdErr), maybe(s.LowerBound)}
		for _, a := range []*estimateResult{s.AIS, s.ReverseAIS, s.Bennett} {
			if a == nil {
				a = new(estimateResult)
			}
			line = append(line, maybe(a.LogZ), maybe(a.StdErr), maybe(a.ESS))
		}
		overlap, trips := "", ""
		if b := s.Bennett; b != nil {
			overlap, trips = maybe(b.Overlap), strconv.FormatInt(*b.RoundTrips, 10)
		}
		lines = append(lines, append(line, overlap, trips, strings.Join(s.Warnings, "; ")))
	}
	return lines
}
