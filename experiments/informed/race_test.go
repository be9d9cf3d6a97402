package main

import (
	"math"
	"strings"
	"testing"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/experiments/internal/informed"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(), experiment().Command(nil)) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment()) }

// runsOf returns four runs in an arena with the given rates of two samplers: by τ, by the error, and their lengths in τ.
func runsOf(rates map[string][3]float64) *claims.Table {
	var points []claims.Point
	for repeat := 1; repeat <= 4; repeat++ {
		noise := math.Exp(float64(repeat) / 100)
		for name, x := range rates {
			for k, p := range []string{gainPanel, byErrorPanel, timesPanel} {
				points = append(points, claims.Point{Panel: p, Curve: name, Repeat: repeat, Y: x[k] * noise})
			}
			points = append(points, claims.Point{Panel: flipsTau, Curve: name, Repeat: repeat, Y: 1000 / x[0] * noise})
		}
	}
	return claims.TableOf(points...)
}

// The finding names the winner, gives no verdict if runs are too short, and leaves out stuck chains.
func TestVerdicts(t *testing.T) {
	c := contest{seconds: shortSeconds, arenas: []arena{{label: "A"}}, contestants: []contestant{{name: gibbs}, {name: clusters}, {name: sardonics}, {name: pasRoot, new: true}, {name: string(informed.Langevin), new: true}}}
	for _, x := range []struct {
		name           string
		rates          map[string][3]float64
		first, says    string
		verdict        claims.Verdict
		champion, best string
	}{
		{"clear", map[string][3]float64{gibbs: {100, 100, 1000}, clusters: {50, 50, 500}, sardonics: {20, 20, 200}, pasRoot: {10, 10, 100}, string(informed.Langevin): {5, 5, 100}},
			"Gibbs, gives more", "", claims.Pass, gibbs, pasRoot},
		{"stuck", map[string][3]float64{gibbs: {100, 20, 1000}, clusters: {50, 50, 500}, sardonics: {20, 20, 200}, pasRoot: {400, 10, 100}, string(informed.Langevin): {5, 5, 100}},
			"Wolff, gives more", "", claims.Pass, clusters, string(informed.Langevin)},
		{"short", map[string][3]float64{gibbs: {100, 100, leastTimes / 2}, clusters: {50, 50, 500}, sardonics: {20, 20, 200}, pasRoot: {10, 10, 100}, string(informed.Langevin): {5, 5, 100}},
			"Gibbs, gives more", "no verdict: runs of Gibbs are 26 τ long", claims.Fail, gibbs, pasRoot},
		{"lost", map[string][3]float64{gibbs: {10, 10, 1000}, clusters: {5, 5, 500}, sardonics: {2, 2, 200}, pasRoot: {100, 100, 100}, string(informed.Langevin): {5, 5, 100}},
			"Gibbs, gives more", "", claims.Fail, gibbs, pasRoot},
		{"rivals stuck", map[string][3]float64{gibbs: {10, 10, 1000}, clusters: {5, 5, 500}, sardonics: {2, 2, 200}, pasRoot: {100, 1, 100}, string(informed.Langevin): {50, 1, 100}},
			"Gibbs, gives more", "no verdict: in runs of 0.3 s, chains of PAS, √t stay", claims.Fail, gibbs, pasRoot},
	} {
		table := runsOf(x.rates)
		if got := c.best(table, 0, isOld).name; got != x.champion {
			t.Errorf("%s: the best old sampler is %s, want %s", x.name, got, x.champion)
		}
		if got := c.best(table, 0, isNew).name; got != x.best {
			t.Errorf("%s: the best new sampler is %s, want %s", x.name, got, x.best)
		}
		first := c.claims(table, 0)[0]
		if first.Verdict != x.verdict || !strings.Contains(first.Text, x.first) || !strings.Contains(first.Statistic, x.says) {
			t.Errorf("%s: %s: %s, %s", x.name, first.Text, first.Verdict, first.Statistic)
		}
	}
}

// If the chains of all new samplers are stuck, the finding compares the errors of means.
func TestStuckRivals(t *testing.T) {
	c := contest{seconds: shortSeconds, arenas: []arena{{label: "A"}}, contestants: []contestant{{name: gibbs}, {name: sardonics}, {name: pasRoot, new: true}}}
	finding := c.finding(runsOf(map[string][3]float64{gibbs: {100, 100, 1000}, sardonics: {50, 50, 1000}, pasRoot: {400, 4, 1000}}))
	if !strings.Contains(finding, "On A: Gibbs gives 25 times as many as PAS, √t, judged by the errors of means, because τ gives no verdict.") {
		t.Error(finding)
	}
}

// A run of independent draws from the reference has as many independent values as draws, by τ and by the error.
func TestMeasure(t *testing.T) {
	const n, values = 4000, 6
	r := rbm.NewKey(1).Rand()
	g := &ground{mean: make([]float64, values), variance: make([]float64, values)}
	run := chains.Run{Energies: make([]float64, 2*n), Seconds: 2, Info: mcmc.Info{Moves: 2 * n, Flips: 6 * n}}
	for k := range values {
		g.mean[k], g.variance[k] = float64(k), 4
		var x []float64
		for range n {
			x = append(x, float64(k)+2*r.NormFloat64())
		}
		run.Observed = append(run.Observed, x)
	}
	got := map[string]float64{}
	g.measure(run, 2, 0, func(name string, y float64) { got[name] = y })
	// τ is known within 5 % of ½, and is the largest of six; a squared error of six values within a factor of 2.
	if x := got[gainPanel] / (n / 2); x < 0.8 || x > 1.05 {
		t.Errorf("%v independent values per second, want %d", got[gainPanel], n/2)
	}
	if x := got[byErrorPanel] / (n / 2); x < 0.3 || x > 4 {
		t.Errorf("%v independent values per second by the error, want %d", got[byErrorPanel], n/2)
	}
	if got[flipsPanel] != 3 || math.Abs(got[flipsTau]-6*got[tauPanel]) > 1e-9 || math.Abs(got[timesPanel]-2*n/got[tauPanel]) > 1e-9 {
		t.Errorf("%v", got)
	}
}

// If all samplers are stuck, none wins.
func TestAllStuck(t *testing.T) {
	c := contest{seconds: shortSeconds, arenas: []arena{{label: "A"}}, contestants: []contestant{{name: gibbs}, {name: sardonics}, {name: pasRoot, new: true}}}
	table := runsOf(map[string][3]float64{gibbs: {100, 10, 1000}, sardonics: {200, 10, 1000}, pasRoot: {50, 10, 100}})
	if got := c.best(table, 0, isOld).name; got != sardonics {
		t.Errorf("the fastest stuck sampler is %s, want SARDONICS", got)
	}
	for _, claim := range c.claims(table, 0) {
		if claim.Verdict != claims.Fail {
			t.Errorf("%s: %s", claim.Text, claim.Verdict)
		}
	}
	// The mean squared error of the four runs is that of 10.25 values per second.
	if finding := c.finding(table); !strings.Contains(finding, "On A: there is no verdict, because in runs of 0.3 s, chains of SARDONICS stay in part of the states; by the errors of means a run has 3.08 independent values, and 25 of them would take at least 2.44 s") {
		t.Error(finding)
	}
}
