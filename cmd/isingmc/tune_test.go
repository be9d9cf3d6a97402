package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/tune"
)

const tuneArgs = "-lattice 4x4x4 -J pm1 -beta 0.6 -moves 500 "

// tunedResult runs the command with -json and returns its output without times.
func tunedResult(t *testing.T, args string) (r jsonResult) {
	t.Helper()
	r = result(t, args)
	if r.SamplerResult == nil || len(r.Samplers) != 1 {
		t.Fatalf("%s: %d samplers, none at the top level", args, len(r.Samplers))
	}
	return r
}

// TestTune checks that equal seeds give equal policies and moves, that the keys of a single
// sampler are at the top level, and that the saved policy gives the same results.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	const flags = tuneArgs + "-tune=evaluations=20:moves=20:kernels=4"
	a := tunedResult(t, flags+" -policy a.json")
	b := tunedResult(t, flags)
	if *a.EnergyMean != *b.EnergyMean || a.Policy.Best != b.Policy.Best || a.Policy.Kernels != 4 || b.Policy.Kernels != 4 || a.Evaluations != 20 || b.Evaluations != 20 || a.TuneSeconds == 0 {
		t.Errorf("%+v\nand %+v", a, b)
	}
	if other := tunedResult(t, flags+" -seed 2"); other.Policy.Best == a.Policy.Best && *other.EnergyMean == *a.EnergyMean {
		t.Error("another seed tunes alike")
	}
	loaded := tunedResult(t, "-lattice 4x4x4 -J pm1 -beta 0.6 -moves 500 -policy a.json")
	if loaded.Policy.Best != a.Policy.Best || loaded.Evaluations != 0 || loaded.Sampler != "sardonics by policy" {
		t.Errorf("loads %+v", loaded.Policy)
	}
}

// TestPolicyIsKept checks that the policy is in its file before sampling begins, which may
// be stopped.
func TestPolicyIsKept(t *testing.T) {
	clitest.Isolate(t)
	o := newOptions()
	if err := o.flags.Parse(strings.Fields(tuneArgs+"-tune=evaluations=8:moves=10:kernels=2 -policy a.json -quiet"), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.tuneSampler(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("a.json"); err != nil {
		t.Error(err)
	}
}

// TestTunePicture checks that -out draws a picture, and shows the settings before tuning separately.
func TestTunePicture(t *testing.T) {
	clitest.Isolate(t)
	r := tunedResult(t, tuneArgs+"-sampler sardonics:walks=1 -tune=evaluations=8:moves=20 -out x.png")
	if len(r.References) != 1 || !strings.HasSuffix(r.References[0].Sampler, "untuned") {
		t.Errorf("%+v", r.References)
	}
	data, err := os.ReadFile("x.png")
	if err != nil || len(data) < 1000 {
		t.Errorf("%v, %d bytes", err, len(data))
	}
	out := isingmc.OK(t, strings.Fields(tuneArgs+"-tune=paper:evaluations=17:moves=10")...)
	for _, want := range []string{"Tuned in", "by 17 trials", "one of 1000 kernels", "k_l "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}

func TestBadTuning(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "there.json", "mine")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-tune=papre", []string{"-tune", `"papre"`, "did you mean paper?"}},
		{"-tune=paper:evaluations=0", []string{"-tune", "evaluations is 0"}},
		{"-tune=paper:moves=1", []string{"-tune", "moves is 1"}},
		{"-tune=paper:seconds=3", []string{"-tune", "paper has no setting", "seconds"}},
		{"-tune=k=9-3", []string{"-tune", "k=9-3"}},
		{"-tune=k=5-5", []string{"-tune", "2 lengths"}},
		{"-tune=k=2000-3000", []string{"-tune", "room for 64 flips"}},
		{"-tune=kernels=3:kernels=4", []string{"-tune", "kernels is given twice"}},
		{"-tune=paper:kernels", []string{"-tune", `"kernels" is not of the form key=value`}},
		{"-tune=kernals=4", []string{"-tune", "paper has no setting", "did you mean kernels?", "it has evaluations, k, kernels, moves"}},
		{"-tune=k=x", []string{"-tune", "k", "two numbers"}},
		{"-tune -sampler gibbs", []string{"-tune", "gibbs", "no numbers to tune"}},
		{"-tune -sampler sardonics:k=1-5:gamma=1:walks=1:mix=1/0/0", []string{"-tune", "nothing is left"}},
		{"-tune -sampler sardonics,sardonics:walks=2", []string{"-tune", "two samplers"}},
		{"-tune -gap -lattice 2x2", []string{"-gap", "-gap, which runs no chain"}},
		{"-tune -policy x.txt", []string{"-policy", ".json"}},
		{"-tune -out x.png -sampler sardonics,gibbs,gibbs,gibbs,gibbs,gibbs", []string{"-sampler names 6", "at most 5"}},
		{"-policy p.json -sampler gibbs,sw", []string{"-policy", "is for sardonics"}},
	} {
		args := "-lattice 4x4x4 -moves 9 " + c.args
		if strings.Contains(c.args, "-lattice") {
			args = c.args
		}
		isingmc.Fails(t, cli.Usage, strings.Fields(args), c.want...)
	}
	isingmc.Fails(t, cli.Failed, strings.Fields("-lattice 4x4x4 -tune -policy there.json"), "-policy", "there already")
}

// TestMeansOfPolicies checks that kernels with one bias have P_LL of 1, that kernels of single walks
// have none, and that γ_H is the mean over the kernels that have it.
func TestMeansOfPolicies(t *testing.T) {
	for _, c := range []struct {
		kernels []string
		want    map[string]float64
	}{
		{[]string{"k=1-3:gamma=1:walks=2:mix=1/0/0", "k=1-5:gamma=1.5/2:walks=4:mix=1/2/1", "k=2-7:gamma=2:walks=single"},
			map[string]float64{"k_l": 4. / 3, "k_u": 5, "gamma_l": 1.5, "gamma_h": 2, "p_ll": 5. / 8, "p_hl": 1. / 4, "p_lh": 1. / 8, "n": 3, "single": 1. / 3}},
		{[]string{"k=1-3:gamma=1:walks=2:mix=1/0/0"}, map[string]float64{"k_l": 1, "k_u": 3, "gamma_l": 1, "n": 2}},
	} {
		p := &tune.Policy{Sampler: "sardonics"}
		for _, k := range c.kernels {
			p.Kernels = append(p.Kernels, "sardonics:"+k)
		}
		got := means(p)
		if len(got) != len(c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
		for name, x := range c.want {
			if math.Abs(got[name]-x) > 1e-12 {
				t.Errorf("%s is %v, want %v", name, got[name], x)
			}
		}
	}
}

// TestBadPolicies checks files that do not fit: status 1.
func TestBadPolicies(t *testing.T) {
	clitest.Isolate(t)
	isingmc.OK(t, strings.Fields("-lattice 4x4x4 -moves 9 -tune=evaluations=4:moves=10:kernels=2 -policy p.json -quiet")...)
	data, err := os.ReadFile("p.json")
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	// The temperature may differ, with a warning.
	if r := result(t, "-lattice 4x4x4 -moves 9 -policy p.json"); strings.Contains(strings.Join(r.Warnings, ""), "was learned at") {
		t.Errorf("warns of the same temperature: %q", r.Warnings)
	}
	if r := result(t, "-lattice 4x4x4 -beta 0.4 -moves 9 -policy p.json"); !strings.Contains(strings.Join(r.Warnings, ""), "p.json was learned at β = 0.440529 and is used at 0.4;") {
		t.Errorf("warns %q", r.Warnings)
	}
	clitest.Write(t, "cut.json", string(data[:50]))
	clitest.Write(t, "other.json", `{"a": 1}`)
	for args, want := range map[string][]string{
		"-lattice 5x5x5 -policy p.json":     {"-policy", "p.json", "64 units", "125"},
		"-lattice 4x4x4 -policy cut.json":   {"-policy", "cut.json", "no policy"},
		"-lattice 4x4x4 -policy other.json": {"-policy", "other.json", "no policy"},
		"-lattice 4x4x4 -policy gone.json":  {"-policy", "gone.json"},
	} {
		isingmc.Fails(t, cli.Failed, strings.Fields(args), want...)
	}
	isingmc.Fails(t, cli.Usage, strings.Fields("-lattice 4x4x4 -policy p.json -sampler sardonics:k=1-3"), "-policy", "k=1-3")
}

// TestWalksStartRelaxed checks that long walks with settings for β are accepted from the first
// move on. From a random start none is.
func TestWalksStartRelaxed(t *testing.T) {
	clitest.Isolate(t)
	r := result(t, "-lattice 40x40 -J pm1 -beta 1 -sampler sardonics:k=63-91:gamma=1.04/1.082:walks=3:mix=.208/.674/.119 -moves 50 -burn 0")
	if a := r.Acceptance; a == nil || *a < 0.3 {
		t.Errorf("accepts %v of its moves", a)
	}
}
