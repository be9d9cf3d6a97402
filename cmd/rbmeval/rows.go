package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/train"
)

// checkSet checks that the model fits the set and that its constraint allows
// every row. Labels may be missing in the set.
func (e *evaluation) checkSet() error {
	if err := train.Fits(e.m, e.set); err != nil && !(e.set.Y == nil && e.m.Inputs() == e.set.X.Cols) {
		return fmt.Errorf("%s does not fit the data: %w", e.model.Path, err)
	}
	if err := train.Allows(e.m, e.set); err != nil {
		return err
	}
	if e.labelled() && e.about.ClassNames != nil {
		for y, name := range e.set.Classes {
			if e.about.ClassNames[y] != name {
				return fmt.Errorf("class %d is %q in %s but %q in the model; the data must name the classes alike", y, name, e.set.Name, e.about.ClassNames[y])
			}
		}
	}
	return nil
}

// allRows returns the numbers of all rows of a set.
func allRows(set *data.Set) []int32 {
	rows := make([]int32, set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// fit takes these rows of the set as visible states.
func (e *evaluation) fit(rows []int32) {
	e.n = len(rows)
	bare := e.m.Classes() > 0 && !e.labelled() // label units stay empty
	e.v = e.set.NewRows(len(rows), e.m.Classes())
	if !bare {
		e.set.Visible(e.v, rows, e.m.Classes())
		return
	}
	for r, from := range rows {
		if e.v.IsGrey() {
			copy(e.v.Grey.Row(r), e.set.Grey.Row(int(from)))
		} else {
			copy(e.v.Bits.Row(r), e.set.X.Row(int(from)))
		}
	}
}

// labelled reports whether the rows have their labels in v.
func (e *evaluation) labelled() bool { return e.m.Classes() > 0 && e.set.Y != nil }

// likely reports whether rows have a likelihood. Only rows without labels under
// Bernoulli labels have none: the sum over all label states is out of reach.
func (e *evaluation) likely() bool {
	return e.m.Classes() == 0 || e.set.Y != nil || e.m.LabelKind() == rbm.Softmax
}

// chunk is the number of rows between two checks of the context.
const chunk = 256

// eachChunk calls f for one part of the rows after the other, with a progress
// bar.
func (e *evaluation) eachChunk(ctx context.Context, what string, f func(lo, hi int)) error {
	bar := e.flags.NewProgress(what, "rows", int64(e.n))
	defer bar.Done()
	for lo := 0; lo < e.n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, e.n)
		f(lo, hi)
		bar.Set(int64(hi), "")
	}
	return nil
}

// freeEnergies returns F of each row, and log p(y|x), rows × classes.
func (e *evaluation) freeEnergies(ctx context.Context) (free, logp []float64, err error) {
	classes := e.m.Classes()
	logp = make([]float64, e.n*classes)
	free = make([]float64, e.n)
	err = e.eachChunk(ctx, "free energies", func(lo, hi int) {
		if classes > 0 {
			e.m.ClassLogProb(logp[lo*classes:hi*classes], e.v.Slice(lo, hi))
		}
		if classes > 0 && !e.labelled() {
			e.sumOutLabels(free[lo:hi], logp[lo*classes:hi*classes], lo)
		} else {
			e.m.FreeEnergy(free[lo:hi], e.v.Slice(lo, hi))
		}
	})
	return free, logp, err
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of the rows
// from lo on, which have no labels. It takes one class y and adds log p(y|x) to
// F(x,y). Bernoulli labels have too many states for that: their F is NaN.
func (e *evaluation) sumOutLabels(free, logp []float64, lo int) {
	if !e.likely() {
		for i := range free {
			free[i] = math.NaN()
		}
		return
	}
	class := func(i int) int {
		if e.m.Constraint == nil {
			return 0
		}
		return train.Likeliest(logp[i*e.m.Classes() : (i+1)*e.m.Classes()]) // others may be impossible
	}
	for i := range free {
		e.v.Set(lo+i, e.m.Inputs()+class(i), true)
	}
	e.m.FreeEnergy(free, e.v.Slice(lo, lo+len(free)))
	for i := range free {
		y := class(i)
		free[i] += logp[i*e.m.Classes()+y]
		e.v.Set(lo+i, e.m.Inputs()+y, false)
	}
}

// binary returns e with rows of a set as binary states. Grey values are turned
// to bits by a threshold, because only states of the model bound its log Z.
func (e *evaluation) binary(set *data.Set, rows []int32) *evaluation {
	part, states := *e, *set
	states.Grey = rbm.Matrix{}
	part.set = &states
	part.fit(rows)
	return &part
}

// lowerBound returns a lower bound of log Z, from the rows that the model is
// evaluated on and the training rows. It is −Inf if log Z is not estimated, as
// nothing is compared with it then.
func (e *evaluation) lowerBound(ctx context.Context) (float64, error) {
	if !e.estimated() {
		return math.Inf(-1), nil
	}
	sets := []*data.Set{e.all}
	if e.set != e.all {
		sets = append(sets, e.set)
	}
	var parts []*evaluation
	for _, set := range sets {
		parts = append(parts, e.binary(set, allRows(set)))
	}
	return lowerBound(ctx, e.m, parts)
}

// lowerBound returns a lower bound of log Z of m, from the distinct rows of
// parts, which are binary; −Inf if that is beyond float64.
func lowerBound(ctx context.Context, m *rbm.RBM, parts []*evaluation) (float64, error) {
	n := 0
	for _, part := range parts {
		n += part.n
	}
	v, free := rbm.NewBits(n, m.Visible()), make([]float64, 0, n)
	for _, part := range parts {
		part.m = m
		f := make([]float64, part.n)
		var err error
		if m.Classes() > 0 && !part.labelled() {
			f, _, err = part.freeEnergies(ctx)
		} else {
			err = part.eachChunk(ctx, "lower bound", func(lo, hi int) { m.FreeEnergy(f[lo:hi], part.v.Slice(lo, hi)) })
		}
		if err != nil {
			return 0, err
		}
		v.Slice(len(free), len(free)+part.n).CopyFrom(part.v.Bits)
		free = append(free, f...)
	}
	bound := logz.LowerBound(free, v)
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return math.Inf(-1), nil
	}
	return bound, nil
}
