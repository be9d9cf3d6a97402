package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
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

// firstSeed is the seed of the runs. The thresholds of the warnings were chosen on other seeds: on data of
// seed 1 with runs of seeds 101 to 434, and those of the cause of a fall with runs of seeds 501 to 535.
const firstSeed = 11

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
	// leastRate is the smallest recall and precision with which a claim passes.
	leastRate = 0.95
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

func battery() claims.Figure {
	return claims.Figure{
		Name:  "warnings",
		Ours:  true,
		Title: "losses of log-likelihood in small runs, and when there is a warning",
		Says:  "does each run that ends a nat below its best, or memorises its rows, get a warning in time and with the right cause? Are other runs without warnings?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range o.Seeds(1, 1) {
				for at, c := range trials()[:claims.Size(o, 3, len(trials()))] {
					c.steps = claims.Size(o, 400, c.steps)
					seed := firstSeed + uint64(repeat)
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", c.name(), seed),
						Run:  func(ctx context.Context) ([]claims.Point, error) { return c.run(ctx, at, seed) },
					})
				}
			}
			return jobs
		},
		Claims: batteryClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 1, []claims.Panel{
				{Name: lossPanel, Title: "best minus last log-likelihood", X: "run", Y: "nats", JoinFrom: math.Inf(1)},
				{Name: toldPanel, Title: "fraction of the run at the warning (2: no warning)", X: "run", Y: "fraction of the run", JoinFrom: math.Inf(1)},
			}, []string{fallCurve, overfitCurve, fallCurve + exactCurve, overfitCurve + exactCurve, fallCurve + proxyCurve, overfitCurve + proxyCurve})
		},
		Finding: func(t *claims.Table) string {
			f, o := counts(t, fallCurve, exactCurve), counts(t, overfitCurve, exactCurve)
			return fmt.Sprintf("Of %d runs that end a nat below their best, %d get a warning, %d of them within a tenth of the run. Of %d runs that overfit, %d get a warning. False warnings: %d of %d.",
				f.lost, f.toldLost, f.inTime, o.lost, o.toldLost, f.told-f.toldLost+o.told-o.toldLost, f.told+o.told)
		},
		Notes: batteryNotes,
	}
}

// sets returns the training rows and the held-out rows of a trial.
func (c trial) sets(ctx context.Context, seed uint64) (train.Sets, error) {
	set, _, err := data.Load(ctx, c.data, data.Options{})
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

// trainer returns a trainer for a trial with this negative phase.
func (c trial) trainer(sets train.Sets, negative string, seed uint64) (*train.Trainer, train.Settings, error) {
	s := train.PaperSettings("pcd")
	var err error
	if s.Negative, err = negphase.Parse(negative, negphase.Settings{}); err != nil {
		return nil, s, err
	}
	s.Rate, s.Schedule, s.Horizon, s.Batch, s.Seed = c.rate, c.schedule, c.steps, min(20, sets.Train.Len()), seed
	m := train.NewModel(sets.Train, c.hidden, c.labelled, rbm.Softmax, seed)
	train.SetLogOdds(m, sets.Train)
	t, err := train.New(s, sets.Train, m)
	return t, s, err
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
	told      map[string]float64 // by kind of warning: the fraction of the run after which it came
	byRate    bool               // the warning of a fall names the rate as its cause
	withdrawn map[string]bool    // kinds of warnings that do not hold at the end
	finish    func() error
}

// lossOf returns the kind of loss that a warning counts as. Warnings of chains that do not mix, and of a
// falling metric, count as a fall of the likelihood.
func lossOf(kind string) string {
	if kind == "mixing" || kind == train.GoalKind {
		return train.FallKind
	}
	return kind
}

// watch returns a watcher with these metrics, and the observer that feeds it.
func (c trial) watch(ctx context.Context, t *train.Trainer, s train.Settings, sets train.Sets, names []string) (*watcher, train.Observer, error) {
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
	w := &watcher{told: map[string]float64{}, withdrawn: map[string]bool{}}
	goal := metrics[0].Columns[0]
	h := train.NewHealth(s, sets, t.Model(), goal)
	h.Watch(t, metrics, c.steps)
	note := func(kind string) {
		kind = lossOf(kind)
		if _, ok := w.told[kind]; !ok {
			w.told[kind] = float64(t.Steps()) / float64(c.steps)
		}
	}
	tell := func(all []train.Warning, err error) error {
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
			if !slices.ContainsFunc(standing, func(s train.Warning) bool { return lossOf(s.Kind) == kind }) {
				w.withdrawn[kind] = true
				delete(w.told, kind)
			}
		}
		for _, x := range standing {
			w.byRate = w.byRate || x.Kind == train.FallKind && strings.HasPrefix(x.Text, "the rate is too high")
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
func (c trial) run(ctx context.Context, at int, seed uint64) (points []claims.Point, err error) {
	sets, err := c.sets(ctx, seed)
	if err != nil {
		return nil, err
	}
	t, s, err := c.trainer(sets, c.negative, seed)
	if err != nil {
		return nil, err
	}
	var all []*watcher
	var observers []train.Observer
	for _, x := range watchers {
		w, observe, err := c.watch(ctx, t, s, sets, x.metrics)
		if err != nil {
			return nil, err
		}
		all, observers = append(all, w), append(observers, observe)
	}
	truth, err := c.likelihoods(ctx, t, sets, observers...)
	if err != nil {
		return nil, err
	}
	add := func(panel, curve string, y float64) {
		points = append(points, claims.Point{Panel: panel, Curve: curve, Repeat: int(seed), X: float64(at), Y: y})
	}
	reference, known := train.TrueLikelihood(sets.Train, c.labelled)
	if !known {
		reference = math.Inf(1)
	}
	fall, from := loss(truth, func(best, now []float64) float64 { return min(best[0], reference) - now[0] }, 0)
	add(lossPanel, fallCurve, fall)
	add(fromPanel, fallCurve, from)
	if sets.Holdout != nil {
		over, from := loss(truth, func(best, now []float64) float64 { // with the gap to the training rows
			return min(best[1]-now[1], now[0]-now[1]-(best[0]-best[1]))
		}, 1)
		add(lossPanel, overfitCurve, over)
		add(fromPanel, overfitCurve, from)
	}
	if fall > lossNats {
		cause := byRate
		if c.negative != "exact" {
			if cause, err = c.cause(ctx, sets, truth, seed); err != nil {
				return nil, err
			}
		}
		add(causePanel, fallCurve, float64(cause))
	}
	for i, w := range all {
		if err := w.finish(); err != nil {
			return nil, err
		}
		for kind, curve := range map[string]string{train.FallKind: fallCurve, train.OverfitKind: overfitCurve} {
			told, ok := w.told[kind]
			if !ok {
				told = untold
			}
			add(toldPanel, curve+watchers[i].curve, told)
			if w.withdrawn[kind] {
				add(drawnPanel, curve+watchers[i].curve, 1)
			}
			if ok && kind == train.FallKind && watchers[i].curve == exactCurve {
				said := byChains
				if w.byRate {
					said = byRate
				}
				add(causePanel, curve+watchers[i].curve, float64(said))
			}
		}
	}
	slices.SortStableFunc(points, func(a, b claims.Point) int {
		return cmp.Or(cmp.Compare(a.Panel, b.Panel), cmp.Compare(a.Curve, b.Curve))
	})
	return points, nil
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
func (c trial) cause(ctx context.Context, sets train.Sets, truth [][]float64, seed uint64) (int, error) {
	t, _, err := c.trainer(sets, "exact", seed)
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
func counts(t *claims.Table, curve, by string) (n count) {
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

func batteryClaims(t *claims.Table) (all []claims.Claim) {
	rate := func(text string, a, b int) {
		if b == 0 { // in the quick size there may be no such loss
			return
		}
		c := claims.Holds(fmt.Sprintf("%s, in at least %.0f %% of the cases", text, 100*leastRate), float64(a) >= leastRate*float64(b), float64(a)/float64(b), "%d of %d", a, b)
		all = append(all, c)
	}
	for _, c := range []struct{ curve, what string }{
		{fallCurve, "that ends more than a nat below its best"},
		{overfitCurve, "that overfits by more than a nat"},
	} {
		n := counts(t, c.curve, exactCurve)
		rate("a small run "+c.what+" gets a warning", n.toldLost, n.lost)
		rate("a small run with a warning is a run "+c.what, n.toldLost, n.told)
		rate("a small run "+c.what+" gets a warning within a tenth of the run", n.inTime, n.lost)
		if c.curve == fallCurve {
			rate("a warning of a fall names its cause, chains or rate, as the same run with the exact negative phase shows it", n.causeRight, n.causeKnown)
		}
	}
	return all
}

func batteryNotes(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The exact log-likelihood of a run is computed at %d equally spaced steps. A run has lost if the log-likelihood of the training rows ends more than a nat below its best. If the distribution of the data is known (all data but fontdigits), it must also end more than a nat below the log-likelihood of that distribution. A run overfits if the log-likelihood of the rows held out ends more than a nat below its best, and its gap to that of the training rows grew by a nat. "+
		"To find the cause of a fall, the run is repeated with the exact negative phase. Chains are the cause if the repetition ends nearer to the best of both runs than to the end of the first, so that it mostly avoids the fall. Otherwise the rate is the cause. "+
		"A warning is in time if it comes within a tenth of the run after the loss became permanent. \"Withdrawn\" counts warnings that no longer held at the end, which rbmtrain then withdraws. If enumeration takes long, as on desjardins:0.001, rbmtrain measures at fewer steps. At a high rate, where the log-likelihood fluctuates, it may then miss the best.\n\n"+
		"| loss | metrics | lost | warned | recall | precision | in time | right cause | withdrawn |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", truthPoints)
	percent := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f %%", 100*float64(a)/float64(b))
	}
	for _, curve := range []string{fallCurve, overfitCurve} {
		for _, w := range watchers {
			n := counts(t, curve, w.curve)
			cause := "–"
			if curve == fallCurve && w.curve == exactCurve {
				cause = percent(n.causeRight, n.causeKnown)
			}
			fmt.Fprintf(&b, "| %s | `%s` | %d | %d | %s | %s | %s | %s | %d |\n", curve, strings.Join(w.metrics, ","), n.lost, n.told,
				percent(n.toldLost, n.lost), percent(n.toldLost, n.told), percent(n.inTime, n.lost), cause, n.withdrawn)
		}
	}
	return b.String()
}
