package main

import (
	"context"
	"io"
	"slices"
	"strconv"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/npz"
)

// featuresLaw names the means that -features writes. It is "" without the flag.
func (e *evaluation) featuresLaw() string {
	switch {
	case e.features == "":
		return ""
	case e.labelIn:
		return "p(h|x,y)"
	}
	return "p(h|x)"
}

// writeFeatures writes the array of -features.
func (e *evaluation) writeFeatures(ctx context.Context) error {
	mean := e.m.HiddenMeanGivenInputs
	if e.labelIn {
		mean = e.m.HiddenMean
	}
	of := map[*scored]rbm.Matrix{}
	for _, p := range []*scored{&e.scored, e.bare} {
		if p == nil {
			continue
		}
		h := rbm.NewMatrix(p.n, e.m.Hidden())
		if err := p.eachChunk(ctx, "features", func(lo, hi int) { mean(h.Slice(lo, hi), p.v.Slice(lo, hi)) }); err != nil {
			return err
		}
		of[p] = h
	}
	h, y := of[&e.scored], e.set.Y
	if e.bare != nil {
		h, y = rbm.Matrix{Cols: e.m.Hidden()}, nil
		e.inOrder(func(_ int, p *scored, r int) {
			h.Data = append(h.Data, of[p].Row(r)...)
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
		arrays = append(arrays, npz.Named{Name: "y", Data: labels(y, e.set.Classes)})
	}
	return atomicfile.Write(e.features, func(w io.Writer) error { return npz.Write(w, arrays) })
}

// labels returns the labels of rows by name: as numbers if all names are. No class
// is -1 among numbers, unless a class is, and an empty name among others.
func labels(y []int32, classes []string) any {
	words, numbers := make([]string, len(y)), make([]int32, len(y))
	all := true
	for r, y := range y {
		if y == data.NoClass {
			numbers[r] = -1
			all = all && !slices.Contains(classes, "-1")
			continue
		}
		words[r] = classes[y]
		n, err := strconv.ParseInt(words[r], 10, 32)
		numbers[r] = int32(n)
		all = all && err == nil && strconv.FormatInt(n, 10) == words[r]
	}
	if all {
		return numbers
	}
	return words
}
