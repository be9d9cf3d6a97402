package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/cmd/cli"
	"gorbm/rbm"
	"gorbm/train"
)

// fit lays out these rows of the set as visible states.
func (j *judge) fit(rows []int32) error {
	j.n = len(rows)
	if err := train.Fits(j.m, j.set); err != nil && !(j.set.Y == nil && j.m.Inputs() == j.set.X.Cols) {
		return fmt.Errorf("%s does not fit the data: %w", j.model.Path, err)
	}
	if err := train.Allows(j.m, j.set); err != nil {
		return err
	}
	if j.labelled() && j.about.ClassNames != nil {
		for y, name := range j.set.Classes {
			if j.about.ClassNames[y] != name {
				return fmt.Errorf("class %d is %q in %s but %q in the model; the data must name the classes alike", y, name, j.set.Name, j.about.ClassNames[y])
			}
		}
	}
	bare := j.m.Classes() > 0 && !j.labelled() // label units stay empty
	j.v = j.set.NewRows(len(rows), j.m.Classes())
	if !bare {
		j.set.Visible(j.v, rows, j.m.Classes())
		return nil
	}
	for r, from := range rows {
		if j.v.IsGrey() {
			copy(j.v.Grey.Row(r), j.set.Grey.Row(int(from)))
		} else {
			copy(j.v.Bits.Row(r), j.set.X.Row(int(from)))
		}
	}
	return nil
}

// freeEnergy overwrites dst with F of rows lo …
func (j *judge) freeEnergy(dst []float64, lo int) {
	j.m.FreeEnergy(dst, j.v.Slice(lo, lo+len(dst)))
}

// classLogProb overwrites dst with log p(y|x) of rows lo …
func (j *judge) classLogProb(dst []float64, lo int) {
	j.m.ClassLogProb(dst, j.v.Slice(lo, lo+len(dst)/j.m.Classes()))
}

// hiddenMean overwrites dst with the hidden means of rows lo …: p(h|x), or those
// of the row with its label.
func (j *judge) hiddenMean(dst rbm.Matrix, lo int) {
	v := j.v.Slice(lo, lo+dst.Rows)
	if j.labelIn {
		j.m.HiddenMean(dst, v)
	} else {
		j.m.HiddenMeanGivenInputs(dst, v)
	}
}

// labelled reports whether the rows have their labels in v.
func (j *judge) labelled() bool { return j.m.Classes() > 0 && j.set.Y != nil }

// likely reports whether rows have a likelihood: not with Bernoulli labels that
// the data lack, whose sum over all label states is out of reach.
func (j *judge) likely() bool {
	return j.m.Classes() == 0 || j.set.Y != nil || j.m.LabelKind() == rbm.Softmax
}

// chunk is the number of rows between two looks at the context.
const chunk = 256

// eachChunk calls f for parts of the rows, with a bar.
func (j *judge) eachChunk(ctx context.Context, what string, f func(lo, hi int)) error {
	bar := cli.NewProgress(j.stderr, j.quiet, what, "rows", int64(j.n))
	defer bar.Done()
	for lo := 0; lo < j.n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, j.n)
		f(lo, hi)
		bar.Set(int64(hi), "")
	}
	return nil
}

// freeEnergies returns F of each row, and log p(y|x), rows × classes.
func (j *judge) freeEnergies(ctx context.Context) (free, logp []float64, err error) {
	classes := j.m.Classes()
	logp = make([]float64, j.n*classes)
	free = make([]float64, j.n)
	err = j.eachChunk(ctx, "free energies", func(lo, hi int) {
		if classes > 0 {
			j.classLogProb(logp[lo*classes:hi*classes], lo)
		}
		if classes > 0 && !j.labelled() {
			j.sumOutLabels(free[lo:hi], logp[lo*classes:hi*classes], lo)
			return
		}
		j.freeEnergy(free[lo:hi], lo)
	})
	return free, logp, err
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of rows lo …
// without labels, by way of p(y|x) of one class, such as F(x) = F(x,0) + log
// p(0|x). Bernoulli labels have no such F; theirs is NaN.
func (j *judge) sumOutLabels(free, logp []float64, lo int) {
	if !j.likely() {
		for i := range free {
			free[i] = math.NaN()
		}
		return
	}
	class := func(i int) int {
		if j.m.Constraint == nil {
			return 0
		}
		return train.Likeliest(logp[i*j.m.Classes() : (i+1)*j.m.Classes()]) // others may be impossible
	}
	for i := range free {
		j.v.Set(lo+i, j.m.Inputs()+class(i), true)
	}
	j.freeEnergy(free, lo)
	for i := range free {
		y := class(i)
		free[i] += logp[i*j.m.Classes()+y]
		j.v.Set(lo+i, j.m.Inputs()+y, false)
	}
}
