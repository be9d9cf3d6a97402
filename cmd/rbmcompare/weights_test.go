package main

import (
	"math"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// A row of weight w counts as w rows, in the positive phase and in minibatches.
func TestWeights(t *testing.T) {
	bits := func(rows ...int) rbm.Values {
		x := rbm.NewBits(len(rows), 3)
		for r, on := range rows {
			x.Set(r, on, true)
		}
		return x
	}
	m := clitest.Model(3, 2, 0, rbm.Softmax)
	weighed := &plan{options: options{batch: 3, seed: 5}, set: &data.Set{X: bits(0, 1, 2), Weights: []float64{6, 2, 4}}}
	copies := &plan{set: &data.Set{X: bits(0, 0, 0, 1, 2, 2)}}
	want := copies.positive(m)
	for i, got := range weighed.positive(m) {
		if math.Abs(got-want[i]) > 1e-7 { // float32 weights
			t.Errorf("the positive phase has %v at %d, want %v", got, i, want[i])
		}
	}
	const updates = 20000
	var sums [3]float64
	next := weighed.batches(m, 0)
	for update := range updates {
		v := next(update).V
		for r := range v.Rows {
			for j := range sums {
				if v.Get(r, j) {
					sums[j] += 1. / 3 / updates
				}
			}
		}
	}
	for j, want := range []float64{1. / 2, 1. / 6, 1. / 3} {
		// Each row occurs in an epoch three times its share, rounded at random: variance at most 1/4.
		if z := (sums[j] - want) / (0.5 / 3 / math.Sqrt(updates)); math.Abs(z) > 6 {
			t.Errorf("row %d is %v of the rows of minibatches, want %v (z %.1f)", j, sums[j], want, z)
		}
	}
}

func TestMissingCells(t *testing.T) {
	isolate(t)
	clitest.Write(t, "a.csv", "a,b\nx,1\n,2\ny,3\nz,1\n")
	set, _, err := data.Load(t.Context(), "a.csv", data.Options{Categorical: "all"})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 2, false, rbm.Softmax, 1)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Schema: set.Schema.Text()})
	rbmcompare.Fails(t, 1, []string{"-model", "m.safetensors", "-data", "a.csv", "-negphase", "cd", "-quiet"}, "a.csv has missing cells")
}
