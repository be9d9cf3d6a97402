package data

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm"
)

func mustLoad(t testing.TB, spec string) (train, test *Set) {
	t.Helper()
	train, test, err := Load(context.Background(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return train, test
}

// rowText returns a row's bits as 0s and 1s.
func rowText(b rbm.Values, row int) string {
	s := make([]byte, b.Cols)
	for j := range s {
		s[j] = '0'
		if b.Get(row, j) {
			s[j] = '1'
		}
	}
	return string(s)
}

// The example in section 4.3 of the paper, before and after step 5: flips with probability 0 and 1.
func TestToyPaperExample(t *testing.T) {
	modes := []string{"1111", "1111", "1100", "1100", "0011", "0011", "0000", "0000"}
	train, test := mustLoad(t, "toy:4,2,2,0")
	if test != nil {
		t.Error("toy has a test set")
	}
	all, _ := mustLoad(t, "toy:4,2,2,1")
	for r, want := range modes {
		if got := rowText(train.X, r); got != want {
			t.Errorf("row %d is %s, want %s", r, got, want)
		}
		if got, want := rowText(all.X, r), modes[len(modes)-1-r]; got != want {
			t.Errorf("with all flipped, row %d is %s, want %s", r, got, want)
		}
		if got, want := train.Y[r], int32(r/2); got != want {
			t.Errorf("class of row %d is %d, want %d", r, got, want)
		}
	}
	visible := rbm.NewBits(1, 8)
	train.Visible(visible, []int32{2}, 4)
	if got, want := rowText(visible, 0), "11000100"; got != want {
		t.Errorf("visible units of row 2 are %s, want %s", got, want)
	}
}

func TestToyShapes(t *testing.T) {
	for _, c := range []struct {
		spec, name             string
		rows, cols, high, wide int
		classes                int
	}{
		{"toy", "toy:4,4,2500,0.2:seed=1", 10000, 8, 2, 4, 4},
		{"toy:seed=9", "toy:4,4,2500,0.2:seed=9", 10000, 8, 2, 4, 4},
		{"toy:4,8,25,2e-1", "toy:4,8,25,0.2:seed=1", 100, 16, 4, 4, 4},
		{"toy:seed=2:plain:4,8,25,.2", "toy:4,8,25,0.2:plain:seed=2", 100, 16, 4, 4, 0},
		{"toy:128,150,2,0.2", "toy:128,150,2,0.2:seed=1", 256, 1050, 30, 35, 128},
		{"toy:2,1,1,-0", "toy:2,1,1,0:seed=1", 2, 1, 1, 1, 2},
	} {
		s, _ := mustLoad(t, c.spec)
		if s.Name != c.name || s.Len() != c.rows || s.X.Cols != c.cols || s.Height != c.high || s.Width != c.wide ||
			len(s.Classes) != c.classes || (s.Y != nil) != (c.classes > 0) || s.Binarize != Binary {
			t.Errorf("%s: got %q, %d × %d as %d × %d, %d classes", c.spec, s.Name, s.Len(), s.X.Cols, s.Height, s.Width, len(s.Classes))
		}
		again, _ := mustLoad(t, s.Name)
		if again.Hash() != s.Hash() || again.Name != s.Name {
			t.Errorf("%s: the canonical name %s gives other rows", c.spec, s.Name)
		}
	}
}

func TestToySeeds(t *testing.T) {
	a, _ := mustLoad(t, "toy:seed=1")
	b, _ := mustLoad(t, "toy:seed=2")
	if a.Hash() == b.Hash() {
		t.Error("two seeds give the same rows")
	}
	plain, _ := mustLoad(t, "toy:plain")
	for i, w := range a.X.Words {
		if plain.X.Words[i] != w {
			t.Fatalf("the rows of a plain set differ from those with labels: got %v, want %v", plain.X.Words[i], w)
		}
	}
}

// entropy returns −Σ p log p of the joint distribution of (x, y) over all x of a few bits, and Σ p. If
// classes is 0 it is that of x alone.
func entropy(s *Set, classes int) (h, sum float64) {
	for x := range uint64(1) << s.X.Cols {
		ys := []int{-1}
		if classes > 0 {
			ys = ys[:0]
			for y := range classes {
				ys = append(ys, y)
			}
		}
		for _, y := range ys {
			lp := s.LogProb([]uint64{x}, y)
			sum += math.Exp(lp)
			h -= math.Exp(lp) * lp
		}
	}
	return h, sum
}

func TestToyLogProb(t *testing.T) {
	s, _ := mustLoad(t, "toy")
	h, sum := entropy(s, 4)
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("joint probabilities add up to 1%+g, want ±1e-12 at most", sum-1)
	}
	if math.Abs(h-5.3895) > 5e-5 { // to the digits given
		t.Errorf("entropy %.6f nats, want 5.3895", h)
	}
	if _, sum := entropy(s, 0); math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities of the inputs add up to 1%+g, want ±1e-12 at most", sum-1)
	}
	x := []uint64{0b10110101}
	want := 0.0
	for y := range 4 {
		want += math.Exp(s.LogProb(x, y))
	}
	if got := math.Exp(s.LogProb(x, -1)); math.Abs(got-want) > 1e-15 {
		t.Errorf("p(x) = %g, Σ p(x,y) = %g", got, want)
	}
	if s.LogProb(x, -1) != s.LogProb([]uint64{x[0] | 0xffff00}, -1) {
		t.Error("bits past the inputs count")
	}
	if !math.IsInf(s.LogProb(x, 4), -1) {
		t.Error("a class that is none has a probability")
	}
	sure, _ := mustLoad(t, "toy:4,2,2,0")
	if got := sure.LogProb([]uint64{0b1111}, 0); got != -math.Log(4) {
		t.Errorf("without flips, log p of a mode is %g, want −log 4", got)
	}
	if got := sure.LogProb([]uint64{0b0111}, -1); !math.IsInf(got, -1) {
		t.Errorf("without flips, log p off the modes is %g, want −Inf", got)
	}
}

// The mean of −log p over the drawn rows is the entropy, within its standard error: there are 8 flips, each
// of variance p(1−p)·log²((1−p)/p).
func TestToyDrawsItsDistribution(t *testing.T) {
	s, _ := mustLoad(t, "toy:4,4,25000,0.2:seed=3")
	mean := 0.0
	for r := range s.Len() {
		mean -= s.LogProb(s.X.Row(r), int(s.Y[r])) / float64(s.Len())
	}
	want, _ := entropy(s, 4)
	sd := math.Sqrt(8*0.2*0.8) * math.Log(0.8/0.2)
	if z := (mean - want) / (sd / math.Sqrt(float64(s.Len()))); math.Abs(z) > 6 {
		t.Errorf("mean −log p %.4f, want %.4f: z = %.1f", mean, want, z)
	}
}

func TestToyWords(t *testing.T) {
	// Codes longer than a word, and a last word full to the end.
	for _, spec := range []string{"toy:4,32,3,0.1", "toy:4,100,3,0.1", "toy:2,64,3,0.1"} {
		s, _ := mustLoad(t, spec)
		for r := range s.Len() {
			flips := 0
			for j := range s.X.Cols {
				n := len(s.Classes[0])
				mode := s.Classes[s.Y[r]][j*n/s.X.Cols] == '1'
				if s.X.Get(r, j) != mode {
					flips++
				}
			}
			want := -math.Log(float64(len(s.Classes))) + float64(flips)*math.Log(0.1) + float64(s.X.Cols-flips)*math.Log(0.9)
			if got := s.LogProb(s.X.Row(r), int(s.Y[r])); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("%s row %d: log p = %g, want %g", spec, r, got, want)
			}
		}
	}
}
