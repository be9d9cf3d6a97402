package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/clock"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// An estimator is a curve with its settings.
type estimator struct{ name, settings string }

// estimators are those that race; the others are held against the first.
var estimators = []estimator{
	{"pcd", "pcd:chains=50"},
	{"cd", "cd:k=1"},
	{"pcd, as many chains as pt", "pcd:chains=100"},
	{"pt", "pt:chains=10:tau=auto"},
	{"pt, ladder of the paper", "pt:chains=10:tau=" + paperLadder},
	{"pins", "pins:chains=10:tau=auto"},
	{"jar", "jar:chains=50"},
	{"ptt", "ptt:chains=20"},
}

// paperLadder is the temperatures of Hult, Nyquist & Ringqvist (2020), section 4.2.5.
const paperLadder = "1/2/3/4/5"

func names() (all []string) {
	for _, e := range estimators {
		all = append(all, e.name)
	}
	return all
}

const (
	seconds        = 1.
	likelihoodRows = 1000
)

// budgets are the moments at which the log-likelihood is taken, as shares of the time.
var budgets = []float64{1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}

func race(name, title, says string, problems []problem, chart bool) claims.Figure {
	panels := func(t *claims.Table) (p []claims.Panel) {
		for _, d := range problems {
			if len(t.Curves(d.name)) > 0 {
				y := "nats below the law"
				if d.lawless {
					y = "−log-likelihood / nats"
				}
				p = append(p, claims.Panel{Name: d.name, Title: d.name, X: "s of updates", Y: y, LogX: true, Dots: true})
			}
		}
		return p
	}
	return claims.Figure{
		Name: name, Ours: true, Title: title, Says: says,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
				for _, d := range problems[:claims.Size(o, min(2, len(problems)), len(problems))] {
					for _, e := range estimators {
						jobs = append(jobs, claims.Job{
							Name: fmt.Sprintf("%s, %s, seed %d", d.name, e.name, repeat+1),
							Run: func(ctx context.Context) ([]claims.Point, error) {
								return d.train(ctx, e, uint64(repeat+1), claims.Size(o, 0.01, seconds))
							},
						})
					}
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			base := estimators[0].name
			for _, d := range problems {
				if len(t.Curves(d.name)) == 0 {
					continue
				}
				last := func(name string) claims.Repeats { return scores(t.Last(d.name, name)) }
				if !chart {
					for _, e := range estimators[1:] {
						all = append(all, claims.Alike(fmt.Sprintf("%s: %s ends as near to the law as %s", d.name, e.name, base), last(e.name), last(base)))
					}
					continue
				}
				for _, name := range []string{"cd", "pt", "ptt"} {
					all = append(all, claims.Smaller(fmt.Sprintf("%s: %s ends nearer to the law than %s", d.name, name, base), last(name), last(base)))
				}
				all = append(all, claims.Smaller(d.name+": pt ends nearer with its own ladder than with the paper's", last("pt"), last("pt, ladder of the paper")))
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			if chart {
				return draw(w, t, problems)
			}
			return claims.Curves(w, t, 2, panels(t), names())
		},
		Notes: func(t *claims.Table) string { return notes(t, problems) },
	}
}

// train trains a model for so many seconds of updates and returns at each budget how far
// it is below the law.
func (d problem) train(ctx context.Context, e estimator, seed uint64, seconds float64) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := d.load(ctx)
	if err != nil {
		return nil, err
	}
	s := train.DefaultSettings("pcd")
	if s.Negative, err = negphase.Parse(e.settings, negphase.Settings{}); err != nil {
		return nil, err
	}
	s.Rate, s.Batch, s.Center, s.Seed = d.rate, 20, 0.01, seed
	m := train.NewModel(set, d.hidden, false, rbm.Softmax, seed)
	train.SetLogOdds(m, set)
	t, err := train.New(s, set, m)
	if err != nil {
		return nil, err
	}
	some := make([]int32, min(likelihoodRows, set.Len())) // evenly, as rows are in order
	for i := range some {
		some[i] = int32(i * set.Len() / len(some))
	}
	rows, free := set.Rows(some, 0), make([]float64, len(some))
	law := 0.
	for _, r := range some {
		if set.LogProb != nil {
			law += set.LogProb(set.X.Row(int(r)), -1) / float64(len(some))
		}
	}
	var spent time.Duration
	for _, budget := range budgets {
		for spent.Seconds() < budget*seconds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			begin := clock.Now()
			_, err := t.Step()
			spent += clock.Now() - begin
			if err != nil {
				return nil, err
			}
		}
		logZ, err := exact.LogZ(ctx, t.Model())
		if err != nil {
			return nil, err
		}
		t.Model().FreeEnergy(free, rows)
		points = append(points, claims.Point{Panel: d.name, Curve: e.name, Repeat: int(seed), X: budget * seconds, Y: law + train.Mean(free) + logZ})
	}
	return append(points, claims.Point{Panel: stepsPanel(d), Curve: e.name, Repeat: int(seed), Y: float64(t.Steps())}), nil
}

func stepsPanel(d problem) string { return d.name + ": updates" }

// resolution is the number of nats below which models are not told apart, a choice: such a model
// gives a row 5 % less probability than the law does.
const resolution = 0.05

// scores returns the logarithms of nats below the law, so that one bad run of an estimator does
// not hide that all are bad.
func scores(r claims.Repeats) claims.Repeats {
	s := claims.Repeats{}
	for k, x := range r {
		s[k] = math.Log(max(x, resolution))
	}
	return s
}

// A verdict is what came out for some data and budget.
type verdict struct {
	best   string   // estimator
	nats   float64  // of it below the law
	sure   bool     // that it is nearer to the law than pcd, by more than three standard errors
	others []string // that it does not beat
}

// winner returns the best estimator at x seconds on some data.
func winner(t *claims.Table, d problem, x float64) (v verdict) {
	at := func(name string) claims.Repeats { return scores(t.At(d.name, name, x)) }
	least := math.Inf(1)
	for _, e := range estimators {
		if mean, _ := at(e.name).Average(); mean < least {
			least, v.best = mean, e.name
		}
	}
	v.nats, _ = t.At(d.name, v.best, x).Average()
	v.sure = claims.Smaller("", at(v.best), at(estimators[0].name)).Verdict == claims.Pass
	for _, e := range estimators {
		if e.name != v.best && claims.Smaller("", at(v.best), at(e.name)).Verdict == claims.Fail {
			v.others = append(v.others, e.name)
		}
	}
	return v
}

// notes returns the ends of the runs and the verdicts as tables.
func notes(t *claims.Table, problems []problem) string {
	var b strings.Builder
	b.WriteString("Nats below the law at the end, means over the repetitions ± one standard deviation. Bold: the best, and those that it does not beat by three standard errors. In the map a cell names the best and those that it does not beat, with the nats of the best and of pcd; it is grey where the best does not beat pcd. The best is chosen from the same runs, which favours it a little. Comparisons are of natural logarithms of nats, of at least 0.05: models nearer to the law are not told apart.\n\n| data |")
	for _, e := range estimators {
		fmt.Fprintf(&b, " %s |", e.name)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", 1+len(estimators)) + "\n")
	for _, d := range problems {
		xs := t.Xs(d.name, estimators[0].name)
		if len(xs) == 0 {
			continue
		}
		v := winner(t, d, xs[len(xs)-1])
		fmt.Fprintf(&b, "| %s |", d.name)
		for _, e := range estimators {
			mean, sd := t.Last(d.name, e.name).Average()
			mark := ""
			if e.name == v.best || slices.Contains(v.others, e.name) {
				mark = "**"
			}
			fmt.Fprintf(&b, " %s%.2f ± %.2f%s |", mark, mean, sd, mark)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| estimator | settings | updates in a run |\n| --- | --- | --- |\n")
	for _, e := range estimators {
		low, high := math.Inf(1), 0.
		for _, d := range problems {
			if n := t.At(stepsPanel(d), e.name, 0); len(n) > 0 {
				mean, _ := n.Average()
				low, high = min(low, mean), max(high, mean)
			}
		}
		fmt.Fprintf(&b, "| %s | `%s` | %.0f … %.0f |\n", e.name, e.settings, low, high)
	}
	return b.String()
}
