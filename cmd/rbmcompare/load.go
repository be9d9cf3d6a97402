package main

import (
	"context"
	"fmt"
	"sync"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/rundir"
)

// Keys that derive from the seed. Package compare uses smaller numbers.
const (
	referenceKey = 1<<32 + iota
	batchKey
)

// A subject is a model on which estimators are compared. Step is 0 for the model of -model.
type subject struct {
	rundir.Snapshot
	reference negphase.Settings // settings of the reference run, if there was one
}

// loadModels loads the model of -model or the snapshots of -run.
func (p *plan) loadModels() error {
	switch given := p.flags.Given("model"); {
	case given && p.flags.Given("run"):
		return cli.Usagef("-model and -run exclude each other; give one of them")
	case !p.flags.Given("run"):
		if !given {
			return cli.Usagef("-model and -run are missing; name a .safetensors or .npz file by -model, or the folder of a run by either")
		}
		m, about, err := p.model.Load()
		if err != nil {
			return err
		}
		p.models = []*subject{{Snapshot: rundir.Snapshot{Path: p.model.Path, Model: m, About: about}}}
	default:
		if p.flags.FirstGiven("classes", "labels") != "" {
			return cli.Usagef("-classes and -labels are for models whose file does not record them; the snapshots of a run do")
		}
		snapshots, err := rundir.ReadSnapshots(p.options.run, 0)
		if err != nil {
			return err
		}
		for _, s := range snapshots {
			if s.Err != nil {
				return s.Err
			}
			p.models = append(p.models, &subject{Snapshot: s})
		}
	}
	for _, s := range p.models {
		if err := s.Model.CheckFinite(); err != nil {
			return fmt.Errorf("model %s has %w; there is no negative phase to compare with", s.Path, err)
		}
	}
	return nil
}

// parameters returns the models of all subjects.
func (p *plan) parameters() (models []*rbm.RBM) {
	for _, s := range p.models {
		models = append(models, s.Model)
	}
	return models
}

// loadData loads the rows of -data, if it is given.
func (p *plan) loadData(ctx context.Context) error {
	if !p.flags.Given("data") {
		return nil
	}
	first := p.models[0]
	p.data.Follow(first.About)
	set, _, err := p.data.Load(ctx)
	if err != nil {
		return err
	}
	if set, err = cli.FitSet(first.Model, set, first.Path, first.About); err == nil {
		err = train.Fits(first.Model, set) // unlike FitSet, Fits demands labels
	}
	if err != nil {
		return err
	}
	if set.Missing.Rows > 0 {
		return fmt.Errorf("%s has missing cells, whose positive phase depends on random values for them; give rows without missing cells", set.Name)
	}
	p.set, p.base = set, sync.OnceValue(func() *rbm.Base { return train.Base(first.Model, set) })
	for i := range p.estimators {
		if p.estimators[i].Ladder().Path == negphase.ToData {
			p.estimators[i].SetBase(p.base())
		}
	}
	return nil
}

// rowsOf returns the given rows of the data as a positive phase.
func (p *plan) rowsOf(m *rbm.RBM, rows []int32) rbm.Batch {
	b := rbm.Batch{V: p.set.Rows(rows, m.Classes()), H: rbm.NewMatrix(len(rows), m.Hidden())}
	m.HiddenMean(b.H, b.V)
	return b
}

// batches returns the minibatches of a repeat.
func (p *plan) batches(m *rbm.RBM, repeat int) func(update int) rbm.Batch {
	deal := data.NewBatches(p.set.Len(), p.batch, rbm.NewKey(p.seed).Child(batchKey).Child(uint64(repeat))).Weigh(p.set.Weights)
	rows := make([]int32, p.batch)
	return func(update int) rbm.Batch {
		deal.Rows(rows, update)
		return p.rowsOf(m, rows)
	}
}

// positive returns the weighted mean of the positive phase over all rows.
func (p *plan) positive(m *rbm.RBM) []float64 {
	const rows = 256 // rows in memory at a time
	mean := compare.NewMean(m)
	total := p.set.Len()
	each := p.set.TotalWeight() / float64(total) // the mean weight
	for lo := 0; lo < total; lo += rows {
		chunk := data.RowNumbers(lo, min(lo+rows, total))
		b := p.rowsOf(m, chunk)
		b.Weight = make([]float32, len(chunk))
		for i := range b.Weight {
			b.Weight[i] = float32(p.set.Weight(chunk[i]) / each) // relative to the mean weight
		}
		mean.Add(rbm.Phase{Batch: b})
	}
	sum := mean.Sum()
	for i := range sum {
		sum[i] /= float64(total)
	}
	return sum
}
