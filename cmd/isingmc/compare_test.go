package main

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/diag"
)

// sampled runs a command line and returns its rows. breaks may change the samplers first.
func sampled(t *testing.T, args string, breaks func(p *plan)) (*plan, []row) {
	t.Helper()
	o := newOptions()
	if err := o.flags.Parse(strings.Fields(args), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	if breaks != nil {
		breaks(p)
	}
	if err := p.sample(context.Background(), p.contestants, metronome(clockInterval), 0, 1); err != nil {
		t.Fatal(err)
	}
	run := make([]*measured, len(p.contestants))
	for i, c := range p.contestants {
		run[i] = &c.measured
	}
	return p, newRows(p.contestants, [][]*measured{run})
}

// TestAllObservablesAreCompared checks that a wrong temperature of the second replica is found: its
// energies are right, and its overlap is wrong.
func TestAllObservablesAreCompared(t *testing.T) {
	const args = "-lattice 4x4 -sampler gibbs,sw -moves 20000 -overlap -observables"
	for _, wrong := range []bool{false, true} {
		p, rows := sampled(t, args, func(p *plan) {
			if !wrong {
				return
			}
			twin := p.contestants[1].twin
			chain, err := p.movers[1].Bind(twin.system, 0.8*p.beta, nil)
			if err != nil {
				t.Fatal(err)
			}
			twin.chain = chain
		})
		c := compare(rows, p.symmetric)
		if len(c.differences) != 9 || len(c.what) != 9 {
			t.Errorf("%d differences in %q, want 9: energy, specific heat, |m|, m², its Binder cumulant, susceptibility, |q|, q² and its", len(c.differences), c.what)
		}
		w := strings.Join(p.warnings(rows), "\n")
		if strings.Contains(w, "has not converged") != wrong || strings.Contains(w, "q²") != wrong || strings.Contains(w, "energies of") {
			t.Errorf("twin wrong: %v; warnings: %q", wrong, w)
		}
		if agree := strings.Join(p.conclusions(rows), "\n"); strings.Contains(agree, "All observables agree") == wrong {
			t.Errorf("twin wrong: %v; conclusions: %q", wrong, agree)
		}
	}
}

// TestChanceOfDifferences checks that for correct samplers the smallest p of all comparisons is
// below 0.1 with a probability of at most 0.1.
func TestChanceOfDifferences(t *testing.T) {
	const runs, level = 45, 0.1
	small := 0
	for seed := range runs {
		p, rows := sampled(t, "-lattice 3x3 -sampler gibbs,sw,wolff:clusters=2 -moves 1200 -observables -seed "+strings.Repeat("1", 1+seed%9)+string(rune('0'+seed/9)), nil)
		c := compare(rows, p.symmetric)
		if c.chance(c.differences[0]) < level {
			small++
		}
	}
	if most := runs*level + 4*math.Sqrt(runs*level*(1-level)); float64(small) > most {
		t.Errorf("p is below %v in %d of %d runs, want at most %.0f", level, small, runs, most)
	}
}

// TestHardlyAgree checks samplers whose largest difference is 4.4 standard errors: they agree in 3,000 comparisons, hardly
// agree in 372, and disagree in a single one.
func TestHardlyAgree(t *testing.T) {
	for _, c := range []struct {
		z                 float64
		n, what           int
		agreement, warned string
	}{
		{4.4, 3000, 2, "All observables agree: the farthest apart, m² of gibbs and sw, differ by 4.4 standard errors (p = 0.0325 in 3000 comparisons).", ""},
		{4.4, 372, 2, "The samplers hardly agree: the farthest apart, m² of gibbs and sw, differ by 4.4 standard errors (p = 0.00403 in 372 comparisons); run longer to tell.", ""},
		{4.4, 1, 2, "", "m² of gibbs and sw differ by 4.4 standard errors"},
		{2.5, 1, 1, "The mean energies agree: gibbs and sw, the farthest apart, differ by 2.5 standard errors (p = 0.0124).", ""},
		{2.6, 1, 1, "The samplers hardly agree: the farthest apart, m² of gibbs and sw, differ by 2.6 standard errors (p = 0.00932); run longer to tell.", ""},
	} {
		all := comparison{differences: make([]difference, c.n), what: make([]string, c.what)}
		all.differences[0] = difference{"gibbs", "sw", "m²", c.z}
		if got := strings.Join(all.agreement(), "\n"); got != c.agreement {
			t.Errorf("%v in %d comparisons: %q, want %q", c.z, c.n, got, c.agreement)
		}
		if got := strings.Join(cli.Sentences(all.warning()), "\n"); !strings.HasPrefix(got, c.warned) || (got == "") != (c.warned == "") {
			t.Errorf("%v in %d comparisons: the warning is %q, want %q", c.z, c.n, got, c.warned)
		}
	}
}

// TestShortRunsMeasureNoTau checks that only a trusted τ is a number with an error bar.
func TestShortRunsMeasureNoTau(t *testing.T) {
	clitest.Isolate(t)
	trusted := diag.Summary{N: 1000, Variance: 1, StdErr: 0.1, Time: diag.Time{Tau: 4, StdErr: 0.5}, Effective: 125}
	short, slow, unsettled, constant := trusted, trusted, trusted, trusted
	short.Time.Tau, short.Effective = 40, 12.5
	slow.Slow = true
	unsettled.Time.StdErr = math.Inf(1)
	constant.Time, constant.Effective = diag.Time{Tau: math.Inf(1), StdErr: math.Inf(1)}, 0
	for _, c := range []struct {
		of   diag.Summary
		want string
	}{{trusted, "4.00 ± 0.50"}, {short, "> 20"}, {slow, "> 2"}, {unsettled, "> 2"}, {constant, "not measured"}, {diag.Summary{Time: diag.Time{Tau: math.NaN()}}, "not measured"}} {
		if got := tauText(c.of, 1); got != c.want {
			t.Errorf("%+v: τ is %q, want %q", c.of, got, c.want)
		}
	}
	r := result(t, "-lattice 16x16 -sampler gibbs -moves 60")
	if r.TauIntStdErr != nil || r.TauIntAbove == nil || *r.TauIntAbove <= 0 {
		t.Errorf("60 moves near the critical point: τ has the error %v and the bound %v", r.TauIntStdErr, r.TauIntAbove)
	}
}

// A sampler whose own chains differ is not called the fastest, nor compared with others.
func TestUnmixedSamplersAreNotTheFastest(t *testing.T) {
	p, rows := sampled(t, "-lattice 4x4 -sampler metropolis,gibbs,sw -moves 20000", nil)
	const fastest = "gives the most independent energies per second"
	if lines := strings.Join(p.conclusions(rows), "\n"); !strings.Contains(lines, fastest) || strings.Count(lines, "metropolis") == 0 {
		t.Errorf("three samplers: %s", lines)
	}
	_, hot := sampled(t, "-lattice 4x4 -sampler metropolis,gibbs,sw -moves 20000 -beta 0.1", nil)
	rows[0].runs = append(rows[0].runs, hot[0].runs[0]) // a chain of another temperature
	if rows[0].chainsWarning() == nil {
		t.Fatal("chains of two temperatures agree: nothing is tested")
	}
	lines := p.conclusions(rows)
	if last := lines[len(lines)-1]; !strings.Contains(last, fastest) || strings.Contains(last, "metropolis") {
		t.Errorf("the chains of metropolis differ: %s", last)
	}
	if lines := strings.Join(p.conclusions(rows[:2]), "\n"); strings.Contains(lines, fastest) {
		t.Errorf("the chains of one of two samplers differ: %s", lines)
	}
}
