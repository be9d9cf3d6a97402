package main

import (
	"context"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/diag"
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

// A told warning is a warning for the Python package.
type told struct {
	Kind string `json:"kind"` // mixing or training
	Text string `json:"text"`
}

// warnings returns the warnings at the end of a fit, with parameters of the Python package in place of flags.
func (w *watch) warnings(ctx context.Context) ([]told, error) {
	final, _, err := w.health.Final(ctx, w.evaluator)
	all := []told{}
	for _, f := range final {
		t := told{"training", cli.SentenceWith(parameters, f)}
		if diag.OfChains(f.Kind) {
			t.Kind = "mixing"
		}
		all = append(all, t)
	}
	return all, err
}

// parameters has the words of the Python package for each remedy.
var parameters = map[diag.Remedy]string{
	train.SmallerRate:      "a smaller learning_rate",
	train.AnotherRate:      "another learning_rate",
	train.LinearSchedule:   `schedule="linear"`,
	train.LargerBatch:      "a larger batch_size",
	train.AnotherStart:     "another random_state",
	train.WeightDecay:      "some l2",
	train.MoreHidden:       "more n_components",
	train.MoreSwaps:        "more rounds an update (swaps in negphase)",
	train.MoreGibbs:        "more Gibbs steps an update (k in negphase)",
	train.MoreChains:       "more chains",
	train.PersistentChains: `negphase="pcd" or "pins"`,
	train.TunedLadder:      `negphase="pins:tau=auto"`,
}
