package train

import (
	"context"
	"math"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// A row of weight w counts as w rows in starts, bases, metrics, and in the mean gradient over many epochs.
func TestWeightsAreRepetitions(t *testing.T) {
	plain, _, err := data.Load(context.Background(), "toy:4,2,5,0.2", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	weighted := *plain
	var repeated []int32
	for r := range plain.Len() {
		w := 1 + r%4
		weighted.Weights = append(weighted.Weights, float64(w))
		for range w {
			repeated = append(repeated, int32(r))
		}
	}
	copies := plain.Take(repeated)
	if weighted.TotalWeight() != float64(copies.Len()) {
		t.Fatalf("M_eff is %v of %d rows", weighted.TotalWeight(), copies.Len())
	}
	m := NewModel(plain, 3, true, rbm.Softmax, 2)
	m.Randomize(1, rbm.NewKey(7))
	near := func(what string, x, y, tol float64) {
		t.Helper()
		if !(math.Abs(x-y) <= tol) {
			t.Errorf("%s: %v with weights and %v with repeated rows", what, x, y)
		}
	}
	a, b := ModelBase(m, &weighted), ModelBase(m, copies)
	for i := range a.VisibleBias {
		near("base of a visible unit", float64(a.VisibleBias[i]), float64(b.VisibleBias[i]), 1e-5)
	}
	for i := range a.HiddenBias {
		near("base of a hidden unit", float64(a.HiddenBias[i]), float64(b.HiddenBias[i]), 1e-5)
	}
	names := []string{"log_likelihood", "pseudo_likelihood", "reconstruction", "active_hidden", "classification"}
	values := func(set *data.Set) (all []float64) {
		metrics, err := NewMetrics(names, m, Sets{Train: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range metrics {
			v, err := metric.Measure(context.Background(), m, true)
			if err != nil {
				t.Fatal(err)
			}
			if metric.Name != "reconstruction" { // it draws differently for equal rows
				all = append(all, v[0]) // value of the training rows
			}
		}
		return all
	}
	x, y := values(&weighted), values(copies)
	for i := range x {
		near("a metric", x[i], y[i], 1e-9)
	}

	// In the mean over epochs each row occurs in proportion to its weight.
	s := DefaultSettings("exact")
	s.Batch = plain.Len()
	tr, err := New(s, &weighted, m)
	if err != nil {
		t.Fatal(err)
	}
	const epochs = 4000
	counts := make([]float64, plain.Len())
	for e := range epochs {
		tr.batches.Rows(tr.rows, e)
		for _, r := range tr.rows {
			counts[r] += 1.0 / epochs
		}
	}
	for r, n := range counts {
		want := weighted.Weights[r] * float64(plain.Len()) / weighted.TotalWeight()
		f := want - math.Floor(want)
		near("a row's share of the gradient", n, want, 6*math.Sqrt(f*(1-f)/epochs)+1e-9)
	}
}
