package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// Two draws of the generated family agree in the statistics of one and two sites as far as their number of
// rows allows. If each site is permuted among the rows, only the first statistic stays.
func TestCompareSites(t *testing.T) {
	rows, test, err := data.Load(context.Background(), "sequences:2000", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := CompareSites(rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{same.OnePearson, same.OneSlope, same.PairPearson, same.PairSlope, same.TwoPearson, same.TwoSlope} {
		if math.Abs(x-1) > 1e-9 {
			t.Errorf("a set against itself: %+v", same)
		}
	}
	s, err := CompareSites(test, rows)
	if err != nil || s.OnePearson < 0.98 || s.PairPearson < 0.9 || s.TwoPearson < 0.35 {
		t.Errorf("two draws: %+v, %v", s, err)
	}
	mixed := test.Take(data.RowNumbers(0, test.Len()))
	levels, other := make([]int32, 60), make([]int32, 60)
	for r := range mixed.Len() {
		for i := range levels { // each site comes from another row
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
		t.Errorf("bits: %v, want %q in it", err, "do not have the same columns")
	}
}

// The statistics of rows with missing cells are those of the known cells: values in place of missing cells
// change nothing, and frequencies equal counts.
func TestCompareSitesWithGaps(t *testing.T) {
	set := twins(0.3)
	set.Schema = &data.Schema{Columns: []data.Column{{Name: "a", Levels: []string{"x", "y", "z"}}, {Name: "b", Levels: []string{"x", "y", "z"}}, {Name: "c", Levels: []string{"0", "1"}, Bit: true}}}
	for r := 0; r < set.Len(); r += 7 {
		set.Missing.Set(r, 6, true)
	}
	for r := range set.Len() {
		set.Weights = append(set.Weights, 1+float64(r%3))
	}
	one, pair, two := frequencies(set)
	known := func(r, i, j int) bool { return !set.Missing.Get(r, i) && !set.Missing.Get(r, j) }
	column := []int{0, 0, 0, 1, 1, 1, 2}
	at := 0
	for i := range 7 {
		for j := i; j < 7; j++ {
			var total, a, b, both float64
			for r := range set.Len() {
				w := set.Weights[r]
				if !known(r, i, j) {
					continue
				}
				total += w
				if set.X.Get(r, i) {
					a += w
				}
				if set.X.Get(r, j) {
					b += w
				}
				if set.X.Get(r, i) && set.X.Get(r, j) {
					both += w
				}
			}
			switch {
			case i == j:
				near(t, "frequency", one[i], a/total, 1e-12)
			case column[i] != column[j]:
				near(t, "frequency of a pair", pair[at], both/total, 1e-12)
				near(t, "correlation", two[at], both/total-a*b/(total*total), 1e-12)
				at++
			}
		}
	}
	other := set.Take(data.RowNumbers(0, set.Len()))
	for r := range set.Len() {
		for i := range 7 {
			if set.Missing.Get(r, i) {
				other.X.Set(r, i, i%3 == 1)
			}
		}
	}
	s, err := CompareSites(other, set)
	if err != nil || math.Abs(s.OneSlope-1) > 1e-9 || math.Abs(s.PairSlope-1) > 1e-9 || math.Abs(s.TwoSlope-1) > 1e-9 {
		t.Errorf("with other states in place of missing cells: %+v, %v", s, err)
	}
	lone := &data.Set{Name: "lone", X: rbm.NewBits(3, 1), Schema: &data.Schema{Columns: set.Schema.Columns[2:]}}
	if _, err := CompareSites(lone, lone); err == nil || !strings.Contains(err.Error(), "has one column; ") {
		t.Errorf("one column: %v, want %q in it", err, "has one column; ")
	}
	same := set.Take([]int32{1, 1})
	if _, err := CompareSites(same, same); err == nil || !strings.Contains(err.Error(), "all equal") {
		t.Errorf("rows that are equal: %v, want %q in it", err, "all equal")
	}
	wide := &data.Schema{}
	for range 1 << 14 {
		wide.Columns = append(wide.Columns, data.Column{Name: "c", Levels: []string{"0", "1"}, Bit: true})
	}
	large := &data.Set{Name: "large", X: rbm.NewBits(2, 1<<24), Schema: wide}
	if _, err := CompareSites(large, large); err == nil || !strings.Contains(err.Error(), "comparing the pairs of 16384 columns needs some") {
		t.Errorf("2²⁴ units: %v, want %q in it", err, "comparing the pairs of 16384 columns needs some")
	}
}
