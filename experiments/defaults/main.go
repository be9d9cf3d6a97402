// Defaults measures the errors and likelihoods of models that rbmtrain trains by default: by infinite
// swapping, persistent chains and parallel tempering with equal numbers of particles, for several lengths and
// data sets.
//
//	go run ./experiments/defaults
//
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("defaults", run) }

var run = program.Command(experiment)

const about = `Each run trains a model by ` + "`rbmtrain`" + ` on one core, with the defaults except for what the table names, and evaluates it by
` + "`rbmeval`" + `. All methods have 50 chains or particles, except for "pcd with 100 chains"; on MNIST without labels they have 200. Seconds are
the time of training, without the time in which other programs used the core. The log-likelihood is the mean over the test rows. It is exact
for small models, and otherwise by Bennett's ratio. ` + "`rbmeval`" + ` leaves out an estimate of log Z below a lower bound computed from
the training rows; "known" is the number of runs with an estimate. The log-likelihoods of figure mnist are from an earlier version of
` + "`rbmeval`" + `. Its ladders started from independent units with the means of the visible layer only, so that the log-likelihoods of
models that are not centred may be too high by several nats.`

func experiment(p *program.Runs) claims.Experiment {
	return claims.Experiment{Name: "defaults", Title: "What the defaults reach", Paper: "ours", About: about, Figures: []claims.Figure{lengths(p), others(p)}}
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

// flags are the flags of rbmtrain for each method.
var flags = map[string][]string{
	ins: {"-negphase", "ins"}, pcd: {"-negphase", "pcd"}, pt: {"-negphase", "pt"},
	slowIns: {"-negphase", "ins", "-rate", "0.03"}, slowPCD: {"-negphase", "pcd", "-rate", "0.03"}, manyPCD: {"-negphase", "pcd", "-chains", "100"},
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

func lengths(p *program.Runs) claims.Figure {
	return claims.Figure{
		Name: "mnist", Ours: true, Title: "errors and log-likelihoods on MNIST, 500 hidden units",
		Says: "which estimator reaches the smallest error and the highest likelihood, and in what time on one core?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for seed := 1; seed <= 5; seed++ {
				for _, r := range plan {
					if seed <= o.Seeds(3, r.seeds) && (!o.Quick || r.steps == longest) {
						jobs = append(jobs, job(p, o, mnist, r.method, r.steps, seed, float64(r.steps)))
					}
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, r := range plan {
				if r.method != ins {
					all = append(all, against(t, fmt.Sprintf("%d steps", r.steps), r.method, ins, float64(r.steps))...)
				}
			}
			return append(all, against(t, fmt.Sprintf("%d steps", longest), slowPCD, slowIns, longest)...)
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			panels := []claims.Panel{{Name: errorPanel, Title: "Test error", Y: "%"}, {Name: likelihoodPanel, Title: "Log-likelihood", Y: "nats"}}
			for i := range panels {
				panels[i].X, panels[i].LogX, panels[i].Dots = "computing time / s of one core", true, true
			}
			return claims.Curves(w, byTime(t), 2, panels, methods)
		},
		Finding: func(t *claims.Table) string {
			at := func(panel, method string, steps float64) float64 { return t.At(panel, method, steps).Mean() }
			return fmt.Sprintf("With the default %d steps the test errors are %.2f %% by ins, %.2f %% by pcd and %.2f %% by pt. After %d steps ins has %.2f %% and pcd %.2f %%.",
				defaultSteps, at(errorPanel, ins, defaultSteps), at(errorPanel, pcd, defaultSteps), at(errorPanel, pt, defaultSteps), longest, at(errorPanel, ins, longest), at(errorPanel, pcd, longest))
		},
		Notes: func(t *claims.Table) string {
			return notes(t, "steps", func(x float64) string { return fmt.Sprint(x) })
		},
	}
}

func others(p *program.Runs) claims.Figure {
	return claims.Figure{
		Name: "data", Ours: true, Title: "log-likelihoods on other data, with the default number of steps",
		Says: "do the defaults work as well on other data?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for seed := 1; seed <= o.Seeds(3, 5); seed++ {
				for x, d := range problems[:claims.Size(o, 1, len(problems))] {
					for _, m := range methods[:3] {
						if m != pt || d.hidden != 500 {
							jobs = append(jobs, job(p, o, d, m, d.steps(), seed, float64(x)))
						}
					}
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for x, d := range problems {
				for _, m := range methods[1:3] {
					all = append(all, against(t, d.String(), m, ins, float64(x))...)
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var names []string
			for _, d := range problems {
				names = append(names, strings.NewReplacer(" ", "\n", ":", ":\n").Replace(d.String()))
			}
			return claims.Curves(w, t, 1, []claims.Panel{{Name: likelihoodPanel, Title: "Log-likelihood", Y: "nats", Words: names}}, methods[:3])
		},
		Finding: func(t *claims.Table) string {
			better, worse, all := 0, 0, 0
			for x := range problems {
				a, b := t.At(likelihoodPanel, ins, float64(x)), t.At(likelihoodPanel, pcd, float64(x))
				if len(a) > 0 {
					all++
					better += claims.Passed([]claims.Claim{claims.Larger("", a, b)})
					worse += claims.Passed([]claims.Claim{claims.Smaller("", a, b)})
				}
			}
			return fmt.Sprintf("ins ends at a higher likelihood than pcd on %d of %d data sets, and at a lower one on %d.", better, all, worse)
		},
		Notes: func(t *claims.Table) string {
			return notes(t, "data", func(x float64) string { return problems[int(x)].String() })
		},
	}
}

// job trains a model by rbmtrain and evaluates it by rbmeval.
func job(p *program.Runs, o claims.Options, d problem, method string, steps, seed int, x float64) claims.Job {
	name := fmt.Sprintf("%v, %s, %d steps, seed %d", d, method, steps, seed)
	if o.Quick {
		d, steps = quick, 200
	}
	return claims.Job{Name: name, Run: func(ctx context.Context) (points []claims.Point, err error) {
		folder, remove, err := p.Folder(name)
		if err != nil {
			return nil, err
		}
		defer remove()
		add := func(panel string, y *float64) {
			if y != nil && !math.IsNaN(*y) {
				points = append(points, claims.Point{Panel: panel, Curve: method, Repeat: seed, X: x, Y: *y})
			}
		}
		args := append([]string{"-data", d.data, "-labels", d.labels, "-hidden", strconv.Itoa(d.hidden), "-steps", strconv.Itoa(steps), "-seed", strconv.Itoa(seed),
			"-eval-every", strconv.Itoa(steps), "-snapshots", "0", "-workers", "1", "-json", "-out", folder}, flags[method]...)
		var trained struct {
			Seconds float64            `json:"seconds"`
			Metrics map[string]float64 `json:"metrics"`
			Ladder  *struct {
				Beta []float64 `json:"beta"`
			} `json:"ladder"`
		}
		begin := time.Now()
		processor, err := p.Call(ctx, &trained, "rbmtrain", args...)
		if err != nil {
			return nil, err
		}
		seconds := trained.Seconds * min(processor/time.Since(begin).Seconds(), 1) // without the time in which other programs used the core
		add(secondsPanel, &seconds)
		if e, ok := trained.Metrics["error_test"]; ok {
			e *= 100
			add(errorPanel, &e)
		}
		if l, ok := trained.Metrics["accuracy_mean"]; ok {
			add(logPPanel, &l)
		}
		if l := trained.Ladder; l != nil {
			hottest := 1 / l.Beta[len(l.Beta)-1]
			add(hottestPanel, &hottest)
		}
		for _, name := range []string{"log_likelihood_test", "log_likelihood_train"} { // of small models, exactly
			if l, ok := trained.Metrics[name]; ok {
				add(likelihoodPanel, &l)
				return points, nil
			}
		}
		var tested struct {
			LogLikelihood *float64 `json:"mean_log_likelihood"`
			Error         *float64 `json:"log_z_std_err"`
		}
		_, err = p.Call(ctx, &tested, "rbmeval", "-model", folder, "-bennett", "-workers", "1", "-json", "-seed", strconv.Itoa(seed))
		add(likelihoodPanel, tested.LogLikelihood)
		add(stdErrPanel, tested.Error)
		return points, err
	}}
}

// against returns the claims that method b is better than a at x, if there are runs of both.
func against(t *claims.Table, where, a, b string, x float64) (all []claims.Claim) {
	if ea, eb := t.At(errorPanel, a, x), t.At(errorPanel, b, x); len(ea) > 0 && len(eb) > 0 {
		all = append(all, claims.Smaller(fmt.Sprintf("%s: %s errs less than %s", where, b, a), eb, ea))
	}
	if la, lb := t.At(likelihoodPanel, a, x), t.At(likelihoodPanel, b, x); len(la) > 0 && len(lb) > 0 {
		all = append(all, claims.Larger(fmt.Sprintf("%s: %s ends at a higher likelihood than %s", where, b, a), lb, la))
	}
	return all
}

// byTime returns the table with the mean seconds of runs in place of their steps.
func byTime(t *claims.Table) *claims.Table {
	var points []claims.Point
	for p := range t.All {
		if p.Panel == errorPanel || p.Panel == likelihoodPanel {
			p.X, _ = t.At(secondsPanel, p.Curve, p.X).Average()
			points = append(points, p)
		}
	}
	return claims.TableOf(points...)
}

// notes returns the means over the seeds as a table.
func notes(t *claims.Table, first string, text func(x float64) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Means ± standard deviations over the seeds. \"hottest\" is the hottest temperature of the ladder at the end.\n\n"+
		"| %s | method | seeds | s of a core | test error %% | log p(y given x) | log-likelihood | known | hottest |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", first)
	var xs []float64
	for _, m := range methods {
		xs = append(xs, t.Xs(secondsPanel, m)...)
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		for _, m := range methods {
			seeds := len(t.At(secondsPanel, m, x))
			if seeds == 0 {
				continue
			}
			mean := func(panel string, digits int) string {
				r := t.At(panel, m, x)
				if len(r) == 0 {
					return "–"
				}
				mean, sd := r.Average()
				return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, sd)
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s | %d | %s |\n", text(x), m, seeds, mean(secondsPanel, 1), mean(errorPanel, 2), mean(logPPanel, 4),
				mean(likelihoodPanel, 2), len(t.At(likelihoodPanel, m, x)), mean(hottestPanel, 3))
		}
	}
	return b.String()
}
