package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/rbm/modelfile"
)

// Panels of figures quality and search.
const (
	heldPanel   = "held-out log-likelihood"
	testPanel   = "test log-likelihood"
	trainPanel  = "training log-likelihood"
	stdErrPanel = "standard error"
	tripsPanel  = "round trips"
	doubtPanel  = "doubtful"
)

// late is the longest time of the race. searchSeconds is the processor time of a run of the search. searchRounds and raceRounds are the
// -ladder-rounds of the rbmeval that evaluates the models.
const (
	late          = 60
	searchSeconds = 12
	searchRounds  = 2000
	raceRounds    = 5000
)

// chosen are the recipes of the loops in the race: each one's best of the search.
var chosen = map[string]recipe{
	pytorch: {Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	numpy:   {Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01, Start: "sparse"},
}

// recipes are the recipes of the search, the same for all programs.
var recipes = []recipe{
	preset,
	{Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.4, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.2, Batch: 50, Chains: 200, Center: 0.01},
	{Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01},
	{Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01},
	{Rate: 0.2, Batch: 20, Chains: 50, Center: 0.01},
	{Rate: 0.4, Batch: 50, Chains: 100, Center: 0.01},
	{Rate: 0.4, Batch: 20, Chains: 100, Center: 0.01},
	{Rate: 0.1, Batch: 20, Chains: 50},
	{Rate: 0.2, Batch: 20, Chains: 50, Center: 0.01, Average: 0.999},
}

// quality returns the race for likelihood. gorbm has a shorter run too, because in 6 s it passes two of the likelihoods that are timed.
func (q *speed) quality() figures.Figure {
	panel := func(name string) figures.Panel {
		return figures.Panel{Name: name, Title: "MNIST, 784 × 500 units", X: "processor time of one core / s", Y: name + " / nats", LogX: true, Dots: true}
	}
	return figures.Figure{
		Name: "quality",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for seed := 1; seed <= o.Seeds(1, 3); seed++ {
				for _, name := range contestants {
					budgets := figures.Size(o, []float64{0.2, 0.4}, []float64{6, 20, late})
					if name == gorbm && !o.Quick {
						budgets = append([]float64{3}, budgets...)
					}
					for _, seconds := range budgets {
						t := task{contestant: name, data: "mnist", hidden: 500, seed: seed, seconds: seconds, recipe: chosen[name]}
						jobs = append(jobs, q.judged(o, fmt.Sprintf("%s, %v s, seed %d", name, seconds, seed), t, "mnist", raceRounds, seconds))
					}
				}
			}
			return jobs
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			var points []figures.Point
			for p := range t.All {
				if p.Panel == testPanel || p.Panel == trainPanel {
					p.X = math.Round(100*t.At(secondsPanel, p.Curve, p.X).Mean()) / 100
					points = append(points, p)
				}
			}
			return figures.Curves(2, contestants, panel(testPanel), panel(trainPanel))(w, figures.TableOf(points...))
		},
		Table: qualityTable,
	}
}

// search returns the figure of the settings: a run of every recipe by each contestant. They train without the first 5000
// rows, on which they are judged.
func (q *speed) search() figures.Figure {
	var names []string
	for i := range recipes {
		names = append(names, fmt.Sprint(i+1))
	}
	return figures.Figure{
		Name: "search",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for at, r := range figures.Size(o, recipes[:2], recipes) {
				for _, name := range contestants {
					t := task{contestant: name, data: "mnist:55000", hidden: 500, seed: 1, seconds: figures.Size(o, 0.2, searchSeconds), flags: fmt.Sprintf("%s -chains %d", r.flags(), r.Chains/5), recipe: r}
					jobs = append(jobs, q.judged(o, fmt.Sprintf("%s, %v", name, r), t, "mnist", searchRounds, float64(at)))
				}
			}
			return jobs
		},
		Draw: figures.Curves(1, contestants, figures.Panel{Name: heldPanel, Title: fmt.Sprintf("after %d s of a core", searchSeconds), X: "number of the settings", Y: heldPanel + " / nats", Words: names}),
		Table: func(t *figures.Table) string {
			var rows [][]string
			for i, r := range recipes {
				row := []string{fmt.Sprint(i + 1), r.String()}
				for _, name := range contestants {
					at := func(panel string) float64 { return t.At(panel, name, float64(i)).Mean() }
					row = append(row, fmt.Sprintf("%.1f (%.1f)", at(heldPanel), 1e3*at(secondsPanel)/at(updatesPanel)))
				}
				if t.Has(heldPanel) && len(t.At(heldPanel, gorbm, float64(i))) > 0 {
					rows = append(rows, row)
				}
			}
			return figures.Grid(append([]string{"", "settings"}, contestants...), rows)
		},
	}
}

// judged returns a job that trains a model and judges it on all rows, which are held-out rows followed by those of the task.
func (q *speed) judged(o figures.Options, name string, t task, rows string, rounds int, x float64) figures.Job {
	if o.Quick {
		t.data, rows, t.hidden, rounds = "fontdigits:400", "fontdigits:500", 10, 300
	}
	return figures.Job{Name: name, Repeat: t.seed, Run: func(ctx context.Context, add figures.Add) error {
		dir, err := os.MkdirTemp("", "gorbm-speed")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		updates, used, file, err := q.train(ctx, t, dir)
		if err == nil && updates == 0 {
			err = fmt.Errorf("%s has no %s; install it, or give another -python", q.python, libraries[t.contestant])
		}
		if err != nil {
			return err
		}
		tested, err := q.Evaluate(ctx, "-model", file, "-data", rows, "-bennett", "-ladder-rounds", fmt.Sprint(rounds))
		if err != nil {
			return err
		}
		point := func(panel string, y float64) { add(panel, t.contestant, x, y) }
		point(updatesPanel, updates)
		point(secondsPanel, used)
		b := tested.Bennett
		if b.LogZ != nil {
			point(testPanel, tested.Likelihood(b))
			if err := likelihoods(ctx, file, rows, t.data, *b.LogZ, point); err != nil {
				return err
			}
		}
		point(stdErrPanel, b.StdErr)
		point(tripsPanel, b.RoundTrips)
		point(doubtPanel, map[bool]float64{true: 1}[b.Doubtful])
		return nil
	}}
}

// likelihoods adds the mean log-likelihoods of the rows held out, if there are any, and of the training rows.
func likelihoods(ctx context.Context, model, all, trained string, logZ float64, add func(panel string, y float64)) error {
	m, _, err := modelfile.Read(model)
	if err != nil {
		return err
	}
	set, err := training.Load(ctx, all, "")
	if err != nil {
		return err
	}
	part, err := training.Load(ctx, trained, "")
	if err != nil {
		return err
	}
	mean := func(panel string, rows []int32) {
		free := make([]float64, len(rows))
		m.FreeEnergy(free, set.Rows(rows, 0))
		sum := 0.0
		for _, f := range free {
			sum -= f
		}
		add(panel, sum/float64(len(rows))-logZ)
	}
	held := set.Len() - part.Len()
	if held > 0 {
		mean(heldPanel, data.RowNumbers(0, held))
	}
	mean(trainPanel, data.RowNumbers(held, set.Len()))
	return nil
}

// reached returns the processor seconds at which the mean test log-likelihood of a contestant
// reaches y, interpolated in the logarithm of the time, as a number and as text.
func reached(t *figures.Table, name string, y float64) (seconds float64, text string) {
	lastX, lastY := 0.0, 0.0
	for i, x := range t.Xs(testPanel, name) {
		now, used := t.At(testPanel, name, x).Mean(), t.At(secondsPanel, name, x).Mean()
		if now >= y {
			if i == 0 {
				return math.NaN(), fmt.Sprintf("below %.0f", used)
			}
			s := lastX * math.Pow(used/lastX, (y-lastY)/(now-lastY))
			return s, fmt.Sprintf("%.0f", s)
		}
		lastX, lastY = used, now
	}
	return math.NaN(), fmt.Sprintf("above %.0f", lastX)
}

// qualityTable returns the means of the race, and the processor seconds after which likelihoods are reached.
func qualityTable(t *figures.Table) string {
	var lines []figures.Line
	for _, name := range contestants {
		for _, x := range t.Xs(testPanel, name) {
			ms := 1e3 * t.At(secondsPanel, name, x).Mean() / t.At(updatesPanel, name, x).Mean()
			lines = append(lines, figures.Line{Words: []string{name, fmt.Sprint(x), fmt.Sprintf("%.1f", ms)}, Curve: name, X: x})
		}
	}
	text := t.Markdown([]string{"program", "s allowed", "ms an update"}, lines, []figures.Column{
		{Title: "s used", Panel: secondsPanel, Write: figures.Mean(1)}, {Title: "updates", Panel: updatesPanel, Write: figures.Mean(0)},
		{Title: "test", Panel: testPanel, Write: figures.Spread(2)}, {Title: "training", Panel: trainPanel, Write: figures.Mean(2)},
		{Title: "std. err. of log Z", Panel: stdErrPanel, Write: figures.Mean(2)}, {Title: "round trips", Panel: tripsPanel, Write: figures.Mean(0)},
		{Title: "doubtful", Panel: doubtPanel, Write: figures.Sum}, {Title: "seeds", Panel: testPanel, Write: figures.Count},
	})
	heads, targets := []string{"program"}, []float64{-80, -77.5, -75, -72, -70}
	for _, y := range targets {
		heads = append(heads, strings.Replace(fmt.Sprint(y), "-", "−", 1)+" nats")
	}
	var rows [][]string
	fastest := slices.Repeat([]float64{math.Inf(1)}, len(targets)) // of the loops
	for _, name := range contestants {
		row := []string{name}
		for i, y := range targets {
			seconds, text := reached(t, name, y)
			row = append(row, text)
			if name != gorbm && seconds < fastest[i] {
				fastest[i] = seconds
			}
		}
		rows = append(rows, row)
	}
	row := []string{"the best loop's over that of gorbm"}
	for i, y := range targets {
		text := "–"
		if seconds, _ := reached(t, gorbm, y); !math.IsNaN(seconds) && !math.IsInf(fastest[i], 1) {
			text = fmt.Sprintf("%.1f", fastest[i]/seconds)
		}
		row = append(row, text)
	}
	return text + "\n" + figures.Grid(heads, append(rows, row))
}
