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

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/clock"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// An estimator is a curve of the figures with its settings.
type estimator struct{ name, settings string }

// estimators are those that are raced; the first is what the others are held against.
var estimators = []estimator{
	{"pcd", "pcd:chains=50"},
	{"pt", "pt:chains=10:tau=auto"},
	{"pins", "pins:chains=10:tau=auto"},
	{"ptt", "ptt:chains=20"},
}

func names() (all []string) {
	for _, e := range estimators {
		all = append(all, e.name)
	}
	return all
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

func race(p *places) claims.Figure {
	return claims.Figure{
		Name:  "time",
		Ours:  true,
		Flags: "-digits FILE",
		Title: "exact log-likelihood against computing time on clustered data",
		Says:  "does an estimator whose chains can cross between clusters reach a better model in the same computing time, and is a run whose chains cannot warned of?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for at, seed := range eachProblem(o) {
				for _, e := range estimators {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, %s, seed %d", problems[at].name, e.name, seed),
						Run: func(ctx context.Context) ([]claims.Point, error) {
							return run1(ctx, p, at, e, seed, claims.Size(o, 0.04, 4), claims.Size(o, 2, 8))
						},
					})
				}
			}
			return jobs
		},
		Claims: raceClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, d := range problems {
				if len(t.Curves(d.name)) > 0 {
					panels = append(panels, claims.Panel{Name: d.name, Title: d.name, X: "seconds of updates", Y: "log-likelihood / nats", Dots: true})
				}
			}
			return claims.Curves(w, t, 2, panels, names())
		},
		Notes: raceNotes,
	}
}

// settings returns those of training by an estimator.
func (d problem) settings(e estimator, seed uint64) (train.Settings, error) {
	s := train.DefaultSettings("pcd")
	var err error
	s.Negative, err = negphase.Parse(e.settings, negphase.Settings{})
	s.Rate, s.Batch, s.Center, s.Seed = d.rate, 20, 0.01, seed
	return s, err
}

// model returns the model that training begins with.
func (d problem) model(set *data.Set, seed uint64) *rbm.RBM {
	m := train.NewModel(set, d.hidden, false, rbm.Softmax, seed)
	train.SetLogOdds(m, set)
	return m
}

// trainer returns a run on the data of a problem.
func (d problem) trainer(ctx context.Context, p *places, e estimator, seed uint64) (*train.Trainer, train.Sets, train.Settings, error) {
	set, err := d.load(ctx, p)
	if err != nil {
		return nil, train.Sets{}, train.Settings{}, err
	}
	s, err := d.settings(e, seed)
	if err != nil {
		return nil, train.Sets{}, s, err
	}
	t, err := train.New(s, set, d.model(set, seed))
	return t, train.Sets{Train: set}, s, err
}

// run1 trains for so many seconds and returns the log-likelihoods at so many moments on
// the way.
func run1(ctx context.Context, p *places, at int, e estimator, seed uint64, seconds float64, moments int) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := problems[at]
	t, sets, s, err := d.trainer(ctx, p, e, seed)
	if err != nil {
		return nil, err
	}
	metrics, err := train.NewRunMetrics([]string{"mixing"}, t.Model(), sets, s)
	if err != nil {
		return nil, err
	}
	metrics[0].Watch(t)
	some := make([]int32, min(likelihoodRows, sets.Train.Len())) // evenly, as rows may be in an order
	for i := range some {
		some[i] = int32(i * sets.Train.Len() / len(some))
	}
	rows := sets.Train.Rows(some, 0)
	free := make([]float64, rows.Rows)
	warnings := map[string]bool{}
	note := func(text string) {
		if text != "" {
			what, _, _ := strings.Cut(text, ":")
			warnings[what] = true
		}
	}
	var info negphase.Info
	var spent time.Duration
	var likelihoods []float64
	for next := 1; next <= moments; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		begin := clock.Now()
		one, err := t.Step()
		spent += clock.Now() - begin
		if err != nil {
			return nil, err
		}
		info.Add(one)
		if t.Steps()%watchEvery == 0 {
			if _, err := metrics[0].Measure(ctx, t.Model(), false); err != nil {
				return nil, err
			}
			note(metrics[0].Warning(false))
		}
		for ; next <= moments && spent.Seconds() >= seconds*float64(next)/float64(moments); next++ {
			logZ, err := exact.LogZ(ctx, t.Model())
			if err != nil {
				return nil, err
			}
			t.Model().FreeEnergy(free, rows)
			likelihoods = append(likelihoods, -train.Mean(free)-logZ)
			points = append(points, claims.Point{Panel: d.name, Curve: e.name, Repeat: int(seed), X: seconds * float64(next) / float64(moments), Y: likelihoods[len(likelihoods)-1]})
		}
	}
	note(metrics[0].Warning(true))
	warned := 0.0
	for text := range warnings {
		if strings.Contains(text, "does not mix") {
			warned = 1
		}
	}
	others := 0.0
	for _, text := range []string{info.VetoWarning(t.Steps()), info.RenewalWarning(t.Steps())} {
		if text != "" {
			others++
		}
	}
	last := likelihoods[len(likelihoods)-1]
	for panel, y := range map[string]float64{warnedPanel: warned, othersPanel: others, fallPanel: slices.Max(likelihoods) - last,
		stepsPanel: float64(t.Steps()), spentPanel: 1000 * spent.Seconds() / float64(t.Steps())} {
		points = append(points, claims.Point{Panel: panel, Curve: e.name, Repeat: int(seed), X: float64(at), Y: y})
	}
	slices.SortStableFunc(points, func(a, b claims.Point) int { return cmp.Compare(a.Panel, b.Panel) })
	return points, nil
}

func raceClaims(t *claims.Table) (all []claims.Claim) {
	base := estimators[0].name
	for _, d := range problems {
		if len(t.Curves(d.name)) == 0 {
			continue
		}
		for _, e := range estimators[1:] {
			all = append(all, claims.Larger(fmt.Sprintf("%s: %s ends above %s", d.name, e.name, base), t.Last(d.name, e.name), t.Last(d.name, base)))
		}
	}
	var fell, fellWarned, good, goodWarned int
	for i, d := range problems {
		best := math.Inf(-1)
		for _, e := range estimators {
			for _, end := range t.Last(d.name, e.name) {
				best = max(best, end)
			}
		}
		for _, e := range estimators {
			mixes, others := t.At(warnedPanel, e.name, float64(i)), t.At(othersPanel, e.name, float64(i))
			fall := t.At(fallPanel, e.name, float64(i))
			for repeat, end := range t.Last(d.name, e.name) {
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
			end := t.Last(d.name, e.name)
			if len(end) == 0 {
				continue
			}
			mean := func(panel string) float64 {
				m, _ := t.At(panel, e.name, float64(i)).Average()
				return m
			}
			ll, sd := end.Average()
			n := float64(len(end))
			fmt.Fprintf(&b, "| %s | %s | `%s` | %.2f ± %.2f | %.2f | %.0f of %.0f | %.0f of %.0f | %.0f | %.3f |\n", d.name, e.name, e.settings, ll, sd, mean(fallPanel),
				math.Round(n*mean(warnedPanel)), n, math.Round(n*mean(othersPanel)), n, mean(stepsPanel), mean(spentPanel))
		}
	}
	return b.String()
}
