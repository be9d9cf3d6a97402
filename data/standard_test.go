package data

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Real values are standardised with the training rows. A constant column keeps its value, large values
// close to each other keep their digits, and test rows get the scale of the training rows.
func TestStandard(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "train.csv"), filepath.Join(dir, "rest.csv")
	columns := [][]float64{{-3, 5, 1, 1}, {7, 7, 7, 7}, {1e9 + 0.25, 1e9 + 0.5, 1e9, 1e9 + 0.75}}
	text := "a,b,c\n"
	for r := range 4 {
		text += fmt.Sprintf("%v,%v,%.2f\n", columns[0][r], columns[1][r], columns[2][r])
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("a,b,c\n3,9,1000000001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, _, err := Load(ctx, path, Options{Real: true})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Found || s.Binarize != Standard || rbm.GroupsText(s.Groups) != "gaussian:3" {
		t.Errorf("the set is %+v", s)
	}
	wantMean, wantSD := []float64{1, 7, 1e9 + 0.375}, []float64{math.Sqrt(8), 0, math.Sqrt(0.078125)}
	for j := range 3 {
		if math.Abs(s.Means[j]-wantMean[j]) > 1e-12*math.Abs(wantMean[j]) || math.Abs(s.Deviations[j]-wantSD[j]) > 1e-12 {
			t.Errorf("column %d has mean %v and deviation %v, want %v and %v", j, s.Means[j], s.Deviations[j], wantMean[j], wantSD[j])
		}
		for r := range 4 {
			want := columns[j][r] - wantMean[j]
			if wantSD[j] > 0 {
				want /= wantSD[j]
			}
			if got := float64(s.Grey.Row(r)[j]); math.Abs(got-want) > 1e-6 {
				t.Errorf("row %d, column %d is %v, want %v", r, j, got, want)
			}
		}
	}
	if want := math.Log(wantSD[0]) + math.Log(wantSD[2]); math.Abs(s.LogScale(0)-want) > 1e-12 {
		t.Errorf("the log scale is %v, want %v", s.LogScale(0), want)
	}
	if text := s.DescribeConstantColumns(); text != "1 of 3 columns is constant (b)" {
		t.Errorf("constant columns: %q, want %q", text, "1 of 3 columns is constant (b)")
	}
	back := rbm.NewMatrix(1, 3)
	copy(back.Data, s.Grey.Row(0))
	back.Data[1] = 0.7 // a model may draw any value there
	Unscale(back, s.Means, s.Deviations)
	for j, want := range []float32{-3, 7, 1e9} {
		if back.Data[j] != want {
			t.Errorf("column %d comes back as %v, want %v", j, back.Data[j], want)
		}
	}
	test, err := LoadTest(ctx, other, s, Options{Real: true})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{2 / math.Sqrt(8), 2, 0.625 / math.Sqrt(0.078125)} {
		if got := float64(test.Grey.Row(0)[j]); math.Abs(got-want) > 1e-6 {
			t.Errorf("test column %d is %v, want %v", j, got, want)
		}
	}
	// Without Real they are an error. So are Standard and Scale together.
	if _, _, err := Load(ctx, path, Options{}); err == nil || !strings.Contains(err.Error(), "outside [0,1]") {
		t.Errorf("without Real: %v, want %q in it", err, "outside [0,1]")
	}
	if _, _, err := Load(ctx, path, Options{Binarize: Standard, Scale: "max"}); err == nil || !strings.Contains(err.Error(), "leave one of the two out") {
		t.Errorf("with a scale: %v, want %q in it", err, "leave one of the two out")
	}
	// Values in [0,1] are read as real values only if Binarize is Standard.
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("a,b\n0,0.5\n1,0.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Load(ctx, in, Options{Real: true}); err != nil || s.Means != nil {
		t.Errorf("values in [0,1] were standardised: %v", err)
	}
	if s, _, err := Load(ctx, in, Options{Binarize: Standard}); err != nil || s.Means == nil || s.Found {
		t.Errorf("values in [0,1] were not standardised: %v", err)
	}
	if s, _, err := Load(ctx, "bars:2", Options{Binarize: Standard}); err != nil || s.Grey.Rows != s.Len() || s.Deviations[0] == 0 {
		t.Errorf("bits were not standardised: %v", err)
	}
	if err := os.WriteFile(in, []byte("a,b\n0,nan\n1,0.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(ctx, in, Options{Binarize: Standard}); err == nil || !strings.Contains(err.Error(), "not a number") {
		t.Errorf("NaN: %v, want %q in it", err, "not a number")
	}
}

// A row of weight w is standardised as w rows, and one of weight 0 is ignored.
func TestStandardByWeights(t *testing.T) {
	ctx := context.Background()
	load := func(text, weights string) *Set {
		s, _, err := Load(ctx, writeFile(t, "a.csv", text), Options{Binarize: Standard, Weights: weights, LabelColumn: "none"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := load("a,b,c\n1000.5,2,7\n1000.5,2,7\n1000.5,2,7\n1001.25,-4,7\n1003,8,7\n", "")
	for _, rows := range []string{
		"a,b,c,w\n1000.5,2,7,3\n1001.25,-4,7,1\n-1e9,9e9,6,0\n1003,8,7,1\n",
		"a,b,c,w\n990,9,6,0\n1000.5,2,7,3e307\n1001.25,-4,7,1e307\n1003,8,7,1e307\n",
	} {
		got := load(rows, "w")
		if got.Len() != 3 || got.Deviations[2] != 0 {
			t.Errorf("%d rows, deviations %v", got.Len(), got.Deviations)
		}
		for j := range want.Means {
			if math.Abs(got.Means[j]-want.Means[j]) > 1e-6 || math.Abs(got.Deviations[j]-want.Deviations[j]) > 1e-6 {
				t.Errorf("column %d has mean %v and deviation %v, want %v and %v", j, got.Means[j], got.Deviations[j], want.Means[j], want.Deviations[j])
			}
		}
	}
}
