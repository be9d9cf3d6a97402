package data

import (
	"math"
	"runtime"
	"testing"
)

// Goldens: generated data must never change, because results are quoted by spec.
func TestGenerated(t *testing.T) {
	for _, c := range []struct{ spec, train, test string }{
		{"toy",
			"c7659bf15756308598000592d4bebceb9dec26b079027f338c6e2c1a3625445a", ""},
		{"toy:4,8,250,0.2:plain:seed=2",
			"029ac233085c0a72da02228ee4dc18ecdb59a12aa152b715e023dcec62f2a23f", ""},
		{"toy:128,150,10,0.2",
			"35bfcf56c0523bec0304613ec779090e5e027027e99e45392fe50e725047f6bc", ""},
		{"fontdigits:2000",
			"0b7074b06b06e06c32683066f00ac43d07eb7cfb13b47cc3420502c073587a58",
			"2f57ff3561891028b5874bd2b10717d49757dd64dab293321fe8c25bef37d070"},
		{"fontdigits:300:seed=2",
			"741146f99b2616a195e197c776f2f7abdcd9b86d5005bcdba9ad3336071f27cd",
			"05e4741b2ae2cf787054ba7b6da33470d03c544acab14ec82b15b4c983b957e0"},
	} {
		// One goroutine and four give the same rows.
		for _, procs := range []int{1, 4} {
			was := runtime.GOMAXPROCS(procs)
			train, test := mustLoad(t, c.spec)
			runtime.GOMAXPROCS(was)
			if got := train.Hash(); got != c.train {
				t.Errorf("%s: hash of the training rows %s, want %s", c.spec, got, c.train)
			}
			if test == nil {
				continue
			}
			if got := test.Hash(); got != c.test {
				t.Errorf("%s: hash of the test rows %s, want %s", c.spec, got, c.test)
			}
		}
	}
}

func TestFontDigitsShape(t *testing.T) {
	train, test := mustLoad(t, "fontdigits:5000")
	checkSet(t, train)
	checkSet(t, test)
	if train.Name != "fontdigits:5000:seed=1" || test.Name != "fontdigits:seed=1 test" || train.Len() != 5000 || test.Len() != 10000 ||
		train.Height != 28 || train.Width != 28 || len(train.Classes) != 10 || train.Binarize != Threshold {
		t.Errorf("got %q, %q: %d and %d rows of %d × %d", train.Name, test.Name, train.Len(), test.Len(), train.Height, train.Width)
	}
	// The first rows are the same for any number of rows.
	few, _ := mustLoad(t, "fontdigits:10")
	for r := range few.Len() {
		if rowText(few.X, r) != rowText(train.X, r) || few.Y[r] != train.Y[r] {
			t.Errorf("row %d of 10 is not row %d of 5000", r, r)
		}
	}
	// The rows have as much ink as MNIST (0.13), and none is blank.
	for _, s := range []*Set{train, test} {
		if d := s.Density(); d < 0.10 || d > 0.20 {
			t.Errorf("%s: density %.3f, want 0.10 to 0.20", s.Name, d)
		}
		for r := range s.Len() {
			if n := s.X.Slice(r, r+1).Count(); n < 20 || n > 450 {
				t.Errorf("%s: row %d has %d pixels of ink, want 20 to 450", s.Name, r, n)
			}
		}
	}
	// The two parts have no row in common, and no row occurs twice.
	seen := map[string]bool{}
	for _, s := range []*Set{train, test} {
		for r := range s.Len() {
			x := rowText(s.X, r)
			if seen[x] {
				t.Fatalf("%s: row %d was there before", s.Name, r)
			}
			seen[x] = true
		}
	}
}

// Digits are drawn uniformly: χ² over the ten.
func TestFontDigitsClasses(t *testing.T) {
	_, s := mustLoad(t, "fontdigits:1")
	var count [10]float64
	for _, y := range s.Y {
		count[y]++
	}
	const df = 9
	want, x2 := float64(s.Len())/10, 0.0
	for _, n := range count {
		x2 += (n - want) * (n - want) / want
	}
	if z := (x2 - df) / math.Sqrt(2*df); math.Abs(z) > 6 {
		t.Errorf("digits are not uniform: χ² = %.1f of %d degrees: %v", x2, df, count)
	}
}

func TestDigitPenAllocates(t *testing.T) {
	p, i := newDigitPen(), uint64(0)
	key := dataKey(1, streamTrain)
	if n := testing.AllocsPerRun(200, func() { p.draw(key.Child(i)); i++ }); n > 1 {
		t.Errorf("%g allocations a picture, want at most 1", n)
	}
}

func BenchmarkFontDigit(b *testing.B) {
	p, i := newDigitPen(), uint64(0)
	key := dataKey(1, streamTrain)
	for b.Loop() {
		p.draw(key.Child(i))
		i++
	}
}
