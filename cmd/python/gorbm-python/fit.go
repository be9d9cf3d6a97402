package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// fitSettings are the settings of the operations fit and partial_fit. Fields of train.Settings have
// its JSON keys, except the negative phase, which is a text as for -negphase of rbmtrain.
type fitSettings struct {
	train.Settings
	Negative string `json:"negphase"`
	Steps    int    `json:"steps"`  // number of steps of fit
	Report   int    `json:"report"` // number of steps between frames of progress; 0: none
	Base     bool   `json:"base"`   // also return the distribution at β = 0 for logZ

	empty *rbm.RBM // a model of the shape in the request, with all parameters zero
}

// settings returns the settings of a request.
func settings(f frame) (s fitSettings, err error) {
	if err = json.Unmarshal(f.header, &s); err == nil {
		s.empty, err = readShape(f)
	}
	if err != nil {
		return s, usageError{err}
	}
	if s.Steps < 0 || s.Steps > train.MaxSteps {
		return s, usageError{fmt.Errorf("there are %d steps; the number must lie in 0 … %d: lower n_iter or raise batch_size", s.Steps, train.MaxSteps)}
	}
	kind, _, _ := strings.Cut(s.Negative, ":")
	defaults := negphase.DefaultSettings(kind)
	switch {
	case negphase.Has(kind, "tau"): // the default of rbmtrain
		_ = defaults.Set("tau", "reach/5")
	case negphase.Has(kind, "chains"): // the number that scikit-learn uses
		_ = defaults.Set("chains", s.Batch)
	}
	s.Settings.Negative, err = negphase.Parse(s.Negative, defaults)
	if err != nil && s.Objective != train.Discriminative {
		return s, usageError{fmt.Errorf("negphase: %w", err)}
	}
	return s, nil
}

// readFit returns the settings and the rows of a request.
func readFit(f frame) (fitSettings, *data.Set, error) {
	o, err := settings(f)
	if err != nil {
		return o, nil, err
	}
	set, err := readRows(f, o.empty)
	if err != nil {
		err = usageError{err}
	}
	return o, set, err
}

// model returns the initial model: the model of the request, or small random weights with visible biases from
// the means of set.
func (s fitSettings) model(f frame, set *data.Set) (*rbm.RBM, error) {
	if given, err := readModel(f, s.empty); err != nil || given {
		return s.empty, err
	}
	hidden := rbm.Group{Kind: s.empty.HiddenKind(), Units: s.empty.Hidden()}
	m := train.NewModelOf(set, hidden, s.empty.Classes() > 0, s.empty.LabelKind(), s.Seed)
	m.Constraint = s.empty.Constraint
	train.SetLogOdds(m, set)
	return m, nil
}

// fit trains for Steps steps and returns the model. "warnings" has the warnings about the run; it is
// empty if the request was stopped.
func (s *server) fit(q request) (map[string]any, []array, error) {
	o, set, err := readFit(q.frame)
	if err != nil {
		return nil, nil, err
	}
	m, err := o.model(q.frame, set)
	if err != nil {
		return nil, nil, usageError{err}
	}
	o.Batch, o.Horizon = min(o.Batch, set.Len()), max(o.Steps, 1)
	t, err := newTrainer(o, set, m)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWatch(o, t, set, m)
	if err == nil {
		err = w.evaluator.Begin(context.WithoutCancel(q.ctx), t.Model())
	}
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	err = t.Run(q.ctx, o.Steps, w.evaluator.Observe, func(_ context.Context, e train.Event) error {
		if o.Report == 0 || e.Step%o.Report != 0 {
			return nil
		}
		if err := writeFrame(s.out, map[string]any{"progress": progress(e, set, time.Since(start))}); err != nil {
			return err
		}
		return s.out.Flush()
	})
	stopped := err != nil && errors.Is(err, q.ctx.Err())
	if err != nil && !stopped {
		return nil, nil, err
	}
	header, arrays := result(o, t, set)
	header["stopped"], header["warnings"] = stopped, []told{}
	if !stopped {
		if header["warnings"], err = w.warnings(q.ctx); err != nil {
			return nil, nil, err
		}
	}
	return header, arrays, nil
}

// newTrainer returns a trainer of m on set. It fails if the estimator cannot run on m.
func newTrainer(o fitSettings, set *data.Set, m *rbm.RBM) (*train.Trainer, error) {
	if o.Objective != train.Discriminative {
		if _, err := o.Settings.Negative.CheckModel(m); err != nil {
			return nil, usageError{err}
		}
	}
	t, err := train.New(o.Settings, set, m)
	if err != nil {
		return nil, usageError{err}
	}
	return t, nil
}

// judgedRows is the largest number of rows on which progress is measured.
const judgedRows = 500

// progress returns the number of steps, the seconds and a metric on up to judgedRows rows: the
// classification error; without labels the mean pseudo-log-likelihood in nats; for real rows the
// mean free energy in nats.
func progress(e train.Event, set *data.Set, took time.Duration) map[string]any {
	report := map[string]any{"step": e.Step, "seconds": took.Seconds()}
	rows := data.EvenRows(judgedRows, set.Len())
	if e.Model.Classes() > 0 {
		report["error"] = train.Classify(e.Model, set, rows).Error
		return report
	}
	values := make([]float64, len(rows))
	if e.Model.Real() {
		e.Model.FreeEnergy(values, set.Rows(rows, 0))
		report["free_energy"] = train.Mean(values)
		return report
	}
	bits := rbm.NewBits(len(rows), e.Model.Inputs())
	set.Visible(bits, rows, 0) // grey values are cut at ½, because the pseudo-likelihood needs bits
	e.Model.PseudoLogLikelihood(values, bits)
	report["pseudo_likelihood"] = train.Mean(values)
	return report
}

// result returns the answer to fit or partial_fit.
func result(o fitSettings, t *train.Trainer, set *data.Set) (map[string]any, []array) {
	m := t.Model()
	arrays := modelArrays(m)
	if o.Base {
		b := train.ModelBase(m, set)
		arrays = append(arrays, floatArray("base_visible", b.VisibleBias, m.Visible()), floatArray("base_hidden", b.HiddenBias, m.Hidden()))
	}
	return map[string]any{"steps": t.Steps()}, arrays
}

// A stream keeps the trainer of partial_fit between requests.
type stream struct{ trainer *train.Trainer }

// partialFit takes steps on the rows of a request, in order, with about Batch rows per step. It
// continues from the array state of an earlier answer. Without state it continues from the last
// request, or starts a new model if "begin" is set. The answer has the new state.
func (s *server) partialFit(q request) (map[string]any, []array, error) {
	o, set, err := readFit(q.frame)
	if err != nil {
		return nil, nil, err
	}
	if o.Objective != train.Discriminative && o.Settings.Negative.NeedsBase() {
		return nil, nil, usageError{fmt.Errorf("negphase %s: path=data needs all rows at once, which partial_fit does not have; leave it out", o.Negative)}
	}
	if train.Ends(o.Schedule) {
		o.Schedule = "constant" // the number of steps is unknown
	}
	if err := s.stream.open(q, o, set); err != nil {
		return nil, nil, err
	}
	t := s.stream.trainer
	n := max(1, (set.Len()+o.Batch-1)/o.Batch)
	for i := range n {
		if err := t.Take(set.Take(data.RowNumbers(i*set.Len()/n, (i+1)*set.Len()/n))); err != nil {
			return nil, nil, usageError{err}
		}
		if err := t.Run(q.ctx, t.Steps()+1); err != nil {
			if errors.Is(err, q.ctx.Err()) {
				break
			}
			s.stream.trainer = nil
			return nil, nil, err
		}
	}
	var state bytes.Buffer
	if err := t.Save(&state, nil); err != nil {
		return nil, nil, err
	}
	header, arrays := result(o, t, set)
	header["stopped"] = q.ctx.Err() != nil
	return header, append(arrays, array{Name: "state", Type: "|u1", Shape: []int{state.Len()}, data: state.Bytes()}), nil
}

// open makes the trainer for a new model, or for a state that the request has.
func (s *stream) open(q request, o fitSettings, set *data.Set) error {
	var begin struct {
		Begin bool `json:"begin"`
	}
	_ = json.Unmarshal(q.header, &begin) // settings has checked the header
	state, saved, err := q.array("state", "|u1", -1)
	switch {
	case err != nil:
		return usageError{err}
	case !begin.Begin && !saved && s.trainer == nil:
		return usageError{errors.New("partial_fit has neither begun nor a state to continue from")}
	case !begin.Begin && !saved:
		return nil
	}
	m, err := o.model(q.frame, set)
	if err != nil {
		return usageError{err}
	}
	stepOptions := o
	stepOptions.Batch = 1 // the number of rows may change from step to step
	t, err := newTrainer(stepOptions, set, m)
	if err != nil {
		return err
	}
	if saved {
		if _, err := t.Load(bytes.NewReader(state.data)); err != nil {
			return usageError{fmt.Errorf("%w; call fit, or clone the estimator, to start again", err)}
		}
	}
	s.trainer = t
	return nil
}
