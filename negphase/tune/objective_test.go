package tune

import (
	"math"
	"testing"

	"gorbm/rbm"
)

// The windows of 0 1 0 1 by hand: for 0101 every |ρ| is 1; for 101, with mean ⅔ and
// variance 2/9, |ρ| is 1 and ½; for 01 it is 1.
func TestArea(t *testing.T) {
	if got, want := Area([]float64{0, 1, 0, 1}), (0+(0+0.5)/2+0)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Area([]float64{3, 3, 3, 3, 3}); got != 0 {
		t.Errorf("constant energy: %v, want 0", got)
	}
	r := rbm.NewKey(1).Rand()
	noise, slow := make([]float64, 100), make([]float64, 100)
	for i := range noise {
		noise[i] = r.NormFloat64()
		slow[i] = noise[i]
		if i > 0 {
			slow[i] += 0.95 * slow[i-1]
		}
	}
	if a, b := Area(noise), Area(slow); !(a > b) {
		t.Errorf("independent energies %v, correlated ones %v", a, b)
	}
}
