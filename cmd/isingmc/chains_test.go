package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/diag"
	"gorbm/rbm/ranks"
)

// ticking is isingmc with a new test clock in each call.
func ticking(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	return metronome(clockInterval).runRanks(ctx, g, args, stdout, stderr)
}

// Any number of ranks prints and writes the same as one process.
func TestRanks(t *testing.T) {
	clitest.Isolate(t)
	same := func(text string) string { return text }
	for _, args := range []string{
		"-lattice 6x6 -sampler gibbs -moves 600 -chains 7 -observables -overlap -states out.npz -keep 50 -trace out.csv",
		"-lattice 6x6 -sampler gibbs,sw -moves 500 -chains 3 -out out.png -json",
		"-lattice 6x6 -sampler sardonics:k=auto -moves 500 -chains 3 -overlap -json",
		"-lattice 2x2 -gap",
	} {
		clitest.EqualInRanks(t, "isingmc", ticking, same, strings.Fields(args)...)
	}
}

// Only rank 0 prints errors. A file of couplings may differ between machines.
func TestRanksFail(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "a.txt", "0 1 1\n1 2 0.5\n")
	clitest.Write(t, "b.txt", "0 1 1\n1 2 0.25\n")
	before := clitest.Tree(t, ".")
	for _, c := range []struct {
		args   string
		status int
		words  []string
	}{
		{"-chains 0", cli.Usage, []string{"-chains", "0"}},
		{"-gap -lattice 3x3 -chains 2", cli.Usage, []string{"-chains"}},
		{"-tune -sampler sardonics", cli.Usage, []string{"-tune works in one process", "-policy"}},
		{"-model none.npz", cli.Failed, []string{"none.npz"}},
	} {
		r := clitest.InRanks(t, context.Background(), "isingmc", ticking, 3, clitest.Same(strings.Fields(c.args)...))
		if r.Status != c.status || r.Stdout != "" {
			t.Errorf("%s: exits with %d, and prints %q", c.args, r.Status, r.Stdout)
		}
		isingmc.OneLine(t, r.Stderr, c.words...)
	}
	var of0 error
	ranks.Each(2, func(g *ranks.Group) error {
		err := ticking(context.Background(), g, []string{"-lattice", []string{"a.txt", "b.txt"}[g.Rank()], "-sampler", "gibbs", "-moves", "10"}, io.Discard, io.Discard)
		if g.Rank() == 0 {
			of0 = err
		}
		return nil
	})
	if of0 == nil || !strings.Contains(of0.Error(), "another system than rank 0") {
		t.Errorf("rank 0 says %v", of0)
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("files have changed.\nbefore:\n%safter:\n%s", before, after)
	}
}

// The first of several chains is equal to that of a run with one chain. Results use all chains.
func TestChains(t *testing.T) {
	clitest.Isolate(t)
	run := func(args string) (r jsonResult) {
		t.Helper()
		if err := json.Unmarshal([]byte(isingmc.OK(t, append(strings.Fields("-lattice 6x6 -sampler gibbs -moves 2000 -observables -json "+args), "-quiet")...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	one := run("-trace one.csv")
	many := run("-chains 9 -trace many.csv -states s.npz -keep 10")
	if many.Moves != 9*2000 || many.Chains != 9 || one.Chains != 0 || one.ChainsP != nil {
		t.Errorf("%d moves of %d chains; of one %d", many.Moves, many.Chains, one.Chains)
	}
	if z := (*one.EnergyMean - *many.EnergyMean) / math.Hypot(*one.EnergyStdErr, *many.EnergyStdErr); math.Abs(z) > 5 {
		t.Errorf("means %v and %v, %.1f standard errors apart", *one.EnergyMean, *many.EnergyMean, z)
	}
	// Nine times as many moves give a third of the error, which is known to some 20 % here.
	if ratio := *many.EnergyStdErr / *one.EnergyStdErr; ratio < 0.2 || ratio > 0.55 {
		t.Errorf("the error is %v of that of one chain", ratio)
	}
	if r := *many.SpecificHeatStdErr / *one.SpecificHeatStdErr; r < 0.15 || r > 0.7 {
		t.Errorf("that of the specific heat is %v of that of one chain", r)
	}
	if *many.ChainsP < diag.ChanceOfMany {
		t.Errorf("p = %v", *many.ChainsP)
	}
	if len(many.Warnings) > 0 && strings.Contains(strings.Join(many.Warnings, " "), "chains differ") {
		t.Errorf("%q", many.Warnings)
	}
	alone, all := strings.Split(clitest.Read(t, "one.csv"), "\n"), strings.Split(clitest.Read(t, "many.csv"), "\n")
	if len(all) != 9*(len(alone)-2)+2 || !strings.HasPrefix(all[700], alone[700]) || !strings.HasSuffix(all[700], ",0") || !strings.HasSuffix(all[len(all)-2], ",8") {
		t.Errorf("the table has %d lines, of one chain %d", len(all), len(alone))
	}
	s := readNPZ(t, "s.npz")
	if n := len(s["energy"]); n != 9*7 || len(s["chain"]) != n || len(s["x"]) != 36*n || s["chain"][6] != 0 || s["chain"][7] != 1 || s["chain"][n-1] != 8 || s["move"][0] != s["move"][7] || s["energy"][3] == s["energy"][10] && s["energy"][4] == s["energy"][11] && s["energy"][5] == s["energy"][12] {
		t.Errorf("%d states, chains %v", n, s["chain"])
	}
}

// Several series of one distribution give the same summary as a single series. Series that differ have a warning.
func TestPool(t *testing.T) {
	parts := []diag.Summary{
		{N: 100, Mean: 1, StdErr: 0.1, Variance: 1, Time: diag.Time{Tau: 2, StdErr: 0.3}, Effective: 25},
		{N: 300, Mean: 2, StdErr: 0.2, Variance: 3, Time: diag.Time{Tau: 4, StdErr: 0.1}, Effective: 37.5},
	}
	got := pool(parts)
	want := diag.Summary{N: 400, Mean: 1.75, StdErr: math.Hypot(0.025, 0.15), Variance: 0.25*(1+0.5625) + 0.75*(3+0.0625), Time: diag.Time{Tau: 3.5, StdErr: math.Hypot(0.075, 0.075)}, Effective: 62.5}
	for _, x := range [][2]float64{{got.Mean, want.Mean}, {got.StdErr, want.StdErr}, {got.Variance, want.Variance}, {got.Time.Tau, want.Time.Tau}, {got.Time.StdErr, want.Time.StdErr}, {got.Effective, want.Effective}} {
		if math.Abs(x[0]-x[1]) > 1e-12 {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
	series := func(mean float64) *measured {
		m := &measured{Trace: diag.NewTrace(1 << 10)}
		for i := range 500 {
			m.Trace.Add(mean + math.Sin(float64(i*i)))
		}
		return m
	}
	near, far := row{runs: []*measured{series(0), series(0.01), series(-0.01)}}, row{runs: []*measured{series(0), series(0.5), series(-0.5)}}
	far.contestant = &contestant{name: "x"}
	if p := near.agreement(); p < 0.5 {
		t.Errorf("chains that agree: p = %v", p)
	}
	if !diag.Has(far.chainsWarning(), diag.ChainsDiffer) {
		t.Errorf("chains that differ: p = %v", far.agreement())
	}
}
