// Package sets has data that several experiments share.
package sets

import (
	"context"

	"gorbm/data"
	"gorbm/rbm"
)

// ZerosAndOnes returns the rows of MNIST that are a 0 or a 1. dir is the folder of its files;
// "" as for data.Options.
func ZerosAndOnes(ctx context.Context, dir string) (*data.Set, error) {
	all, _, err := data.Load(ctx, "mnist", data.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	var rows []int32
	for r, y := range all.Y {
		if y <= 1 {
			rows = append(rows, int32(r))
		}
	}
	set := &data.Set{Name: "0 and 1 of mnist", X: rbm.NewBits(len(rows), all.X.Cols), Height: all.Height, Width: all.Width, Binarize: all.Binarize}
	for i, r := range rows {
		copy(set.X.Row(i), all.X.Row(int(r)))
	}
	return set, nil
}
