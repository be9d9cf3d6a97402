package data

import (
	"math"
	"strings"
	"testing"
)

func TestShifterLogProb(t *testing.T) {
	s, test := mustLoad(t, "shifter")
	if s.Name != "shifter:8" || s.Len() != 768 || s.X.Cols != 16 || s.Height != 2 || s.Width != 8 || test != nil || len(s.Classes) != 3 {
		t.Errorf("%q: %d rows of %d × %d", s.Name, s.Len(), s.Height, s.Width)
	}
	checkLogProb(t, s, -6.6438)
	if _, sum := entropy(s, 0); math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities of the inputs add up to 1%+g, want ±1e-12 at most", sum-1)
	}
	for spec, mean := range map[string]float64{"shifter:1": -1.7918, "shifter:2": -2.4849, "shifter:5": -4.5643} {
		s, _ := mustLoad(t, spec)
		checkLogProb(t, s, mean)
		if _, sum := entropy(s, 0); math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: probabilities of the inputs add up to 1%+g, want ±1e-12 at most", spec, sum-1)
		}
	}
	if !math.IsInf(s.LogProb(s.X.Row(0), 3), -1) {
		t.Error("a class that is none has a probability")
	}
	// The blank pattern is equal after every shift.
	if got, want := s.LogProb(s.X.Row(0), -1), math.Log(3.0/768); math.Abs(got-want) > 1e-12 {
		t.Errorf("log p of the blank pattern %g, want %g", got, want)
	}
}

func TestShifterRows(t *testing.T) {
	s, _ := mustLoad(t, "shifter:4")
	for r := range s.Len() {
		x := rowText(s.X, r)
		a, b := x[:4], x[4:]
		want := map[string]string{"left": a[1:] + a[:1], "none": a, "right": a[3:] + a[:3]}[s.Classes[s.Y[r]]]
		if b != want {
			t.Errorf("row %d, %s: %s becomes %s, want %s", r, s.Classes[s.Y[r]], a, b, want)
		}
	}
	seen := map[string]bool{}
	for r := range s.Len() {
		seen[rowText(s.X, r)+s.Classes[s.Y[r]]] = true
	}
	if len(seen) != 48 {
		t.Errorf("%d different rows, want 48", len(seen))
	}
	wide, _ := mustLoad(t, "shifter:20")
	checkSet(t, wide)
	last := rowText(wide.X, wide.Len()-4) // the pattern before the full one, shifted to the right
	if want := "0" + strings.Repeat("1", 19) + "10" + strings.Repeat("1", 18); last != want {
		t.Errorf("shifter:20: row %s, want %s", last, want)
	}
}
