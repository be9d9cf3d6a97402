package logz

import (
	"encoding/json"
	"math"
	"testing"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// drifting returns a sequence of models like that of a training run. The parameters of each model are
// those of the model before, slightly larger and with random changes. want has
// log Z of each.
func drifting(t *testing.T, n int, seed uint64) (all []*rbm.RBM, want []float64) {
	t.Helper()
	at := rbm.NewKey(seed)
	visible, hidden := 8+int(at.Uniform(0)*5), 4+int(at.Uniform(1)*5)
	one := func(sd float64, key rbm.Key) rbm.Matrix {
		m := rbm.New(visible, hidden, 0, rbm.Softmax)
		m.Randomize(sd, key)
		w := rbm.NewMatrix(visible, hidden)
		m.Weights(w)
		return w
	}
	w := one(0.3+1.2*at.Uniform(2), at.Child(0))
	for i := range n {
		m := rbm.New(visible, hidden, 0, rbm.Softmax)
		m.Randomize(0.5, at.Child(1))
		for j, x := range one(0.05, at.Child(uint64(2+i))).Data {
			w.Data[j] = 1.02*w.Data[j] + x
		}
		m.SetWeights(w)
		logZ, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		all, want = append(all, m), append(want, logZ)
	}
	return all, want
}

// coverage counts the estimates whose error is below two standard
// errors.
type coverage struct {
	n, inside    int
	sum, squares float64 // sums of z and of z²
}

func (c *coverage) add(got, stdErr, want float64) {
	z := (got - want) / stdErr
	c.n++
	c.sum += z
	c.squares += z * z
	if math.Abs(z) <= 2 {
		c.inside++
	}
}

// check fails unless at least 90 %, minus three binomial standard errors, are inside. For intervals of exactly 90 %
// this fails with probability 1/700. Without bias the mean of z has the standard error 1/√n; the tolerance is five
// times this.
func (c *coverage) check(t *testing.T, what string) {
	t.Helper()
	n := float64(c.n)
	t.Logf("%s: %d of %d inside two standard errors, mean z %.3f, mean z² %.3f", what, c.inside, c.n, c.sum/n, c.squares/n)
	if float64(c.inside) < 0.9*n-3*math.Sqrt(0.09*n) {
		t.Errorf("%s: only %d of %d are inside two standard errors", what, c.inside, c.n)
	}
	if c.squares/n < 0.3 { // for Student's t, to which the errors are widened, it is 0.97
		t.Errorf("%s: the mean z² is %.3f: the errors are far too wide, want at least 0.3", what, c.squares/n)
	}
	if math.Abs(c.sum/n) > 5/math.Sqrt(n) {
		t.Errorf("%s: the mean z is %.3f, want ±%.3g at most", what, c.sum/n, 5/math.Sqrt(n))
	}
}

// TestTallyCoverage estimates log Z of a hundred small models, as in training, from the particles of a
// ladder that follows the sequence of models. For each model the ladder makes
// some rounds that are discarded and some for the tally.
func TestTallyCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	runs, each := 25, 4
	if *long {
		runs = 50
	}
	var c coverage
	for seed := range uint64(runs) {
		s, err := negphase.Parse("pt:chains=10:tau=1/1.5/2.5/5/inf", negphase.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var base *rbm.Base
		models, want := drifting(t, each, seed)
		if seed%2 == 1 {
			base = rampBase(models[0])
			s.SetBase(base)
		}
		e, err := negphase.New(s)
		if err != nil {
			t.Fatal(err)
		}
		ladder := e.(negphase.Tempered)
		round := uint64(0)
		run := func(m *rbm.RBM, rounds int, add func()) {
			for range rounds {
				if _, _, err := ladder.Estimate(m, rbm.Batch{}, rbm.NewKey(seed).Child(round)); err != nil {
					t.Fatal(err)
				}
				round++
				if add != nil {
					add()
				}
			}
		}
		run(models[0], 100, nil)
		for i, m := range models {
			run(m, 25, nil)
			tally := NewTally(ladder, 10)
			run(m, 75, tally.Add)
			b, err := tally.LogZ(m, base, nil, math.Inf(-1))
			if err != nil {
				t.Fatal(err)
			}
			if x, stdErr, by := b.Best(); by == ByBennett {
				c.add(x, stdErr, want[i])
			} else if b.Warnings == nil {
				t.Errorf("run %d, model %d: no estimate and no warning", seed, i)
			}
		}
	}
	if float64(c.n) < 0.95*float64(runs*each) {
		t.Errorf("only %d of %d models have an estimate", c.n, runs*each)
	}
	c.check(t, "particles of a run")
}

// normalTally returns a tally of exact independent draws, with ten groups at β = 1 and 0. The density of states is
// normal in the energy with standard deviation sd. So the energy at β has mean
// −β·sd², and log Z(β) − log Z(0) = β²sd²/2.
func normalTally(rounds int, sd float64, key rbm.Key) *Tally {
	t := &Tally{groups: 10, beta: []float64{1, 0}}
	r := key.Rand()
	for range rounds {
		x := make([]float64, t.groups*len(t.beta))
		for i := range x {
			x[i] = sd * (r.NormFloat64() - t.beta[i%len(t.beta)]*sd)
		}
		t.rounds = append(t.rounds, x)
	}
	return t
}

// The standard errors of tallies are right. Ideal estimates from early and late
// rounds are normal with variances 2 and 1. Their errors, estimated from ten groups, follow χ² with nine degrees of
// freedom, but are never below those of independent draws. The rule of LogZ, applied to such random numbers,
// gives the expected mean z² of the estimates that it accepts. The mean z² of tallies of exact draws must agree within
// five standard errors. It must not agree for broken errors: those that include half the change from early rounds, which
// counts the noise of the late rounds twice, and those that are not widened.
func TestTallyErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const groups, rounds, sd, tallies = 10, 45, 1.0, 2000
	want, n := 0.0, 0.0
	r, wide := rbm.NewKey(1).Rand(), widened(1, groups)
	stdErr := func(sigma float64) float64 {
		squares := 0.0
		for range groups - 1 {
			x := r.NormFloat64()
			squares += x * x
		}
		return sigma * max(1, wide*math.Sqrt(squares/(groups-1)))
	}
	for range 400_000 {
		early, late := math.Sqrt2*r.NormFloat64(), r.NormFloat64()
		if e := stdErr(1); math.Abs(late-early) <= diag.Unsettled*math.Hypot(stdErr(math.Sqrt2), e) {
			want += late * late / (e * e)
			n++
		}
	}
	want /= n
	m := rbm.New(4, 3, 0, rbm.Softmax)
	truth := 7*math.Ln2 + sd*sd/2
	var z2, twice, narrow []float64
	for i := range uint64(tallies) {
		y := normalTally(rounds, sd, rbm.NewKey(2).Child(i))
		b, err := y.LogZ(m, nil, nil, math.Inf(-1))
		if err != nil {
			t.Fatal(err)
		}
		x, e, _ := b.Best()
		if math.IsNaN(x) {
			continue
		}
		s := Settings{Groups: groups}
		early, err := s.bennett(m, y.draws(y.rounds[:rounds/3]))
		if err != nil {
			t.Fatal(err)
		}
		square := func(e float64) float64 { return (x - truth) * (x - truth) / (e * e) }
		z2 = append(z2, square(e))
		twice = append(twice, square(math.Hypot(e, (x-early.LogZ)/2)))
		narrow = append(narrow, square(e/wide))
	}
	off := func(z2 []float64) float64 {
		mean, variance := diag.MeanVariance(z2)
		return (mean - want) / math.Sqrt(variance/float64(len(z2)))
	}
	t.Logf("mean z² of %d tallies: %.1f standard errors from %.3f; with the change %.1f, not widened %.1f", len(z2), off(z2), want, off(twice), off(narrow))
	if len(z2) < tallies*9/10 {
		t.Errorf("only %d of %d tallies have settled", len(z2), tallies)
	}
	if math.Abs(off(z2)) > 5 {
		t.Errorf("the mean z² is %.1f standard errors from %.3f, want ±5 at most", off(z2), want)
	}
	if !(off(twice) < -5) || !(off(narrow) > 5) {
		t.Errorf("errors that are too wide or too narrow pass: %.1f and %.1f standard errors from %.3f", off(twice), off(narrow), want)
	}
}

// TestFollowerCoverage is the same test for a Follower. A follower that is saved and restored continues
// identically.
func TestFollowerCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	runs, each := 6, 4
	if *long {
		runs = 15
	}
	var c coverage
	for seed := range uint64(runs) {
		models, want := drifting(t, each, 1000+seed)
		f := NewFollower(nil)
		for i, m := range models {
			again := NewFollower(nil)
			text, err := json.Marshal(f.FollowerState)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &again.FollowerState); err != nil {
				t.Fatal(err)
			}
			key := rbm.NewKey(seed).Child(uint64(i))
			b, err := f.Estimate(t.Context(), m, math.Inf(-1), key)
			if err != nil {
				t.Fatal(err)
			}
			x, stdErr, _ := b.Best()
			if !math.IsNaN(x) {
				c.add(x, stdErr, want[i])
			} else if b.Warnings == nil {
				t.Errorf("run %d, model %d: no estimate and no warning", seed, i)
			}
			if seed > 2 {
				continue
			}
			other, err := again.Estimate(t.Context(), m, math.Inf(-1), key)
			if y, _, _ := other.Best(); err != nil || math.Float64bits(y) != math.Float64bits(x) || (b.AIS == nil) != (other.AIS == nil) || b.AIS != nil && other.AIS.LogZ != b.AIS.LogZ {
				t.Errorf("run %d, model %d: %v and %v, restored %v and %v, %v", seed, i, x, b.AIS, y, other.AIS, err)
			}
			ladder, err := f.newLadder(f.Ladder)
			if err != nil {
				t.Fatal(err)
			}
			if tuned := ladder.Ladder().Tuned; tuned < 8 { // the first 500 rounds have eight tunings
				t.Errorf("run %d, model %d: the ladder was tuned %d times: it is not the one that began, want at least 8", seed, i, tuned)
			}
		}
	}
	c.check(t, "a ladder beside the run")
}

// A tally returns a warning instead of an estimate if the estimate is below the bound, if the chains are not in
// equilibrium, or if neighbours do not overlap.
func TestTallyDoubts(t *testing.T) {
	models, want := drifting(t, 1, 7)
	m := models[0]
	tally := func(text string, rounds int) *Tally {
		s, err := negphase.Parse(text, negphase.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := negphase.New(s)
		if err != nil {
			t.Fatal(err)
		}
		ladder := e.(negphase.Tempered)
		var y *Tally
		for i := range 20 + rounds {
			if _, _, err := ladder.Estimate(m, rbm.Batch{}, rbm.NewKey(3).Child(uint64(i))); err != nil {
				t.Fatal(err)
			}
			if i == 19 {
				y = NewTally(ladder, 10)
			} else if i > 19 {
				y.Add()
			}
		}
		return y
	}
	y := tally("pt:chains=10:tau=1/1.5/2.5/5/inf", 40)
	good, err := y.LogZ(m, nil, nil, math.Inf(-1))
	if err != nil {
		t.Fatal(err)
	}
	x, stdErr, _ := good.Best()
	if math.Abs(x-want[0]) > 5*stdErr || good.Warnings != nil {
		t.Fatalf("log Z is %v ± %v, want %v; %v", x, stdErr, want[0], good.Warnings)
	}
	b, err := y.LogZ(m, nil, nil, want[0]+10)
	if err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || !diag.Has(b.Warnings, Impossible) {
		t.Errorf("ten nats below the bound: %v, %v", x, b.Warnings)
	}
	y.rounds = y.rounds[:40]
	for _, round := range y.rounds[:10] { // as if energies had decreased
		for i := range round {
			round[i] += 3
		}
	}
	b, err = y.LogZ(m, nil, nil, math.Inf(-1))
	if err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || b.Warnings[0].Kind != diag.Unsettling {
		t.Errorf("where early rounds differ by 3 nats at β = 1: %v, %v", x, b.Warnings)
	}
	if b, err = tally("pt:chains=10:tau=1/1.5/2.5/5/inf", 12).LogZ(m, nil, nil, math.Inf(-1)); err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || b.Warnings[0].Kind != diag.FewDraws {
		t.Errorf("of 12 rounds: %v, %v", x, b.Warnings)
	}
	m.Randomize(12, rbm.NewKey(1))
	if b, err = tally("pt:chains=10:tau=1/inf", 40).LogZ(m, nil, nil, math.Inf(-1)); err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || b.Warnings[0].Kind != NoOverlap {
		t.Errorf("without overlap: %v, %v", x, b.Warnings)
	}
}
