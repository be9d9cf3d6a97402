// Mnist-likelihood trains RBMs of 500 hidden units on MNIST without labels, by many persistent
// chains, and brackets their test log-likelihood.
//
//	go run ./experiments/mnist-likelihood
//
// Results are in README.md.
package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
)

func main() { cli.Main("mnist-likelihood", run) }

var run = training.Command(experiment, nil)

// experiment returns all figures.
func experiment(c *training.Commands) figures.Experiment {
	return figures.Experiment{Name: "mnist-likelihood", Title: "The likelihood of MNIST under 500 hidden units", Ours: true, Figures: []figures.Figure{long(c)}}
}

// A row is a long run and the published number that it is compared with.
type row struct {
	name      string
	binarize  string
	flags     string  // of rbmtrain, in addition to those of all rows
	published float64 // test log-likelihood in nats
	source    string  // source of the published number
}

var rows = []row{
	{"sampled", "sample", "-redraw -negphase pcd:chains=300 -batch 100 -rate 0.1 -steps 190000 -eval-every 25000 -metrics free_energy_gap",
		-86.34, "contrastive divergence of 25 steps, by AIS; Salakhutdinov & Murray 2008"},
	{"thresholded", "threshold", "-negphase pcd:chains=300 -batch 100 -rate 0.1 -steps 60000 -eval-every 6000 -metrics free_energy_gap",
		-84.9, "centred persistent chains, 200 epochs, by AIS; the reverse of AIS gives −96.6"},
}

// Flags of rbmtrain, and of rbmeval, which ask for more temperatures and rounds than the defaults.
const (
	common      = "-data mnist -labels none -hidden 500 -init log-odds -schedule linear -snapshots 0"
	quickCommon = "-data fontdigits:60 -hidden 8 -batch 10 -steps 40 -eval-every 40"
	testFlags   = "-ais -reverse-ais -bennett -ais-temperatures 20000 -ladder-rounds 6000"
	quickTest   = " -ais-temperatures 100 -ladder-rounds 300"
)

// Curves and panels. X is the index of the row. The gap and the time have the row as curve.
const (
	byAIS       = "AIS"         // its log Z is too low on average
	byReverse   = "reverse AIS" // its log Z is too high on average
	byBennett   = "Bennett"
	testPanel   = "test log-likelihood"
	stdErrPanel = "standard error"
	essPanel    = "effective draws"
	gapPanel    = "free-energy gap"
	timePanel   = "processor seconds"
)

var estimates = []string{byReverse, byBennett, byAIS}

func long(c *training.Commands) figures.Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return figures.Figure{
		Name: "long",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for at, r := range rows {
				jobs = append(jobs, figures.Job{Name: r.name, Repeat: 1, Run: func(ctx context.Context, add figures.Add) error { return measure(ctx, c, at, o.Quick, add) }})
			}
			return jobs
		},
		Draw:  figures.Curves(1, estimates, figures.Panel{Name: testPanel, Title: "test rows", Y: "log-likelihood / nats", Words: names}),
		Table: table,
	}
}

// measure trains the row with index at, and brackets its likelihood.
func measure(ctx context.Context, c *training.Commands, at int, quick bool, add figures.Add) error {
	r, x, data, small, judge := rows[at], float64(at), "mnist", "", testFlags
	if quick {
		data, small, judge = "fontdigits:60", quickCommon, testFlags+quickTest
	}
	return c.Train(ctx, func(folder string, trained training.Trained) error {
		tested, err := c.Evaluate(ctx, strings.Fields(fmt.Sprintf("-model %s -data %s -binarize %s %s", folder, data, r.binarize, judge))...)
		if err != nil {
			return err
		}
		add(gapPanel, r.name, x, *trained.Metrics["free_energy_gap"])
		add(timePanel, r.name, x, trained.Processor)
		for i, e := range []training.Estimate{tested.Reverse, tested.Bennett, tested.AIS} {
			add(testPanel, estimates[i], x, tested.Likelihood(e))
			add(stdErrPanel, estimates[i], x, e.StdErr)
			add(essPanel, estimates[i], x, e.ESS)
		}
		return nil
	}, common, "-binarize", r.binarize, r.flags, "-seed 1", small)
}

func table(t *figures.Table) string {
	var lines [][]string
	for at, r := range rows {
		x := func(panel, curve string) float64 { return t.At(panel, curve, float64(at))[1] }
		line := []string{r.name}
		for _, e := range estimates {
			line = append(line, fmt.Sprintf("%.2f ± %.2f (%.0f)", x(testPanel, e), x(stdErrPanel, e), x(essPanel, e)))
		}
		width := math.Abs(x(testPanel, byAIS) - x(testPanel, byReverse))
		lines = append(lines, append(line, fmt.Sprintf("%.2f", width), fmt.Sprintf("%.2f", x(gapPanel, r.name)), fmt.Sprintf("%.0f", x(timePanel, r.name)), fmt.Sprintf("%.2f: %s", r.published, r.source)))
	}
	return figures.Grid([]string{"rows", "reverse AIS", "Bennett", "AIS", "bracket", "gap", "seconds", "published"}, lines)
}
