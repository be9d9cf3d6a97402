package diag

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"gorbm/rbm"
)

// autoregressions returns chains in equilibrium, each shifted by a different offset.
func autoregressions(phi float64, chains, n int, offset float64, key rbm.Key) [][]float64 {
	x := make([][]float64, chains)
	for j := range x {
		x[j] = autoregression(phi, n, key.Child(uint64(j)))
		for i := range x[j] {
			x[j][i] += offset * float64(j)
		}
	}
	return x
}

// Many short chains together give the autocorrelation time, although each alone is too short.
// For chains with different means the time is unknown.
func TestSummarizeChains(t *testing.T) {
	for _, phi := range []float64{0, 0.8, 0.98} {
		sum, squares := 0.0, 0.0
		const repeats = 40
		for k := range repeats {
			tau := SummarizeChains(autoregressions(phi, 30, 300, 0, rbm.NewKey(3).Child(uint64(k)))).Time.Tau
			sum += tau / repeats
			squares += tau * tau / repeats
		}
		stdErr := math.Sqrt((squares - sum*sum) / repeats)
		// A window of 6τ omits a fraction e⁻⁶ of the sum.
		if want := tauOf(phi); math.Abs(sum-want) > 5*stdErr+math.Exp(-windowFactor)*want {
			t.Errorf("φ = %v: τ is %v ± %v, want %v", phi, sum, stdErr, want)
		}
	}
	c := SummarizeChains(autoregressions(0.5, 30, 300, 0, rbm.NewKey(4)))
	if want := 30 * 300 / (2 * tauOf(0.5)); math.Abs(c.Effective/want-1) > 0.2 || !(c.RHat < 1.02) {
		t.Errorf("chains of one distribution: worth %v, want about %v; R̂ is %v", c.Effective, want, c.RHat)
	}
	c = SummarizeChains(autoregressions(0.5, 30, 300, 1, rbm.NewKey(4)))
	if !math.IsInf(c.Time.StdErr, 1) || !(c.RHat > 5) || c.Effective > 100 {
		t.Errorf("chains apart: %+v", c)
	}
	c = SummarizeChains([][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}})
	if !math.IsInf(c.Time.Tau, 1) || c.Effective != 0 {
		t.Errorf("chains that never moved: %+v", c)
	}
	c = SummarizeChains([][]float64{{1, 2, 1, 2}, {1, math.NaN(), 1, 2}})
	if !math.IsNaN(c.Time.Tau) && !math.IsInf(c.Time.StdErr, 1) {
		t.Errorf("a value that is no number: %+v", c)
	}
}

// For samples from one distribution the tests reject at their nominal rate, and for two distributions more often. For
// the energy test the two distributions have equal means and different variances.
func TestTwoSamples(t *testing.T) {
	const repeats, n, m = 400, 12, 20
	share := func(shift, scale float64, test func(a, b []float64, key rbm.Key) float64) float64 {
		rejected := 0.0
		for k := range repeats {
			key := rbm.NewKey(11).Child(uint64(k))
			a, b := autoregression(0, n, key.Child(0)), autoregression(0, m, key.Child(1))
			for i := range b {
				b[i] = shift + scale*b[i]
			}
			if test(a, b, key.Child(2)) <= 0.1 {
				rejected++
			}
		}
		return rejected / repeats
	}
	welch := func(a, b []float64, _ rbm.Key) float64 { _, p := Welch(a, b); return p }
	energy := func(a, b []float64, key rbm.Key) float64 {
		all := append(append([]float64(nil), a...), b...)
		p, _ := EnergyTest(n, m, func(i, j int) float64 { return math.Abs(all[i] - all[j]) }, 199, key.Rand())
		return p
	}
	stdErr := math.Sqrt(0.1 * 0.9 / repeats)
	for _, c := range []struct {
		name         string
		shift, scale float64
		test         func(a, b []float64, key rbm.Key) float64
		low, high    float64
	}{
		{"Welch, one distribution", 0, 1, welch, 0.1 - 4*stdErr, 0.1 + 4*stdErr},
		{"Welch, other spreads", 0, 4, welch, 0.1 - 4*stdErr, 0.1 + 4*stdErr},
		{"Welch, other means", 1.5, 1, welch, 0.9, 1},
		{"energy, one distribution", 0, 1, energy, 0.1 - 4*stdErr, 0.1 + 4*stdErr},
		{"energy, other means", 1.5, 1, energy, 0.9, 1},
		{"energy, other spreads", 0, 4, energy, 0.5, 1},
	} {
		if got := share(c.shift, c.scale, c.test); got < c.low || got > c.high {
			t.Errorf("%s: rejects %v, want %v … %v", c.name, got, c.low, c.high)
		}
	}
	if t0, p := Welch([]float64{2, 2}, []float64{2, 2}); t0 != 0 || p != 1 {
		t.Errorf("equal constants: %v, %v, want 0 and 1", t0, p)
	}
	if t0, p := Welch([]float64{1, 1}, []float64{2, 2}); !math.IsInf(t0, -1) || p != 0 {
		t.Errorf("other constants: %v, %v", t0, p)
	}
}

// The energy test agrees with an enumeration of all arrangements of a few points.
func TestEnergyTestCountsArrangements(t *testing.T) {
	const n, m, draws = 2, 3, 4000
	for k := range 60 {
		points := autoregression(0, n+m, rbm.NewKey(6).Child(uint64(k)))
		d := func(i, j int) float64 { return math.Abs(points[i] - points[j]) }
		distance := func(first int) float64 { // the bits of first are the points of the first sample
			e := 0.0
			for i := range points {
				for j := range points {
					switch a, b := first>>i&1, first>>j&1; {
					case a+b == 1:
						e += d(i, j) / (n * m) // counts each pair twice
					case a == 1:
						e -= d(i, j) / (n * n)
					default:
						e -= d(i, j) / (m * m)
					}
				}
			}
			return e
		}
		as, all := 0.0, 0.0
		for first := range 1 << (n + m) {
			if bits.OnesCount(uint(first)) == n {
				all++
				if distance(first) >= distance(1<<n-1)-1e-9 {
					as++
				}
			}
		}
		want := as / all
		got, _ := EnergyTest(n, m, d, draws, rbm.NewKey(5).Child(uint64(k)).Rand())
		if stdErr := math.Sqrt(want * (1 - want) / draws); math.Abs(got-want) > 5*stdErr+1.0/draws {
			t.Errorf("%v: p is %v, want %v ± %v", points, got, want, stdErr)
		}
	}
}

func ExampleWelch() {
	// Gosset's hours of sleep gained by two drugs (Student 1908).
	t, p := Welch([]float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}, []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4})
	fmt.Printf("t = %.4f, p = %.5f\n", t, p)
	// Output: t = -1.8608, p = 0.07939
}
