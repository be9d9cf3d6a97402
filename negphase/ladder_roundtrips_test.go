package negphase

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
)

// normalTrips returns the number of round trips in the given rounds of a ladder whose energies are redrawn in each round
// from a normal distribution with variance sd² and mean −β·sd². It also returns Σ r/(1−r) over the mean rejections r
// of the pairs.
func normalTrips(t *testing.T, text string, k int, sd float64, rounds int, stuck bool) (trips, odds float64) {
	p := build[*pt](set(t, text, "chains", 1, "tau", fmt.Sprint("auto/", k)))
	p.states = rbm.NewStates(rbm.New(1, 1, 0, rbm.Softmax), k)
	r := rbm.NewKey(1).Rand()
	rejected := make([]float64, k-1)
	for n := range rounds {
		for k, row := range p.at {
			p.last[row] = int32(k)
			p.states.Energy[row] = -p.beta[k]*sd*sd + sd*r.NormFloat64()
		}
		for k := range rejected {
			rejected[k] += 1 - swapProbability(p.beta[k], p.beta[k+1], p.states.Energy[p.at[k]], p.states.Energy[p.at[k+1]])
		}
		if stuck {
			p.rounds = 0
		}
		p.swap(rbm.NewKey(2).Child(uint64(n)))
		p.finish()
	}
	for _, x := range rejected {
		x /= float64(rounds)
		odds += x / (1 - x)
	}
	return float64(p.trips), odds
}

// Even/odd swaps make 1/(2 + 2Σ r/(1−r)) round trips per round (Syed et al. 2022,
// corollary 2), if the energies of different rounds are independent. An upward
// sweep makes more, because it attempts every pair in every round.
func TestRoundTripRate(t *testing.T) {
	for _, c := range []struct {
		k  int
		sd float64 // standard deviation of the energy, times the distance of neighbours in β
	}{{8, 0.7}, {16, 0.3}, {16, 0.7}, {16, 1.4}} {
		const rounds = 20000
		sd := c.sd * float64(c.k-1)
		trips, odds := normalTrips(t, "pt:order=evenodd", c.k, sd, rounds, false)
		sweep, _ := normalTrips(t, "pt", c.k, sd, rounds, false)
		want := rounds / (2 + 2*odds)
		t.Logf("%d temperatures, Σ r/(1−r) = %.2f: %v round trips, want %.0f; upward sweeps make %v", c.k, odds, trips, want, sweep)
		// The spread is at most that of a Poisson distribution, plus one incomplete trip per
		// particle.
		tol := 6*math.Sqrt(want) + float64(c.k)
		near(t, "round trips", trips, want, tol)
		if sweep < want+tol {
			t.Errorf("upward sweeps make %v round trips, even/odd swaps %v, want at least %v", sweep, trips, want+tol)
		}
		if trips, _ := normalTrips(t, "pt:order=evenodd", c.k, sd, 1000, true); trips != 0 {
			t.Errorf("with the parity stuck there are %v round trips, want 0", trips)
		}
	}
}

// BenchmarkRoundTrips measures an update of 4 groups on tuned and frozen ladders of random models with strong
// weights. It also reports the round trips per particle in a thousand updates, for each order of swaps.
func BenchmarkRoundTrips(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *rbm.RBM
	}{
		{"random-100x60", shape{100, 60, 0, rbm.Softmax}.random(7, 0.7)},
		{"random-784x100", shape{784, 100, 0, rbm.Softmax}.random(7, 0.3)},
		{"independent-300", independent(299, 1, 8)},
	} {
		m := c.m
		for _, text := range []string{"pt:order=sweep", "pt:order=evenodd", "pins:block=4", "pins:block=6", "pins:block=8", "pins:block=10", "pins:block=12"} {
			b.Run("model="+c.name+"/negphase="+text, func(b *testing.B) {
				e := estimator(b, text+":tau=auto:chains=4").(Tempered)
				n := uint64(0)
				update := func() {
					n++
					if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(n)); err != nil {
						b.Fatal(err)
					}
				}
				for range 2000 {
					update()
				}
				e.Freeze()
				before := e.Ladder()
				b.ResetTimer()
				for range b.N {
					update()
				}
				l := e.Ladder()
				particles := float64(4 * len(l.Beta))
				b.ReportMetric(1000*float64(l.RoundTrips-before.RoundTrips)/float64(b.N)/particles, "trips/1000")
				b.ReportMetric(float64(len(l.Beta)), "temperatures")
				b.ReportMetric(l.Barrier, "barrier")
			})
		}
	}
}
