package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// problem returns Sardonics on a small spin glass, with a fixed time per flip.
func problem(t testing.TB, paper bool) *Problem {
	g := glass(t, "6x6x6")
	s, err := NewSpace(mcmc.DefaultSardonics(), nil, g.Len(), Limits{}, paper)
	if err != nil {
		t.Fatal(err)
	}
	return &Problem{
		Space: s, Beta: 0.5, NewSystem: func(x []uint8) mcmc.System { return mcmc.NewIsing(g, x) },
		Start: make([]uint8, g.Len()), Symmetric: true, Key: rbm.NewKey(1), SecondsPerFlip: 1e-7,
	}
}

// short returns options of every method that take little time.
func short() []Options {
	return []Options{
		{Method: NoisyEI, Seconds: 0.05, Evaluations: 19, Kernels: 5},
		{Method: Paper, Evaluations: 24, Moves: 20, Kernels: 5},
	}
}

func tuned(t testing.TB, o Options) *Result {
	t.Helper()
	r, err := problem(t, o.Method == Paper).Tune(context.Background(), o, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text returns the parts of a result that do not depend on the clock, as text.
func text(r *Result) string {
	s := fmt.Sprintln(r.Best, r.Kernels, r.TrialSeconds, r.BurnSeconds)
	for _, trial := range r.Trials {
		s += fmt.Sprintln(trial)
	}
	return s
}

// TestTuneDeterminism checks that equal keys give identical results at any number of processors
// if the time per flip is fixed.
func TestTuneDeterminism(t *testing.T) {
	for _, o := range short() {
		old := runtime.GOMAXPROCS(1)
		want := text(tuned(t, o))
		runtime.GOMAXPROCS(3)
		got := text(tuned(t, o))
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("%s with 3 processors:\n%s\nwant\n%s", o.Method, got, want)
		}
	}
}

// TestTuneFindsGoodSettings checks that the policy of the default method has a higher rate than
// most settings drawn at random, in separate trials. Biases range from a half to twice the balanced one, so that the
// rates differ. For a policy that is no better than random settings, the sum of the ranks in 0 … 8 of three runs is at
// most 4 with probability 35/729.
func TestTuneFindsGoodSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("tunes three times, which takes some seconds")
	}
	const n = 8
	sum := 0
	for seed := range uint64(3) {
		p := problem(t, false)
		var err error
		if p.Space, err = NewSpace(mcmc.DefaultSardonics(), nil, len(p.Start), Limits{Gamma: [2]float64{0.5, 2}}, false); err != nil {
			t.Fatal(err)
		}
		p.Key = rbm.NewKey(seed)
		r, err := p.Tune(context.Background(), Options{Method: NoisyEI, Seconds: 0.4, Evaluations: 25, Kernels: 10}, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		run := &tuner{Problem: p, Options: Options{Seconds: 0.2}, result: new(Result)} // 2·10⁶ flips, most of them for the burn-in
		if err := run.start(1); err != nil {
			t.Fatal(err)
		}
		settings := []mcmc.Mover{mcmc.Mixture(r.Kernels)}
		for _, x := range LatinHypercube(n, len(p.Space.Ranges), rbm.NewKey(77+seed)) {
			settings = append(settings, p.Space.Mover(x))
		}
		trials, err := p.trials(run.lanes, settings, 1e-4, 0.03)
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range trials[1:] {
			if trial.Reward > trials[0].Reward {
				sum++
			}
		}
	}
	t.Log("sum of ranks", sum)
	if sum > 4 {
		t.Errorf("the ranks of the policies among random settings add up to %d of %d, want at most 4", sum, 3*n)
	}
}

func TestKernelsAreOfTheSpace(t *testing.T) {
	for _, o := range short() {
		p := problem(t, o.Method == Paper)
		r := tuned(t, o)
		if n := len(r.Kernels); n != len(r.Points) || n != o.Kernels && (n != 1 || o.Method == Paper) {
			t.Fatalf("%s: %d kernels", o.Method, len(r.Kernels))
		}
		if _, err := mcmc.Mixture(r.Kernels).Bind(p.NewSystem(p.Start), p.Beta, nil); err != nil {
			t.Errorf("%s: %v", o.Method, err)
		}
		for _, x := range r.Points {
			for _, u := range x {
				if u < 0 || u > 1 {
					t.Errorf("%s: kernel at %v", o.Method, x)
				}
			}
		}
	}
}

// TestModelledRewards checks that the model has the rewards themselves, raised to a lower limit.
func TestModelledRewards(t *testing.T) {
	r := tuned(t, short()[0])
	var rewards []float64
	for _, trial := range r.Trials {
		rewards = append(rewards, trial.Reward)
	}
	slices.Sort(rewards)
	least, floored := rewards[len(rewards)/2]-worst, 0
	for i, trial := range r.Trials {
		if trial.Reward < least {
			floored++
		}
		if trial.Modelled != max(trial.Reward, least) {
			t.Errorf("trial %d: %v counts as %v, and the floor is %v", i, trial.Reward, trial.Modelled, least)
		}
	}
	t.Log(floored, "at the floor")
	if floored == 0 {
		t.Error("no trial is at the floor")
	}
}

func TestBadBudgets(t *testing.T) {
	for want, o := range map[string]Options{
		"evaluations is 0": {Method: Paper, Moves: 10, Kernels: 1},
		"moves is 1":       {Method: Paper, Evaluations: 1, Moves: 1, Kernels: 1},
		"seconds is 0":     {Method: NoisyEI, Evaluations: 1, Kernels: 1},
		"kernels is 0":     {Method: NoisyEI, Seconds: 1, Evaluations: 1},
		"unknown method":   {Method: "best"},
		"too small":        {Method: NoisyEI, Seconds: 1e-6, Evaluations: 1, Kernels: 1},
	} {
		_, err := problem(t, false).Tune(context.Background(), o, func(float64) {})
		if err == nil || !strings.Contains(err.Error(), want) || (want == "too small") != errors.Is(err, ErrBudget) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range short() {
		if _, err := problem(t, o.Method == Paper).Tune(ctx, o, func(float64) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", o.Method, err, context.Canceled)
		}
	}
}

func TestPolicyFile(t *testing.T) {
	o := short()[0]
	p, r := problem(t, false), tuned(t, o)
	path := filepath.Join(t.TempDir(), "p.json")
	policy := NewPolicy(r, p.Space, "glass", 216, 0.5)
	if err := policy.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadPolicy(path, 216)
	if err != nil {
		t.Fatal(err)
	}
	m, err := read.Mixture()
	if err != nil || len(m) != len(r.Kernels) || mcmc.FormatMover(m[0]) != mcmc.FormatMover(r.Kernels[0]) {
		t.Errorf("%v: %v, want %v", err, m, r.Kernels)
	}
	good, _ := os.ReadFile(path)
	edit := func(from, to string) []byte { return []byte(strings.ReplaceAll(string(good), from, to)) }
	for want, c := range map[string]struct {
		data  []byte
		units int
	}{
		`policy of the sampler "im", and sardonics alone is tuned; tune again`: {edit(`"sampler": "sardonics"`, `"sampler": "im"`), 216},
		"accept": {edit(r2k(r), r2k(r)+":accept=type"), 216},
		"for 216 units (glass), and the system has 9": {good, 9},
		"is no policy: unexpected end":                {good[:40], 216},
		`its format is "x"`:                           {edit("gorbm policy", "x"), 216},
		"of version 9":                                {edit(`"version": 1`, `"version": 9`), 216},
		"kernel 1: sardonics: k is 0-":                {edit(r2k(r), "k=0-9"), 216},
	} {
		bad := filepath.Join(t.TempDir(), "bad.json")
		if err := os.WriteFile(bad, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPolicy(bad, c.units); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// r2k returns the lengths of the first kernel in the file.
func r2k(r *Result) string { return strings.Split(mcmc.FormatMover(r.Kernels[0]), ":")[1] }

// TestSymmetricObservables checks that a state and its complement have equal values of all
// observables in a Symmetric problem, and different values otherwise.
func TestSymmetricObservables(t *testing.T) {
	for _, symmetric := range []bool{true, false} {
		p := problem(t, false)
		p.Symmetric = symmetric
		l := p.lane(0)
		l.reference = make([]uint8, len(p.Start))
		var values [2][][]float64
		for i := range 50 {
			l.system.Flip(3 * i)
		}
		for k := range values {
			values[k] = make([][]float64, p.observables())
			p.observe(l, values[k])
			for i := range p.Start {
				l.system.Flip(i)
			}
		}
		if equal := fmt.Sprint(values[0]) == fmt.Sprint(values[1]); equal != symmetric || len(values[0]) != 3 {
			t.Errorf("symmetric %v: %v and %v", symmetric, values[0], values[1])
		}
	}
}

// TestFinals checks that clearly better settings replace those before tuning, and that worse or equal
// ones do not. Walks with twice the balanced bias are
// hardly ever accepted.
func TestFinals(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, c := range []struct {
		base, other float64 // biases
		replaced    bool
	}{{1.9, 1.02, true}, {1.02, 1.9, false}, {1.02, 1.02 + 1e-9, false}} {
		p := problem(t, false)
		base := mcmc.DefaultSardonics()
		base.Gamma1, base.Gamma2 = c.base, c.base
		var err error
		if p.Space, err = NewSpace(base, []string{"k", "walks", "mix"}, len(p.Start), Limits{Gamma: [2]float64{1, 2}}, false); err != nil {
			t.Fatal(err)
		}
		at := []float64{c.other - 1}
		run := &tuner{Problem: p, Options: Options{Seconds: 0.4}, length: 0.005, report: func(float64) {},
			result: &Result{Best: at, Points: [][]float64{at, at}}}
		if err := run.start(1); err != nil {
			t.Fatal(err)
		}
		if err := run.finals(context.Background()); err != nil {
			t.Fatal(err)
		}
		r := run.result
		got := r.Kernels[0].Gamma1
		if want := map[bool]float64{true: c.other, false: c.base}[c.replaced]; r.Untuned == c.replaced || math.Abs(got-want) > 1e-12 {
			t.Errorf("settings before tuning of γ = %v, challengers of %v: the policy has %v, untuned %v", c.base, c.other, got, r.Untuned)
		}
		spent := 0.0
		for _, trial := range r.Finals {
			spent += trial.Seconds
		}
		// A trial has 512 intervals of whole moves, so it may be longer by one move per interval.
		if spent > 1.1*finalsShare*0.4 {
			t.Errorf("the finals took %v s of %v, want at most %v", spent, finalsShare*0.4, 1.1*finalsShare*0.4)
		}
	}
}
