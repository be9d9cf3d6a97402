package main

import (
	"fmt"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// A trainerJob is training as users have it: train.Trainer's steps.
type trainerJob struct {
	job
	set     *data.Set
	start   *rbm.RBM
	trainer *train.Trainer
}

func newTrainerJob(j job) (*trainerJob, error) {
	start, set, err := j.load()
	if err != nil {
		return nil, err
	}
	t := &trainerJob{job: j, set: set, start: start}
	t.trainer, err = t.new(start.Clone(), j.Seed)
	return t, err
}

// new returns a trainer of m.
func (t *trainerJob) new(m *rbm.RBM, seed uint64) (*train.Trainer, error) {
	s := train.DefaultSettings(t.Kind)
	s.Rate, s.Batch, s.Seed = t.Rate, t.Batch, seed
	var err error
	if s.Negative, err = t.negative(); err != nil {
		return nil, err
	}
	return train.New(s, t.set, m)
}

// negative returns the settings of the negative phase.
func (j job) negative() (negphase.Settings, error) {
	text := fmt.Sprintf("%s:chains=%d", j.Kind, j.Chains)
	for k, beta := range j.Betas {
		text += []string{":tau=", "/"}[min(k, 1)] + fmt.Sprint(1/beta)
	}
	return negphase.Parse(text, negphase.Settings{})
}

func (t *trainerJob) run(n int) error { return steps(t.trainer, n) }

func steps(t *train.Trainer, n int) error {
	for range n {
		if _, err := t.Step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *trainerJob) answer(ask request, out *reply) error {
	m := t.start.Clone()
	trainer, err := t.new(m, ask.Seed)
	if err != nil {
		return err
	}
	out.change, err = changeOf(ask.Steps, t.Visible, t.Hidden, m.Weights, func() []float32 { return m.VisibleBias },
		func() error { return steps(trainer, 1) })
	return err
}

// densityRounds are the calls of the estimator whose chains are counted, after
// as many to forget the start: their mean is known to some per mille.
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
	pos := rbm.Batch{V: rbm.NewBits(j.Batch, m.Visible()).Input(), H: rbm.NewMatrix(j.Batch, m.Hidden())}
	copy(pos.V.Bits.Words, set.X.Words)
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
		d.Visible += float64(phase.V.Bits.Count())
		units += float64(phase.V.Bits.Rows)
		for _, h := range phase.H.Data {
			d.Hidden += float64(h)
		}
		for r := range phase.V.Bits.Rows {
			if phase.Weight == nil || phase.Weight[r] != 0 {
				on += float64(phase.V.Bits.Slice(r, r+1).Count())
				weighed++
			}
		}
	}
	d.Visible /= units * float64(m.Visible())
	d.Hidden /= units * float64(m.Hidden())
	d.Estimate = on / (weighed * float64(m.Visible()))
	return d, nil
}
