package mcmc

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The acceptance of pairs of walks has its maximum at γ = 1.02 to 1.05 and decreases
// steeply on both sides. The numbers are from an independent implementation,
// with errors of about 0.01. They test the form of the weights, the unit β of γ, and the
// acceptance ratio together. Rounds of 100 moves start from different
// states; the standard error over rounds is below 0.01.
func TestSardonicsAcceptanceOfPublishedSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	gammas := []float64{.90, .95, 1, 1.02, 1.05, 1.1, 1.2}
	measure := func(s *Ising, b bench, r *rand.Rand, settle Chain, settling, rounds int) []float64 {
		accepted := make([]float64, len(gammas))
		for k, gamma := range gammas {
			m := DefaultSardonics()
			m.MinLength, m.MaxLength, m.Gamma1 = b.low, b.up, gamma
			c := mustBind(t, m, s, b.beta)
			var info Info
			for range rounds {
				for range settling {
					settle.Move(r)
				}
				c.Reset()
				for range 100 {
					info.Add(c.Move(r))
				}
				settle.Reset()
			}
			accepted[k], _ = info.Acceptance()
		}
		return accepted
	}
	check := func(name string, got, want []float64, margin float64) {
		t.Logf("%s: %.3f, want %v", name, got, want)
		for k := range got {
			if math.Abs(got[k]-want[k]) > margin {
				t.Errorf("%s at γ = %v: accepted %.3f, want %v ± %v", name, gammas[k], got[k], want[k], margin)
			}
		}
	}
	ferro := benches[0]
	s, r := ferro.system(t, 1), rbm.NewKey(1).Rand()
	clusters := mustBind(t, SwendsenWang{}, s, ferro.beta)
	for range 100 {
		clusters.Move(r)
	}
	check("ferromagnet", measure(s, ferro, r, clusters, 5, 40), []float64{.06, .29, .69, .88, .77, .35, .02}, .03)

	// The acceptance differs between glasses, and these five are not those of the figures.
	glass := benches[1]
	mean := make([]float64, len(gammas))
	for n := range uint64(5) {
		s, r := glass.system(t, n), rbm.NewKey(n).Child(9).Rand()
		walks := mustBind(t, DefaultSardonics(), s, glass.beta)
		for range 6000 {
			walks.Move(r)
		}
		for k, a := range measure(s, glass, r, walks, 100, 8) {
			mean[k] += a / 5
		}
	}
	check("glasses", mean, []float64{.47, .63, .78, .84, .89, .84, .61}, .05)
}

// meanEnergyOf returns the mean energy over a run and its standard error, from
// the means of 25 batches, each far longer than the autocorrelation time.
func meanEnergyOf(s *Ising, c Chain, moves int, r *rand.Rand) (mean, standardError float64) {
	const batches = 25
	var batch [batches]float64
	for b := range batch {
		for range moves / batches {
			c.Move(r)
			batch[b] += s.Energy()
		}
		batch[b] /= float64(moves / batches)
		mean += batch[b] / batches
	}
	for _, e := range batch {
		standardError += (e - mean) * (e - mean)
	}
	return mean, math.Sqrt(standardError / (batches * (batches - 1)))
}

func TestWalksMeanEnergyOfTheSmallTorus(t *testing.T) {
	lattice, err := Grid([]int{4, 4}, true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := lattice.Graph(PlusMinus(1, rbm.NewKey(2)), 0)
	if err != nil {
		t.Fatal(err)
	}
	const beta = 0.4
	// Sums over all states, and over those with seven spins up, in Gray order.
	var z, sum, shellZ, shellSum float64
	s := NewIsing(g, nil)
	ones := 0
	for x := range 1 << 16 {
		w := math.Exp(-beta * s.Energy())
		z += w
		sum += w * s.Energy()
		if ones == 7 {
			shellZ += w
			shellSum += w * s.Energy()
		}
		if x+1 < 1<<16 {
			bit := bits.TrailingZeros(uint(x + 1))
			s.Flip(bit)
			ones += int(spin(s.state[bit]))
		}
	}
	r := rbm.NewKey(3).Rand()
	check := func(name string, c Chain, want float64) {
		mean, se := meanEnergyOf(s, c, 20_000, r)
		if math.Abs(mean-want) > 3*se || se > 0.1 {
			t.Errorf("%s: mean energy %.3f ± %.3f, exact %.3f", name, mean, se, want)
		}
	}
	m := DefaultSardonics()
	m.MaxLength = 8
	check("sardonics", mustBind(t, m, s, beta), sum/z)
	s.SetState(shellState(16, 7, rbm.NewKey(4)))
	im := DefaultIntracluster()
	im.MaxLength = 7
	check("im", mustBind(t, im, s, beta), shellSum/shellZ)
	check("exchange", mustBind(t, Exchange{}, s, beta), shellSum/shellZ)
}

// At the critical temperature cluster moves, single-site updates and walks have the same mean
// energy. Each runs for at least a hundred times its autocorrelation time, which is some
// 5 cluster moves, 100 to 400 sweeps and 500 to 1000 pairs of walks.
func TestMeanEnergiesAtCriticality(t *testing.T) {
	if !*long {
		t.Skip("eight seconds, with -long: that each leaves the distribution as it is, is tested on small systems")
	}
	b := benches[0]
	s := b.system(t, 1)
	r := rbm.NewKey(5).Rand()
	m := DefaultSardonics()
	m.MinLength, m.MaxLength = b.low, b.up
	runs := []struct {
		name  string
		mover Mover
		moves int
	}{{"sw", SwendsenWang{}, 3000}, {"gibbs", Gibbs{}, 60_000}, {"sardonics", m, 150_000}}
	energy := make([]diag.Summary, len(runs))
	for k, run := range runs {
		c := mustBind(t, run.mover, s, b.beta)
		trace := diag.NewTrace(1 << 18)
		for range run.moves / 40 {
			c.Move(r)
		}
		for range run.moves {
			c.Move(r)
			trace.Add(s.Energy() / float64(s.Len()))
		}
		energy[k] = trace.Summary()
		t.Logf("%s: %.5f ± %.5f a spin, τ = %.0f ± %.0f moves", run.name, energy[k].Mean, energy[k].StdErr, energy[k].Time.Tau, energy[k].Time.StdErr)
		if !energy[k].Trusted() {
			t.Errorf("%s: too short for its error", run.name)
		}
		for l := range k {
			if z := diag.Z(energy[l], energy[k]); math.Abs(z) > 3 {
				t.Errorf("%s and %s are %.1f standard errors apart, want ±3 at most", runs[l].name, run.name, z)
			}
		}
	}
}
