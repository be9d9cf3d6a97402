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

// A trial is an estimator with settings that are tried for as long as all others.
type trial struct {
	estimator string
	size      int // of the batch and of the chains: 0 or 1
	flags     string
}

// sizes name the two batches and numbers of chains. The smaller ones come with rate
// 0.05, the larger ones with 0.1, as less noise bears a larger step.
var sizes = []string{"batch 20, rate 0.05", "batch 100, rate 0.1"}

const (
	small = "-batch 20 -rate 0.05"
	large = "-batch 100 -rate 0.1"
	// few is a short ladder for pins: on MNIST longer ones do worse at equal cost
	// (negphase/README.md).
	few = ":tau=auto/8:hottest=1.3"
)

// trials were to be of equal time, by the cost of an update of each.
var trials = []trial{
	{"pcd", 0, small + " -negphase pcd:chains=50 -steps 16000"},
	{"pcd", 1, large + " -negphase pcd:chains=300 -steps 4600"},
	{"pt", 0, small + " -negphase pt:chains=10:tau=reach/5 -steps 16000"},
	{"pt", 1, large + " -negphase pt:chains=60:tau=reach/5 -steps 5400"},
	{"ins", 0, small + " -negphase ins:chains=10:tau=reach/5 -steps 16500"},
	{"ins", 1, large + " -negphase ins:chains=60:tau=reach/5 -steps 4900"},
	{"pins", 0, small + " -negphase pins:chains=6" + few + " -steps 16500"},
	{"pins", 1, large + " -negphase pins:chains=37" + few + " -steps 4600"},
	{"ptt", 0, small + " -negphase ptt:chains=50 -steps 3000"},
	{"ptt", 1, large + " -negphase ptt:chains=100 -steps 2900"},
}

const searchFlags = "-binarize sample -redraw -holdout 10000 -metrics log_likelihood"

// Panels of the search. X is the size.
const (
	heldOutPanel = "log-likelihood held out"
	errorPanel   = "standard error"
	updatesPanel = "seconds of updates"
)

func (t trial) name() string { return fmt.Sprintf("search %s %d", t.estimator, t.size) }

func search(p *program.Runs) claims.Figure {
	return claims.Figure{
		Name:  "search",
		Ours:  true,
		Title: "each estimator with two sizes of batch and chains, for about half a minute",
		Says:  "which kind of chains, with which of two settings, reaches the best likelihood in the same short time?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for _, t := range trials {
				jobs = append(jobs, claims.Job{Name: t.name(), Run: func(ctx context.Context) ([]claims.Point, error) { return t.run(ctx, p, o.Quick) }})
			}
			return jobs
		},
		Claims: searchClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: heldOutPanel, Title: "rows held out", Y: "log-likelihood / nats", Words: sizes},
				{Name: updatesPanel, Title: "time of the updates", Y: "seconds", Words: sizes},
			}, estimators())
		},
		Notes: searchNotes,
	}
}

// estimators returns the names of the estimators that are tried.
func estimators() (names []string) {
	for _, t := range trials {
		if t.size == 0 {
			names = append(names, t.estimator)
		}
	}
	return names
}

// run trains, or goes on with the run, and returns the log-likelihood of the rows held
// out, by a ladder beside the run.
func (t trial) run(ctx context.Context, p *program.Runs, quick bool) ([]claims.Point, error) {
	folder, remove, err := p.Folder(t.name())
	if err != nil {
		return nil, err
	}
	defer remove()
	f := flags(searchFlags+" "+t.flags, 1, quick)
	f["eval-every"] = f["steps"]
	if quick {
		f["holdout"] = "50"
	}
	if _, err := p.Train(ctx, folder, f); err != nil {
		return nil, err
	}
	var points []claims.Point
	for _, c := range []struct{ panel, column string }{{heldOutPanel, "log_likelihood_holdout"}, {errorPanel, "log_likelihood_std_err"}, {updatesPanel, "seconds"}} {
		y, err := program.LastMeasured(folder, c.column)
		if err != nil && c.panel == errorPanel && quick { // log Z is exact
			continue
		}
		if err != nil {
			return nil, err
		}
		points = append(points, claims.Point{Panel: c.panel, Curve: t.estimator, Repeat: 1, X: float64(t.size), Y: y})
	}
	return points, nil
}

// best returns the trial of an estimator with the best likelihood; ok is false if none
// has one.
func best(t *claims.Table, estimator string) (b trial, likelihood float64, ok bool) {
	for _, x := range trials {
		if y, has := t.At(heldOutPanel, x.estimator, float64(x.size))[1]; x.estimator == estimator && has && !math.IsNaN(y) && (!ok || y > likelihood) {
			b, likelihood, ok = x, y, true
		}
	}
	return b, likelihood, ok
}

// searchClaims asks of each estimator whether it does better than pcd.
func searchClaims(t *claims.Table) (all []claims.Claim) {
	_, base, ok := best(t, "pcd")
	if !ok {
		return nil
	}
	for _, name := range estimators() {
		if b, y, ok := best(t, name); ok && name != "pcd" {
			e := t.At(errorPanel, name, float64(b.size))[1]
			all = append(all, claims.Holds(fmt.Sprintf("%s is better than pcd, each with the better of its settings", name), y > base, y-base,
				"%.2f ± %.2f against %.2f nats; one seed", y, e, base))
		}
	}
	return all
}

func searchNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("Log-likelihood of 10000 training rows held out, in nats; ± is the standard error of log Z. Seconds are those of the updates alone, by the clock. One seed. " +
		"The numbers of updates were to take equal times, by the cost of an update of each measured before; the last column has what they took beside other programs. " +
		"So short a search favours large rates and cheap updates; it was not repeated with longer runs.\n\n| estimator | settings | log-likelihood | seconds |\n| --- | --- | --- | --- |\n")
	for _, x := range trials {
		if y, ok := t.At(heldOutPanel, x.estimator, float64(x.size))[1]; ok && math.IsNaN(y) {
			fmt.Fprintf(&b, "| %s | `%s` | none: the ladder that measures it had not settled | %.0f |\n", x.estimator, x.flags, t.At(updatesPanel, x.estimator, float64(x.size))[1])
			continue
		}
		at := func(panel string) float64 { return t.At(panel, x.estimator, float64(x.size))[1] }
		if _, ok := t.At(heldOutPanel, x.estimator, float64(x.size))[1]; ok {
			fmt.Fprintf(&b, "| %s | `%s` | %.2f ± %.2f | %.0f |\n", x.estimator, x.flags, at(heldOutPanel), at(errorPanel), at(updatesPanel))
		}
	}
	fmt.Fprintf(&b, "\nBesides, all have `%s %s`.\n", common, searchFlags)
	return b.String()
}
