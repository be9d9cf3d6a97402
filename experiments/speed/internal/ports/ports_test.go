package ports

import "testing"

func TestMeasure(t *testing.T) {
	r, ok := Measure(20)
	if !ok {
		if r != (Rates{}) {
			t.Errorf("rates %v of a machine that cannot be measured", r)
		}
		t.Skip("no AVX-512 here")
	}
	t.Logf("%.3g", r)
	for name, x := range map[string]float64{"load+add": r.LoadAdd, "add": r.Add, "FMA": r.FMA, "permute+add": r.PermuteAdd} {
		// Slower than a vector in ten cycles at 1 GHz, or faster than four a
		// cycle at 6 GHz, is no processor with AVX-512.
		if !(x > 1e8 && x < 24e9) {
			t.Errorf("%s: %.3g a second", name, x)
		}
	}
}
