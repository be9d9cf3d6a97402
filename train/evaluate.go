package train

import (
	"context"
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
)

// An Evaluation is one measurement of a run.
type Evaluation struct {
	Step   int
	Values []Value // of all metrics, in order
	// Info counts what the estimator did since the last evaluation.
	Info negphase.Info
}

// Value returns the value of this name, and whether it is there.
func (e Evaluation) Value(name string) (float64, bool) {
	for _, v := range e.Values {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

// An Evaluator measures the model at step 0, every so many steps, and at the
// end, where samples give way to all rows.
type Evaluator struct {
	Metrics []Metric
	Every   int // steps between evaluations
	// Report is told of each evaluation.
	Report func(e Evaluation) error

	Total negphase.Info // counts of the whole run
	since negphase.Info
}

// Begin measures the model before the first step.
func (v *Evaluator) Begin(ctx context.Context, m *rbm.RBM) error {
	return v.evaluate(ctx, m, 0, false)
}

// Observe is the Observer that counts each step and evaluates where due.
func (v *Evaluator) Observe(ctx context.Context, e Event) error {
	v.since.Add(e.Info)
	if !e.Last && e.Step%v.Every != 0 {
		return nil
	}
	return v.evaluate(ctx, e.Model, e.Step, e.Last)
}

func (v *Evaluator) evaluate(ctx context.Context, m *rbm.RBM, step int, whole bool) error {
	e := Evaluation{Step: step, Info: v.since}
	for _, metric := range v.Metrics {
		values, err := metric.Measure(ctx, m, whole)
		if err != nil {
			return fmt.Errorf("step %d: %s: %w", step, metric.Name, err)
		}
		for i, x := range values {
			e.Values = append(e.Values, Value{metric.Values[i], x})
		}
	}
	v.Total.Add(v.since)
	err := v.Report(e)
	v.since.Reset()
	return err
}
