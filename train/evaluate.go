package train

import (
	"context"
	"encoding/json"
	"fmt"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// An Evaluation holds the values of all metrics at one step of a run.
type Evaluation struct {
	Step   int
	Values []Value // of all metrics, in order
	// Info counts what the estimator did since the previous evaluation.
	Info negphase.Info
}

// Value returns the value with the given name, and whether there is one.
func (e Evaluation) Value(name string) (float64, bool) {
	for _, v := range e.Values {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

// An Evaluator measures the model every Every steps and at the end of a run, and before the first step if
// Begin is called. If the data have too many rows, it measures a random sample of the rows, which is the
// same in each evaluation of a run. A short run measures fewer rows, so a run that is resumed for more
// steps may measure more of them than before.
type Evaluator struct {
	Metrics []Metric
	Every   int // steps between evaluations
	// Report is called with each evaluation.
	Report func(e Evaluation) error

	total, since negphase.Info
	last         Evaluation
}

// Counts returns the estimator's counts up to the last evaluation, and the counts since. Both are valid
// until the next step.
func (v *Evaluator) Counts() (before, since negphase.Info) { return v.total, v.since }

// Restore sets the counts to those that Counts returned before.
func (v *Evaluator) Restore(before, since negphase.Info) { v.total, v.since = before, since }

// Watch passes t to the metrics that measure its chains.
func (v *Evaluator) Watch(t *Trainer) {
	for _, m := range v.Metrics {
		if m.Watch != nil {
			m.Watch(t)
		}
	}
}

// Warnings returns the metrics' warnings after their last measurements. Before the end of a run each metric
// warns at most once.
func (v *Evaluator) Warnings(end bool) (all []diag.Warning) {
	for _, m := range v.Metrics {
		if m.Warning == nil {
			continue
		}
		if w := m.Warning(end); w != nil {
			all = append(all, *w)
		}
	}
	return all
}

// Memory returns the states of metrics by the metrics' names. When the run is resumed, pass them to
// SetMemory.
func (v *Evaluator) Memory() (map[string]json.RawMessage, error) {
	memory := map[string]json.RawMessage{}
	for _, m := range v.Metrics {
		if m.Memory == nil {
			continue
		}
		text, err := finitejson.Marshal(m.Memory)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		memory[m.Name] = text
	}
	return memory, nil
}

// SetMemory restores what Memory returned. A metric that memory does not name starts without a history.
func (v *Evaluator) SetMemory(memory map[string]json.RawMessage) error {
	for _, m := range v.Metrics {
		text, ok := memory[m.Name]
		if m.Memory == nil || !ok {
			continue
		}
		if err := json.Unmarshal(text, m.Memory); err != nil {
			return fmt.Errorf("%w: the memory of the metric %s: %v", rbm.ErrFormat, m.Name, err)
		}
	}
	return nil
}

// Begin measures the model before the first step.
func (v *Evaluator) Begin(ctx context.Context, m *rbm.RBM) error {
	return v.evaluate(ctx, m, 0)
}

// Observe is an Observer: it adds up the counts of each step, and evaluates where due. An evaluation that
// has begun is finished even if ctx is cancelled.
func (v *Evaluator) Observe(ctx context.Context, e Event) error {
	v.since.Add(e.Info)
	if !e.Last && e.Step%v.Every != 0 {
		return nil
	}
	return v.evaluate(context.WithoutCancel(ctx), e.Model, e.Step)
}

func (v *Evaluator) evaluate(ctx context.Context, m *rbm.RBM, step int) error {
	e, err := v.measure(ctx, m, step, false)
	if err != nil {
		return err
	}
	v.last = e
	e.Info.Add(v.since) // e has a copy, because the counts are reset below
	v.total.Add(v.since)
	err = v.Report(e)
	v.since.Reset()
	return err
}

// Final measures the model at the end of a run, after the given step. It uses all rows, or a larger sample
// than Observe. Metrics that use the same rows either way keep the values of the last evaluation if the
// last evaluation was at this step. Report is not called with this evaluation, which has no Info.
func (v *Evaluator) Final(ctx context.Context, m *rbm.RBM, step int) (Evaluation, error) {
	return v.measure(ctx, m, step, true)
}

func (v *Evaluator) measure(ctx context.Context, m *rbm.RBM, step int, whole bool) (Evaluation, error) {
	e := Evaluation{Step: step}
	for _, metric := range v.Metrics {
		if n := len(e.Values); whole && metric.Once && v.last.Values != nil && v.last.Step == step {
			e.Values = append(e.Values, v.last.Values[n:n+len(metric.Values)]...)
			continue
		}
		values, err := metric.Measure(ctx, m, whole)
		if err != nil {
			return e, fmt.Errorf("step %d: %s: %w", step, metric.Name, err)
		}
		for i, x := range values {
			e.Values = append(e.Values, Value{metric.Values[i], x})
		}
	}
	return e, nil
}
