// Defaults measures the errors and likelihoods of models that rbmtrain trains by default: by infinite
// swapping, persistent chains and parallel tempering with equal numbers of particles, for several lengths and
// data sets.
//
//	go run ./experiments/defaults
//
// Results are in README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
)

func main() { cli.Main("defaults", run) }

var run = training.Command(experiment, nil)

// experiment returns all figures.
func experiment(c *training.Commands) figures.Experiment {
	return figures.Experiment{Name: "defaults", Title: "What the defaults reach", Ours: true, Figures: []figures.Figure{lengths(c), others(c)}}
}

// A problem is a data set with a number of hidden units.
type problem struct {
	data, labels string
	hidden       int
}

func (d problem) String() string {
	if d.labels == "none" {
		return d.data + " without labels"
	}
	return d.data
}

var (
	mnist    = problem{"mnist", "auto", 500}
	problems = []problem{{"fontdigits", "auto", 500}, {"mnist", "none", 500}, {"bars:4", "none", 16}, {"desjardins:0.001", "none", 10}, {"toy:4,4,2500,0.2", "auto", 4}, {"shifter", "auto", 16}}
	quick    = problem{"fontdigits:500", "auto", 20}
)

const (
	ins, pcd, pt = "ins", "pcd", "pt"
	slowIns      = "ins at rate 0.03"
	slowPCD      = "pcd at rate 0.03"
	manyPCD      = "pcd with 100 chains"
)

// settings are the flags of rbmtrain for each method.
var settings = map[string]string{
	ins: "-negphase ins", pcd: "-negphase pcd", pt: "-negphase pt",
	slowIns: "-negphase ins -rate 0.03", slowPCD: "-negphase pcd -rate 0.03", manyPCD: "-negphase pcd -chains 100",
}

// methods are in the order of the pictures.
var methods = []string{ins, pcd, pt, slowIns, slowPCD, manyPCD}

// plan lists the runs on MNIST: method, steps and number of seeds.
var plan = []struct {
	method string
	steps  int
	seeds  int
}{
	{ins, 12000, 5}, {pcd, 12000, 5}, {pt, 12000, 5}, {ins, defaultSteps, 5}, {pcd, defaultSteps, 5}, {pt, defaultSteps, 5},
	{ins, 160000, 5}, {pcd, 160000, 5}, {pt, 160000, 5},
	{ins, longest, 5}, {pcd, longest, 5}, {pt, longest, 5}, {slowIns, longest, 3}, {slowPCD, longest, 3}, {manyPCD, longest, 2},
}

const (
	defaultSteps    = 48000
	generativeSteps = 10000 // default for images without labels
	longest         = 280000
)

// steps returns the default number of steps.
func (d problem) steps() int {
	if d.labels == "none" && d.hidden == 500 {
		return generativeSteps
	}
	return defaultSteps
}

// Panels. X is the number of steps, or the index of the data in problems.
const (
	secondsPanel    = "seconds of a core"
	errorPanel      = "test error"
	logPPanel       = "log p(y given x)"
	likelihoodPanel = "log-likelihood"
	stdErrPanel     = "standard error"
	hottestPanel    = "hottest"
)

func lengths(c *training.Commands) figures.Figure {
	return figures.Figure{
		Name: "mnist",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for seed := 1; seed <= 5; seed++ {
				for _, r := range plan {
					if seed <= o.Seeds(3, r.seeds) && (!o.Quick || r.steps == longest) {
						jobs = append(jobs, job(c, o, mnist, r.method, r.steps, seed, float64(r.steps)))
					}
				}
			}
			return jobs
		},
		Claims: func(t *figures.Table) (all []figures.Claim) {
			for _, r := range plan {
				if r.method != ins {
					all = append(all, against(t, fmt.Sprintf("%d steps", r.steps), r.method, ins, float64(r.steps))...)
				}
			}
			return append(all, against(t, fmt.Sprintf("%d steps", longest), slowPCD, slowIns, longest)...)
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			panels := []figures.Panel{{Name: errorPanel, Title: "Test error", Y: "%"}, {Name: likelihoodPanel, Title: "Log-likelihood", Y: "nats"}}
			for i := range panels {
				panels[i].X, panels[i].LogX, panels[i].Dots = "computing time / s of one core", true, true
			}
			return figures.Curves(2, methods, panels...)(w, byTime(t))
		},
		Table: func(t *figures.Table) string {
			return table(t, "steps", func(x float64) string { return fmt.Sprint(x) })
		},
	}
}

func others(c *training.Commands) figures.Figure {
	var names []string
	for _, d := range problems {
		names = append(names, strings.NewReplacer(" ", "\n", ":", ":\n").Replace(d.String()))
	}
	return figures.Figure{
		Name: "data",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for seed := 1; seed <= o.Seeds(3, 5); seed++ {
				for x, d := range problems[:figures.Size(o, 1, len(problems))] {
					for _, m := range methods[:3] {
						if m != pt || d.hidden != 500 {
							jobs = append(jobs, job(c, o, d, m, d.steps(), seed, float64(x)))
						}
					}
				}
			}
			return jobs
		},
		Claims: func(t *figures.Table) (all []figures.Claim) {
			for x, d := range problems {
				for _, m := range methods[1:3] {
					all = append(all, against(t, d.String(), m, ins, float64(x))...)
				}
			}
			return all
		},
		Draw: figures.Curves(1, methods[:3], figures.Panel{Name: likelihoodPanel, Title: "Log-likelihood", Y: "nats", Words: names}),
		Table: func(t *figures.Table) string {
			return table(t, "data", func(x float64) string { return problems[int(x)].String() })
		},
	}
}

// job trains a model by rbmtrain and evaluates it by rbmeval.
func job(c *training.Commands, o figures.Options, d problem, method string, steps, seed int, x float64) figures.Job {
	name := fmt.Sprintf("%v, %s, %d steps, seed %d", d, method, steps, seed)
	if o.Quick {
		d, steps = quick, 200
	}
	line := fmt.Sprintf("-data %s -labels %s -hidden %d -steps %d -eval-every %[4]d -seed %d -snapshots 0", d.data, d.labels, d.hidden, steps, seed)
	return figures.Job{Name: name, Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
		return c.Train(ctx, func(folder string, trained training.Trained) error {
			known := func(panel string, y *float64) {
				if y != nil {
					add(panel, method, x, *y)
				}
			}
			add(secondsPanel, method, x, trained.Seconds*min(trained.Processor/trained.InAll, 1)) // without the time in which other programs used the core
			if e := trained.Metrics["error_test"]; e != nil {
				add(errorPanel, method, x, 100**e)
			}
			known(logPPanel, trained.Metrics["accuracy_mean"])
			if beta := trained.Ladder.Beta; beta != nil {
				add(hottestPanel, method, x, 1/beta[len(beta)-1])
			}
			for _, name := range []string{"log_likelihood_test", "log_likelihood_train"} { // of small models, exactly
				if l := trained.Metrics[name]; l != nil {
					known(likelihoodPanel, l)
					return nil
				}
			}
			tested, err := c.Evaluate(ctx, "-model", folder, "-bennett", "-seed", fmt.Sprint(seed))
			known(likelihoodPanel, tested.LogLikelihood)
			known(stdErrPanel, tested.StdErr)
			return err
		}, line, settings[method])
	}}
}

// against returns the claims that method b is better than a at x, if there are runs of both.
func against(t *figures.Table, where, a, b string, x float64) (all []figures.Claim) {
	if ea, eb := t.At(errorPanel, a, x), t.At(errorPanel, b, x); len(ea) > 0 && len(eb) > 0 {
		all = append(all, figures.Smaller(fmt.Sprintf("%s: %s errs less than %s", where, b, a), eb, ea))
	}
	if la, lb := t.At(likelihoodPanel, a, x), t.At(likelihoodPanel, b, x); len(la) > 0 && len(lb) > 0 {
		all = append(all, figures.Larger(fmt.Sprintf("%s: %s ends at a higher likelihood than %s", where, b, a), lb, la))
	}
	return all
}

// byTime returns the table with the mean seconds of runs in place of their steps.
func byTime(t *figures.Table) *figures.Table {
	var points []figures.Point
	for p := range t.All {
		if p.Panel == errorPanel || p.Panel == likelihoodPanel {
			p.X = t.At(secondsPanel, p.Curve, p.X).Mean()
			points = append(points, p)
		}
	}
	return figures.TableOf(points...)
}

// table returns the means over the seeds.
func table(t *figures.Table, first string, text func(x float64) string) string {
	var lines []figures.Line
	for _, x := range t.Xs(secondsPanel) {
		for _, m := range methods {
			lines = append(lines, figures.Line{Words: []string{text(x), m}, Curve: m, X: x})
		}
	}
	return t.Markdown([]string{first, "method"}, lines, []figures.Column{
		{Title: "seeds", Panel: secondsPanel, Write: figures.Count},
		{Title: "s of a core", Panel: secondsPanel, Write: figures.Spread(1)},
		{Title: "test error %", Panel: errorPanel, Write: figures.Spread(2)},
		{Title: "log p(y given x)", Panel: logPPanel, Write: figures.Spread(4)},
		{Title: "log-likelihood", Panel: likelihoodPanel, Write: figures.Spread(2)},
		{Title: "known", Panel: likelihoodPanel, Write: figures.Count},
		{Title: "hottest", Panel: hottestPanel, Write: figures.Spread(3)},
	})
}
