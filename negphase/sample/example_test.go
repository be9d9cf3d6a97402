package sample_test

import (
	"context"
	"fmt"

	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// The first and last of four inputs are given, and the other two are sampled.
func ExampleDrawEach() {
	m := rbm.New(4, 1, 0, rbm.Softmax)
	w := rbm.NewMatrix(4, 1)
	for i := range w.Data {
		w.Data[i] = 8 // a hidden unit makes all inputs equal
	}
	m.SetWeights(w)
	m.HiddenBias[0] = -12
	for i := range m.VisibleBias {
		m.VisibleBias[i] = -4
	}
	queries := []sample.Query{
		{Inputs: []float32{1, rbm.FreeInput, rbm.FreeInput, 1}, Class: rbm.Free},
		{Inputs: []float32{0, rbm.FreeInput, rbm.FreeInput, 0}, Class: rbm.Free},
	}
	s := sample.Settings{Samples: 2, Rounds: 256}
	sheet, err := sample.DrawEach(context.Background(), m, nil, queries, s, rbm.NewKey(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range sheet.Means.Rows {
		fmt.Printf("%.1f\n", sheet.Means.Row(r))
	}
	// Output:
	// [1.0 1.0 1.0 1.0]
	// [1.0 1.0 1.0 1.0]
	// [0.0 0.0 0.0 0.0]
	// [0.0 0.0 0.0 0.0]
}
