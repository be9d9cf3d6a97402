package main

import (
	"context"
	"io"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/npz"
)

// featuresName returns a formula for the means that -features writes, or "" without the flag.
func (e *evaluation) featuresName() string {
	switch {
	case e.features == "":
		return ""
	case e.labelIn:
		return "p(h|x,y)"
	case e.m.RealHidden():
		return "E(h|x)"
	}
	return "p(h|x)"
}

// writeFeatures writes the file of -features.
func (e *evaluation) writeFeatures(ctx context.Context) error {
	mean := e.m.HiddenMeanGivenInputs
	if e.labelIn {
		mean = e.m.HiddenMean
	}
	features := map[*scored]rbm.Matrix{}
	for _, p := range []*scored{&e.scored, e.bare} {
		if p == nil {
			continue
		}
		h := rbm.NewMatrix(p.n, e.m.Hidden())
		if err := p.eachChunk(ctx, "features", func(lo, hi int) { mean(h.Slice(lo, hi), p.v.Slice(lo, hi)) }); err != nil {
			return err
		}
		features[p] = h
	}
	h, y := features[&e.scored], e.set.Y
	if e.bare != nil {
		h, y = rbm.Matrix{Cols: e.m.Hidden()}, nil
		e.inOrder(func(_ int, p *scored, r int) {
			h.Data = append(h.Data, features[p].Row(r)...)
			h.Rows++
			if p.labelled() {
				y = append(y, p.set.Y[r])
			} else {
				y = append(y, data.NoClass)
			}
		})
	}
	if slices.ContainsFunc(h.Data, func(x float32) bool { return x != x }) {
		return errNotFinite
	}
	arrays := []npz.Named{{Name: "features", Shape: []int{h.Rows, h.Cols}, Data: h.Data}}
	if y != nil {
		arrays = append(arrays, npz.Named{Name: "y", Data: cli.ClassLabels(y, e.set.Classes)})
	}
	return atomicfile.Write(e.features, func(w io.Writer) error { return npz.Write(w, arrays) })
}
