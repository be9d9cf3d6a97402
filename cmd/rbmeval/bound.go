package main

import (
	"context"
	"math"

	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// binary returns j with rows of a set as binary states: grey values give way
// to what a threshold makes of them, as only states of the model bound its log
// Z.
func (j *judge) binary(set *data.Set, rows []int32) (*judge, error) {
	part, states := *j, *set
	states.Grey = rbm.Matrix{}
	part.set = &states
	return &part, part.fit(rows)
}

// lowerBound returns what log Z is at least by the rows that are judged and
// the training rows; −Inf if no estimate is to be held against it.
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
		rows := make([]int32, set.Len())
		for r := range rows {
			rows[r] = int32(r)
		}
		part, err := j.binary(set, rows)
		if err != nil {
			return 0, err
		}
		parts = append(parts, part)
	}
	return lowerBound(ctx, j.m, parts)
}

// lowerBound returns what log Z of m is at least by the distinct rows of
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
		v.Slice(len(free), len(free)+part.n).CopyFrom(part.v.Bits)
		free = append(free, f...)
	}
	bound := logz.LowerBound(free, v)
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return math.Inf(-1), nil
	}
	return bound, nil
}
