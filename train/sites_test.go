package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"gorbm/data"
)

// Two draws of the generated family agree in the statistics of one and two sites as far as their
// number lets them; rows whose sites are exchanged among each other keep the first alone.
func TestCompareSites(t *testing.T) {
	rows, test, err := data.Load(context.Background(), "sequences:2000", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := CompareSites(rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{same.OnePearson, same.OneSlope, same.TwoPearson, same.TwoSlope} {
		if math.Abs(x-1) > 1e-9 {
			t.Errorf("a set against itself: %+v", same)
		}
	}
	s, err := CompareSites(test, rows)
	if err != nil || s.OnePearson < 0.98 || s.TwoPearson < 0.35 {
		t.Errorf("two draws: %+v, %v", s, err)
	}
	mixed := test.Take(data.RowNumbers(0, test.Len()))
	levels, other := make([]int32, 60), make([]int32, 60)
	for r := range mixed.Len() {
		for i := range levels { // each site of another row
			test.Schema.Levels(other, test.X, (r+31*i)%test.Len())
			levels[i] = other[i]
		}
		mixed.Schema.Put(mixed.X, r, levels)
	}
	if m, err := CompareSites(mixed, rows); err != nil || m.OnePearson < 0.98 || m.TwoPearson > 0.1 {
		t.Errorf("sites of other rows: %+v, %v", m, err)
	}
	toy, _, err := data.Load(context.Background(), "toy", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CompareSites(toy, rows); err == nil || !strings.Contains(err.Error(), "do not have the same columns") {
		t.Errorf("bits: %v", err)
	}
}
