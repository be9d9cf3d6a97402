package data

import (
	"context"
	"math"
	"testing"
)

// checkLogProb fails unless the distribution of a set sums to one over its rows, which are all outcomes,
// and the rows have the given mean log probability. That must agree with the entropy of the distribution,
// and with the digits given.
func checkLogProb(t *testing.T, s *Set, want float64) {
	t.Helper()
	checkSet(t, s)
	h, sum := entropy(s, len(s.Classes))
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("%s: probabilities add up to 1%+g, want ±1e-12 at most", s.Name, sum-1)
	}
	if math.Abs(h+want) > 5e-5 {
		t.Errorf("%s: entropy %.6f nats, want %.4f", s.Name, h, -want)
	}
	mean := 0.0
	for r := range s.Len() {
		y := -1
		if s.Y != nil {
			y = int(s.Y[r])
		}
		mean += s.LogProb(s.X.Row(r), y) / float64(s.Len())
	}
	if math.Abs(mean+h) > 1e-12 {
		t.Errorf("%s: mean log p of the rows %.6f, of the law %.6f", s.Name, mean, -h)
	}
	if s.Y == nil && !math.IsInf(s.LogProb(s.X.Row(0), 0), -1) {
		t.Errorf("%s: a class that is none has a probability", s.Name)
	}
	if past := s.X.Row(0)[0] | 1<<s.X.Cols; s.LogProb([]uint64{past}, -1) != s.LogProb(s.X.Row(0), -1) {
		t.Errorf("%s: bits past the inputs count", s.Name)
	}
}

// The largest mean log-likelihoods that are quoted for these sets.
func TestBarsLogProb(t *testing.T) {
	for _, c := range []struct {
		spec, name string
		rows       int
		mean       float64
	}{
		{"bars", "bars:4", 32, -3.3791},
		{"bars:4", "bars:4", 32, -3.3791},
		{"bars:distinct", "bars:4:distinct", 30, -3.4012},
		{"bars:distinct:4", "bars:4:distinct", 30, -3.4012},
		{"bars:2", "bars:2", 8, -1.7329},
		{"bars:3", "bars:3", 16, -2.5993},
		{"bars:1", "bars:1", 4, -0.6931},
		{"bars:1:distinct", "bars:1:distinct", 2, -0.6931},
	} {
		s, test := mustLoad(t, c.spec)
		if s.Name != c.name || s.Len() != c.rows || test != nil || s.Y != nil || s.Binarize != Binary || s.Height != s.Width {
			t.Errorf("%s: %q with %d rows, want %q with %d", c.spec, s.Name, s.Len(), c.name, c.rows)
		}
		checkLogProb(t, s, c.mean)
	}
}

func TestBarsRows(t *testing.T) {
	s, _ := mustLoad(t, "bars:2")
	for r, want := range []string{"0000", "1010", "0101", "1111", "0000", "1100", "0011", "1111"} {
		if got := rowText(s.X, r); got != want {
			t.Errorf("row %d is %s, want %s", r, got, want)
		}
	}
	// Pictures of several words, whose lines cross the ends of words: each distinct row occurs once, and no
	// row has probability zero.
	for _, spec := range []string{"bars:9:distinct", "bars:13:distinct"} {
		s, _ := mustLoad(t, spec)
		checkSet(t, s)
		seen := map[string]bool{}
		for r := range s.Len() {
			x := rowText(s.X, r)
			if lp := s.LogProb(s.X.Row(r), -1); seen[x] || lp != -math.Log(float64(s.Len())) {
				t.Fatalf("%s: row %d, %s, has log p %g, or was there before", spec, r, x, lp)
			}
			seen[x] = true
		}
		x := append([]uint64(nil), s.X.Row(1)...)
		x[1] ^= 1
		if !math.IsInf(s.LogProb(x, -1), -1) {
			t.Errorf("%s: a broken bar has a probability", spec)
		}
	}
}

// Listed sets, like generated ones, must never change.
func TestListedGoldens(t *testing.T) {
	for spec, want := range map[string]string{
		"bars":             "60356e50bca6162307c053a421b504009a98e03bef844032647796fb8040538f",
		"bars:13:distinct": "63101598fd9b20c308476d146cbb80ef07be791f04c3f8372368fdbd68d98316",
		"shifter":          "b6525af7cda341bac54205a342cd64040ffa5ee5d9ca956a9e87b020be413273",
		"desjardins":       "202c6ae07c5df0f762b4ca2bbba9d662412aa4e2f87c596a2c4324b375b790ad",
	} {
		s, _ := mustLoad(t, spec)
		if got := s.Hash(); got != want {
			t.Errorf("%s: hash of the rows %s, want %s", spec, got, want)
		}
		again, _ := mustLoad(t, s.Name)
		if again.Hash() != s.Hash() || again.Name != s.Name {
			t.Errorf("%s: the canonical name %s gives other rows", spec, s.Name)
		}
		// Data that are already binary are not changed.
		for _, b := range []string{Threshold, Sample, None} {
			other, _, err := Load(context.Background(), spec, Options{Binarize: b})
			if err != nil || other.Hash() != want || other.Binarize != Binary || other.Grey.Rows != 0 {
				t.Errorf("%s, %s: %v", spec, b, err)
			}
		}
	}
}
