// Objectives trains classification RBMs by the objectives of "Learning algorithms
// for the classification restricted Boltzmann machine" (Larochelle, Mandel, Pascanu
// & Bengio 2012) and compares their test errors on MNIST with the paper's.
//
//	go run ./experiments/objectives
//
// Results are in README.md.
package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/train/rundir"
)

func main() { cli.Main("objectives", run) }

var run = training.Command(experiment, nil)

// experiment returns all figures.
func experiment(c *training.Commands) figures.Experiment {
	return figures.Experiment{Name: "objectives", Title: "Joint, discriminative and hybrid training of classifiers", Figures: []figures.Figure{mnist(c)}}
}

// A row is a row of the paper's table of test errors on MNIST.
type row struct {
	name      string
	hidden    string  // number of hidden units
	published float64 // test error in percent
	flags     string  // flags of rbmtrain, in addition to those of all rows
	seeds     int
}

var rows = []row{
	{"joint", "6000", 3.39, "-hidden 6000 -negphase cd -batch 10 -rate 0.05 -schedule linear -steps 120000", 1},
	{"discriminative", "500", 1.81, "-hidden 500 -objective discriminative -batch 10 -rate 0.3 -schedule constant -average 0.9998 -steps 150000", 3},
	{"hybrid", "1500", 1.28, "-hidden 1500 -objective hybrid -alpha 0.01 -negphase cd -batch 10 -rate 0.5 -schedule linear -steps 400000", 1},
	{"sparse hybrid", "3000", 1.16, "-hidden 3000 -objective hybrid -alpha 0.01 -sparse 1e-05 -negphase cd -batch 10 -rate 0.4 -schedule constant -average 0.9998 -steps 150000", 1},
}

// byTime has the indices of the rows, the fastest run first.
var byTime = []int{1, 2, 3, 0}

// Flags of rbmtrain for all runs.
const (
	common      = "-data mnist -holdout 10000 -eval-every 5000"
	quickCommon = "-data shifter:6 -holdout 20 -steps 100 -eval-every 50 -hidden 10 -batch 5"
	always      = "-binarize none -init random -metrics classification -snapshots 0"
)

// Curves and panels. X is the index of the row.
const (
	published = "published"
	here      = "here"
	heldOut   = "here, rows held out"

	errorPanel       = "error"
	rowsPanel        = "test rows"
	nllPanel         = "negative log-likelihood"
	ecePanel         = "calibration error"
	temperaturePanel = "temperature"
	timePanel        = "processor seconds"
	stepPanel        = "best step"
	stepsPanel       = "steps"
)

func mnist(c *training.Commands) figures.Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return figures.Figure{
		Name: "mnist",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for _, at := range byTime {
				for seed := 1; seed <= o.Seeds(1, rows[at].seeds); seed++ {
					jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%s, seed %d", rows[at].name, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
						return measure(ctx, c, at, seed, o.Quick, add)
					}})
				}
			}
			return jobs
		},
		Claims: claims,
		Draw: figures.Curves(2, []string{published, here, heldOut},
			figures.Panel{Name: errorPanel, Title: "classification error", Y: "%", Words: names},
			figures.Panel{Name: timePanel, Title: "processor time of training and measuring", Y: "seconds", LogY: true, Words: names}),
		Table: table,
	}
}

// measure makes the training run of rows[at] and evaluates the model that is best on the held-out rows of the data.
func measure(ctx context.Context, c *training.Commands, at, seed int, quick bool, add figures.Add) error {
	r, x, data := rows[at], float64(at), "mnist"
	small := ""
	if quick {
		small, data = quickCommon, "shifter:6"
	}
	return c.Train(ctx, func(folder string, trained training.Trained) error {
		tested, err := c.Evaluate(ctx, "-model", filepath.Join(folder, "best.safetensors"), "-data", data, "-binarize", "none", "-classify")
		if err != nil {
			return err
		}
		holdout, err := heldOutError(filepath.Join(folder, rundir.MetricsFile), trained.BestStep)
		if err != nil {
			return err
		}
		t := tested.Classification
		add(errorPanel, published, x, r.published)
		add(errorPanel, here, x, 100*t.Error)
		add(errorPanel, heldOut, x, 100*holdout)
		add(rowsPanel, here, x, t.Rows)
		add(nllPanel, here, x, t.NLL)
		add(ecePanel, here, x, 100*t.Calibration.After.ECE)
		add(temperaturePanel, here, x, t.Calibration.Temperature)
		add(timePanel, here, x, trained.Processor)
		add(stepPanel, here, x, trained.BestStep)
		add(stepsPanel, here, x, trained.Steps)
		return nil
	}, always, common, r.flags, fmt.Sprint("-seed ", seed), small)
}

// heldOutError returns the error on the rows held out that a file of metrics has at a step.
func heldOutError(file string, step float64) (float64, error) {
	columns, rows, err := rundir.ReadTable(file)
	if err != nil {
		return 0, err
	}
	at, now := slices.Index(columns, "error_holdout"), slices.Index(columns, "step")
	for _, row := range rows {
		if at >= 0 && now >= 0 && row[now] == step {
			return row[at], nil
		}
	}
	return 0, fmt.Errorf("%s has no error_holdout at step %v", file, step)
}

// standardError returns the standard error of an error in percent on this number of test rows.
func standardError(percent, n float64) float64 {
	return 100 * math.Sqrt(percent/100*(1-percent/100)/n)
}

// claims compares the error of each row, and the order of the rows, with the paper's. All seeds have the same test rows, so
// that more seeds do not reduce the standard error due to these rows.
func claims(t *figures.Table) (all []figures.Claim) {
	tested := func(at int) (mean, stdErr float64) {
		mean = t.At(errorPanel, here, float64(at)).Mean()
		return mean, standardError(mean, t.At(rowsPanel, here, float64(at)).Mean())
	}
	for at, r := range rows {
		mean, stdErr := tested(at)
		if math.IsNaN(mean) {
			continue
		}
		away := (mean - r.published) / stdErr
		verdict := "so not above it"
		switch {
		case away > figures.Errors:
			verdict = "so above it, by more than three"
		case away > 0:
			verdict = "so above it, by at most three"
		}
		seeds := "one seed"
		if n := len(t.At(errorPanel, here, float64(at))); n > 1 {
			seeds = fmt.Sprintf("%d seeds", n)
		}
		c := figures.Holds(fmt.Sprintf("%s, %s hidden units: the test error is at most the published %.2f %%", r.name, r.hidden, r.published), mean <= r.published, away,
			"%.2f ± %.2f %%, mean of %s: the published error plus %.2g standard errors of the test rows, %s", mean, stdErr, seeds, away, verdict)
		if away <= figures.Errors {
			c = c.Unsettled()
		}
		all = append(all, c)
	}
	for at := 1; at < len(rows); at++ {
		a, sa := tested(at - 1)
		b, sb := tested(at)
		if z := (a - b) / math.Hypot(sa, sb); !math.IsNaN(z) {
			all = append(all, figures.Holds(fmt.Sprintf("%s has a smaller error than %s", rows[at].name, rows[at-1].name), a > b, z,
				"%.2f %% against %.2f %%: a difference of %.2g standard errors of two independent sets of test rows", b, a, z))
		}
	}
	return all
}

// table returns the numbers of each run.
func table(t *figures.Table) string {
	var lines [][]string
	for at, r := range rows {
		for seed := 1; seed <= r.seeds; seed++ {
			x := func(panel, curve string) float64 { return t.At(panel, curve, float64(at))[seed] }
			if n, e := x(rowsPanel, here), x(errorPanel, here); n > 0 {
				lines = append(lines, []string{r.name, r.hidden, fmt.Sprint(seed), fmt.Sprintf("%.2f %%", r.published), fmt.Sprintf("%.2f ± %.2f %%", e, standardError(e, n)),
					fmt.Sprintf("%.2f %%", x(errorPanel, heldOut)), fmt.Sprintf("%.4f", x(nllPanel, here)), fmt.Sprintf("%.2f %%", x(ecePanel, here)), fmt.Sprintf("%.2f", x(temperaturePanel, here)),
					fmt.Sprintf("%.0f", x(timePanel, here)), fmt.Sprintf("%.0f of %.0f", x(stepPanel, here), x(stepsPanel, here))})
			}
		}
	}
	return figures.Grid([]string{"objective", "hidden", "seed", "published", "test error", "error held out", "−log p(y given x)", "calibration error", "temperature", "seconds", "best step"}, lines)
}
