package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train"
)

// cellsKey is the key of the random numbers in sums over missing cells. It is fixed, so that the results
// of a row are equal in all evaluations of a model.
var cellsKey = rbm.NewKey(0).Child(0x63656c6c)

// gappy reports whether rows have missing cells.
func (x *examples) gappy() bool { return x.set.Missing.Rows > 0 }

// sumGaps sums the missing cells out of free, the free energy of each row, and out of logp, log p(y|x) of
// each row, unless logp is nil. For rows without a label it also sums the label out of free.
func (x *examples) sumGaps(ctx context.Context, free, logp []float64) error {
	if !x.gappy() {
		return nil
	}
	if x.m.Constraint != nil {
		return fmt.Errorf("%s has missing cells, which cannot be summed out under the constraint %v of the model", x.set.Name, x.m.Constraint)
	}
	x.gapErr = make([]float64, x.n)
	classes, bernoulli := x.m.Classes(), x.m.Classes() > 0 && x.m.LabelKind() == rbm.Bernoulli && !x.labelled()
	failed := error(nil)
	err := x.eachChunk(ctx, "missing cells", func(lo, hi int) {
		if failed != nil {
			return
		}
		g, key, se := sample.NewGaps(x.m, hi-lo), cellsKey.Child(uint64(lo)), x.gapErr[lo:hi]
		g.Set(x.set, x.index[lo:hi], classes)
		if classes > 0 && logp != nil {
			failed = g.ClassLogProb(ctx, x.m, logp[lo*classes:hi*classes], se, key)
		}
		if failed == nil && !bernoulli { // with Bernoulli labels F is NaN
			whole := make([]float64, hi-lo)
			failed = g.FreeEnergy(ctx, x.m, free[lo:hi], whole, key)
			x.rescale(free, 1, lo, hi)
			for i, e := range whole {
				se[i] = max(se[i], e)
			}
		}
	})
	return cmp.Or(failed, err)
}

// summedEnergies is like freeEnergies, but also sums out the missing cells.
func (x *examples) summedEnergies(ctx context.Context, what string, logp []float64) ([]float64, error) {
	free, err := x.freeEnergies(ctx, what, logp)
	if err == nil {
		err = x.sumGaps(ctx, free, logp)
	}
	return free, err
}

// gapDoubt returns a warning if some sums over missing cells are estimates, otherwise "".
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
	return sample.GapDoubt("log-probabilities", n, x.n, worst, " nats")
}

// scoreCells computes, for -cells, log p of each cell given the other known cells of its row and the label, if there
// is one. The pseudo-log-likelihood of a row with missing cells is the sum of these log-probabilities over the known
// cells, plus log p(y | known cells).
func (e *evaluation) scoreCells(ctx context.Context) error {
	for _, x := range []*scored{&e.scored, e.bare} {
		switch {
		case x == nil || !e.eachCell && !(x.gappy() && x.pseudo != nil):
		case !x.likely():
			e.flags.Warn(fmt.Sprintf("%s has no labels, but the model has bernoulli labels: -cells omits its rows", x.set.Name))
		default:
			if err := x.scoreCells(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *scored) scoreCells(ctx context.Context) error {
	columns := x.set.Schema.Columns
	x.cells = make([][]float64, x.n)
	bar := x.bars.NewProgress("cells", "rows", int64(x.n))
	defer bar.Done()
	return sample.EachCellLogProb(ctx, x.m, x.set, cellsKey, func(r int, logp []float64, stdErr float64) {
		x.cells[r] = slices.Clone(logp)
		known, missing := 0.0, false
		for j, logp := range logp {
			if math.IsNaN(logp) {
				missing = true
				continue
			}
			if number := columns[j].Number; number != nil { // convert the density to the data's units
				x.cells[r][j] -= rbm.Log(number.Deviation)
			}
			known += x.cells[r][j]
		}
		if missing && x.pseudo != nil {
			if classes := x.m.Classes(); classes > 0 {
				known += x.logp[r*classes+int(x.set.Y[r])]
			}
			x.pseudo[r] = known
		}
		if stdErr > 0 {
			if x.gapErr == nil { // without missing cells, but the label is missing
				x.gapErr = make([]float64, x.n)
			}
			x.gapErr[r] = max(x.gapErr[r], stdErr)
		}
		bar.Set(int64(r)+1, "")
	})
}

// compareSamples compares the samples of -samples with the rows.
func (e *evaluation) compareSamples(ctx context.Context) error {
	switch {
	case e.samples == "":
		return nil
	case e.set.Schema == nil:
		return cli.Usagef("-samples is for models of sequences and tables; %s is neither", e.set.Name)
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
		if t, err := train.CompareSites(e.all, e.set); err == nil { // an extra result, so it is omitted on errors
			e.trainingSites = &t
		}
	}
	return nil
}
