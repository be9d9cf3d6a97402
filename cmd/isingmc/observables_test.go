package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
)

// exactObservables returns the observables of the system of the command line by
// enumeration, under their names in JSON.
func exactObservables(t *testing.T, args string) map[string]float64 {
	t.Helper()
	p := planOf(t, args)
	law, n := boltzmann(p.graph, p.beta), p.graph.Len()
	system, state := mcmc.NewIsing(p.graph, nil), make([]uint8, n)
	var e, e2, m, abs, m2, m4 float64
	q := make([]float64, n+1) // probability by the number of spins in which two replicas differ
	fixed := p.keepsUp
	var sum float64
	for x, w := range law {
		up := 0
		for i := range state {
			state[i] = uint8(x >> i & 1)
			up += int(state[i])
		}
		if fixed && up != p.active {
			law[x] = 0
			continue
		}
		sum += w
		system.SetState(state)
		s := 2*float64(up)/float64(n) - 1
		e, e2 = e+w*system.Energy(), e2+w*system.Energy()*system.Energy()
		m, abs, m2, m4 = m+w*s, abs+w*math.Abs(s), m2+w*s*s, m4+w*s*s*s*s
	}
	for x, w := range law {
		for y, v := range law {
			differ := 0
			for d := x ^ y; d != 0; d &= d - 1 {
				differ++
			}
			q[differ] += w / sum * v / sum
		}
	}
	var absQ, q2, q4 float64
	for d, w := range q {
		x := 1 - 2*float64(d)/float64(n)
		absQ, q2, q4 = absQ+w*math.Abs(x), q2+w*x*x, q4+w*x*x*x*x
	}
	e, e2, m, abs, m2, m4 = e/sum, e2/sum, m/sum, abs/sum, m2/sum, m4/sum
	all := map[string]float64{
		"specific_heat":    p.beta * p.beta * (e2 - e*e) / float64(n),
		"abs_overlap_mean": absQ, "squared_overlap_mean": q2, "overlap_binder_cumulant": 1 - q4/(3*q2*q2),
	}
	if !fixed {
		all["magnetisation_mean"], all["abs_magnetisation_mean"], all["squared_magnetisation_mean"] = m, abs, m2
		all["susceptibility"] = p.beta * float64(n) * (m2 - abs*abs)
		all["binder_cumulant"] = 1 - m4/(3*m2*m2)
	}
	return all
}

// observed returns the observables of each sampler in JSON by their keys, with the errors
// by NAME_std_err, and the names of the samplers.
func observed(t *testing.T, args string) (all []map[string]*float64, names []string) {
	t.Helper()
	var r struct{ Samplers []map[string]any }
	out := isingmc.OK(t, append(strings.Fields(args), "-json")...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Samplers {
		one := map[string]*float64{}
		for key, value := range s {
			if x, ok := value.(float64); ok && regexp.MustCompile("heat|magnetisation|susceptibility|binder|overlap").MatchString(key) {
				one[key] = &x
			}
		}
		all, names = append(all, one), append(names, s["sampler"].(string))
	}
	return all, names
}

// TestObservables compares every observable of several samplers with its exact value.
// Some 70 numbers are compared, so that 4.5 standard errors happen by chance in one
// run of this test in 2000.
func TestObservables(t *testing.T) {
	clitest.Isolate(t)
	for _, args := range []string{
		"-lattice 3x3 -temperature 2.5 -sampler gibbs,sw,sardonics:k=1-5 -moves 20000",
		"-lattice 3x3 -field 0.1 -temperature 3 -sampler gibbs,metropolis:order=random -moves 20000",
		"-lattice 5x2 -boundary free -J pm1:seed=2 -beta 0.7 -sampler gibbs,sardonics:k=1-5 -moves 20000",
		"-lattice 3x3 -active 4 -temperature 2 -sampler exchange,im:k=1-3 -moves 20000",
	} {
		exact := exactObservables(t, args)
		all, names := observed(t, args+" -observables -overlap")
		for i, got := range all {
			if len(got) != 2*len(exact) {
				t.Errorf("%s: %s gives %d numbers, want %d", args, names[i], len(got), 2*len(exact))
			}
			for name, want := range exact {
				value, err := got[name], got[strings.TrimSuffix(name, "_mean")+"_std_err"]
				if value == nil || err == nil {
					t.Errorf("%s: %s: no %s, or no error of it", args, names[i], name)
					continue
				}
				if z := (*value - want) / *err; !(math.Abs(z) < 4.5) || *err > 0.05 {
					t.Errorf("%s: %s: %s is %v ± %v, exact %v (%.1f errors)", args, names[i], name, *value, *err, want, z)
				}
			}
		}
	}
}

// kaufmanSpecificHeat returns β²/N d² log Z/dβ² by differences of fourth order.
func kaufmanSpecificHeat(beta float64, n, m int) float64 {
	const h = 1e-3
	z := func(k float64) float64 { return kaufman(beta+k*h, n, m) }
	return beta * beta / float64(n*m) * (-z(-2) + 16*z(-1) - 30*z(0) + 16*z(1) - z(2)) / (12 * h * h)
}

// TestObservablesOfLargeSystems compares with Kaufman's exact specific heat of finite
// lattices; below the critical point with Yang's magnetisation of the infinite one,
// (1 − sinh⁻⁴2β)^⅛, from which 64×64 at T = 2 differs by less than 1e-6; and at the
// critical point with the Binder cumulant 0.61069 (Kamieniarz and Blöte 1993), from
// which 64×64 differs by less than 1e-3.
func TestObservablesOfLargeSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	near := func(what string, value, err *float64, want, systematic, most float64) {
		t.Helper()
		if d := math.Abs(*value - want); d > 3**err+systematic || *err > most {
			t.Errorf("%s is %v ± %v, want %v", what, *value, *err, want)
		}
	}
	if got, want := kaufmanSpecificHeat(critical, 4, 3), exactObservables(t, "-lattice 4x3 -sampler gibbs")["specific_heat"]; math.Abs(got/want-1) > 1e-6 {
		t.Fatalf("Kaufman's specific heat of 4×3 is %v, by all states %v", got, want)
	}
	s := result(t, "-lattice 16x16 -sampler sw -moves 10000 -observables")
	near("specific heat of 16×16", s.SpecificHeat, s.SpecificHeatStdErr, kaufmanSpecificHeat(s.Beta, 16, 16), 0, 0.05)
	cold := result(t, "-lattice 64x64 -temperature 2 -sampler sw -moves 2000 -observables")
	yang := math.Pow(1-math.Pow(math.Sinh(2*cold.Beta), -4), 1./8)
	near("|m| of 64×64", cold.AbsMean, cold.AbsStdErr, yang, 1e-6, 0.002)
	near("specific heat of 64×64", cold.SpecificHeat, cold.SpecificHeatStdErr, kaufmanSpecificHeat(cold.Beta, 64, 64), 0, 0.1)
	at := result(t, fmt.Sprintf("-lattice 64x64 -beta %v -sampler sw -moves 2000 -observables", math.Asinh(1)/2))
	near("Binder cumulant of 64×64", at.Binder, at.BinderStdErr, 0.61069, 1e-3, 0.02)
}

// TestErrorsOfMoments checks the errors of functions of moments: over many runs of independent
// values the mean of z² is 1, within six of its standard errors √(2/runs). The values are
// magnetisations of 8 free spins in a field, so that moments are sums of nine terms. Powers of x
// are correlated. In the broken twins one of the slopes is missing or has the wrong sign, and the
// error by the delta method has another size, which the test also computes.
func TestErrorsOfMoments(t *testing.T) {
	const runs, n, spins, up = 500, 500, 8, 0.7
	p, x := make([]float64, spins+1), make([]float64, spins+1)
	moment := func(f func(x float64) float64) (sum float64) {
		for k := range p {
			sum += p[k] * f(x[k])
		}
		return sum
	}
	choose := 1.0
	for k := range p {
		p[k] = choose * math.Pow(up, float64(k)) * math.Pow(1-up, float64(spins-k))
		x[k] = 2*float64(k)/spins - 1
		choose *= float64(spins-k) / float64(k+1)
	}
	power := func(k float64) func(x float64) float64 {
		return func(x float64) float64 { return math.Pow(math.Abs(x), k) }
	}
	abs, square, fourth := moment(power(1)), moment(power(2)), moment(power(4))
	for name, c := range map[string]struct {
		of             func(m *moments) estimate
		want           float64
		f, g           func(x float64) float64 // the estimate is a function of their means,
		slopeF, slopeG float64                 // with these slopes
	}{
		"Binder cumulant": {(*moments).binder, 1 - fourth/(3*square*square), power(4), power(2), -1 / (3 * square * square), 2 * fourth / (3 * square * square * square)},
		"spread":          {func(m *moments) estimate { return spread(1, m.Abs, m.Square) }, square - abs*abs, power(2), power(1), 1, -2 * abs},
	} {
		r := rbm.NewKey(5).Rand()
		squares := 0.0
		for range runs {
			m := newMoments()
			for range n {
				k := 0
				for u := r.Float64(); k < spins && u >= p[k]; k++ {
					u -= p[k]
				}
				m.add(x[k])
			}
			e := c.of(m)
			squares += math.Pow((e.mean-c.want)/e.err, 2) / runs
		}
		allowed := 6 * math.Sqrt(2./runs)
		if math.Abs(squares-1) > allowed {
			t.Errorf("%s: the mean z² of %d runs is %.2f, want 1 ± %.2f", name, runs, squares, allowed)
		}
		variance := func(slopeF, slopeG float64) float64 {
			h := func(x float64) float64 { return slopeF*c.f(x) + slopeG*c.g(x) }
			mean := moment(h)
			return moment(func(x float64) float64 { return h(x) * h(x) }) - mean*mean
		}
		for _, twin := range [][2]float64{{c.slopeF, 0}, {0, c.slopeG}, {c.slopeF, -c.slopeG}} {
			if z := variance(c.slopeF, c.slopeG) / variance(twin[0], twin[1]); math.Abs(z-1) < 1.5*allowed {
				t.Errorf("%s: with slopes %v the mean z² would be %.2f: the test sees nothing", name, twin, z)
			}
		}
	}
}

// TestTurns checks that there is a warning about m if the chains never change its sign, and none
// if they do.
func TestTurns(t *testing.T) {
	clitest.Isolate(t)
	for args, want := range map[string]bool{
		"-lattice 16x16 -temperature 2 -sampler gibbs -moves 5000 -observables": true,
		"-lattice 16x16 -temperature 2 -sampler sw -moves 5000 -observables":    false,
		"-lattice 16x16 -temperature 3 -sampler gibbs -moves 5000 -observables": false,
	} {
		if got := slices.ContainsFunc(result(t, args).Warnings, func(w string) bool { return strings.Contains(w, "m changed its sign too rarely") }); got != want {
			t.Errorf("%s: warned of m: %v, want %v", args, got, want)
		}
	}
}

// TestStates checks that states in a file have the energies of the file, are equally
// spaced for any number, and can be used for training.
func TestStates(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct{ moves, keep, states, every int }{{5, 10, 5, 1}, {10, 10, 10, 1}, {11, 10, 5, 2}, {12, 10, 6, 2}, {1000, 10, 7, 128}, {999, 1000, 999, 1}} {
		isingmc.OK(t, strings.Fields(fmt.Sprintf("-lattice 4x6 -J pm1 -sampler gibbs -moves %d -burn 0 -keep %d -states s.npz -quiet -trace t.csv", c.moves, c.keep))...)
		arrays := readNPZ(t, "s.npz")
		x, energy, move := arrays["x"], arrays["energy"], arrays["move"]
		if len(energy) != c.states || len(move) != c.states || len(x) != 24*c.states {
			t.Fatalf("%d moves, at most %d: %d states, want %d", c.moves, c.keep, len(energy), c.states)
		}
		p := planOf(t, "-lattice 4x6 -J pm1 -sampler gibbs")
		system := mcmc.NewIsing(p.graph, nil)
		trace := strings.Fields(clitest.Read(t, "t.csv"))[1:] // a line per move
		for i := range energy {
			state := make([]uint8, 24)
			for j := range state {
				state[j] = uint8((x[24*i+j] + 1) / 2)
			}
			system.SetState(state)
			line := strings.Split(trace[int(move[i])-1], ",")
			if move[i] != float64((i+1)*c.every) || system.Energy() != energy[i] || line[3] != fmt.Sprint(energy[i]) {
				t.Errorf("%d moves: state %d, after move %v, has energy %v; the file says %v, the trace %s", c.moves, i, move[i], system.Energy(), energy[i], line[3])
			}
		}
		set, _, err := data.Load(context.Background(), "s.npz", data.Options{})
		if err != nil || c.states > 9 && !set.Spins || set.Height != 4 || set.Width != 6 || set.Len() != c.states {
			t.Errorf("as data: %+v, %v", set, err)
		}
		os.Remove("s.npz")
		os.Remove("t.csv")
	}
}

// TestStatesOfModel checks the bits of an RBM's states.
func TestStatesOfModel(t *testing.T) {
	clitest.Isolate(t)
	const path = "m.safetensors"
	clitest.Save(t, path, clitest.Model(5, 3, 0, rbm.Softmax), modelfile.About{})
	isingmc.Fails(t, cli.Usage, []string{"-model", path, "-observables"}, "-observables cannot go with -model", "-model")
	isingmc.OK(t, "-model", path, "-sampler", "block-gibbs", "-moves", "50", "-states", "s.npz", "-quiet")
	arrays := readNPZ(t, "s.npz")
	p := planOf(t, "-model "+path+" -sampler block-gibbs")
	n, visible := p.units, p.firstHidden
	for i, want := range arrays["energy"] {
		var state []uint8
		for _, v := range slices.Concat(arrays["x"][i*visible:(i+1)*visible], arrays["h"][i*(n-visible):(i+1)*(n-visible)]) {
			state = append(state, uint8(v))
		}
		if got := p.newSystem(state).Energy(); got != want {
			t.Errorf("state %d has energy %v, the file says %v", i, got, want)
		}
	}
	if len(arrays["energy"]) != 50 {
		t.Errorf("%d states, want 50", len(arrays["energy"]))
	}
}

// TestReplicasDiffer checks that the second replica of -overlap is a different chain, and that
// it does not change the first.
func TestReplicasDiffer(t *testing.T) {
	clitest.Isolate(t)
	const args = "-lattice 8x8 -temperature 4 -sampler gibbs -moves 500"
	alone, both := result(t, args), result(t, args+" -overlap -observables")
	if *alone.EnergyMean != *both.EnergyMean {
		t.Errorf("the mean energy is %v alone and %v beside a second replica", *alone.EnergyMean, *both.EnergyMean)
	}
	if alone.SpecificHeat != nil {
		t.Error("observables are measured although nobody asked")
	}
	if q := *both.OverlapSquare; !(q > 0 && q < 0.2) {
		t.Errorf("q² of two replicas in a hot state is %v, want 0 to 0.2", q)
	}
}

// readNPZ returns the elements of each array of an archive.
func readNPZ(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	a, err := npz.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, name := range []string{"x", "h", "energy", "move", "chain"} {
		if !a.Has(name) {
			continue
		}
		r, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		n := int(r.Elements())
		if err := r.Rows(1, n, func(_ int, v []float64) error { all[name] = append(all[name], v...); return nil }); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return all
}

// planOf returns the plan of a command line.
func planOf(t *testing.T, args string) *plan {
	t.Helper()
	o := newOptions()
	if err := o.flags.Parse(strings.Fields(args), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
