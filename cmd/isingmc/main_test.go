package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// metronome returns a clock that advances by a step at each reading. So each batch of one
// move takes one step, and the output of a run depends only on its moves.
func metronome(step time.Duration) clock {
	var t time.Duration
	return func() time.Duration {
		t += step
		return t
	}
}

var isingmc = clitest.Command{Name: "isingmc", Run: clitest.Alone(metronome(clockInterval).runRanks)}

func TestHelp(t *testing.T) {
	isingmc.Help(t, "J", "active", "beta", "boundary", "burn", "chains", "class", "field", "gap", "json", "keep", "lattice", "model", "moves", "observables", "order", "out", "overlap", "policy", "quiet", "sampler", "scan", "seconds", "seed", "states", "table", "temperature", "trace", "tune")
}

// goldens are command lines whose output is in golden files.
var goldens = []struct{ name, args string }{
	{"gibbs", "-lattice 8x8 -sampler gibbs -moves 3000"},
	{"race", "-lattice 8x8 -sampler gibbs,sw,metropolis:order=random -seconds 3"},
	{"shell", "-lattice 4x4x4 -boundary free -J pm1:seed=3 -active 20 -sampler exchange -temperature 2 -moves 2000"},
	{"gap", "-lattice 3x3 -sampler metropolis,modified-metropolis,gibbs:order=random -gap"},
	{"field", "-lattice chimera:1 -boundary free -J gaussian -field 0.5 -sampler gibbs -order chessboard -moves 1500 -seed 9"},
	{"short", "-lattice 16x16 -sampler gibbs,sw -moves 60"},
	{"frozen", "-lattice 4x4 -beta 50 -sampler gibbs -moves 200"},
	{"walks", "-lattice 6x6x6 -J pm1 -beta 0.8 -sampler sardonics:k=1-10,gibbs -moves 3000"},
	{"auto", "-lattice 6x6x6 -J pm1 -beta 0.4 -sampler sardonics:k=auto,gibbs -moves 3000"},
	{"active", "-lattice 6x6 -active 12 -moves 2000"},
	{"ring", "-lattice 40 -field 0.1 -temperature 2 -moves 3000"},
	{"observables", "-lattice 6x6 -sampler gibbs,sw -moves 2000 -observables -overlap"},
	{"reducible", "-lattice 3x3 -sampler metropolis,gibbs -moves 4000"},
}

// TestGolden compares text and JSON output with golden files.
func TestGolden(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			args := strings.Fields(c.args)
			r := isingmc.Call(args...)
			if r.Status != cli.OK {
				t.Fatalf("exits with %d: %s", r.Status, r.Stderr)
			}
			clitest.Golden(t, c.name+".txt", r.Stdout+r.Stderr)
			r = isingmc.Call(append(args, "-json")...)
			if strings.Count(r.Stdout, "\n") != 1 {
				t.Errorf("-json prints more than a line: %q", r.Stdout)
			}
			clitest.Golden(t, c.name+".json", clitest.JSON(t, r.Stdout))
		})
	}
}

// A SamplerResult is the JSON result of a sampler.
type SamplerResult struct {
	Sampler        string
	Chains         int
	ChainsP        *float64 `json:"chains_p"`
	Moves          int64
	Seconds        float64
	MovesPerSecond float64 `json:"moves_per_second"`
	FlipsPerSecond float64 `json:"flips_per_second"`
	Acceptance     *float64
	EnergyMean     *float64 `json:"energy_mean"`
	EnergyStdErr   *float64 `json:"energy_std_err"`
	EnergyPerSpin  *float64 `json:"energy_per_spin"`
	EnergyVariance *float64 `json:"energy_variance"`
	TauInt         *float64 `json:"tau_int"`
	TauIntStdErr   *float64 `json:"tau_int_std_err"`
	TauIntSeconds  *float64 `json:"tau_int_seconds"`
	TauIntAbove    *float64 `json:"tau_int_above"`
	Effective      *float64 `json:"effective_samples"`

	EffectivePerSecond *float64 `json:"effective_samples_per_second"`
	SpecificHeat       *float64 `json:"specific_heat"`
	SpecificHeatStdErr *float64 `json:"specific_heat_std_err"`
	AbsMean            *float64 `json:"abs_magnetisation_mean"`
	AbsStdErr          *float64 `json:"abs_magnetisation_std_err"`
	Binder             *float64 `json:"binder_cumulant"`
	BinderStdErr       *float64 `json:"binder_cumulant_std_err"`
	OverlapSquare      *float64 `json:"squared_overlap_mean"`
}

// A jsonResult is the output of -json.
type jsonResult struct {
	System       string
	Spins, Bonds int
	Beta         float64
	Active       *int
	Seed         uint64
	Samplers     []SamplerResult
	*SamplerResult
	Policy *struct {
		File, Sampler, Best string
		Kernels             int
		Untuned             bool
		Mean                map[string]float64
	}
	Method       string
	Evaluations  int
	TuneSeconds  float64 `json:"seconds_tuning"`
	TrialSeconds float64 `json:"seconds_trials"`
	ModelSeconds float64 `json:"seconds_model"`
	References   []SamplerResult
	Warnings     []string
}

// result runs the command with -json and returns its output.
func result(t *testing.T, args string) (r jsonResult) {
	t.Helper()
	out := isingmc.OK(t, append(strings.Fields(args), "-json")...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestKeys checks the keys that scripts rely on: at the top level for one
// sampler, in samplers for several.
func TestKeys(t *testing.T) {
	clitest.Isolate(t)
	keys := []string{"energy_mean", "energy_std_err", "tau_int", "moves_per_second", "flips_per_second", "acceptance"}
	for _, c := range []struct {
		args string
		top  bool
		keys []string
	}{
		{"-lattice 4x4 -moves 100 -sampler metropolis:order=random", true, keys},
		{"-lattice 4x4 -moves 100 -sampler gibbs,sw", false, keys},
		{"-lattice 2x2 -gap -sampler gibbs", true, []string{"spectral_gap"}},
		{"-lattice 2x2 -gap", false, []string{"spectral_gap"}},
	} {
		out := isingmc.OK(t, append(strings.Fields(c.args), "-json")...)
		var top map[string]any
		if err := json.Unmarshal([]byte(out), &top); err != nil {
			t.Fatal(err)
		}
		samplers, _ := top["samplers"].([]any)
		if len(samplers) == 0 {
			t.Fatalf("%s: no samplers: %s", c.args, out)
		}
		for _, key := range c.keys {
			if _, ok := top[key]; ok != c.top {
				t.Errorf("%s: %s at the top level: %v", c.args, key, ok)
			}
			for _, s := range samplers {
				if _, ok := s.(map[string]any)[key]; !ok {
					t.Errorf("%s: a sampler without %s: %s", c.args, key, out)
				}
			}
		}
	}
}

// exactEnergy returns the mean energy of the system of the command line, over all
// states, or over states with active spins up if active > 0.
func exactEnergy(t *testing.T, args string, active int) float64 {
	t.Helper()
	p := planOf(t, args)
	law := boltzmann(p.graph, p.beta)
	var mean, sum float64
	state := make([]uint8, p.graph.Len())
	for x, w := range law {
		up := 0
		for i := range state {
			state[i] = uint8(x >> i & 1)
			up += int(state[i])
		}
		if active > 0 && up != active {
			continue
		}
		p.contestants[0].system.SetState(state)
		mean += w * p.contestants[0].system.Energy()
		sum += w
	}
	return mean / sum
}

// TestMeanEnergy compares the mean energy of each sampler, as the command prints it,
// with the exact one, in standard errors.
func TestMeanEnergy(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		args   string
		active int
	}{
		{"-lattice 4x3 -sampler gibbs,modified-metropolis,metropolis:order=random,sw,sardonics:k=2-5 -moves 40000", 0},
		{"-lattice 4x3 -J gaussian -field 0.3 -beta 0.7 -sampler gibbs:order=chessboard,sw,sardonics:k=3-4:gamma=.9/1.2:mix=1/2/1:walks=2 -moves 40000", 0},
		{"-lattice 4x3 -J pm1 -active 5 -sampler exchange,im:k=2 -moves 40000", 5},
	} {
		want := exactEnergy(t, c.args, c.active)
		for _, s := range result(t, c.args).Samplers {
			if s.EnergyStdErr == nil {
				t.Fatalf("%s: no error", s.Sampler)
			}
			if z := (*s.EnergyMean - want) / *s.EnergyStdErr; math.Abs(z) > 4 {
				t.Errorf("%s, %s: mean energy %v ± %v, want %v", c.args, s.Sampler, *s.EnergyMean, *s.EnergyStdErr, want)
			}
		}
	}
}

// TestAgreementIsNotBlind checks that the comparison of mean energies finds a sampler at a
// wrong temperature, and a reducible sampler.
func TestAgreementIsNotBlind(t *testing.T) {
	clitest.Isolate(t)
	o := newOptions()
	if err := o.flags.Parse(strings.Fields("-lattice 8x8 -sampler gibbs,sw -moves 20000"), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []bool{false, true} {
		if wrong {
			chain, err := p.movers[1].Bind(p.contestants[1].system, p.beta*1.02, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.contestants[1].chain = chain
		}
		if err := p.sample(context.Background(), p.contestants, metronome(clockInterval), 0, 1); err != nil {
			t.Fatal(err)
		}
		w := strings.Join(p.warnings(newRows(p.contestants, [][]*measured{{&p.contestants[0].measured, &p.contestants[1].measured}})), "\n")
		if strings.Contains(w, "has not converged") != wrong {
			t.Errorf("β of sw wrong: %v; warnings: %q", wrong, w)
		}
	}
}

// TestWarnsOfSlowTails checks energies with small rare jumps between two levels, hidden in
// large noise. Sokal's window gives a τ near ½ for them.
func TestWarnsOfSlowTails(t *testing.T) {
	const n = 1 << 16
	for _, hop := range []float64{0, 0.3} {
		trace := diag.NewTrace(2 * n)
		r := rbm.NewKey(1).Rand()
		for i := range n {
			level := hop * float64(i*6/n%2)
			trace.Add(level + r.NormFloat64())
		}
		rows := newRows([]*contestant{{name: "x"}}, [][]*measured{{{Trace: trace, Elapsed: time.Second}}})
		w := strings.Join(new(plan).warnings(rows), "\n")
		if strings.Contains(w, "lasts far longer") != (hop > 0) {
			t.Errorf("levels %v apart: warnings %q", hop, w)
		}
	}
}

// TestEqualSeedsAlone checks that a sampler makes the same moves alone and together with
// any others in any order, and different moves for a different seed.
func TestEqualSeedsAlone(t *testing.T) {
	clitest.Isolate(t)
	trace := func(name, args string) (energies []string) {
		isingmc.OK(t, append(strings.Fields(args), "-quiet", "-trace", name)...)
		for _, row := range table(t, name)[1:] {
			if row[0] == "gibbs" {
				energies = append(energies, row[3])
			}
		}
		return energies
	}
	alone := trace("a.csv", "-lattice 6x6 -sampler gibbs -moves 300")
	if len(alone) != 300 {
		t.Fatalf("%d energies of 300 moves", len(alone))
	}
	for i, args := range []string{
		"-lattice 6x6 -sampler gibbs -moves 300",
		"-lattice 6x6 -sampler gibbs,sw -moves 300",
		"-lattice 6x6 -sampler sw,gibbs -moves 300", // with this clock a move of any sampler takes a millisecond
		"-lattice 6x6 -sampler gibbs -seconds 0.3",
	} {
		if got := trace(strconv.Itoa(i)+".csv", args); !slices.Equal(got, alone) {
			t.Errorf("%s: other energies than alone", args)
		}
	}
	if got := trace("seed.csv", "-lattice 6x6 -sampler gibbs -moves 300 -seed 2"); slices.Equal(got, alone) {
		t.Error("another seed gives the same energies")
	}
	r := result(t, "-lattice 6x6 -sampler gibbs,gibbs -moves 300")
	if *r.Samplers[0].EnergyMean == *r.Samplers[1].EnergyMean {
		t.Error("two equal samplers make equal moves")
	}
}

// table reads a CSV file.
func table(t *testing.T, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(clitest.Read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestFiles checks the table of -trace against the result, and that the picture is one.
func TestFiles(t *testing.T) {
	clitest.Isolate(t)
	r := result(t, "-lattice 6x6 -sampler gibbs,sw -moves 500 -trace e.csv -out p.png")
	sum := map[string]float64{}
	last := map[string]float64{}
	for i, row := range table(t, "e.csv") {
		if i == 0 {
			if want := []string{"sampler", "move", "seconds", "energy"}; !slices.Equal(row, want) {
				t.Fatalf("columns %v, want %v", row, want)
			}
			continue
		}
		seconds, err1 := strconv.ParseFloat(row[2], 64)
		energy, err2 := strconv.ParseFloat(row[3], 64)
		if err1 != nil || err2 != nil || seconds <= last[row[0]] {
			t.Fatalf("line %d: %v", i+1, row)
		}
		last[row[0]] = seconds
		sum[row[0]] += energy
	}
	for _, s := range r.Samplers {
		if mean := sum[s.Sampler] / float64(s.Moves); math.Abs(mean-*s.EnergyMean) > 1e-9*math.Abs(mean) { // 12 digits per line
			t.Errorf("%s: mean of the table %v, of the result %v", s.Sampler, mean, *s.EnergyMean)
		}
		if math.Abs(last[s.Sampler]-s.Seconds) > 1e-5*s.Seconds { // 6 digits
			t.Errorf("%s: the table ends at %v s, the run at %v", s.Sampler, last[s.Sampler], s.Seconds)
		}
	}
	img, err := png.Decode(strings.NewReader(clitest.Read(t, "p.png")))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	for i, c := range plots.Colors {
		if got := seen[[3]uint32{uint32(c.R), uint32(c.G), uint32(c.B)}]; got != (i < 2) {
			t.Errorf("colour %d in the picture: %v", i, got)
		}
	}
}

// TestPicturesOfOddRuns checks that very short runs and frozen systems have pictures.
func TestPicturesOfOddRuns(t *testing.T) {
	clitest.Isolate(t)
	for i, args := range []string{
		"-lattice 4x4 -sampler gibbs -moves 1",
		"-lattice 4x4 -sampler gibbs,sw -moves 2 -burn 0",
		"-lattice 4x4 -sampler gibbs -beta 60 -moves 100", // frozen
	} {
		name := strconv.Itoa(i) + ".png"
		r := isingmc.Call(append(strings.Fields(args), "-out", name, "-quiet")...)
		if r.Status != cli.OK || !strings.Contains(r.Stderr, "warning") {
			t.Fatalf("%s: status %d, %s", args, r.Status, r.Stderr)
		}
		if _, err := png.Decode(strings.NewReader(clitest.Read(t, name))); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestQuiet checks that -quiet leaves standard output empty and keeps warnings.
func TestQuiet(t *testing.T) {
	clitest.Isolate(t)
	r := isingmc.Call("-lattice", "6x6", "-sampler", "gibbs", "-moves", "20", "-quiet")
	if r.Status != cli.OK || r.Stdout != "" {
		t.Errorf("exits with %d and prints %q", r.Status, r.Stdout)
	}
	isingmc.OneLine(t, r.Stderr, "warning: gibbs", "a longer run")
}

// TestDefaultWalksFit checks that the default length of walks is at most what a small
// system allows.
func TestDefaultWalksFit(t *testing.T) {
	clitest.Isolate(t)
	for _, args := range [][]string{
		{"-lattice", "3x3", "-sampler", "sardonics"},
		{"-lattice", "3x3", "-sampler", "im", "-active", "4"},
		{"-lattice", "2x2", "-sampler", "exchange,im"},
	} {
		isingmc.OK(t, append(args, "-moves", "20", "-quiet")...)
	}
}

// boltzmann returns the probabilities of all states. Bit i of the index of a
// state is spin i.
func boltzmann(g *mcmc.Graph, beta float64) []float64 {
	o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), mcmc.Gibbs{}, beta, nil)
	if err != nil {
		panic(err) // tests have few spins
	}
	return o.Stationary()
}
