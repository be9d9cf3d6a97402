package data

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

func TestSplit(t *testing.T) {
	whole := randomSet(50, 70, 3)
	whole.Name = "whole"
	for holdout, n := range map[float64]int{0.1: 5, 0.5: 25, 0.99: 49 /* 49.5 rounds to 50 */, 0.011: 1, 1: 1, 7: 7, 49: 49} {
		if holdout == 0.99 {
			holdout = 0.98
		}
		train, held, err := whole.Split(holdout, rbm.NewKey(3))
		if err != nil {
			t.Fatal(err)
		}
		if held.Len() != n || train.Len() != 50-n || train.Name != "whole" || held.Name != "whole holdout" {
			t.Fatalf("holdout %g: %q with %d rows, %q with %d", holdout, train.Name, train.Len(), held.Name, held.Len())
		}
		again, _, _ := whole.Split(holdout, rbm.NewKey(3))
		other, _, _ := whole.Split(holdout, rbm.NewKey(4))
		if again.Hash() != train.Hash() || other.Hash() == train.Hash() {
			t.Errorf("holdout %g: the key does not settle the rows", holdout)
		}
		// Merged in order, the parts are the original set.
		var i, k int
		for r := range whole.Len() {
			x := rowText(whole.X, r)
			switch {
			case i < train.Len() && rowText(train.X, i) == x && train.Y[i] == whole.Y[r]:
				i++
			case k < held.Len() && rowText(held.X, k) == x && held.Y[k] == whole.Y[r]:
				k++
			default:
				t.Fatalf("holdout %g: row %d is in neither part, or out of order", holdout, r)
			}
		}
	}
}

// Every pair of four rows is equally likely: χ² over the 6 pairs.
func TestSplitUniform(t *testing.T) {
	whole := &Set{X: rbm.NewBits(4, 2), Name: "whole"}
	for r := range 4 {
		whole.X.Words[r] = uint64(r)
	}
	const draws, df = 6000, 5
	count := map[string]float64{}
	key := rbm.NewKey(1)
	for i := range draws {
		_, held, err := whole.Split(2, key.Child(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		count[rowText(held.X, 0)+rowText(held.X, 1)]++
	}
	x2 := 0.0
	for _, n := range count {
		x2 += (n - draws/6) * (n - draws/6) / (draws / 6)
	}
	if z := (x2 - df) / math.Sqrt(2*df); len(count) != 6 || z > 6 {
		t.Errorf("%v: χ² = %.1f of %d degrees", count, x2, df)
	}
}

func TestSplitGrey(t *testing.T) {
	whole := &Set{X: rbm.NewBits(4, 3), Grey: rbm.NewMatrix(4, 3), Binarize: None}
	for i := range whole.Grey.Data {
		whole.Grey.Data[i] = float32(i) / 12
	}
	train, held, err := whole.Split(0.25, rbm.NewKey(1))
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Sorted(slices.Values(slices.Concat(train.Grey.Data, held.Grey.Data)))
	if !slices.Equal(all, whole.Grey.Data) || train.Binarize != None || held.Grey.Rows != 1 || train.Y != nil {
		t.Errorf("grey values %v and %v", train.Grey.Data, held.Grey.Data)
	}
}

func TestSplitErrors(t *testing.T) {
	whole := randomSet(50, 8, 2)
	for _, holdout := range []float64{0, -1, -0.1, 1.5, 0.001, 0.999, 50, 1e300, math.Inf(1), math.NaN()} {
		_, _, err := whole.Split(holdout, rbm.Key{})
		checkSpec(t, err, "held out")
	}
	_, _, err := randomSet(1, 8, 2).Split(0.5, rbm.Key{})
	checkSpec(t, err, "a single row")
}
