package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// A description is a model that is trained on data, or has random parameters.
type description struct {
	kind     string
	data     string // "": random parameters
	labels   bool
	inputs   int // number of inputs of a random model
	hidden   int
	active   int // number of active hidden units, by a constraint; 0: none
	negative string
	steps    int
	rate     float64
	sd       float64 // standard deviation of random parameters
}

const (
	images     = "images"
	labelled   = "labelled images"
	structured = "structured data"
	random     = "random"
	sharp      = "sharp"
	constraint = "constrained"
)

// cases are the models. All have at most 18 hidden units or few inputs, so that log Z can
// be enumerated.
var cases = func() (all []description) {
	for _, hidden := range []int{8, 14} {
		for _, steps := range []int{300, 3000, 20000} {
			for _, negative := range []string{"cd", "pcd:chains=20"} {
				all = append(all, description{kind: images, data: "fontdigits:1000", hidden: hidden, negative: negative, steps: steps, rate: 0.05})
			}
		}
		for _, steps := range []int{300, 3000} {
			for _, negative := range []string{"cd", "pcd:chains=20"} {
				all = append(all, description{kind: labelled, data: "fontdigits:1000", labels: true, hidden: hidden, negative: negative, steps: steps, rate: 0.05})
			}
		}
	}
	for _, d := range []struct {
		data   string
		hidden int
	}{{"bars:4", 16}, {"desjardins:0.001", 10}, {"toy:4,4,2500,0.2", 6}, {"shifter", 14}} {
		for _, steps := range []int{1000, 10000} {
			for _, negative := range []string{"cd", "pcd:chains=20"} {
				all = append(all, description{kind: structured, data: d.data, hidden: d.hidden, negative: negative, steps: steps, rate: 0.1})
			}
		}
	}
	for _, size := range [][2]int{{20, 10}, {100, 12}, {12, 60}, {400, 16}} {
		for _, sd := range []float64{0.1, 0.5} {
			all = append(all, description{kind: random, inputs: size[0], hidden: size[1], sd: sd})
		}
		all = append(all, description{kind: sharp, inputs: size[0], hidden: size[1], sd: 1.5}, description{kind: sharp, inputs: size[0], hidden: size[1], sd: 3})
	}
	for _, active := range []int{2, 6} {
		all = append(all, description{kind: constraint, inputs: 60, hidden: 14, active: active, sd: 0.5}, description{kind: constraint, inputs: 60, hidden: 14, active: active, sd: 1.5},
			description{kind: constraint, data: "fontdigits:1000", hidden: 14, active: active, negative: "pcd:chains=20", steps: 3000, rate: 0.05})
	}
	return all
}()

func (d description) String() string {
	text := fmt.Sprintf("%s: %d hidden units", d.kind, d.hidden)
	if d.data == "" {
		text += fmt.Sprintf(", %d inputs, sd %v", d.inputs, d.sd)
	} else {
		text += fmt.Sprintf(", %s, %s, %d steps", d.data, d.negative, d.steps)
	}
	if d.active > 0 {
		text += fmt.Sprintf(", %d active", d.active)
	}
	return text
}

// model returns the model and the data that it was trained on, if any.
func (d description) model(ctx context.Context, seed uint64) (*rbm.RBM, *data.Set, error) {
	if d.data == "" {
		m := rbm.New(d.inputs, d.hidden, 0, rbm.Softmax)
		m.Randomize(d.sd, rbm.NewKey(seed))
		if d.active > 0 {
			m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: d.active}
		}
		return m, nil, nil
	}
	set, err := training.Load(ctx, d.data, "")
	if err != nil {
		return nil, nil, err
	}
	t, err := training.Recipe{Negative: d.negative, Hidden: d.hidden, Active: d.active, Labels: d.labels, Rate: d.rate, Batch: 20}.Trainer(set, seed)
	if err != nil {
		return nil, nil, err
	}
	return t.Model(), set, t.Run(ctx, d.steps)
}

// measure compares the estimates of log Z with the exact value.
func (d description) measure(ctx context.Context, at int, seed uint64, quick bool, add figures.Add) error {
	m, set, err := d.model(ctx, seed)
	if err != nil {
		return err
	}
	truth, err := exact.LogZ(ctx, m)
	if err != nil {
		return err
	}
	s := logz.DefaultSettings()
	if set != nil {
		rows := set.Rows(data.RowNumbers(0, set.Len()), m.Classes())
		free := make([]float64, rows.Rows)
		m.FreeEnergy(free, rows)
		s.LowerBound, s.Annealing.Base = logz.LowerBound(free, rows), train.ModelBase(m, set)
	}
	if quick {
		s.Annealing.Temperatures, s.Annealing.Pilot, s.BurnIn, s.Rounds, s.Longest = 100, 20, 150, 300, 0
	}
	b, err := logz.Estimate(ctx, m, s, rbm.NewKey(seed), nil)
	if err != nil {
		return err
	}
	for _, method := range methods {
		estimate, stdErr := b.By(method)
		warned := 0.0
		if b.Doubtful(method) || b.Bound(method) {
			warned = 1
		}
		off := estimate - truth
		if b.Impossible(method) {
			off = math.NaN()
		}
		add(errorPanel+string(method), d.kind, float64(at), off)
		add(scorePanel+string(method), d.kind, float64(at), off/stdErr)
		add(warnedPanel+string(method), d.kind, float64(at), warned)
	}
	return nil
}
