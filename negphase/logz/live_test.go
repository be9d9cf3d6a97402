package logz

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// drifting returns models of random parameters, as a run passes through: each is
// the one before with its parameters a little larger and others mixed in. want has
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

// coverage counts the estimates whose distance from the truth is below two standard
// errors.
type coverage struct {
	n, inside    int
	sum, squares float64 // of z
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

// check fails unless at least 90 % are inside. If the intervals were of 90 % only, a
// count below that less three binomial standard errors would come once in 700
// times. The mean z has the standard error 1/√n if estimates are not biased; five of
// these are allowed.
func (c *coverage) check(t *testing.T, what string) {
	t.Helper()
	n := float64(c.n)
	t.Logf("%s: %d of %d inside two standard errors, mean z %.3f, mean z² %.3f", what, c.inside, c.n, c.sum/n, c.squares/n)
	if float64(c.inside) < 0.9*n-3*math.Sqrt(0.09*n) {
		t.Errorf("%s: only %d of %d are inside two standard errors", what, c.inside, c.n)
	}
	if c.squares/n < 0.3 { // of Student's t that the errors are widened to it is 0.97
		t.Errorf("%s: the mean z² is %.3f: the errors are far too wide", what, c.squares/n)
	}
	if math.Abs(c.sum/n) > 5/math.Sqrt(n) {
		t.Errorf("%s: the mean z is %.3f", what, c.sum/n)
	}
}

// TestTallyCoverage estimates log Z of a hundred small models from the particles of a
// ladder that has followed a run through them, as in training: at each model it takes
// a few rounds that do not count and a few that do.
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
				t.Errorf("run %d, model %d: no number, and no word about it", seed, i)
			}
		}
	}
	if float64(c.n) < 0.95*float64(runs*each) {
		t.Errorf("only %d of %d models have an estimate", c.n, runs*each)
	}
	c.check(t, "particles of a run")
}

// TestFollowerCoverage is the same of a ladder beside the run, which keeps its
// chains and temperatures; a follower that is saved and restored goes on to the bit.
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
				t.Errorf("run %d, model %d: no number, and no word about it", seed, i)
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
			if tuned := ladder.Ladder().Tuned; tuned < 8 { // as the first 500 rounds have it
				t.Errorf("run %d, model %d: the ladder was tuned %d times: it is not the one that began", seed, i, tuned)
			}
		}
	}
	c.check(t, "a ladder beside the run")
}

// A tally is honest: an estimate below the bound has no number but a warning, one
// from chains that are still on their way has a wider error, and without overlap
// there is no number.
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
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Text, "impossible") {
		t.Errorf("ten nats below the bound: %v, %v", x, b.Warnings)
	}
	y.rounds = y.rounds[:40]
	for _, round := range y.rounds[:10] { // as if energies had fallen since
		for i := range round {
			round[i] += 3
		}
	}
	b, err = y.LogZ(m, nil, nil, math.Inf(-1))
	if err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "moved") {
		t.Errorf("where early rounds differ by 3 nats at β = 1: %v, %v", x, b.Warnings)
	}
	if b, err = tally("pt:chains=10:tau=1/1.5/2.5/5/inf", 12).LogZ(m, nil, nil, math.Inf(-1)); err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "independent") {
		t.Errorf("of 12 rounds: %v, %v", x, b.Warnings)
	}
	m.Randomize(12, rbm.NewKey(1))
	if b, err = tally("pt:chains=10:tau=1/inf", 40).LogZ(m, nil, nil, math.Inf(-1)); err != nil {
		t.Fatal(err)
	}
	if x, _, _ := b.Best(); !math.IsNaN(x) || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "overlap") {
		t.Errorf("without overlap: %v, %v", x, b.Warnings)
	}
}
