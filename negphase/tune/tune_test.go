package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// problem returns Sardonics on a small spin glass.
func problem(t testing.TB, k [2]int) *Problem {
	g := glass(t, "6x6x6")
	s, err := NewSpace(mcmc.DefaultSardonics(), nil, g.Len(), k)
	if err != nil {
		t.Fatal(err)
	}
	return &Problem{
		Space: s, Beta: 0.5, NewSystem: func(x []uint8) mcmc.System { return mcmc.NewIsing(g, x) },
		Start: make([]uint8, g.Len()), Key: rbm.NewKey(1),
	}
}

// short are options that take little time.
var short = Options{Evaluations: 24, Moves: 20, Kernels: 5}

func tuned(t testing.TB, p *Problem, o Options) *Result {
	t.Helper()
	r, err := p.Tune(context.Background(), o, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTuneDeterminism checks that equal keys give identical results at any number of processors.
func TestTuneDeterminism(t *testing.T) {
	text := func(workers int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		r := tuned(t, problem(t, [2]int{}), short)
		return fmt.Sprintln(r.Best, r.Kernels, r.Trials)
	}
	if want, got := text(1), text(3); got != want {
		t.Errorf("with 3 processors:\n%s\nwant\n%s", got, want)
	}
}

// TestTuneFindsGoodSettings checks that kernels of the policy have a higher mean reward than
// most settings drawn at random, in separate trials. Biases range from a half to twice the balanced one, so that the
// rewards differ. For a policy that is no better than random settings, the sum of the ranks in 0 … 8 of three runs is at
// most 4 with probability 35/729.
func TestTuneFindsGoodSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("tunes three times, which takes some seconds")
	}
	const n = 8
	sum := 0
	for seed := range uint64(3) {
		p := problem(t, [2]int{1, 40})
		p.Key = rbm.NewKey(seed)
		for i := range p.Space.Ranges {
			if r := &p.Space.Ranges[i]; r.Name == "γ_L" {
				r.Low, r.High = 0.5, 2
			}
		}
		r := tuned(t, p, Options{Evaluations: 80, Moves: 50, Kernels: 10})
		settings := []mcmc.Mover{mcmc.Mixture(r.Kernels)}
		for _, x := range LatinHypercube(n, len(p.Space.Ranges), rbm.NewKey(77+seed)) {
			settings = append(settings, p.Space.Mover(x))
		}
		relaxed := p.NewSystem(p.Start)
		gibbs, err := mcmc.Gibbs{}.Bind(relaxed, p.Beta, nil)
		if err != nil {
			t.Fatal(err)
		}
		random := rbm.NewKey(seed).Rand()
		for range 100 {
			gibbs.Move(random)
		}
		rewards := make([]float64, len(settings))
		for i, m := range settings {
			system, random := p.NewSystem(relaxed.State()), rbm.NewKey(99+seed).Rand()
			chain, err := m.Bind(system, p.Beta, nil)
			if err != nil {
				t.Fatal(err)
			}
			const trials = 15
			for range trials {
				energy := make([]float64, 50)
				for k := range energy {
					energy[k] = system.Energy()
					chain.Move(random)
				}
				rewards[i] += Area(energy) / trials
			}
			if rewards[i] > rewards[0] {
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
	p := problem(t, [2]int{})
	r := tuned(t, p, short)
	if len(r.Kernels) != short.Kernels || len(r.Points) != short.Kernels || len(r.Trials) != short.Evaluations {
		t.Fatalf("%d kernels at %d points, of %d trials", len(r.Kernels), len(r.Points), len(r.Trials))
	}
	if _, err := mcmc.Mixture(r.Kernels).Bind(p.NewSystem(p.Start), p.Beta, nil); err != nil {
		t.Error(err)
	}
	for _, x := range r.Points {
		for _, u := range x {
			if u < 0 || u > 1 {
				t.Errorf("kernel at %v", x)
			}
		}
	}
}

func TestBadBudgets(t *testing.T) {
	for want, o := range map[string]Options{
		"evaluations is 0": {Moves: 10, Kernels: 1},
		"moves is 1":       {Evaluations: 1, Moves: 1, Kernels: 1},
		"kernels is 0":     {Evaluations: 1, Moves: 10},
	} {
		if _, err := problem(t, [2]int{}).Tune(context.Background(), o, func(float64) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := problem(t, [2]int{}).Tune(ctx, short, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestPolicyFile(t *testing.T) {
	p := problem(t, [2]int{})
	r := tuned(t, p, short)
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
		"is no policy: unexpected EOF":                {good[:40], 216},
		`its format is "x"`:                           {edit("gorbm policy", "x"), 216},
		"something follows its end":                   {append(slices.Clone(good), "}"...), 216},
		"beta is 0":                                   {edit(`"beta": 0.5`, `"beta": 0`), 216},
		`unknown field "eta"`:                         {edit(`"beta"`, `"eta"`), 216},
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
