package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

func load(t *testing.T, spec string) *data.Set {
	t.Helper()
	set, _, err := data.Load(context.Background(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestBadInput(t *testing.T) {
	isolate(t)
	clitest.Save(t, "large.npz", clitest.Model(40, 40, 0, rbm.Softmax), modelfile.About{})
	spoilt := clitest.Model(8, 5, 0, rbm.Softmax)
	spoilt.HiddenBias[1] = 2e4
	clitest.Save(t, "huge.npz", spoilt, modelfile.About{})
	for path, content := range map[string]string{
		"there":                           "a file",
		"words.safetensors":               "not a model",
		"empty/models/.keep":              "",
		"other/models/best.safetensors":   "named by no step",
		"torn/models/0000001.safetensors": "not a model",
	} {
		clitest.Write(t, path, content)
	}
	constrained := clitest.Model(8, 5, 0, rbm.Softmax)
	constrained.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	for run, second := range map[string]*rbm.RBM{"mixed": clitest.Model(8, 6, 0, rbm.Softmax), "kinds": clitest.Model(8, 5, 2, rbm.Bernoulli), "bound": constrained} {
		if err := os.MkdirAll(run+"/models", 0o755); err != nil {
			t.Fatal(err)
		}
		first := clitest.Model(8, 5, second.Classes(), rbm.Softmax)
		clitest.Save(t, run+"/models/0000001.safetensors", first, modelfile.About{})
		clitest.Save(t, run+"/models/0000002.safetensors", second, modelfile.About{})
	}
	const s = "-model softmax.safetensors "
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		// The models.
		{cli.Usage, "", []string{"-model and -run are missing"}},
		{cli.Usage, s + "-run run", []string{"-model and -run exclude each other"}},
		{cli.Failed, "-model nothing.npz", []string{"nothing.npz does not exist"}},
		{cli.Failed, "-model words.safetensors", []string{"words.safetensors", "not a safetensors file"}},
		{cli.Failed, "-model huge.npz", []string{"huge.npz", "hidden_bias[1] is 20000"}},
		{cli.Usage, s + "-classes 4", []string{"-classes and -labels"}},
		{cli.Usage, "-run run -classes 4", []string{"-classes and -labels", "snapshots"}},
		{cli.Failed, "-run nothing", []string{"-run", "there is no folder nothing", "-snapshots above 0"}},
		{cli.Failed, "-run empty", []string{"-run", "empty/models holds no snapshots"}},
		{cli.Failed, "-run other", []string{"best.safetensors is not named by a step"}},
		{cli.Failed, "-run torn", []string{"0000001.safetensors", "not a safetensors file"}},
		{cli.Failed, "-run mixed", []string{"0000002.safetensors has other units than", "0000001.safetensors"}},
		{cli.Failed, "-run kinds", []string{"0000002.safetensors has other units than", "0000001.safetensors"}},
		{cli.Failed, "-run bound", []string{"0000002.safetensors has another constraint", "0000001.safetensors"}},
		// The estimators.
		{cli.Usage, s + "-negphase pdc", []string{"-negphase", `"pdc"`, "did you mean pcd?"}},
		{cli.Usage, s + "-negphase pcd,,pt", []string{"-negphase", `unknown negative phase ""`}},
		{cli.Usage, s + "-negphase pcd,pcd:k=1", []string{"pcd and pcd:k=1 are the same"}},
		{cli.Usage, s + "-negphase pcd,cd", []string{"-negphase: cd starts at the data", "there is no -data; give it"}},
		{cli.Usage, s + "-negphase pcd:start=data", []string{"pcd:start=data starts at the data", "there is no -data; give it"}},
		{cli.Usage, s + "-negphase pt:tau=2/3", []string{"-negphase", "first must be 1"}},
		{cli.Usage, "-model large.npz -chains 1000000 -negphase pt:tau=1/2/inf:sardonics", []string{"-negphase", "units to move", "at most 67108864"}},
		{cli.Usage, "-model large.npz -chains 1000000 -negphase pt:tau=1/2/3/4/5/6/7/8/9/10/11/12/13/14", []string{"-negphase", "makes 560000000 hidden states", "at most 536870912"}},
		{cli.Failed, "-model large.npz -negphase exact -reference pcd -reference-steps 2", []string{"exact", "2^40 states", "2^18"}},
		{cli.Usage, s + "-reference cd", []string{"-reference is cd", "starts uniformly"}},
		{cli.Usage, s + "-reference exact", []string{"-reference is exact"}},
		{cli.Usage, s + "-reference pt:tau=3", []string{"-reference", "at least two"}},
		// The data.
		{cli.Usage, s + "-data toyy", []string{"-data", "did you mean toy?"}},
		{cli.Failed, s + "-data toy:8,4,5,0.2", []string{"softmax.safetensors does not fit the data", "8 inputs", "have 12"}},
		{cli.Failed, s + "-data missing.csv", []string{"missing.csv", "does not exist"}},
		// Numbers.
		{cli.Usage, s + "-steps 0", []string{"-steps is 0", "1 … "}},
		{cli.Usage, s + "-repeats 0", []string{"-repeats is 0"}},
		{cli.Usage, s + "-repeats 2000000", []string{"-repeats is 2000000", "1048576"}},
		{cli.Usage, s + "-chains 0", []string{"-chains is 0"}},
		{cli.Usage, s + "-batch 0", []string{"-batch is 0"}},
		{cli.Usage, s + "-workers -1", []string{"-workers is -1"}},
		{cli.Usage, s + "-reference-steps 1", []string{"-reference-steps is 1"}},
		{cli.Usage, s + "-seed -1", []string{`"-1" for flag -seed`}},
		// Files and the command line.
		{cli.Failed, s + "-out there", []string{"-out", "there is there already"}},
		{cli.Usage, s + "-out x.png", []string{"-out", "x.png", "folder", "curves.csv"}},
		{cli.Usage, s + "-out x.SVG", []string{"-out", "x.SVG", "folder"}},
		{cli.Usage, s + "-pictures pdf", []string{"-pictures is for -out"}},
		{cli.Failed, s + "-out no/where", []string{"-out", "no folder no"}},
		{cli.Usage, "-modle x", []string{"-modle", "did you mean -model?"}},
		{cli.Usage, "softmax.safetensors", []string{`unexpected argument "softmax.safetensors"`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmcompare.Fails(t, c.status, strings.Fields(c.args), c.want...)
		})
	}
}

// When the context ends, the command prints and writes the completed part, and the error says how much
// that is.
func TestInterrupted(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := rbmcompare.CallContext(ctx, "-model", "softmax.safetensors", "-out", "out")
	if r.Status != cli.Failed || r.Stdout != "" {
		t.Errorf("exits with %d and prints %q, want %d and nothing", r.Status, r.Stdout, cli.Failed)
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a folder without results")
	}
	// The context ends within the first model, after some repeats.
	r = rbmcompare.CallContext(&countdown{context.Background(), 100}, "-run", "run", "-negphase", "pcd,pt", "-steps", "20", "-repeats", "10", "-out", "out")
	if r.Status != cli.Failed {
		t.Errorf("exits with %d, want %d", r.Status, cli.Failed)
	}
	rbmcompare.OneLine(t, r.Stderr, "stopped early: 1 of 3 models", "after 2 of 10 repeats")
	if !strings.Contains(r.Stdout, "pcd") || !strings.Contains(clitest.Read(t, "out/curves.csv"), "pcd") {
		t.Errorf("prints %q", r.Stdout)
	}
	inked(t, "out/curves-0000001.png")
}

// A countdown is a context that is cancelled after a number of calls to Err.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left == 0 {
		return context.Canceled
	}
	c.left--
	return nil
}
