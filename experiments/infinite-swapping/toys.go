package main

import (
	"context"
	"fmt"
	"sync"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/train"
)

// A problem is a data set with a number of hidden units, in the full and in the quick size.
type problem struct {
	name                string
	spec, quickSpec     string
	hidden, quickHidden int
}

const (
	fullSteps  = 10000 // section 4.2.3
	quickSteps = 120
)

var (
	smallToy      = problem{"(4,4,2500,0.2), M = 4", "toy:4,4,2500,0.2", "toy:4,2,50,0.2", 4, 3}
	desjardinsToy = problem{"(4,8,2500,0.2), M = 6", "toy:4,8,2500,0.2", "toy:4,3,50,0.2", 6, 4}
)

// A size is a problem in one of the two sizes.
type size struct {
	spec          string
	hidden, steps int
}

func (s problem) size(o figures.Options) size {
	if o.Quick {
		return size{s.quickSpec, s.quickHidden, quickSteps}
	}
	return size{s.spec, s.hidden, fullSteps}
}

// repeats returns the number of repetitions, at most the 20 of section 4.4.
func repeats(o figures.Options) int { return o.Seeds(3, paperRepeats) }

const paperRepeats = 20

// An algorithm estimates the negative phase. Its name is that of its curve in the pictures.
type algorithm struct{ name, negphase string }

var (
	exactSGD = algorithm{"exact SGD", "exact"}
	pcd      = algorithm{"PCD-1", "pcd"}
	pt       = algorithm{"PT", "pt"}
	ins      = algorithm{"INS", "ins"}
)

// samplers are the algorithms without exact SGD. The index in algorithms sets the colour of a curve.
var (
	samplers   = []algorithm{pcd, pt, ins}
	algorithms = []algorithm{exactSGD, pcd, pt, ins}
)

func names(list []algorithm) (names []string) {
	for _, a := range list {
		names = append(names, a.name)
	}
	return names
}

// train trains a model on the set. It calls look at step 0, then whenever the step is a multiple of every, and at the
// end.
func (a algorithm) train(ctx context.Context, s size, set *data.Set, every int, seed uint64, look func(step int, m *rbm.RBM) error) error {
	negative, err := negphase.Parse(a.negphase, negphase.DefaultSettings(""))
	if err != nil {
		return err
	}
	settings := train.PaperSettings("pcd")
	settings.Negative, settings.Seed, settings.Horizon = negative, seed, s.steps
	m := train.NewModel(set, s.hidden, true, rbm.Bernoulli, seed)
	trainer, err := train.New(settings, set, m)
	if err != nil {
		return err
	}
	if err := look(0, m); err != nil {
		return err
	}
	return trainer.Run(ctx, s.steps, func(_ context.Context, e train.Event) error {
		if !e.Last && e.Step%every != 0 {
			return nil
		}
		return look(e.Step, e.Model)
	})
}

// A state is a model with fixed parameters and its exact negative phase.
type state struct {
	model *rbm.RBM
	truth *compare.Truth
}

var states sync.Map

// statesOf returns the first and the last state of training by the exact gradient
// with seed 1: early and late in training.
func statesOf(s size) (both [2]state, err error) {
	once, _ := states.LoadOrStore(s, sync.OnceValues(func() (both [2]state, err error) {
		ctx := context.Background()
		set, err := training.Load(ctx, s.spec, "")
		if err != nil {
			return both, err
		}
		err = exactSGD.train(ctx, s, set, s.steps, 1, func(step int, m *rbm.RBM) error {
			at := &both[min(step, 1)]
			at.model = m.Clone()
			at.truth, err = compare.Enumerate(at.model)
			return err
		})
		return both, err
	}))
	return once.(func() ([2]state, error))()
}

// jobName names a job by its settings.
func jobName(s size, what string, seed int) string {
	return fmt.Sprintf("%s M=%d %d steps: %s, seed %d", s.spec, s.hidden, s.steps, what, seed)
}
