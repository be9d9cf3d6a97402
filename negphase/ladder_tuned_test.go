package negphase

import (
	"slices"
	"testing"

	"gorbm/rbm"
)

// TestTuned checks that Tuned returns exactly the temperatures to which
// a ladder is tuned, and that it does not change other settings.
func TestTuned(t *testing.T) {
	m := rbm.New(9, 5, 0, rbm.Softmax)
	m.Randomize(1.5, rbm.NewKey(1))
	const calls = 120 // two tunings
	for _, text := range []string{"pt:tau=auto:chains=5", "pins:tau=auto/7:block=3:chains=5", "ins:tau=auto:hottest=9:chains=5"} {
		s, err := Parse(text, DefaultSettings(""))
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := Tuned(nil, s, m, rbm.Batch{}, calls, rbm.NewKey(2))
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		for n := range calls {
			if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(2).Child(uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
		want := e.(Tempered).Ladder()
		f, err := New(fixed)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := f.(Tempered).Ladder().Beta; !slices.Equal(got, want.Beta) || want.Tuned < 1 {
			t.Errorf("%s: fixed at %v, tuned %d times to %v", text, got, want.Tuned, want.Beta)
		}
		if fixed.Ladder().Temperatures.Auto || fixed.Get("block") != s.Get("block") || fixed.Count("chains") != 5 || fixed.Kind != s.Kind {
			t.Errorf("%s becomes %s", text, fixed)
		}
	}
	for _, text := range []string{"pcd", "pt:tau=1/2/3"} {
		s, err := Parse(text, DefaultSettings(""))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Tuned(nil, s, m, rbm.Batch{}, calls, rbm.NewKey(2)); err != nil || got.String() != s.String() {
			t.Errorf("%s becomes %s: %v", s, got, err)
		}
	}
}
