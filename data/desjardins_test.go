package data

import (
	"math"
	"testing"
)

// The entropies that are quoted for these data, by enumeration.
func TestDesjardinsLogProb(t *testing.T) {
	for spec, want := range map[string]float64{
		"desjardins:0.1":  6.5764,
		"desjardins:0.05": 4.5618,
		"desjardins:0.01": 2.2823,
		"desjardins":      1.5128,
	} {
		s, test := mustLoad(t, spec)
		checkSet(t, s)
		if s.Len() != 10000 || s.Height != 4 || s.Width != 4 || s.Y != nil || test != nil {
			t.Errorf("%s: %d rows of %d × %d, want 10000, 4, 4", spec, s.Len(), s.Height, s.Width)
		}
		h, sum := entropy(s, 0)
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: probabilities add up to 1%+g, want ±1e-12 at most", spec, sum-1)
		}
		if math.Abs(h-want) > 5e-5 {
			t.Errorf("%s: entropy %.6f nats, want %.4f", spec, h, want)
		}
	}
}

func TestDesjardinsRows(t *testing.T) {
	s, _ := mustLoad(t, "desjardins:0:4")
	for r, want := range []string{"1111111111111111", "1111111100000000", "0000000011111111", "0000000000000000"} {
		if got := rowText(s.X, r); got != want {
			t.Errorf("mode %d is %s, want %s", r, got, want)
		}
	}
	for spec, name := range map[string]string{
		"desjardins":                "desjardins:0.001:seed=1",
		"desjardins:1e-2:seed=7":    "desjardins:0.01:seed=7",
		"desjardins:0.1:10000":      "desjardins:0.1:seed=1",
		"desjardins:0.1:400:seed=3": "desjardins:0.1:400:seed=3",
	} {
		if s, _ := mustLoad(t, spec); s.Name != name {
			t.Errorf("%s is called %q, want %q", spec, s.Name, name)
		}
	}
	a, _ := mustLoad(t, "desjardins:0.05:400:seed=3")
	b, _ := mustLoad(t, "toy:4,8,100,0.05:plain:seed=3")
	if a.Hash() != b.Hash() {
		t.Error("the rows are not those of toy data with these modes")
	}
}
