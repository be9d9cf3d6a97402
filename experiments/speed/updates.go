package main

import (
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// newTrainer trains as users do, by the steps of train.Trainer.
func newTrainer(j job) (*runner, error) {
	start, set, err := j.load()
	if err == nil && j.Constraint != "" {
		start.Constraint, err = rbm.ParseConstraint(j.Constraint)
	}
	if err != nil {
		return nil, err
	}
	stepper := func(m *rbm.RBM, seed uint64) (step func() error, err error) {
		s := train.DefaultSettings(j.Kind)
		s.Rate, s.Batch, s.Seed = j.Rate, j.Batch, seed
		s.Center, s.Momentum, s.L2, s.Average = j.Center, j.Momentum, j.L2, j.Average
		if j.Kind == train.Discriminative {
			s.Objective = train.Discriminative
		} else if s.Negative, err = j.negative(); err != nil {
			return nil, err
		}
		t, err := train.New(s, set, m)
		return func() error { _, err := t.Step(); return err }, err
	}
	step, err := stepper(start.Clone(), j.Seed)
	if err != nil {
		return nil, err
	}
	return &runner{step, func(ask request, out *reply) error {
		m := start.Clone()
		step, err := stepper(m, ask.Seed)
		if err != nil {
			return err
		}
		out.change, err = changeOf(ask.Steps, j.Visible, j.Hidden, m.Weights, func() []float32 { return m.VisibleBias }, step)
		return err
	}}, nil
}

// negative returns the settings of the negative phase.
func (j job) negative() (negphase.Settings, error) {
	text := fmt.Sprintf("%s:chains=%d", j.Kind, j.Chains)
	for k, beta := range j.Betas {
		text += []string{":tau=", "/"}[min(k, 1)] + fmt.Sprint(1/beta)
	}
	return negphase.Parse(text, negphase.Settings{})
}

// densityRounds is the number of calls of the estimator in whose chains units are
// counted, after as many to forget the start. The mean is exact to some per mille.
const densityRounds = 50

// measureDensities counts the units that are on in the job's data, and in
// chains of its estimator that run at its model.
func measureDensities(j job) (*densities, error) {
	m, set, err := j.load()
	if err != nil {
		return nil, err
	}
	s, err := j.negative()
	if err != nil {
		return nil, err
	}
	e, err := negphase.New(s)
	if err != nil {
		return nil, err
	}
	pos := rbm.Batch{V: rbm.NewBits(j.Batch, m.Visible()), H: rbm.NewMatrix(j.Batch, m.Hidden())}
	copy(pos.V.Words, set.X.Words)
	m.HiddenMean(pos.H, pos.V)
	d := &densities{Data: set.Density()}
	units, weighed, on := 0.0, 0.0, 0.0
	for round := range 2 * densityRounds {
		phase, _, err := e.Estimate(m, pos, rbm.NewKey(j.Seed).Child(uint64(round)))
		if err != nil {
			return nil, err
		}
		if round < densityRounds {
			continue
		}
		d.Visible += float64(phase.V.Count())
		units += float64(phase.V.Rows)
		for _, h := range phase.H.Data {
			d.Hidden += float64(h)
		}
		for r := range phase.V.Rows {
			if phase.Weight == nil || phase.Weight[r] != 0 {
				on += float64(phase.V.Slice(r, r+1).Count())
				weighed++
			}
		}
	}
	d.Visible /= units * float64(m.Visible())
	d.Hidden /= units * float64(m.Hidden())
	d.Estimate = on / (weighed * float64(m.Visible()))
	return d, nil
}
