package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/race"
)

// swept are the data of the sweep: chains of pcd do not mix on the first.
var swept = []problem{modes(4, 16), fonts}

const sweepSeconds = 0.25

// A setting is a batch and a rate. Its number is x in the tables.
type setting struct {
	batch int
	rate  float64
}

var (
	batches = []int{5, 20, 100}
	rates   = []float64{0.01, 0.05, 0.2}
	// settings are all pairs, those of a batch beside each other.
	settings = pairs(batches, rates)
)

func pairs(batches []int, rates []float64) (all []setting) {
	for _, b := range batches {
		for _, r := range rates {
			all = append(all, setting{b, r})
		}
	}
	return all
}

func (s setting) String() string { return fmt.Sprintf("batch %d, rate %g", s.batch, s.rate) }

func sweep(p *race.Places) claims.Figure {
	return claims.Figure{
		Name: "sweep", Ours: true, Title: "the best estimator by batch and rate",
		Says: "does the verdict depend on the size of the batch and on the rate, and how good is each estimator with the best of them?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
				for _, d := range swept[:claims.Size(o, 1, len(swept))] {
					for at, s := range settings[:claims.Size(o, len(rates), len(settings))] {
						for _, e := range estimators {
							jobs = append(jobs, claims.Job{
								Name: fmt.Sprintf("%s, %s, %v, seed %d", d.Name, e.Name, s, repeat+1),
								Run: func(ctx context.Context) (points []claims.Point, err error) {
									d.Batch, d.Rate = s.batch, s.rate
									points, err = d.train(ctx, p, e, uint64(repeat+1), claims.Size(o, 0.01, sweepSeconds), []float64{1})
									for i := range points {
										points[i].X = float64(at)
									}
									return points, err
								},
							})
						}
					}
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, d := range swept {
				if len(t.Curves(d.Name)) == 0 {
					continue
				}
				best := func(name string) claims.Repeats { return d.scores(t.At(d.Name, name, d.tuned(t, name))) }
				for _, e := range estimators[1:] {
					c := d.against(e.Name, best(e.Name), best(estimators[0].Name))
					c.Text += ", each with its best batch and rate"
					all = append(all, c)
				}
				c := d.ladders(best("pt"), best(paperPT))
				c.Text += ", each with its best batch and rate"
				all = append(all, c)
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var columns []column
			for _, d := range swept {
				for b, batch := range batches {
					c := column{problem: d, label: fmt.Sprintf("%s\nbatch %d", strings.ReplaceAll(d.Name, ", ", "\n"), batch)}
					for r := range rates {
						if x := float64(b*len(rates) + r); len(t.At(d.Name, estimators[0].Name, x)) > 0 {
							c.xs = append(c.xs, x)
						}
					}
					if len(c.xs) > 0 {
						columns = append(columns, c)
					}
				}
			}
			var rows []string
			for _, r := range rates {
				rows = append(rows, fmt.Sprint(r))
			}
			return drawCells(w, t, "the best estimator, with its nats below the law (digits: minus the log-likelihood); grey: not better than pcd beyond the error", "rate", columns, rows)
		},
		Notes: sweepNotes,
	}
}

// tuned returns the setting with which an estimator is the best on average.
func (d problem) tuned(t *claims.Table, name string) (best float64) {
	least := math.Inf(1)
	for _, x := range t.Xs(d.Name, name) {
		if mean, _ := d.scores(t.At(d.Name, name, x)).Average(); mean < least {
			least, best = mean, x
		}
	}
	return best
}

// sweepNotes returns what each estimator does with its best settings and with all.
func sweepNotes(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Each run has %g s of updates. Nats are below the law, of the digits minus the log-likelihood: means over the repetitions ± one standard deviation. The best setting of an estimator is chosen from the same runs. "+
		"The last two columns count the settings in which it is better or worse than pcd with the same setting, by more than three standard errors.\n\n"+
		"| data | estimator | nats, best setting | | nats, worst setting | | better than pcd in | worse in |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", sweepSeconds)
	for _, d := range swept {
		for _, e := range estimators {
			xs := t.Xs(d.Name, e.Name)
			if len(xs) == 0 {
				continue
			}
			best, worst := d.tuned(t, e.Name), xs[0]
			wins, losses := 0, 0
			mean := func(x float64) float64 {
				m, _ := d.scores(t.At(d.Name, e.Name, x)).Average()
				return m
			}
			for _, x := range xs {
				if mean(x) > mean(worst) {
					worst = x
				}
				its, base := d.scores(t.At(d.Name, e.Name, x)), d.scores(t.At(d.Name, estimators[0].Name, x))
				if beats(its, base) {
					wins++
				}
				if beats(base, its) {
					losses++
				}
			}
			text := func(x float64) string {
				m, sd := t.At(d.Name, e.Name, x).Average()
				return fmt.Sprintf("%.2f ± %.2f | %v", m, sd, settings[int(x)])
			}
			verdict := "– | –"
			if e.Name != estimators[0].Name {
				verdict = fmt.Sprintf("%d of %d | %d", wins, len(xs), losses)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Name, e.Name, text(best), text(worst), verdict)
		}
	}
	return b.String() + "\n" + cells
}
