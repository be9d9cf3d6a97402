package main

import (
	"cmp"
	"context"
	"fmt"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train"
)

// cellsKey is the key of the sums over missing cells: rows have the same numbers in any evaluation
// of a model.
var cellsKey = rbm.NewKey(0).Child(0x63656c6c)

// gappy reports whether rows have missing cells.
func (x *examples) gappy() bool { return x.set.Missing.Rows > 0 }

// sumGaps sums missing cells out of the free energies of rows, and of log p(y|x) unless it is nil;
// of rows without a label it sums the label out too.
func (x *examples) sumGaps(ctx context.Context, free, logp []float64) error {
	if !x.gappy() {
		return nil
	}
	if x.m.Constraint != nil {
		return fmt.Errorf("%s has missing cells, which do not go with the constraint %v of the model", x.set.Name, x.m.Constraint)
	}
	x.gapErr = make([]float64, x.n)
	classes, bare := x.m.Classes(), x.m.Classes() > 0 && !x.labelled()
	if bare && logp == nil {
		logp = make([]float64, x.n*classes)
	}
	failed := error(nil)
	err := x.eachChunk(ctx, "missing cells", func(lo, hi int) {
		if failed != nil {
			return
		}
		g, key, se := sample.NewGaps(x.m, hi-lo), cellsKey.Child(uint64(lo)), x.gapErr[lo:hi]
		g.Set(x.set, x.index[lo:hi], classes)
		if classes > 0 && logp != nil {
			summed := make([]float64, hi-lo) // over the classes
			failed = g.ClassLogProb(ctx, x.m, logp[lo*classes:hi*classes], summed, se, key)
			if bare && x.likely() {
				copy(free[lo:hi], summed)
			}
		}
		if failed == nil && !bare {
			failed = g.FreeEnergy(ctx, x.m, free[lo:hi], se, key)
		}
	})
	return cmp.Or(failed, err)
}

// gapDoubt says which sums over missing cells are estimates; "" if none is.
func (x *examples) gapDoubt() string {
	n, worst := 0, 0.0
	for _, se := range x.gapErr {
		if se > 0 {
			n++
			worst = max(worst, se)
		}
	}
	if n == 0 {
		return ""
	}
	return sample.GapDoubt(n, x.n, worst)
}

// scoreCells computes, for -rows of a model of columns, log p(cell | the other known cells of its row,
// and its label). Of rows with gaps the pseudo-log-likelihood is the sum of that over the known
// cells, and log p(y | the known cells).
func (e *evaluation) scoreCells(ctx context.Context) error {
	gaps, each := e.gappy(), e.rows != "" && e.set.Schema != nil
	if !each && !(gaps && e.pl) || e.m.Constraint != nil || e.v.IsReal() {
		return nil
	}
	if e.m.Classes() > 0 && !e.labelled() {
		e.flags.Warn(fmt.Sprintf("%s has no labels, which the model has: -rows leaves out the log-probabilities of cells", e.set.Name))
		return nil
	}
	columns := e.set.Schema.Columns
	e.cells = make([][]float64, e.n)
	bar := e.flags.NewProgress("cells", "rows", int64(e.n))
	defer bar.Done()
	return sample.EachScored(ctx, e.m, e.set, true, cellsKey, bar, func(r int, states rbm.Values, at int, logp [][]float64, stdErr float64) {
		levels, unit, known := make([]int32, len(columns)), 0, 0.0
		e.set.Schema.Levels(levels, states, at)
		row := make([]float64, len(columns))
		missing := false
		for j := range columns {
			row[j] = logp[j][levels[j]]
			if gaps && e.set.Missing.Get(r, unit) {
				row[j], missing = 1, true // no logarithm of a probability
			} else {
				known += row[j]
			}
			unit += columns[j].Units()
		}
		e.cells[r] = row
		if missing && e.pseudo != nil {
			if classes := e.m.Classes(); classes > 0 {
				known += e.logp[r*classes+int(e.set.Y[r])]
			}
			e.pseudo[r] = known
			e.gapErr[r] = max(e.gapErr[r], stdErr)
		}
	})
}

// compareSamples compares the samples of -samples with the rows.
func (e *evaluation) compareSamples(ctx context.Context) error {
	if e.set.Schema == nil {
		return cli.Usagef("-samples is for models of sequences and tables; %s holds none", e.set.Name)
	}
	opt := data.Options{Schema: e.set.Schema, LabelColumn: "auto"}
	if e.set.Schema.Alphabet != "" {
		opt.LabelColumn = "none"
	}
	samples, _, err := data.Load(ctx, e.samples, opt)
	if err != nil {
		return err
	}
	s, err := train.CompareSites(samples, e.set)
	if err != nil {
		return err
	}
	e.sampled, e.sites = samples, &s
	if e.all != e.set {
		if t, err := train.CompareSites(e.all, e.set); err == nil { // else it has no value, and nobody asked for it
			e.trainingSites = &t
		}
	}
	return nil
}
