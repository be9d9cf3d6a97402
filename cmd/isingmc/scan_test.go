package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// A scanPoint is a temperature of a scan or of a curve in JSON.
type scanPoint struct {
	Temperature  *float64
	Beta         float64
	Energy       float64  `json:"energy_per_spin"`
	EnergyErr    float64  `json:"energy_per_spin_std_err"`
	Heat         float64  `json:"specific_heat"`
	HeatErr      *float64 `json:"specific_heat_std_err"`
	Abs          float64  `json:"abs_magnetisation"`
	AbsErr       float64  `json:"abs_magnetisation_std_err"`
	Chi          float64  `json:"susceptibility"`
	ChiErr       *float64 `json:"susceptibility_std_err"`
	Binder       float64  `json:"binder_cumulant"`
	BinderErr    float64  `json:"binder_cumulant_std_err"`
	LogZ         *float64 `json:"log_z"`
	LogZErr      *float64 `json:"log_z_std_err"`
	LogZAbove    *float64 `json:"log_z_above_hottest"`
	LogZAboveErr *float64 `json:"log_z_above_hottest_std_err"`
	Exchanged    *float64
	Overlap      *float64
}

type scanJSON struct {
	Samplers []struct {
		Sampler, System string
		Moves           int64
		RoundTrips      *int64 `json:"round_trips"`
		Scan, Curve     []scanPoint
	}
	Crossings []struct {
		A, B        string
		Temperature float64
		StdErr      float64 `json:"std_err"`
	} `json:"binder_crossings"`
	Comparisons []struct {
		A, B, Observable string
		Z, P             float64
	}
	Warnings []string
}

func scanOf(t *testing.T, args string) (s scanJSON) {
	t.Helper()
	out := isingmc.OK(t, append(strings.Fields(args), "-json")...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// exactPoint enumerates the states of a system, or only those with active spins up if active > 0.
func exactPoint(g *mcmc.Graph, beta float64, active int) (p scanPoint) {
	n := g.Len()
	s := mcmc.NewIsing(g, nil)
	var z, e, e2, abs, m2, m4 float64
	least := math.Inf(1)
	var energy, spin []float64
	for x := range 1 << n {
		if x > 0 { // Gray's code
			bit := 0
			for x>>bit&1 == 0 {
				bit++
			}
			s.Flip(bit)
		}
		if up := countOnes(s.State()); active == 0 || up == active {
			energy, spin = append(energy, s.Energy()), append(spin, 2*float64(up)/float64(n)-1)
			least = min(least, s.Energy())
		}
	}
	for i, x := range energy {
		w := math.Exp(-beta * (x - least))
		z += w
		e += w * x
		e2 += w * x * x
		abs += w * math.Abs(spin[i])
		m2 += w * spin[i] * spin[i]
		m4 += w * math.Pow(spin[i], 4)
	}
	e, e2, abs, m2, m4 = e/z, e2/z, abs/z, m2/z, m4/z
	logZ := math.Log(z) - beta*least
	return scanPoint{Beta: beta, Energy: e / float64(n), Heat: beta * beta * (e2 - e*e) / float64(n), Abs: abs,
		Chi: beta * float64(n) * (m2 - abs*abs), Binder: 1 - m4/(3*m2*m2), LogZ: &logZ}
}

// TestScanIsExact compares scans by every kind of sampler, and the curves, with enumeration.
func TestScanIsExact(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		args   string
		active int
	}{
		{"-lattice 4x4 -sampler sw,pt,ins,wolff:clusters=3 -scan 1.5:4:6 -moves 6000", 0},
		{"-lattice 4x3 -J gaussian -field 0.2 -sampler gibbs,pt:sw,ins:metropolis:order=random -scan beta=0:0.7:5 -moves 6000", 0},
		{"-lattice 4x3 -J pm1 -active 5 -sampler pt,exchange,ins:im:k=2 -scan beta=0:1:4 -moves 5000", 5},
		{"-lattice 2x4 -J pm1 -sampler pt:sardonics:k=1-4 -scan beta=0.1:2:6 -moves 2000 -chains 3", 0},
	} {
		p := scanPlan(t, c.args)
		r := scanOf(t, c.args)
		if len(r.Warnings) > 0 {
			t.Errorf("%s: warnings %q, want none", c.args, r.Warnings)
		}
		compared := 0
		worst, what := 0.0, ""
		check := func(name string, at scanPoint, logZ float64) {
			want := exactPoint(p.graph, at.Beta, c.active)
			compare := func(of string, got, stdErr, want float64) {
				if stdErr == 0 {
					return
				}
				compared++
				if z := math.Abs(got-want) / stdErr; !(z <= worst) {
					worst, what = z, fmt.Sprintf("%s of %s at β = %.4g: %v ± %v, want %v", of, name, at.Beta, got, stdErr, want)
				}
			}
			compare("energy", at.Energy, at.EnergyErr, want.Energy)
			if at.HeatErr != nil {
				compare("specific heat", at.Heat, *at.HeatErr, want.Heat)
			}
			if c.active == 0 {
				compare("|m|", at.Abs, at.AbsErr, want.Abs)
				compare("Binder cumulant", at.Binder, at.BinderErr, want.Binder)
				if at.ChiErr != nil {
					compare("susceptibility", at.Chi, *at.ChiErr, want.Chi)
				}
			}
			switch {
			case at.LogZ != nil && at.Beta > 0:
				compare("log Z", *at.LogZ, *at.LogZErr, *want.LogZ)
			case at.LogZAbove != nil:
				if at.Beta > p.scan.betas[len(p.scan.betas)-1] {
					compare("log Z above the hottest", *at.LogZAbove+logZ, at.EnergyErr*100, *want.LogZ)
				}
			}
		}
		for _, s := range r.Samplers {
			if len(s.Scan) != len(p.scan.betas) || len(s.Curve) != curvePoints || math.Abs(s.Curve[0].Beta-s.Scan[0].Beta) > 1e-12 {
				t.Fatalf("%s, %s: %d temperatures and %d of a curve", c.args, s.Sampler, len(s.Scan), len(s.Curve))
			}
			if exchanges := strings.HasPrefix(s.Sampler, "pt") || strings.HasPrefix(s.Sampler, "ins"); exchanges != (s.RoundTrips != nil && *s.RoundTrips > 50) || exchanges != (s.Scan[0].Exchanged != nil || s.Scan[1].Exchanged != nil) {
				t.Errorf("%s, %s: round trips %v", c.args, s.Sampler, s.RoundTrips)
			}
			hottest := *exactPoint(p.graph, p.scan.betas[len(p.scan.betas)-1], c.active).LogZ
			for _, at := range s.Scan {
				check(s.Sampler, at, hottest)
			}
			for i := 0; i < len(s.Curve); i += 7 {
				check(s.Sampler+" reweighted", s.Curve[i], hottest)
			}
		}
		// In some hundred correlated comparisons, chance exceeds 4.5 about once in 1000 runs. The errors of
		// reweighting have Student's t distribution with at most 31 degrees of freedom.
		if compared < 40 || worst > 5.5 {
			t.Errorf("%s: of %d comparisons the worst is %.1f standard errors off: %s", c.args, compared, worst, what)
		}
	}
}

// scanPlan returns the plan of a command line with -scan.
func scanPlan(t *testing.T, args string) *plan {
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

// TestScanWeighsBothStates checks the rows of ins against a ladder that the test moves with the random numbers of
// the command: they are means of w·x + (1−w)·partner, and their variance includes that within a move.
func TestScanWeighsBothStates(t *testing.T) {
	const moves = 400
	args := fmt.Sprintf("-lattice 4x3 -sampler ins -scan 1.5:4:5 -moves %d -burn 0", moves)
	p := scanPlan(t, args)
	if err := p.sampleChains(context.Background(), metronome(clockInterval)); err != nil {
		t.Fatal(err)
	}
	c := scanPlan(t, args).contestants[0]
	read := func(k int) (energy, m float64) {
		s := c.ladder.Replica(k)
		return s.Energy(), 2*float64(countOnes(s.State()))/float64(s.Len()) - 1
	}
	n := len(p.scan.betas)
	sums := make([][3]float64, n) // sums of the energy, its square and |m|
	for range moves {
		c.ladder.Move(c.rand)
		for k := range sums {
			own, partner := c.ladder.Weight(k)
			x, mx := read(k)
			y, my := read(partner)
			for i, add := range []float64{own*x + (1-own)*y, own*x*x + (1-own)*y*y, own*math.Abs(mx) + (1-own)*math.Abs(my)} {
				sums[k][i] += add / moves
			}
		}
	}
	for k, sum := range sums {
		r := p.rowAt(0, k)
		if abs := r.abs(spins).mean; math.Abs(r.Mean-sum[0]) > 1e-9 || math.Abs(abs-sum[2]) > 1e-9 {
			t.Errorf("temperature %d: energy %v and |m| %v, want %v and %v", k, r.Mean, abs, sum[0], sum[2])
		}
		variance := sum[1] - sum[0]*sum[0]
		if math.Abs(r.Variance/variance-1) > 0.01 { // a trace divides by less than the number of moves
			t.Errorf("temperature %d: the variance of the energy is %v, want %v", k, r.Variance, variance)
		}
	}
}

// TestScanFindsAWrongTemperature checks that a replica at a wrong temperature is found by the comparison of
// the samplers in all observables, and by the comparison of its figures with the curve of all temperatures.
func TestScanFindsAWrongTemperature(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		p := scanPlan(t, "-lattice 4x4 -sampler sw,gibbs -scan 2:3:4 -moves 12000")
		if wrong {
			q := *p.scan
			q.betas = append([]float64(nil), q.betas...)
			q.betas[1] *= 1.06
			r := *p.scan.systems[0]
			r.scan = &q
			ladder, err := r.ladderOf(r.movers[1], p.contestants[1].system)
			if err != nil {
				t.Fatal(err)
			}
			p.contestants[1].chain, p.contestants[1].ladder = ladder, ladder
		}
		if err := p.sampleChains(context.Background(), metronome(clockInterval)); err != nil {
			t.Fatal(err)
		}
		w := strings.Join(p.newScanResult().warnings(), "\n")
		if off := "gibbs at T = 2.333: the measurements differ from the curve"; strings.Contains(w, off) != wrong || strings.Contains(w, "sw at") {
			t.Errorf("a wrong temperature: %v; warnings: %q", wrong, w)
		}
		if strings.Contains(w, "has not converged") != wrong || wrong && !strings.Contains(w, "at T = 2.333") {
			t.Errorf("a wrong temperature: %v; warnings: %q", wrong, w)
		}
	}
}

// TestScanRises checks chains of Gibbs sweeps that freeze in a spin glass: their energies rise with β, and a
// warning names the remedy. Replicas that swap have no warning.
func TestScanRises(t *testing.T) {
	clitest.Isolate(t)
	for sampler, want := range map[string]string{"gibbs": "at β = 2 against 1.8: the mean energy rises with β by more than 4 standard errors; in equilibrium it falls (dE/dβ = −Var E), so the chains have not reached all states; try a longer run or pt", "pt": ""} {
		w := strings.Join(scanOf(t, "-lattice 6x6x6 -J pm1 -scan beta=1.4:2:4 -moves 3000 -sampler "+sampler).Warnings, "\n")
		if (want != "") != strings.Contains(w, "rises with β") || !strings.Contains(w, want) {
			t.Errorf("%s: warnings %q", sampler, w)
		}
	}
	p := scanPlan(t, "-lattice 4x4 -sampler pt -scan 2:3:2 -moves 2000")
	if err := p.sampleChains(context.Background(), metronome(clockInterval)); err != nil {
		t.Fatal(err)
	}
	for rise, want := range map[float64]bool{3.9: false, 4.1: true} {
		s := p.newScanResult()
		cold, hot := &s.rows[0][0], &s.rows[0][1]
		cold.Mean = hot.Mean + rise*math.Hypot(cold.StdErr, hot.StdErr)
		if w := strings.Join(s.warnings(), "\n"); strings.Contains(w, "at T = 2 against 3: the mean energy rises") != want {
			t.Errorf("a rise of %g standard errors: warnings %q", rise, w)
		}
	}
}

// TestScanCrossings checks that the Binder cumulants of two small lattices cross at the exact point, and that
// different systems are not compared.
func TestScanCrossings(t *testing.T) {
	clitest.Isolate(t)
	binder := func(lattice string) func(x float64) float64 {
		g := planOf(t, "-sampler gibbs -lattice "+lattice).graph
		return func(x float64) float64 { return exactPoint(g, 1/x, 0).Binder }
	}
	small, large := binder("3x3"), binder("4x4")
	low, high := 1.5, 2.8
	if small(low) > large(low) || small(high) < large(high) {
		t.Fatal("they do not cross in the scan")
	}
	for range 20 {
		if x := (low + high) / 2; small(x) < large(x) {
			low = x
		} else {
			high = x
		}
	}
	r := scanOf(t, "-lattice 3x3,4x4 -scan 1.5:2.8:6 -moves 40000")
	if len(r.Crossings) != 1 || len(r.Comparisons) != 0 {
		t.Fatalf("crossings %+v, want one at %v; comparisons of different systems %+v", r.Crossings, low, r.Comparisons)
	}
	if x := r.Crossings[0]; math.Abs(x.Temperature-low) > 4.5*x.StdErr || !(x.StdErr > 0 && x.StdErr < 0.05) {
		t.Errorf("the Binder cumulants cross at %v ± %v, want %v", x.Temperature, x.StdErr, low)
	}
}

// TestScanCrossingsOfSamplers checks that each of several samplers has a crossing.
func TestScanCrossingsOfSamplers(t *testing.T) {
	clitest.Isolate(t)
	r := scanOf(t, "-lattice 3x3,4x4 -sampler sw,pt -scan 1.5:2.8:6 -moves 20000")
	if len(r.Crossings) != 2 || r.Crossings[0].A != "3x3 sw" || r.Crossings[0].B != "4x4 sw" || r.Crossings[1].A != "3x3 pt" || r.Crossings[1].B != "4x4 pt" {
		t.Errorf("crossings %+v, want one of sw and one of pt", r.Crossings)
	}
}

// TestScanAnchor checks that log Z has no error at the hottest temperature, to which it is relative.
func TestScanAnchor(t *testing.T) {
	clitest.Isolate(t)
	s := scanOf(t, "-lattice 4x4 -sampler sw -scan beta=0:0.5:5 -moves 800").Samplers[0]
	if at := s.Curve[0]; *at.LogZ != 16*math.Ln2 || *at.LogZErr != 0 || !(*s.Curve[1].LogZErr > 0) {
		t.Errorf("log Z at β = 0 is %v ± %v, want 16 log 2 without an error; then ± %v", *at.LogZ, *at.LogZErr, *s.Curve[1].LogZErr)
	}
	s = scanOf(t, "-lattice 4x4 -sampler sw -scan 2:3.3:5 -moves 800").Samplers[0]
	if at := s.Curve[curvePoints-1]; *at.LogZAbove != 0 || *at.LogZAboveErr != 0 {
		t.Errorf("log Z at the hottest temperature is %v ± %v above itself, want 0 and 0", *at.LogZAbove, *at.LogZAboveErr)
	}
}

// TestScanPlacesTemperatures checks that with auto all neighbours accept about half of their swaps, while the same
// number of equally spaced temperatures does not. The temperatures depend only on the seed.
func TestScanPlacesTemperatures(t *testing.T) {
	clitest.Isolate(t)
	spread := func(s scanJSON) (low, high float64) {
		low, high = 1, 0
		for _, at := range s.Samplers[0].Scan {
			if at.Overlap != nil {
				low, high = min(low, *at.Overlap), max(high, *at.Overlap)
			}
		}
		return low, high
	}
	for _, system := range []string{"-lattice 12x12 -sampler sw", "-lattice 5x5x5 -J pm1 -sampler pt", "-lattice 12x12 -active 72 -sampler exchange"} {
		args := system + " -moves 1500 -scan beta=0.1:0.8:"
		auto := scanOf(t, args+"auto")
		n := len(auto.Samplers[0].Scan)
		low, high := spread(auto)
		// Half, with a standard error of 0.04 for each pilot run (see pilotMoves), for some ten pairs.
		if first, last := auto.Samplers[0].Scan[0].Beta, auto.Samplers[0].Scan[n-1].Beta; first != 0.1 || last != 0.8 || n < 5 || low < 0.3 || high > 0.75 {
			t.Errorf("%s: %d temperatures from β = %v to %v overlap by %v to %v", system, n, first, last, low, high)
		}
		if l, h := spread(scanOf(t, fmt.Sprint(args, n))); h-l < 1.5*(high-low) {
			t.Errorf("%s: %d equally spaced temperatures overlap by %v to %v, placed ones by %v to %v", system, n, l, h, low, high)
		}
		more := scanOf(t, strings.Replace(args, "-moves 1500", "-moves 100 -chains 2", 1)+"auto")
		for k, at := range more.Samplers[0].Scan {
			if len(more.Samplers[0].Scan) != n || at.Beta != auto.Samplers[0].Scan[k].Beta {
				t.Fatalf("%s: the temperatures depend on -moves", system)
			}
		}
	}
	// Several lattices have the same temperatures, and a larger lattice needs more of them.
	both := scanOf(t, "-lattice 4x4,12x12 -sampler sw -moves 1000 -scan beta=0.1:0.8:auto").Samplers
	if len(both[0].Scan) != len(both[1].Scan) || *both[0].Scan[1].Overlap < *both[1].Scan[1].Overlap {
		t.Errorf("two lattices: %+v", both)
	}
	// In any order, the larger lattice decides.
	if turned := scanOf(t, "-lattice 12x12,4x4 -sampler sw -moves 1000 -scan beta=0.1:0.8:auto").Samplers; len(turned[0].Scan) != len(both[0].Scan) {
		t.Errorf("%d temperatures for 12x12,4x4, want the %d for 4x4,12x12", len(turned[0].Scan), len(both[0].Scan))
	}
	isingmc.Fails(t, cli.Usage, strings.Fields("-lattice 4x4 -scan 2:2.00000001:auto"), "too close together to choose others between them; give N in place of auto")
	isingmc.Fails(t, cli.Usage, strings.Fields("-lattice 4x4 -scan beta=0:1e300:auto"), "too far apart to choose others between them; give a narrower range")
	p := scanPlan(t, "-lattice 4x4 -sampler pt -scan 2:3:auto -moves 500")
	if err := errors.Join(p.spaceScan(context.Background()), p.sampleChains(context.Background(), metronome(clockInterval))); err != nil {
		t.Fatal(err)
	}
	p.scan.capped = true
	if w := strings.Join(p.newScanResult().warnings(), "\n"); !strings.Contains(w, "must be more than 200 temperatures, the most that auto chooses; try -scan with a narrower range") {
		t.Errorf("warnings %q", w)
	}
}

// TestFrozenScan checks that for a system that never leaves its ground state, the only warning is that the run is too
// short. The advice names only samplers that apply: sw and wolff for ferromagnets, and samplers that fix the number of
// spins up if it is fixed.
func TestFrozenScan(t *testing.T) {
	clitest.Isolate(t)
	for args, want := range map[string]string{
		"-sampler gibbs":                  "; try a longer run, pt, sw or wolff",
		"-sampler sw":                     "; try a longer run, pt or wolff",
		"-sampler wolff:clusters=2":       "; try a longer run, pt or sw",
		"-sampler sw -J=-1":               "; try a longer run or pt",
		"-sampler exchange -active 32":    "; try a longer run or pt",
		"-sampler pt:exchange -active 32": "; try a longer run or -scan with more temperatures, or auto",
	} {
		w := scanOf(t, "-lattice 8x8 -scan 0.01:0.011:3 -moves 500 "+args).Warnings
		if len(w) != 1 || !strings.Contains(w[0], "independent values of it") || !strings.HasSuffix(w[0], want) {
			t.Errorf("%s: warnings %q, want one that ends in %q", args, w, want)
		}
	}
}

// TestScanWithoutOverlap checks the warnings about temperatures that are too far apart, for samplers that swap and
// others.
func TestScanWithoutOverlap(t *testing.T) {
	clitest.Isolate(t)
	for _, sampler := range []string{"sw", "pt", "ins"} {
		r := scanOf(t, "-lattice 16x16 -scan 1.5:4:3 -moves 400 -sampler "+sampler)
		w := strings.Join(r.Warnings, "\n")
		if !strings.Contains(w, "hardly overlap") || !strings.Contains(w, "try -scan with more temperatures, or auto") || !strings.Contains(w, "no curves between") {
			t.Errorf("%s: warnings %q", sampler, w)
		}
		if x := r.Samplers[0].Scan[0].Overlap; x == nil || *x > diag.LeastExchange || *x <= 0 {
			t.Errorf("%s: the overlap is %v", sampler, x)
		}
	}
}

// TestScanFiles writes the table, a picture and a report, and reads them.
func TestScanFiles(t *testing.T) {
	clitest.Isolate(t)
	args := strings.Fields("-lattice 4x4 -sampler sw,ins -scan beta=0:0.5:5 -moves 800")
	out := isingmc.OK(t, append(args, "-table", "scan.csv", "-out", "scan.png")...)
	for _, want := range []string{"4x4 periodic, J = 1: 16 spins, 32 bonds; 5 temperatures from β = 0 to 0.5", "800 moves each", "swaps with hotter", "round trips", "log Z = ", "comparisons"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	file, err := os.Open("scan.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) != 1+2*(5+curvePoints) {
		t.Fatalf("%d lines, %v, want %d", len(lines), err, 1+2*(5+curvePoints))
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	for _, line := range lines[1:] {
		beta, err := strconv.ParseFloat(line[at["beta"]], 64)
		if kind := line[at["kind"]]; err != nil || beta < 0 || beta > 0.5 || kind != "scan" && kind != "curve" || (line[at["log_z"]] != "") != (kind == "curve") || line[at["energy_per_spin"]] == "" {
			t.Fatalf("line %q", line)
		}
	}
	picture, err := os.Open("scan.png")
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if _, err := png.Decode(picture); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out, " ∞ ") || strings.Contains(out, "Inf") {
		t.Errorf("the temperature at β = 0 is not ∞:\n%s", out)
	}
	if !strings.Contains(out, " 0  ") || strings.Contains(out, " 0 ± ?") {
		t.Errorf("the specific heat at β = 0 is not 0:\n%s", out)
	}
	isingmc.OK(t, append(args, "-out", "scan.html")...)
	page, err := os.ReadFile("scan.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Binder cumulant", "log Z = ", "reweighted", "critical point", "-scan"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(string(page), ">inverse temperature<") || !strings.Contains(string(page), "stroke-dasharray=\"4 4\" stroke-dashoffset=\"4\"") {
		t.Error("the report has a single inverse temperature, or curves of two samplers that cover each other")
	}
}

// TestScanDeterminism checks that equal seeds give equal results at any GOMAXPROCS.
func TestScanDeterminism(t *testing.T) {
	clitest.Isolate(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first string
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		out := isingmc.OK(t, strings.Fields("-lattice 4x4,5x5 -J pm1 -sampler pt,ins:sardonics:k=1-3 -scan 1:3:5 -moves 500 -chains 2 -json")...)
		var r map[string]any
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		for _, s := range r["samplers"].([]any) {
			delete(s.(map[string]any), "seconds")
		}
		text := fmt.Sprint(r)
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("results depend on GOMAXPROCS: got %q, want %q", text, first)
		}
	}
}

// TestInfiniteSwapsCountStates checks that the weighted energies of ins count as states: their variance is that of
// the Boltzmann distribution, and the effective number is that of independent states.
func TestInfiniteSwapsCountStates(t *testing.T) {
	clitest.Isolate(t)
	r := result(t, "-lattice 4x3 -temperature 3 -sampler ins:replicas=4,pt:replicas=4 -moves 40000")
	want := exactPoint(planOf(t, "-lattice 4x3 -sampler gibbs").graph, 1./3, 0).Heat * 9 * 12
	for _, s := range r.Samplers {
		if got := *s.EnergyVariance; math.Abs(got/want-1) > 0.05 {
			t.Errorf("%s: the variance of the energy is %v, want %v", s.Sampler, got, want)
		}
		if *s.Effective/float64(s.Moves) < 0.1 || math.Abs(*s.EnergyVariance/(*s.Effective**s.EnergyStdErr**s.EnergyStdErr)-1) > 1e-9 {
			t.Errorf("%s: %v effective of %d moves with the error %v", s.Sampler, *s.Effective, s.Moves, *s.EnergyStdErr)
		}
	}
}

// TestLaddersInARace checks pt and ins, with samplers of every kind, against the exact mean energy.
func TestLaddersInARace(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		args   string
		active int
	}{
		{"-lattice 4x3 -J gaussian -field 0.3 -beta 1.5 -sampler pt,ins,pt:sw,ins:sardonics:k=1-4,pt:sardonics:k=auto,pt:replicas=3:hottest=1.5:wolff -moves 20000", 0},
		{"-lattice 4x3 -J pm1 -active 5 -sampler pt,ins:im:k=2 -moves 20000", 5},
	} {
		want := exactEnergy(t, c.args, c.active)
		for _, s := range result(t, c.args).Samplers {
			if z := (*s.EnergyMean - want) / *s.EnergyStdErr; math.Abs(z) > 4 {
				t.Errorf("%s, %s: mean energy %v ± %v, want %v", c.args, s.Sampler, *s.EnergyMean, *s.EnergyStdErr, want)
			}
		}
	}
	r := result(t, "-lattice 20x20 -beta 0.6 -sampler pt:replicas=2:hottest=4 -moves 200")
	if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "try more replicas or a lower hottest") {
		t.Errorf("neighbours that hardly exchange: warnings %q, want %q in it", w, "try more replicas or a lower hottest")
	}
}

// The slopes of each figure, from which errors follow, are its derivatives.
func TestSlopesOfFigures(t *testing.T) {
	mean := []float64{-1.7, 4.1, 0.6, 0.5, 0.45}
	const beta, n, step = 0.4, 16, 1e-6
	for _, f := range figures {
		_, slopes := f.from(beta, n, mean)
		for k := range mean {
			up, down := slices.Clone(mean), slices.Clone(mean)
			up[k] += step
			down[k] -= step
			high, _ := f.from(beta, n, up)
			low, _ := f.from(beta, n, down)
			if want := (high - low) / (2 * step); math.Abs(slopes[k]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: slope %d is %v, want %v", f.key, k, slopes[k], want)
			}
		}
	}
}

// The error of a crossing is that of the difference of both curves, divided by the slope of the difference.
func TestErrorOfACrossing(t *testing.T) {
	p := &plan{scan: &scan{inBeta: true}}
	line := func(at, slope, err float64) *curve {
		c := &curve{values: [][]estimate{nil}}
		for k := range 5 {
			beta := float64(4-k) / 4
			c.beta = append(c.beta, beta)
			c.values[0] = append(c.values[0], estimate{at + slope*beta, err})
		}
		return c
	}
	const want = 0.5 / 2 // hypot(0.3, 0.4), and slopes that differ by 2
	for _, c := range [][2]*curve{{line(0, 1, 0.3), line(0.9, -1, 0.4)}, {line(0, 1, 0.4), line(0.9, -1, 0.3)}} {
		if got := p.crossBetween(c[0], c[1], 0, 0, 4); math.Abs(got.mean-0.45) > 1e-12 || math.Abs(got.err-want) > 1e-12 {
			t.Errorf("the curves cross at %v ± %v, want 0.45 ± %v", got.mean, got.err, want)
		}
	}
}
