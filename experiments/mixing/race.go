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

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/race"
	"gorbm/negphase"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// estimators are those that are raced; the first is what the others are held against.
var estimators = []race.Estimator{
	{Name: "pcd", Settings: "pcd:chains=50"},
	{Name: "pt", Settings: "pt:chains=10:tau=auto"},
	{Name: "pins", Settings: "pins:chains=10:tau=auto"},
	{Name: "ptt", Settings: "ptt:chains=20"},
}

const (
	// watchEvery is the number of updates between measurements of mixing.
	watchEvery = 250
	// likelihoodRows are those that the mean log-likelihood is taken of.
	likelihoodRows = 2000
	// worse is the fall of the log-likelihood below its best, in nats, that a run
	// should be warned of.
	worse = 1
)

// Panels beside those of the log-likelihood, which have the names of the data. X is the
// number of the data.
const (
	warnedPanel = "warned"       // 1 if "does not mix" was said
	othersPanel = "others"       // warnings beside that
	fallPanel   = "fall"         // best minus last log-likelihood, nats
	stepsPanel  = "updates"      // in a run
	spentPanel  = "milliseconds" // of an update
)

func figure(p *race.Places) claims.Figure {
	return claims.Figure{
		Name:  "time",
		Ours:  true,
		Flags: "-digits FILE",
		Title: "exact log-likelihood against computing time on clustered data",
		Says:  "does an estimator whose chains can cross between clusters reach a better model in the same computing time, and is a run whose chains cannot warned of?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
				for at, d := range problems[:claims.Size(o, 2, len(problems))] {
					for _, e := range estimators {
						jobs = append(jobs, claims.Job{
							Name: fmt.Sprintf("%s, %s, seed %d", d.Name, e.Name, repeat+1),
							Run: func(ctx context.Context) ([]claims.Point, error) {
								return train1(ctx, p, at, e, uint64(repeat+1), claims.Size(o, 0.04, 4), claims.Size(o, 2, 8))
							},
						})
					}
				}
			}
			return jobs
		},
		Claims: raceClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, d := range problems {
				if len(t.Curves(d.Name)) > 0 {
					panels = append(panels, claims.Panel{Name: d.Name, Title: d.Name, X: "seconds of updates", Y: "log-likelihood / nats", Dots: true})
				}
			}
			return claims.Curves(w, t, 2, panels, race.Names(estimators))
		},
		Notes: raceNotes,
	}
}

// train1 trains for so many seconds and returns the log-likelihoods at so many moments on
// the way.
func train1(ctx context.Context, p *race.Places, at int, e race.Estimator, seed uint64, seconds float64, moments int) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := problems[at]
	negative, err := negphase.Parse(e.Settings, negphase.Settings{})
	if err != nil {
		return nil, err
	}
	t, err := d.Start(ctx, p, negative, seed, 0)
	if err != nil {
		return nil, err
	}
	metrics, err := train.NewRunMetrics([]string{"mixing"}, t.Model(), train.Sets{Train: t.Set}, t.Settings)
	if err != nil {
		return nil, err
	}
	metrics[0].Watch(t.Trainer)
	rows := race.Evenly(t.Set, likelihoodRows)
	warnings := map[string]bool{}
	note := func(text string) {
		if text != "" {
			what, _, _ := strings.Cut(text, ":")
			warnings[what] = true
		}
	}
	var info negphase.Info
	var likelihoods []float64
	for k := 1; k <= moments; k++ {
		moment := seconds * float64(k) / float64(moments)
		if err := t.Advance(ctx, moment, func(one negphase.Info) error {
			info.Add(one)
			if t.Steps()%watchEvery != 0 {
				return nil
			}
			_, err := metrics[0].Measure(ctx, t.Model(), false)
			note(metrics[0].Warning(false))
			return err
		}); err != nil {
			return nil, err
		}
		logZ, err := exact.LogZ(ctx, t.Model())
		if err != nil {
			return nil, err
		}
		likelihoods = append(likelihoods, -rows.MeanFreeEnergy(t.Model())-logZ)
		points = append(points, claims.Point{Panel: d.Name, Curve: e.Name, Repeat: int(seed), X: moment, Y: likelihoods[k-1]})
	}
	note(metrics[0].Warning(true))
	warned := 0.0
	for text := range warnings {
		if strings.Contains(text, "does not mix") {
			warned = 1
		}
	}
	others := float64(len(negative.Warnings(info, info, t.Steps())))
	last := likelihoods[len(likelihoods)-1]
	for panel, y := range map[string]float64{warnedPanel: warned, othersPanel: others, fallPanel: slices.Max(likelihoods) - last,
		stepsPanel: float64(t.Steps()), spentPanel: 1000 * t.Spent.Seconds() / float64(t.Steps())} {
		points = append(points, claims.Point{Panel: panel, Curve: e.Name, Repeat: int(seed), X: float64(at), Y: y})
	}
	slices.SortStableFunc(points, func(a, b claims.Point) int { return cmp.Compare(a.Panel, b.Panel) })
	return points, nil
}

func raceClaims(t *claims.Table) (all []claims.Claim) {
	base := estimators[0].Name
	for _, d := range problems {
		if len(t.Curves(d.Name)) == 0 {
			continue
		}
		for _, e := range estimators[1:] {
			all = append(all, claims.Larger(fmt.Sprintf("%s: %s ends above %s", d.Name, e.Name, base), t.Last(d.Name, e.Name), t.Last(d.Name, base)))
		}
	}
	var fell, fellWarned, good, goodWarned int
	for i, d := range problems {
		best := math.Inf(-1)
		for _, e := range estimators {
			for _, end := range t.Last(d.Name, e.Name) {
				best = max(best, end)
			}
		}
		for _, e := range estimators {
			mixes, others := t.At(warnedPanel, e.Name, float64(i)), t.At(othersPanel, e.Name, float64(i))
			fall := t.At(fallPanel, e.Name, float64(i))
			for repeat, end := range t.Last(d.Name, e.Name) {
				if fall[repeat] > worse {
					fell++
					if mixes[repeat] > 0 || others[repeat] > 0 {
						fellWarned++
					}
				}
				if best-end <= worse {
					good++
					if mixes[repeat] > 0 {
						goodWarned++
					}
				}
			}
		}
	}
	return append(all,
		claims.Holds(fmt.Sprintf("a run that ends more than %d nat below its best is warned of", worse), fellWarned == fell, float64(fellWarned), "%d of %d such runs", fellWarned, fell),
		claims.Holds(fmt.Sprintf("of a run that ends within %d nat of the best end on its data it is not said that it does not mix", worse), goodWarned == 0, float64(goodWarned), "it is said of %d of %d such runs", goodWarned, good))
}

// raceNotes returns the ends of the runs as a table.
func raceNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("Means over the repetitions ± one standard deviation. \"fall\" is how far the last log-likelihood is below the best of the run. " +
		"\"does not mix\" counts the runs in which the metric said so; \"others\" are warnings of ptt about vetoes and about renewal.\n\n" +
		"| data | estimator | settings | log-likelihood / nats | fall | \"does not mix\" | others | updates | ms an update |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i, d := range problems {
		for _, e := range estimators {
			end := t.Last(d.Name, e.Name)
			if len(end) == 0 {
				continue
			}
			mean := func(panel string) float64 {
				m, _ := t.At(panel, e.Name, float64(i)).Average()
				return m
			}
			ll, sd := end.Average()
			n := float64(len(end))
			fmt.Fprintf(&b, "| %s | %s | `%s` | %.2f ± %.2f | %.2f | %.0f of %.0f | %.0f of %.0f | %.0f | %.3f |\n", d.Name, e.Name, e.Settings, ll, sd, mean(fallPanel),
				math.Round(n*mean(warnedPanel)), n, math.Round(n*mean(othersPanel)), n, mean(stepsPanel), mean(spentPanel))
		}
	}
	return b.String()
}
