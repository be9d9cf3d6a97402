package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

// A row is a row of the paper's table of test errors on MNIST.
type row struct {
	name      string
	hidden    string  // number of hidden units
	published float64 // test error in percent
	flags     string  // flags of rbmtrain, in addition to those of all rows
	seeds     int
}

var rows = []row{
	{"joint", "6000", 3.39, "-hidden 6000 -negphase cd -batch 10 -rate 0.05 -schedule linear -steps 120000", 1},
	{"discriminative", "500", 1.81, "-hidden 500 -objective discriminative -batch 10 -rate 0.3 -schedule constant -average 0.9998 -steps 150000", 3},
	{"hybrid", "1500", 1.28, "-hidden 1500 -objective hybrid -alpha 0.01 -negphase cd -batch 10 -rate 0.5 -schedule linear -steps 400000", 1},
	{"sparse hybrid", "3000", 1.16, "-hidden 3000 -objective hybrid -alpha 0.01 -sparse 1e-05 -negphase cd -batch 10 -rate 0.4 -schedule constant -average 0.9998 -steps 150000", 1},
}

// byTime has the indices of the rows, the fastest run first.
var byTime = []int{1, 2, 3, 0}

// Curves and panels of the figure.
const (
	published = "published"
	here      = "here"
	heldOut   = "here, rows held out"

	errorPanel       = "error"
	rowsPanel        = "test rows"
	nllPanel         = "negative log-likelihood"
	ecePanel         = "calibration error"
	temperaturePanel = "temperature"
	timePanel        = "processor seconds"
	stepPanel        = "best step"
	stepsPanel       = "steps"
)

func mnist(p *program.Runs) claims.Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return claims.Figure{
		Name:  "mnist",
		Title: "test errors on MNIST by objective",
		Says:  "test errors of 3.39 % (joint), 1.81 % (discriminative), 1.28 % (hybrid) and 1.16 % (sparse hybrid): the discriminative part and sparsity both help.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for _, at := range byTime {
				r := rows[at]
				for seed := 1; seed <= o.Seeds(1, r.seeds); seed++ {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", r.name, seed),
						Run:  func(ctx context.Context) ([]claims.Point, error) { return measure(ctx, p, at, seed, o.Quick) },
					})
				}
			}
			return jobs
		},
		Claims: mnistClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: errorPanel, Title: "classification error", Y: "%", Words: names},
				{Name: timePanel, Title: "processor time of training and measuring", Y: "seconds", LogY: true, Words: names},
			}, []string{published, here, heldOut})
		},
		Finding: func(t *claims.Table) string {
			var parts []string
			for at, r := range rows {
				if mean, _, _, ok := tested(t, at); ok {
					parts = append(parts, fmt.Sprintf("%.2f %% (%s)", mean, r.name))
				}
			}
			return "Test errors of " + strings.Join(parts, ", ") + ", in the order of the paper. No error is above the published one by more than three standard errors of the test rows."
		},
		Notes: mnistNotes,
	}
}

// tested returns the mean error of a row over its seeds, in percent, the standard error of the
// error of one seed for this number of test rows, and the number of seeds. ok is false if there
// is no run of the row.
func tested(t *claims.Table, at int) (mean, stdErr float64, seeds int, ok bool) {
	errors := t.At(errorPanel, here, float64(at))
	if len(errors) == 0 {
		return 0, 0, 0, false
	}
	mean, _ = errors.Average()
	n, _ := t.At(rowsPanel, here, float64(at)).Average()
	q := mean / 100
	return mean, 100 * math.Sqrt(q*(1-q)/n), len(errors), true
}

// mnistClaims compares the error of each row, and the order of the rows, with the paper's.
// All seeds have the same test rows, so that more seeds do not reduce the standard error due to
// these rows.
func mnistClaims(t *claims.Table) (all []claims.Claim) {
	for at, r := range rows {
		mean, stdErr, seeds, ok := tested(t, at)
		if !ok {
			continue
		}
		away := (mean - r.published) / stdErr
		verdict := "so not above it"
		switch {
		case away > claims.Errors:
			verdict = "so above it, by more than three"
		case away > 0:
			verdict = "so above it, by at most three"
		}
		c := claims.Holds(
			fmt.Sprintf("%s, %s hidden units: the test error is at most the published %.2f %%", r.name, r.hidden, r.published),
			mean <= r.published, away, "%.2f ± %.2f %%, mean of %s: the published error plus %.2g standard errors of the test rows, %s", mean, stdErr, count(seeds), away, verdict)
		if away <= claims.Errors {
			c = c.Unsettled()
		}
		all = append(all, c)
	}
	for at := 1; at < len(rows); at++ {
		a, sa, _, okA := tested(t, at-1)
		b, sb, _, okB := tested(t, at)
		if !okA || !okB {
			continue
		}
		z := (a - b) / math.Hypot(sa, sb)
		all = append(all, claims.Holds(fmt.Sprintf("%s has a smaller error than %s", rows[at].name, rows[at-1].name), a > b, z,
			"%.2f %% against %.2f %%: a difference of %.2g standard errors of two independent sets of test rows", b, a, z))
	}
	return all
}

func count(seeds int) string {
	if seeds == 1 {
		return "one seed"
	}
	return fmt.Sprintf("%d seeds", seeds)
}

// mnistNotes returns the numbers as a table, with the flags of each row.
func mnistNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("± is the standard error for this number of test rows. −log p(y given x) is the mean over the test rows, in nats. The calibration error is the expected calibration error in 15 bins on one half of the test rows, after a temperature was fitted on the other half. Seconds are processor time, including all measurements during the run; for the joint and the hybrid run they are wall-clock time, on a core that other programs used too.\n\n" +
		"| objective | hidden | seed | published | test error | error held out | −log p(y given x) | calibration error | temperature | seconds | best step |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for at, r := range rows {
		for seed := 1; seed <= r.seeds; seed++ {
			x := func(panel, curve string) float64 { return t.At(panel, curve, float64(at))[seed] }
			n := x(rowsPanel, here)
			if n == 0 {
				continue
			}
			e := x(errorPanel, here)
			fmt.Fprintf(&b, "| %s | %s | %d | %.2f %% | %.2f ± %.2f %% | %.2f %% | %.4f | %.2f %% | %.2f | %.0f | %.0f of %.0f |\n", r.name, r.hidden, seed, r.published,
				e, 100*math.Sqrt(e/100*(1-e/100)/n), x(errorPanel, heldOut), x(nllPanel, here), x(ecePanel, here), x(temperaturePanel, here), x(timePanel, here), x(stepPanel, here), x(stepsPanel, here))
		}
	}
	fmt.Fprintf(&b, "\nAll rows have the flags `%s %s`. Each row also has:\n\n", common, always)
	for _, r := range rows {
		fmt.Fprintf(&b, "- %s: `%s`\n", r.name, r.flags)
	}
	return b.String()
}
