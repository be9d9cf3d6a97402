package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// gaussianEstimators run on models of Gaussian visible and binary hidden units with fixed parameters. The
// last two integrate the visible units out and move only the hidden ones. All are compared with the first.
var gaussianEstimators = []estimator{
	{name: "pcd", settings: "pcd:chains=50"},
	{name: "cd", settings: "cd:k=1"},
	{name: "pt", settings: "pt:chains=10:tau=auto"},
	{name: "ins", settings: "ins:chains=10:tau=auto/5"},
	{name: "gibbs on p(h)", settings: "walk:gibbs:chains=50"},
	{name: "sardonics on p(h)", settings: "sardonics:chains=50"},
}

const (
	gaussianPanel   = "gaussian"
	gaussianUpdates = gaussianPanel + updatesPanel
	gaussianVisible = 100
	gaussianHidden  = 16
	gaussianSeconds = 0.5
	// drawnWeights scales the weights of the model from which the rows of cd are drawn.
	drawnWeights    = 0.9
	gaussianBatch   = 50
	gaussianBatches = 400
	tuneUpdates     = 500
)

// gaussianStrengths are the norms of the weight vectors of hidden units.
var gaussianStrengths = []float64{1, 2, 3, 4, 6, 8}

// gaussianModel returns a model with weights drawn from N(0, strength²/visible) and multiplied by scale. Its hidden units
// are on with probability ½: with the visible units integrated out they are a spin glass without fields.
func gaussianModel(strength, scale float64, seed uint64) *rbm.RBM {
	m := rbm.NewGroups(gaussianHidden, rbm.Group{Kind: rbm.Gaussian, Units: gaussianVisible})
	m.Randomize(strength*scale/math.Sqrt(gaussianVisible), rbm.NewKey(seed))
	clear(m.VisibleBias)
	clear(m.HiddenBias)
	q := rbm.NewMarginal(m)
	for j, f := range q.Fields {
		for _, k := range q.Row(j) {
			f += k / 2
		}
		m.HiddenBias[j] = float32(-f)
	}
	return m
}

// distances returns the distance of each estimator from the exact negative phase after this many seconds, divided by
// the norm of the exact negative phase.
func distances(ctx context.Context, strength float64, seed uint64, seconds float64, add figures.Add) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := gaussianModel(strength, 1, seed)
	truth, err := compare.Enumerate(m)
	if err != nil {
		return err
	}
	key := rbm.NewKey(seed).Child(uint64(1000 * strength))
	rows := m.NewVisible(gaussianBatch * gaussianBatches)
	if err := exact.Draw(ctx, gaussianModel(strength, drawnWeights, seed), rows, rbm.NewBits(rows.Rows, m.Hidden()), key); err != nil {
		return err
	}
	pos := rbm.Batch{H: rbm.NewMatrix(gaussianBatch, m.Hidden())}
	for i, e := range gaussianEstimators {
		s, err := negphase.Parse(e.settings, negphase.Settings{})
		if err == nil {
			s, err = negphase.Tuned(nil, s, m, rbm.Batch{}, tuneUpdates, key.Child(uint64(i)))
		}
		if err != nil {
			return err
		}
		run, err := negphase.New(s)
		if err != nil {
			return err
		}
		mean, updates := compare.NewMean(m), uint64(0)
		for spent := time.Duration(0); spent.Seconds() < seconds; updates++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			first := int(updates) % gaussianBatches * gaussianBatch
			pos.V = rows.Slice(first, first+gaussianBatch)
			m.HiddenMean(pos.H, pos.V)
			start := cli.ThreadTime()
			phase, _, err := run.Estimate(m, pos, key.Child(uint64(i)).Child(updates))
			spent += cli.ThreadTime() - start
			if err != nil {
				return err
			}
			mean.Add(phase)
		}
		add(gaussianPanel, e.name, strength, mean.Distance(truth.Negative)/truth.Norm())
		add(gaussianUpdates, e.name, strength, float64(updates))
	}
	return nil
}

// gaussianFigure compares estimators on Gaussian–binary models.
func gaussianFigure() figures.Figure {
	return figures.Figure{
		Name: "gaussian",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for _, x := range figures.Size(o, []float64{1, 4}, gaussianStrengths) {
				for seed := 1; seed <= o.Seeds(3, 5); seed++ {
					jobs = append(jobs, figures.Job{Name: fmt.Sprintf("length %g, seed %d", x, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
						return distances(ctx, x, uint64(seed), figures.Size(o, 0.005, gaussianSeconds), add)
					}})
				}
			}
			return jobs
		},
		Draw: figures.Curves(1, names(gaussianEstimators), figures.Panel{Name: gaussianPanel, Title: "relative error of the negative phase", X: "norm of the weight vectors", Y: "error", LogX: true, LogY: true, Geometric: true, Dots: true}),
		Table: func(t *figures.Table) string {
			rivals := slices.DeleteFunc(names(gaussianEstimators), func(name string) bool { return name == "cd" })
			var rows [][]string
			for _, x := range t.Xs(gaussianPanel) {
				row := []string{fmt.Sprint(x)}
				for _, name := range names(gaussianEstimators) {
					row = append(row, fmt.Sprintf("%s (%.0f updates)", figures.Factor(t.At(gaussianPanel, name, x)), t.At(gaussianUpdates, name, x).Mean()))
				}
				mean := func(name string) float64 { return t.At(gaussianPanel, name, x).Logs().Mean() }
				best := slices.MinFunc(rivals, func(a, b string) int { return cmp.Compare(mean(a), mean(b)) })
				rows = append(rows, append(row, fmt.Sprintf("%s, %.1f", best, math.Exp(mean(rivals[0])-mean(best)))))
			}
			heads := []string{"norm of weight vectors"}
			for _, e := range gaussianEstimators {
				heads = append(heads, fmt.Sprintf("%s `%s`", e.name, e.settings))
			}
			return figures.Grid(append(heads, "best without cd, error of pcd over its error"), rows)
		},
	}
}
