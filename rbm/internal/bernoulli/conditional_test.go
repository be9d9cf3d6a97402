package bernoulli

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gorbm/rbm/internal/vec"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

// listed returns log e_K and the marginals of a row by listing its states.
func listed(s []float64, k int) (logSum float64, mean []float64) {
	var logs []float64
	var states []int
	for x := range 1 << len(s) {
		if bits.OnesCount(uint(x)) != k {
			continue
		}
		w := 0.0
		for j, s := range s {
			if x>>j&1 != 0 {
				w += s
			}
		}
		logs, states = append(logs, w), append(states, x)
	}
	logSum, mean = vec.LogSumExp(logs), make([]float64, len(s))
	for i, x := range states {
		for j := range s {
			if x>>j&1 != 0 {
				mean[j] += math.Exp(logs[i] - logSum)
			}
		}
	}
	return logSum, mean
}

// logOdds has rows of log-odds that are numerically difficult in different ways.
func logOdds(units int) map[string][]float64 {
	r := rand.New(rand.NewPCG(uint64(units), 1))
	rows := map[string][]float64{}
	for name, f := range map[string]func(j int) float64{
		"normal":  func(int) float64 { return 3 * r.NormFloat64() },
		"equal":   func(int) float64 { return -1.25 },
		"large":   func(int) float64 { return 700 * (2*r.Float64() - 1) },
		"two":     func(j int) float64 { return 1400*float64(j%2) - 700 },
		"shifted": func(int) float64 { return 300 + r.NormFloat64() },
		"steps":   func(j int) float64 { return 100 * float64(j%5) },
	} {
		row := make([]float64, units)
		for j := range row {
			row[j] = f(j)
		}
		rows[name] = row
	}
	return rows
}

// All numbers of active units, four different ones at a time, agree with lists of the states.
func TestConditionalByStates(t *testing.T) {
	for _, units := range []int{1, 2, 5, 9, 12} {
		for name, s := range logOdds(units) {
			var c Conditional
			for k := 0; k <= units; k += Rows {
				c.Resize(units)
				for l := range Rows {
					copy(c.LogOdds[l], s)
					c.Active[l] = k + l
				}
				c.Solve()
				c.Forward(true, nil)
				for l := range Rows {
					on := k + l
					if on > units {
						if got := c.LogZ(l); !math.IsInf(got, -1) {
							t.Errorf("%s: %d of %d units: log sum %v, want −∞", name, on, units, got)
						}
						continue
					}
					logSum, mean := listed(s, on)
					// Each of the units adds a few roundings of the largest term.
					scale := 1.0
					for _, x := range s {
						scale += math.Abs(x)
					}
					near(t, fmt.Sprintf("%s, %d of %d: log sum", name, on, units), c.LogZ(l), logSum, 4*scale/(1<<52))
					for j := range mean {
						// logs[i] − logSum above has that error, too.
						near(t, fmt.Sprintf("%s, %d of %d: mean %d", name, on, units, j), c.Mean[j][l], mean[j], (8*float64(units)+2*scale)/(1<<52))
					}
				}
			}
		}
	}
}

// bigMarginals returns e_K with 400 bits, so that no term of the polynomial cancels or vanishes. It also
// returns the marginal of every stride-th unit: e_{K−1} without the unit, times its weight, over
// e_K.
func bigMarginals(s []float64, k int, stride int) (logSum float64, mean []float64) {
	const prec = 400
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	weights := make([]*big.Float, len(s))
	for j, x := range s {
		weights[j] = bigExp(x, prec)
	}
	poly := func(skip int) []*big.Float {
		e := make([]*big.Float, k+1)
		for i := range e {
			e[i] = number(0)
		}
		e[0] = number(1)
		for j, w := range weights {
			if j == skip {
				continue
			}
			for i := k; i > 0; i-- {
				e[i].Add(e[i], new(big.Float).SetPrec(prec).Mul(e[i-1], w))
			}
		}
		return e
	}
	all := poly(-1)[k]
	mean = make([]float64, len(s))
	for j := 0; j < len(s); j += stride {
		w := weights[j]
		x := new(big.Float).SetPrec(prec).Mul(poly(j)[k-1], w)
		mean[j], _ = x.Quo(x, all).Float64()
	}
	mant := new(big.Float)
	exp := all.MantExp(mant)
	m, _ := mant.Float64()
	return math.Log(m) + float64(exp)*math.Ln2, mean
}

// bigExp returns e^x: the Taylor series of x/2¹², squared twelve times.
func bigExp(x float64, prec uint) *big.Float {
	const halvings = 12
	r := new(big.Float).SetPrec(prec + 64).SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum := new(big.Float).SetPrec(prec + 64).SetInt64(1)
	term := new(big.Float).SetPrec(prec + 64).SetInt64(1)
	for n := int64(1); n < 120; n++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// Layers too large to list, with a table in blocks and in one piece, agree with 400 bits.
func TestConditionalInManyDigits(t *testing.T) {
	for _, c := range []struct{ units, on int }{{70, 20}, {70, 69}, {200, 5}, {400, 130}} {
		for name, s := range logOdds(c.units) {
			if c.units > 200 && name != "normal" && name != "large" || testing.Short() && c.units > 70 {
				continue
			}
			var got Conditional
			got.Resize(c.units)
			copy(got.LogOdds[2], s)
			got.Active[2] = c.on
			got.Solve()
			got.Forward(true, nil)
			stride := max(1, c.on*c.units/500) // a marginal needs a polynomial
			logSum, mean := bigMarginals(s, c.on, stride)
			shift := math.Abs(got.Shift[2])
			scale := 1 + float64(c.on)*shift // bound of the sum in logSum
			for _, x := range s {
				scale += math.Abs(x) + shift
			}
			what := fmt.Sprintf("%s, %d of %d", name, c.on, c.units)
			// That many additions, each rounded by at most half a unit of the sum.
			near(t, what+": log sum", got.LogZ(2), logSum, float64(c.units)*scale/(1<<53))
			for j := 0; j < len(mean); j += stride {
				near(t, fmt.Sprintf("%s: mean %d", what, j), got.Mean[j][2], mean[j], float64(c.units)/(1<<52))
			}
		}
	}
}
