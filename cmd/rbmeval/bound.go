package main

import (
	"context"
	"math"

	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// binary returns j with rows of a set as binary states. Grey values are turned
// to bits by a threshold, because only states of the model bound its log Z.
func (j *judge) binary(set *data.Set, rows []int32) *judge {
	part, states := *j, *set
	states.Grey = rbm.Matrix{}
	part.set, part.grey = &states, rbm.Matrix{}
	part.fit(rows)
	return &part
}

// lowerBound returns a lower bound of log Z, from the rows that the model is
// evaluated on and the training rows. It is −Inf if log Z is not estimated, as
// nothing is compared with it then.
func (j *judge) lowerBound(ctx context.Context) (float64, error) {
	if !j.estimated() {
		return math.Inf(-1), nil
	}
	sets := []*data.Set{j.all}
	if j.set != j.all {
		sets = append(sets, j.set)
	}
	var parts []*judge
	for _, set := range sets {
		parts = append(parts, j.binary(set, allRows(set)))
	}
	return lowerBound(ctx, j.m, parts)
}

// lowerBound returns a lower bound of log Z of m, from the distinct rows of
// parts, which are binary; −Inf if that is beyond float64.
func lowerBound(ctx context.Context, m *rbm.RBM, parts []*judge) (float64, error) {
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
			err = part.eachChunk(ctx, "lower bound", func(lo, hi int) { part.freeEnergy(f[lo:hi], lo) })
		}
		if err != nil {
			return 0, err
		}
		v.Slice(len(free), len(free)+part.n).CopyFrom(part.v)
		free = append(free, f...)
	}
	bound := logz.LowerBound(free, v)
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return math.Inf(-1), nil
	}
	return bound, nil
}
