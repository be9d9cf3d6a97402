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
	h := rbm.NewMatrix(e.n, e.m.Hidden())
	mean := e.m.HiddenMeanGivenInputs
	if e.labelIn {
		mean = e.m.HiddenMean
	}
	err := e.eachChunk(ctx, "features", func(lo, hi int) { mean(h.Slice(lo, hi), e.v.Slice(lo, hi)) })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.Data, func(x float32) bool { return x != x }) {
		return errNotFinite
	}
	arrays := []npz.Named{{Name: "features", Shape: []int{h.Rows, h.Cols}, Data: h.Data}}
	if e.set.Y != nil {
		arrays = append(arrays, npz.Named{Name: "y", Data: labels(e.set)})
	}
	return atomicfile.Write(e.features, func(w io.Writer) error { return npz.Write(w, arrays) })
}

// labels returns the labels of the rows by name: as numbers if all names are.
func labels(set *data.Set) any {
	words, numbers := make([]string, set.Len()), make([]int32, set.Len())
	all := true
	for r, y := range set.Y {
		words[r] = set.Classes[y]
		n, err := strconv.ParseInt(words[r], 10, 32)
		numbers[r] = int32(n)
		all = all && err == nil && strconv.FormatInt(n, 10) == words[r]
	}
	if all {
		return numbers
	}
	return words
}
