package main

import (
	"context"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/rbm"
	"gorbm/train"
)

// Panels of figures of training.
const (
	likelihoodPanel = "log-likelihood"
	accuracyPanel   = "prediction accuracy"
)

// evaluations is the number of evaluations of a run.
const evaluations = 40

// trainingFigure returns a figure of likelihoods and prediction accuracies during training.
func trainingFigure(name string, d problem) figures.Figure {
	return figures.Figure{
		Name: name,
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			s := d.size(o)
			for seed := 1; seed <= repeats(o); seed++ {
				for _, a := range algorithms {
					jobs = append(jobs, trainingJob(s, a, seed, evaluations, measured))
				}
			}
			return jobs
		},
		Claims: trainingClaims,
		Draw: figures.Curves(2, names(algorithms),
			figures.Panel{Name: likelihoodPanel, Title: "likelihood", X: "training step", Y: "log-likelihood / nats per row"},
			figures.Panel{Name: accuracyPanel, Title: "prediction accuracy", X: "training step", Y: "mean log p(class | inputs) / nats"}),
	}
}

// A measure computes the values that a figure shows of model m, after step steps of training on set, and passes them to add.
type measure func(ctx context.Context, set *data.Set, m *rbm.RBM, seed uint64, step int, add func(panel string, y float64)) error

// trainingJob returns a job that trains a model and measures it at the start and after each of n equal numbers of steps.
func trainingJob(s size, a algorithm, seed, n int, look measure) figures.Job {
	return figures.Job{Name: jobName(s, a.name, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
		set, err := training.Load(ctx, s.spec, "")
		if err != nil {
			return err
		}
		return a.train(ctx, s, set, s.steps/n, uint64(seed), func(step int, m *rbm.RBM) error {
			return look(ctx, set, m, uint64(seed), step, func(panel string, y float64) {
				add(panel, a.name, float64(step), y)
			})
		})
	}}
}

// measured measures the likelihood and the accuracy on all rows.
func measured(ctx context.Context, set *data.Set, m *rbm.RBM, _ uint64, _ int, add func(panel string, y float64)) error {
	metrics, err := train.NewMetrics([]string{"log_likelihood", "classification"}, m, train.Sets{Train: set}, 1)
	if err != nil {
		return err
	}
	for _, metric := range metrics {
		values, err := metric.Measure(ctx, m, true)
		if err != nil {
			return err
		}
		for i, name := range metric.Values {
			if panel := panelOfMetric[name]; panel != "" {
				add(panel, values[i])
			}
		}
	}
	return nil
}

var panelOfMetric = map[string]string{"log_likelihood_train": likelihoodPanel, "accuracy_mean": accuracyPanel}

// secondHalf returns the means over the second half of the steps.
func secondHalf(t *figures.Table, panel string, a algorithm) figures.Repeats {
	return t.After(panel, a.name, 0.5)
}

func trainingClaims(t *figures.Table) (all []figures.Claim) {
	for _, panel := range []string{likelihoodPanel, accuracyPanel} {
		i, p, c := secondHalf(t, panel, ins), secondHalf(t, panel, pt), secondHalf(t, panel, pcd)
		all = append(all,
			figures.Larger(panel+": INS reaches more than PCD-1", i, c),
			figures.Larger(panel+": INS reaches more than PT", i, p),
			figures.Larger(panel+": PT reaches more than PCD-1", p, c).Aside(),
			figures.Steadier(panel+": INS varies less between repetitions than PCD-1", t, panel, ins.name, pcd.name, 1, math.Inf(1)),
			figures.Steadier(panel+": INS varies less than PT", t, panel, ins.name, pt.name, 1, math.Inf(1)))
	}
	return all
}
