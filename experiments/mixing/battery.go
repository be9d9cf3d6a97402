package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/train"
)

// A trial is a small run whose log-likelihood is known.
type trial struct {
	data     string
	rows     int // number of rows, drawn from the data by the seed; 0: all rows
	labelled bool
	holdout  float64
	hidden   int
	steps    int

	negative string
	rate     float64
	schedule string
}

func (c trial) name() string {
	return fmt.Sprintf("%s, %s, rate %g %s", c.data, c.negative, c.rate, c.schedule)
}

// seed is the seed of all runs. The thresholds of the warnings were chosen on other seeds: on data of
// seed 1 with runs of seeds 101 to 434, and those of the cause of a fall with runs of seeds 501 to 535.
const seed = 11

// trials returns all runs of the figure.
func trials() (all []trial) {
	for _, d := range []trial{
		{data: "toy:8,6,100,0.05:seed=3", labelled: true, hidden: 12, steps: 10000},
		{data: "toy:8,6,20,0.1:plain:seed=3", holdout: 0.5, hidden: 12, steps: 10000},
		{data: "toy:4,4,20,0.2:plain:seed=3", holdout: 0.5, hidden: 12, steps: 10000},
		{data: "desjardins:0.001:seed=3", hidden: 10, steps: 10000},
		{data: "desjardins:0.1:100:seed=3", holdout: 0.5, hidden: 10, steps: 10000},
		{data: "bars:4", hidden: 12, steps: 10000},
		{data: "shifter:4", labelled: true, holdout: 0.3, hidden: 10, steps: 10000},
		{data: "fontdigits", rows: 200, holdout: 0.5, hidden: 8, steps: 3000},
	} {
		for _, s := range []trial{
			{negative: "pcd:chains=50", rate: 0.02, schedule: "constant"},
			{negative: "pcd:chains=50", rate: 0.1, schedule: "constant"},
			{negative: "pcd:chains=50", rate: 0.3, schedule: "constant"},
			{negative: "pcd:chains=10", rate: 0.1, schedule: "constant"},
			{negative: "pcd:chains=50", rate: 0.1, schedule: "linear"},
			{negative: "cd", rate: 0.1, schedule: "constant"},
			{negative: "cd", rate: 1, schedule: "constant"},
			{negative: "pt:chains=10:tau=auto", rate: 0.1, schedule: "constant"},
			{negative: "ins:chains=10:tau=reach/5", rate: 0.3, schedule: "constant"},
			{negative: "ins:chains=10:tau=reach/5", rate: 0.1, schedule: "linear"},
			{negative: "exact", rate: 0.3, schedule: "constant"},
			{negative: "exact", rate: 1, schedule: "constant"},
			{negative: "exact", rate: 3, schedule: "constant"},
		} {
			c := d
			c.negative, c.rate, c.schedule = s.negative, s.rate, s.schedule
			all = append(all, c)
		}
	}
	return all
}

const (
	// truthPoints is the number of steps at which the exact log-likelihood of a run is computed.
	truthPoints = 200
	// A loss of more than lossNats must get a warning within the fraction lateShare of the run.
	lossNats, lateShare = 1, 0.1
)

// Panels. X is the index of the trial.
const (
	lossPanel  = "loss"      // best minus last log-likelihood, nats; see trial.run
	fromPanel  = "from"      // fraction of the run after which the loss stays above lossNats
	causePanel = "cause"     // cause of a loss: byChains or byRate
	toldPanel  = "told"      // fraction of the run after which there is a warning; untold if there is none at the end
	drawnPanel = "withdrawn" // 1 if a warning was withdrawn at the end
)

// Curves: the kind of loss, and for warnings the metrics that were measured.
const (
	fallCurve    = "training rows"
	overfitCurve = "rows held out"
	exactCurve   = ", by the likelihood"
	proxyCurve   = ", without it"
)

const (
	byChains = 1
	byRate   = 2
	untold   = 2
)

// watchers are the two sets of metrics that each run is monitored with.
var watchers = []struct {
	curve   string
	metrics []string
}{
	{exactCurve, []string{"log_likelihood", "pseudo_likelihood", "mixing"}},
	{proxyCurve, []string{"pseudo_likelihood", "free_energy_gap", "mixing"}},
}

var battery = figures.Figure{
	Name: "warnings",
	Jobs: func(o figures.Options) (jobs []figures.Job) {
		for at, c := range trials()[:figures.Size(o, 3, len(trials()))] {
			c.steps = figures.Size(o, 400, c.steps)
			jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%s, seed %d", c.name(), seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error { return c.run(ctx, float64(at), add) }})
		}
		return jobs
	},
	Draw: figures.Curves(1, []string{fallCurve, overfitCurve, fallCurve + exactCurve, overfitCurve + exactCurve, fallCurve + proxyCurve, overfitCurve + proxyCurve},
		figures.Panel{Name: lossPanel, Title: "best minus last log-likelihood", X: "run", Y: "nats", JoinFrom: math.Inf(1)},
		figures.Panel{Name: toldPanel, Title: "fraction of the run at the warning (2: no warning)", X: "run", Y: "fraction of the run", JoinFrom: math.Inf(1)}),
	Table: table,
}

// sets returns the training rows and the held-out rows of a trial.
func (c trial) sets(ctx context.Context) (train.Sets, error) {
	set, err := training.Load(ctx, c.data, "")
	if err != nil {
		return train.Sets{}, err
	}
	key := rbm.NewKey(seed)
	if c.rows > 0 {
		rows := make([]int32, c.rows)
		for i := range rows {
			rows[i] = int32(key.Uniform(uint64(i)) * float64(set.Len()))
		}
		set = set.Take(rows)
	}
	if c.holdout == 0 {
		return train.Sets{Train: set}, nil
	}
	var s train.Sets
	s.Train, s.Holdout, err = set.Split(c.holdout, key)
	return s, err
}

// recipe returns the recipe of a trial on a set with this negative phase.
func (c trial) recipe(set *data.Set, negative string) training.Recipe {
	return training.Recipe{Negative: negative, Hidden: c.hidden, Labels: c.labelled, LogOdds: true, Rate: c.rate, Schedule: c.schedule, Horizon: c.steps, Batch: min(20, set.Len())}
}

// likelihoods trains and returns the exact log-likelihoods of the training and the held-out rows, at truthPoints steps.
func (c trial) likelihoods(ctx context.Context, t *train.Trainer, sets train.Sets, observers ...train.Observer) (all [][]float64, err error) {
	exact, err := train.NewMetrics([]string{"log_likelihood"}, t.Model(), sets, 1)
	if err != nil {
		return nil, err
	}
	every := max(1, c.steps/truthPoints)
	err = t.Run(ctx, c.steps, append(observers, func(ctx context.Context, e train.Event) error {
		if e.Step%every != 0 {
			return nil
		}
		values, err := exact[0].Measure(ctx, e.Model, false)
		all = append(all, values)
		return err
	})...)
	return all, err
}

// A watcher records the warnings that rbmtrain would print for a run.
type watcher struct {
	told      map[diag.Kind]float64 // by kind of warning: the fraction of the run after which it came
	byRate    bool                  // the warning of a fall names the rate as its cause
	withdrawn map[diag.Kind]bool    // kinds of warnings that do not hold at the end
	finish    func() error
}

// lossOf returns the kind of loss that a warning counts as. Warnings of chains that do not mix, and of a
// falling metric, count as a fall of the likelihood.
func lossOf(kind diag.Kind) diag.Kind {
	if diag.OfChains(kind) || kind == train.GoalKind {
		return train.FallKind
	}
	return kind
}

// watch returns a watcher with these metrics, and the observer that feeds it.
func (c trial) watch(ctx context.Context, t *train.Trainer, sets train.Sets, names []string) (*watcher, train.Observer, error) {
	s, err := c.recipe(sets.Train, c.negative).Settings(seed)
	if err != nil {
		return nil, nil, err
	}
	if !s.Negative.Persists() {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "mixing" })
	}
	if sets.Holdout == nil {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "free_energy_gap" })
	}
	metrics, err := train.NewRunMetrics(names, t.Model(), sets, s)
	if err != nil {
		return nil, nil, err
	}
	w := &watcher{told: map[diag.Kind]float64{}, withdrawn: map[diag.Kind]bool{}}
	goal := metrics[0].Columns[0]
	h := train.NewHealth(s, sets, t.Model(), goal)
	h.Watch(t, metrics, c.steps)
	note := func(kind diag.Kind) {
		kind = lossOf(kind)
		if _, ok := w.told[kind]; !ok {
			w.told[kind] = float64(t.Steps()) / float64(c.steps)
		}
	}
	tell := func(all []diag.Warning, err error) error {
		for _, x := range all {
			note(x.Kind)
		}
		return err
	}
	v := &train.Evaluator{Metrics: metrics, Every: c.steps / 20}
	v.Report = func(e train.Evaluation) error {
		if err := tell(h.Warnings(e, t.Model(), e.Step == c.steps), nil); err != nil {
			return err
		}
		return tell(h.Early(ctx, e, v))
	}
	w.finish = func() error {
		standing, withdrawn, err := h.Final(ctx, v)
		for _, x := range withdrawn {
			kind := lossOf(x.Kind)
			if !slices.ContainsFunc(standing, func(s diag.Warning) bool { return lossOf(s.Kind) == kind }) {
				w.withdrawn[kind] = true
				delete(w.told, kind)
			}
		}
		for _, x := range standing {
			w.byRate = w.byRate || x.Kind == train.FallKind && (x.Cause.Kind == train.RateCause || x.Cause.Kind == train.ExactRateCause)
		}
		return tell(standing, err)
	}
	v.Watch(t)
	return w, func(ctx context.Context, e train.Event) error {
		if err := tell(h.Observe(ctx, e.Step, v.Every)); err != nil {
			return err
		}
		return v.Observe(ctx, e)
	}, v.Begin(ctx, t.Model())
}

// run trains with all watchers. After a fall it trains again with the exact negative phase, to find the cause.
// A model whose log-likelihood equals that of the distribution of the data has lost nothing: a larger
// log-likelihood comes from memorising the rows.
func (c trial) run(ctx context.Context, at float64, add figures.Add) error {
	sets, err := c.sets(ctx)
	if err != nil {
		return err
	}
	t, err := c.recipe(sets.Train, c.negative).Trainer(sets.Train, seed)
	if err != nil {
		return err
	}
	var all []*watcher
	var observers []train.Observer
	for _, x := range watchers {
		w, observe, err := c.watch(ctx, t, sets, x.metrics)
		if err != nil {
			return err
		}
		all, observers = append(all, w), append(observers, observe)
	}
	truth, err := c.likelihoods(ctx, t, sets, observers...)
	if err != nil {
		return err
	}
	reference, known := train.TrueLikelihood(sets.Train, c.labelled)
	if !known {
		reference = math.Inf(1)
	}
	fall, from := loss(truth, func(best, now []float64) float64 { return min(best[0], reference) - now[0] }, 0)
	if fall > lossNats {
		cause := byRate
		if c.negative != "exact" {
			if cause, err = c.cause(ctx, sets, truth); err != nil {
				return err
			}
		}
		add(causePanel, fallCurve, at, float64(cause))
	}
	add(lossPanel, fallCurve, at, fall)
	add(fromPanel, fallCurve, at, from)
	if sets.Holdout != nil {
		over, from := loss(truth, func(best, now []float64) float64 { // with the gap to the training rows
			return min(best[1]-now[1], now[0]-now[1]-(best[0]-best[1]))
		}, 1)
		add(lossPanel, overfitCurve, at, over)
		add(fromPanel, overfitCurve, at, from)
	}
	for i, w := range all {
		if err := w.finish(); err != nil {
			return err
		}
		for _, k := range []struct {
			kind  diag.Kind
			curve string
		}{{train.FallKind, fallCurve}, {train.OverfitKind, overfitCurve}} {
			curve := k.curve + watchers[i].curve
			told, ok := w.told[k.kind]
			if !ok {
				told = untold
			}
			add(toldPanel, curve, at, told)
			if w.withdrawn[k.kind] {
				add(drawnPanel, curve, at, 1)
			}
			if ok && k.kind == train.FallKind && watchers[i].curve == exactCurve {
				said := byChains
				if w.byRate {
					said = byRate
				}
				add(causePanel, curve, at, float64(said))
			}
		}
	}
	return nil
}

// loss returns how far, in nats, the log-likelihood of the rows truth[…][set] ends below its best, and the fraction
// of the run after which it stayed more than lossNats below the best so far. lost returns the loss at now, in nats, given the best so far.
func loss(truth [][]float64, lost func(best, now []float64) float64, set int) (end, from float64) {
	best, since := truth[0], -1
	for i, now := range truth {
		if now[set] > best[set] {
			best = now
		}
		end = lost(best, now)
		switch {
		case end <= lossNats:
			since = -1
		case since < 0:
			since = i
		}
	}
	return end, float64(since+1) / float64(len(truth))
}

// cause returns the cause of a fall. It makes the same run with the exact negative phase. The chains are the cause if
// that run ends farther above this run than below the best of both.
func (c trial) cause(ctx context.Context, sets train.Sets, truth [][]float64) (int, error) {
	t, err := c.recipe(sets.Train, "exact").Trainer(sets.Train, seed)
	if err != nil {
		return 0, err
	}
	other, err := c.likelihoods(ctx, t, sets)
	if err != nil {
		return 0, err
	}
	best := math.Inf(-1)
	end := func(truth [][]float64) float64 {
		for _, x := range truth {
			best = max(best, x[0])
		}
		sum, last := 0.0, truth[len(truth)*9/10:]
		for _, x := range last {
			sum += x[0]
		}
		return sum / float64(len(last))
	}
	run, exact := end(truth), end(other)
	if exact-run > best-exact {
		return byChains, nil
	}
	return byRate, nil
}

// A count has numbers of runs: with a loss, with a warning of it, with any warning, and so on.
type count struct{ lost, toldLost, told, inTime, causeKnown, causeRight, withdrawn int }

// counts counts the runs of a kind of loss with the metrics of a watcher.
func counts(t *figures.Table, curve, by string) (n count) {
	for at := range trials() {
		x := float64(at)
		loss, from, told := t.At(lossPanel, curve, x), t.At(fromPanel, curve, x), t.At(toldPanel, curve+by, x)
		want, said := t.At(causePanel, curve, x), t.At(causePanel, curve+by, x)
		for repeat, nats := range loss {
			is, says := nats > lossNats, told[repeat] < untold
			if is {
				n.lost++
			}
			if says {
				n.told++
			}
			if is && says {
				n.toldLost++
				if told[repeat]-from[repeat] <= lateShare+1e-9 {
					n.inTime++
				}
				if curve == fallCurve {
					n.causeKnown++
					if want[repeat] == said[repeat] {
						n.causeRight++
					}
				}
			}
		}
		n.withdrawn += len(t.At(drawnPanel, curve+by, x))
	}
	return n
}

// table returns for each kind of loss and each set of metrics the fractions of the runs.
func table(t *figures.Table) string {
	percent := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f %%", 100*float64(a)/float64(b))
	}
	var lines [][]string
	for _, curve := range []string{fallCurve, overfitCurve} {
		for _, w := range watchers {
			n := counts(t, curve, w.curve)
			cause := "–"
			if curve == fallCurve && w.curve == exactCurve {
				cause = percent(n.causeRight, n.causeKnown)
			}
			lines = append(lines, []string{curve, "`" + strings.Join(w.metrics, ",") + "`", fmt.Sprint(n.lost), fmt.Sprint(n.toldLost), fmt.Sprint(n.inTime), fmt.Sprint(n.told),
				percent(n.toldLost, n.lost), percent(n.toldLost, n.told), percent(n.inTime, n.lost), cause, fmt.Sprint(n.withdrawn)})
		}
	}
	return figures.Grid([]string{"loss", "metrics", "lost", "of these warned", "and in time", "warned", "recall", "precision", "in time", "right cause", "withdrawn"}, lines)
}
