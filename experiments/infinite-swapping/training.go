package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
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
func trainingFigure(name string, d problem) claims.Figure {
	return claims.Figure{
		Name:  name,
		Title: "likelihood and prediction accuracy in training, toy data " + d.name,
		Says:  "INS performs better than PCD-1 and slightly better than PT, on average and in its variance, both in the likelihood and in the prediction accuracy.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			s := d.size(o)
			for seed := 1; seed <= repeats(o); seed++ {
				for _, a := range algorithms {
					jobs = append(jobs, trainingJob(s, a, seed, evaluations, measured))
				}
			}
			return jobs
		},
		Claims: trainingClaims,
		Finding: func(t *claims.Table) string {
			gain := func(a algorithm) float64 {
				return secondHalf(t, likelihoodPanel, ins).Mean() - secondHalf(t, likelihoodPanel, a).Mean()
			}
			return fmt.Sprintf("INS reaches %.3f nats per row more than PT, on average over the second half of the steps, and %.2f more than PCD-1. The standard deviation of the likelihood under PT is %.2f times that under INS.",
				gain(pt), gain(pcd), claims.SpreadRatio(t, likelihoodPanel, pt.name, ins.name, 1, math.Inf(1)))
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: likelihoodPanel, Title: "likelihood", X: "training step", Y: "log-likelihood / nats per row"},
				{Name: accuracyPanel, Title: "prediction accuracy", X: "training step", Y: "mean log p(class | inputs) / nats"},
			}, names(algorithms))
		},
		Notes: func(*claims.Table) string {
			return "Claims about means use the second half of the steps, and claims about variation all steps. Likelihood and accuracy are means over all rows."
		},
	}
}

// A measure computes the values that a figure shows of model m, after step steps of training on set, and passes them to add.
type measure func(ctx context.Context, set *data.Set, m *rbm.RBM, seed uint64, step int, add func(panel string, y float64)) error

// trainingJob returns a job that trains a model and measures it at the start and after each of n equal numbers of steps.
func trainingJob(s size, a algorithm, seed, n int, look measure) claims.Job {
	return claims.Job{Name: jobName(s, a.name, seed), Run: func(ctx context.Context) (points []claims.Point, err error) {
		set, err := load(s.spec)
		if err != nil {
			return nil, err
		}
		err = a.train(ctx, s, set, s.steps/n, uint64(seed), func(step int, m *rbm.RBM) error {
			return look(ctx, set, m, uint64(seed), step, func(panel string, y float64) {
				points = append(points, claims.Point{Panel: panel, Curve: a.name, Repeat: seed, X: float64(step), Y: y})
			})
		})
		return points, err
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
func secondHalf(t *claims.Table, panel string, a algorithm) claims.Repeats {
	return t.After(panel, a.name, 0.5)
}

func trainingClaims(t *claims.Table) (all []claims.Claim) {
	for _, panel := range []string{likelihoodPanel, accuracyPanel} {
		i, p, c := secondHalf(t, panel, ins), secondHalf(t, panel, pt), secondHalf(t, panel, pcd)
		all = append(all,
			claims.Larger(panel+": INS reaches more than PCD-1", i, c),
			claims.Larger(panel+": INS reaches more than PT", i, p),
			claims.Larger(panel+": PT reaches more than PCD-1", p, c).Aside(),
			claims.Steadier(panel+": INS varies less between repetitions than PCD-1", t, panel, ins.name, pcd.name, 1, math.Inf(1)),
			claims.Steadier(panel+": INS varies less than PT", t, panel, ins.name, pt.name, 1, math.Inf(1)))
	}
	return all
}
