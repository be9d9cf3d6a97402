package logz

import (
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// For a layer with Gaussian units, categorical variables and bits, AIS, its reverse and Bennett's estimate agree with
// the exact log Z, on paths from standard normal units and from the means of data.
func TestMixedBracket(t *testing.T) {
	m := rbm.NewGroups(5, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 4})
	m.Randomize(0.8, rbm.NewKey(5))
	m.VisibleParams()[0][0], m.VisibleParams()[0][1] = 2.5, 0.8
	want, err := exact.LogZ(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	data := rbm.NewBase(m, []float32{0.4, -0.3, 0.2, 0.5, 0.3, 0.6, 0.1, 0.25, 0.25, 0.4, 0.1}, 100)
	for name, base := range map[string]*rbm.Base{"normal": nil, "data": data} {
		s := small(base)
		b, err := Estimate(t.Context(), m, s, rbm.NewKey(3), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []Method{ByAIS, ByReverse, ByBennett} {
			logZ, stdErr := b.By(by)
			if z := (logZ - want) / stdErr; !(math.Abs(z) < 6) || !(stdErr < 0.1) {
				t.Errorf("%s from %s: %v ± %v, want %v", by.Name(), name, logZ, stdErr, want)
			}
			// Omitting half of log γ, as for a wrong precision, would give an error larger than the standard errors.
			if z := math.Log(2.5/0.8) / 2 / stdErr; z < 6 {
				t.Errorf("%s from %s: an error of half a log precision would pass: z = %.1f, want at least 6", by.Name(), name, z)
			}
		}
	}
}
