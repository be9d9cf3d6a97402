package negphase

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/interp"
)

// The curve is compared with that of a library, through monotone points and
// through points with local extrema.
func TestMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n < 40; n++ {
		for _, turns := range []bool{false, true} {
			x, y := make([]float64, n), make([]float64, n)
			for i := range n {
				if y[i] = r.Float64(); i > 0 {
					x[i] = x[i-1] + 0.05 + r.Float64()
				}
			}
			if !turns {
				slices.Sort(y)
				slices.Reverse(y)
			}
			var want interp.FritschButland
			if err := want.Fit(x, y); err != nil {
				t.Fatal(err)
			}
			c := newMonotone(x, y)
			last := y[0]
			for j := range 501 {
				at := x[n-1] * float64(j) / 500
				got := c.at(at)
				// Values are up to 1 and chords up to 20. Some ten operations each have
				// a rounding error of up to 20·20·2⁻⁵³.
				if d := math.Abs(got - want.Predict(at)); !(d < 1e-12) {
					t.Fatalf("%d points, turns %v: at %v: %v, the library has %v, got %v, want less than 1e-12", n, turns, at, got, want.Predict(at), d)
				}
				if !turns && got > last+1e-15 { // two rounding errors of values up to 1
					t.Errorf("%d points: it rises from %v to %v, want at most %v", n, last, got, last+1e-15)
				}
				last = got
			}
			for i := range x {
				if d := math.Abs(c.at(x[i]) - y[i]); d > 4e-15 { // rise and slopes cancel up to rounding errors of 20·width
					t.Errorf("%d points: point %d is missed by %v, want at most 4e-15", n, i, d)
				}
			}
		}
	}
}
