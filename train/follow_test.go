package train

import (
	"context"
	"math"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The particles that ptt weighs by infinite swapping are of the chain that they stand
// with: each chain has the same weight in all.
func TestFollowedParticlesAreOfTheirChain(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "ptt:chains=6:freeze=0.9:sweeps=4:weights=ins")
	tr := newTrainer(t, s, set, 4, false, rbm.Softmax)
	run(t, tr, 60)
	x := &subject{m: tr.Model(), run: s, key: rbm.NewKey(5)}
	x.watch(tr)
	c, err := x.follow(context.Background(), leastContinued)
	if err != nil {
		t.Fatal(err)
	}
	for g, w := range c.weight {
		if math.Abs(w-1./6) > 1e-6 { // weights are float32
			t.Errorf("chain %d of 6 has the weight %.4g", g, w)
		}
	}
	if n := c.effective(); math.Abs(n-6) > 1e-5 {
		t.Errorf("the effective number of 6 equal chains is %v", n)
	}
}

// When the model jumps, the weighted chains of jar are of the new one at once,
// although single chains have far to go: their weighted mean does not drift.
func TestWeightedChainsDoNotDrift(t *testing.T) {
	const repeats, chains = 12, "100"
	var drifts, single []float64
	for i := range repeats {
		set := &data.Set{Name: "none", X: rbm.NewBits(10, 12)}
		s := settingsOf(t, "jar:resample=0.1:chains="+chains)
		s.Seed = uint64(i)
		tr, err := New(s, set, tilted(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := tr.negative.Estimate(tr.model, tr.batch, rbm.NewKey(uint64(i))); err != nil {
			t.Fatal(err)
		}
		tr.model.Set(tilted(0.15))
		x := &subject{m: tr.model, run: s, key: rbm.NewKey(uint64(i))}
		x.watch(tr)
		c, err := x.follow(context.Background(), mostContinued)
		if err != nil {
			t.Fatal(err)
		}
		drifts = append(drifts, c.point(0).Drift)
		clear(c.weight)
		for g := range c.weight {
			c.weight[g] = 1 / float64(len(c.weight))
		}
		single = append(single, c.point(0).Drift)
	}
	z := func(x []float64) float64 {
		mean, variance := diag.MeanVariance(x)
		return mean / math.Sqrt(variance/(repeats-1))
	}
	t.Logf("weighted %.3g (z %.1f), not weighted %.3g (z %.1f)", drifts[0], z(drifts), single[0], z(single))
	if math.Abs(z(drifts)) > 4 { // probability 10⁻³, and the seeds are fixed
		t.Errorf("weighted chains drift by z = %.1f", z(drifts))
	}
	if math.Abs(z(single)) < 8 {
		t.Errorf("without weights they drift by z = %.1f alone: the test sees nothing", z(single))
	}
}

// The states that stand for weighted chains are draws by the weights, without copies,
// and no more than are asked for.
func TestDrawsOfWeightedChains(t *testing.T) {
	c := &continuation{weight: []float64{0, 0.5, 0.25, 0.25}, end: rbm.NewBits(4, 4)}
	for r := range 4 {
		c.end.Set(r, r, true)
	}
	const n = 1000
	var count [4]float64
	for i := range n {
		v := c.draws(4, rbm.NewKey(uint64(i)))
		for r := range v.Rows {
			for k := range count {
				if v.Get(r, k) {
					count[k]++
				}
			}
		}
	}
	for k, want := range []float64{0, n, n / 2, n / 2} {
		if math.Abs(count[k]-want) > 5*math.Sqrt(n/4) || want != n/2 && count[k] != want {
			t.Errorf("chain %d was drawn %v times of %d, want %v", k, count[k], n, want)
		}
	}
	if v := c.draws(1, rbm.NewKey(1)); v.Rows > 1 {
		t.Errorf("%d draws, not 1", v.Rows)
	}
}

// The copy that goes on while the model stands still adapts no more, as trials and
// sweeps would take time that a measurement has not.
func TestFollowedChainsDoNotAdapt(t *testing.T) {
	const every = 60
	set := toy(t, smallToy)
	for _, text := range []string{"sardonics:tune=60:chains=2:moves=300", "ptt:chains=8:freeze=0.99:sweeps=4"} {
		tr := newTrainer(t, settingsOf(t, text), set, 4, false, rbm.Softmax)
		run(t, tr, every)
		copied, err := tr.copyNegative(nil)
		if err != nil {
			t.Fatal(err)
		}
		count := func(i negphase.Info) int64 { return i.Tunings + i.Tuned }
		var followed, trained int64
		for i := range leastContinued {
			_, info, err := copied.Estimate(tr.model, tr.batch, rbm.NewKey(uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				followed = -info.Tuned
			}
			followed += info.Tunings
			if i == leastContinued-1 {
				followed += info.Tuned
			}
		}
		before, err := tr.Step()
		if err != nil {
			t.Fatal(err)
		}
		trained = count(before)
		if trained == 0 {
			t.Errorf("%s: training does not adapt: the test sees nothing", text)
		}
		if followed != 0 {
			t.Errorf("%s: the copy was adapted %d times", text, followed)
		}
	}
}

// A discriminative run has no chains, whatever its settings say of a negative phase.
func TestNoMixingWithoutNegativePhase(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "pcd")
	s.Objective = Discriminative
	tr := newTrainer(t, s, set, 4, true, rbm.Softmax)
	metrics, err := NewRunMetrics([]string{"auto"}, tr.Model(), Sets{Train: set}, s)
	if err != nil {
		t.Fatal(err)
	}
	v := &Evaluator{Metrics: metrics, Every: 400, Report: func(Evaluation) error { return nil }}
	v.Watch(tr)
	run(t, tr, 400, v.Observe)
}
