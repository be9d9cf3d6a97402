package bernoulli

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Times agrees with a separate distribution of the multiplied odds, for any numbers of active units
// before and after. Rows without factors are left out.
func TestTilt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	var tilt Tilt // used several times
	for _, units := range []int{1, 2, 5, 12, 90} {
		for range 20 {
			c := Get(units)
			before, after := [Rows]int{}, [Rows]int{}
			var factors [Rows][]float64
			for l := range Rows {
				before[l], after[l] = 1+r.IntN(max(1, units-1)), r.IntN(units+1)
				c.Active[l] = before[l]
				for j := range units {
					c.LogOdds[l][j] = 3 * r.NormFloat64()
					factors[l] = append(factors[l], math.Exp(2*r.NormFloat64()))
				}
			}
			left := r.IntN(Rows + 1)
			if left < Rows {
				factors[left] = nil
			}
			c.Solve()
			own := [Rows]float64{}
			for l := range Rows {
				own[l] = c.LogZ(l)
			}
			tilt.Set(c)
			for range 2 {
				x := tilt.Times(&factors, &after)
				for l := range Rows {
					if l == left || before[l] == units { // without a shift
						continue
					}
					d := Get(units)
					d.Active[l] = after[l]
					for j := range units {
						d.LogOdds[l][j] = c.LogOdds[l][j] + math.Log(factors[l][j])
					}
					d.Solve()
					// Hundreds of roundings of numbers of size 300.
					near(t, "log of the tilted sum", math.Log(x[l])+float64(after[l]-before[l])*tilt.Shift[l], d.LogZ(l)-own[l], 1e-11)
					d.Put()
				}
				for l := range Rows { // other factors than before
					after[l] = r.IntN(units + 1)
				}
			}
			c.Put()
		}
	}
}
