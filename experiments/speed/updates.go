package main

import (
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// newTrainer returns a runner that trains by train.Trainer, as users do.
func newTrainer(j job) (*runner, error) {
	start, set, err := j.load()
	if err == nil && j.Constraint != "" {
		start.Constraint, err = rbm.ParseConstraint(j.Constraint)
	}
	if err != nil {
		return nil, err
	}
	stepper := func(m *rbm.RBM, seed uint64) (step func() error, err error) {
		s := train.PaperSettings(j.Kind)
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
