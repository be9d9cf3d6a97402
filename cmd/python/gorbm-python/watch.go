package main

import (
	"context"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// A watch collects the warnings that rbmtrain would print for a fit: about the mixing of chains, hidden
// units, weights, and the log-likelihood if its enumeration takes little time.
type watch struct {
	evaluator *train.Evaluator
	health    *train.Health
}

const (
	// watchPoints is the number of measurements in a fit. Measurements of the log-likelihood take
	// at most 1/watchShare of the work of training.
	watchPoints, watchShare = 20, 10
	// watchWork is the largest number of states × weights for which the log-likelihood is enumerated. If the
	// log-likelihood falls, some hundred updates with the exact negative phase, which take seconds, show the
	// cause.
	watchWork = 1 << 22
	// trainingKind is the kind, for the Python package, of warnings about units and weights.
	trainingKind = "training"
)

// newWatch returns the watch of t, which trains m on set with the settings o.
func newWatch(o fitSettings, t *train.Trainer, set *data.Set, m *rbm.RBM) (*watch, error) {
	var names []string
	discriminative := o.Objective == train.Discriminative
	if !discriminative && o.Settings.Negative.Persists() {
		names = append(names, "mixing")
	}
	weights := float64(m.Visible() * m.Hidden())
	update := float64(4*o.Batch) * weights // two passes of the rows and two of the chains
	if e, err := exact.New(m, exact.EvaluationLimit); err == nil && m.Classes() == 0 && float64(e.States())*weights <= watchWork &&
		watchPoints*(e.Work()+float64(set.Len())*weights) <= float64(o.Steps)*update/watchShare {
		names = append(names, "log_likelihood")
	}
	sets := train.Sets{Train: set}
	metrics, err := train.NewRunMetrics(names, m, sets, o.Settings)
	if err != nil {
		return nil, err
	}
	w := &watch{health: train.NewHealth(o.Settings, sets, m, train.Column{})}
	w.evaluator = &train.Evaluator{Metrics: metrics, Every: max(1, o.Steps/watchPoints), Report: func(e train.Evaluation) error {
		w.health.Warnings(e, t.Model(), e.Step == o.Steps)
		_, err := w.health.Early(context.Background(), e, w.evaluator) // the warnings are ignored, because Final repeats the warnings that still hold
		return err
	}}
	w.evaluator.Watch(t)
	w.health.Watch(t, metrics, o.Steps)
	return w, nil
}

// warnings returns the warnings at the end of a fit, with parameters of the Python package in place of flags.
func (w *watch) warnings(ctx context.Context) ([]train.Warning, error) {
	final, _, err := w.health.Final(ctx, w.evaluator)
	all := append([]train.Warning{}, final...)
	for i := range all {
		switch all[i].Kind {
		case train.GoalKind, train.WeightsKind, train.DeadKind:
			all[i].Kind = trainingKind
		}
		all[i].Text = parameters.Replace(all[i].Text)
	}
	return all, err
}

// parameters replaces flags of rbmtrain by parameters of the Python estimators.
var parameters = strings.NewReplacer(
	"use best.safetensors, the best on the rows held out, at which -stop-after ends a run", "fewer n_iter end a fit nearer to its best",
	"-holdout with -stop-after ends a run at its best", "fewer n_iter end a fit nearer to its best",
	"more -steps, more -hidden or", "more n_iter, more n_components or",
	"-negphase pins -temperatures auto", `negphase="pins:tau=auto"`,
	"-negphase pcd or pins", `negphase="pcd" or "pins"`,
	"-holdout with -stop-after ends a run at its best, and more", "a smaller n_iter, more",
	"-schedule linear", `schedule="linear"`,
	"more -chains", "more chains",
	"(-k)", "(k in negphase)",
	"(-swaps)", "(swaps in negphase)",
	"fewer -hidden", "a smaller n_components",
	"-rate", "learning_rate",
	"-batch", "batch_size",
	"-init", "random_state",
	"-l2", "l2",
)
