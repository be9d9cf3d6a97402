package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// What -preset auto chooses by the data, what flags override, and that a preset
// by name gives the same.
func TestPresets(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "five.csv", strings.Repeat("0,1,1\n1,0,1\n", 3)[:30])
	wide := strings.Repeat("0,1,", manyInputs/2-1) + "0,"
	clitest.Write(t, "wide.csv", strings.Repeat(wide+"1\n"+wide+"0\n", 20))
	header := strings.Repeat("x,", manyInputs) + "label\n"
	clitest.Write(t, "labelled.csv", header+strings.Repeat(wide+"1,a\n"+wide+"0,b\n", 20))
	for _, c := range []struct {
		name, args, preset string
		want               []string
	}{
		{"labelled", "-data labelled.csv", "classifier", []string{"tau=reach/5", "chains=10", "rate 0.1 linear", "batch 20", "48000 steps", "softmax"}},
		{"unlabelled", "-data labelled.csv -labels none", "generative", []string{"tau=reach/5", "chains=40", "rate 0.2 cosine, center 0.01, batch 40, 10000 steps"}},
		{"without labels", "-data wide.csv", "generative", []string{"rate 0.2 cosine, center 0.01"}},
		{"small", "-data " + clitest.Toy, "small", []string{"rate 0.1 linear", "tau=reach/5"}},
		{"small, unlabelled", "-data bars:3", "small", []string{"rate 0.1 linear"}},
		{"few rows", "-data five.csv", "small", []string{"batch 5,"}},
		{"flags", "-data labelled.csv -rate 0.3 -schedule cosine -batch 7 -chains 3 -steps 11", "classifier", []string{"rate 0.3 cosine", "batch 7,", "chains=3", " 11 steps"}},
		{"grammar", "-data labelled.csv -negphase ins:tau=1/2:chains=4", "classifier", []string{"tau=1/2,", "chains=4"}},
		{"pcd", "-data labelled.csv -negphase pcd", "classifier", []string{"chains=50"}},
		{"sardonics", "-data labelled.csv -negphase sardonics:k=1-2", "classifier", []string{"chains=50"}},
		{"pt with a sampler", "-data labelled.csv -negphase pt:im:k=1-2", "classifier", []string{"chains=10"}},
		{"paper", "-data labelled.csv -preset ins-paper", "ins-paper", []string{"tau=1/2/3/4/5", "chains=10", "rate 0.1, batch 10, 10000 steps", "bernoulli"}},
		{"paper, unlabelled", "-data bars:3 -preset ins-paper", "ins-paper", []string{"tau=1/2/3/4/5"}},
		{"paper, other labels", "-data labelled.csv -preset ins-paper -labels softmax", "ins-paper", []string{"softmax"}},
	} {
		args := append(strings.Fields(c.args), "-hidden", "4", "-dry-run")
		out := unforecast(rbmtrain.OK(t, args...))
		for _, want := range c.want {
			if !strings.Contains(strings.ReplaceAll(out, "\n", " "), want) {
				t.Errorf("%s: %q is not in %s", c.name, want, out)
			}
		}
		var config config
		if err := json.Unmarshal([]byte(rbmtrain.OK(t, append(args, "-json")...)), &config); err != nil {
			t.Fatal(err)
		}
		if config.Preset.Name != c.preset {
			t.Errorf("%s: the preset is %s", c.name, config.Preset.Name)
		}
		if !strings.Contains(c.args, "-preset") {
			if named := unforecast(rbmtrain.OK(t, append(args, "-preset", c.preset)...)); named != out {
				t.Errorf("%s: -preset %s says %s, and auto %s", c.name, c.preset, named, out)
			}
		}
	}
	rbmtrain.Fails(t, cli.Usage, []string{"-preset", "clasifier"}, "-preset", `"clasifier"`, "did you mean classifier?")
	help := rbmtrain.OK(t, "-preset", "help")
	for _, p := range presets {
		if !strings.Contains(help, "\n"+p.name+": ") {
			t.Errorf("-preset help lacks %s", p.name)
		}
	}
}

// A run keeps the values of its preset in config.json, and goes on with them; a run
// that is older than presets goes on with the defaults of its time.
func TestResumeKeepsThePreset(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	config := func(dir string) (c map[string]json.RawMessage) {
		if err := json.Unmarshal([]byte(clitest.Read(t, filepath.Join(dir, rundir.ConfigFile))), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	rewrite := func(dir string, c map[string]json.RawMessage) {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, rundir.ConfigFile), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-data", clitest.Toy, "-hidden", "4", "-quiet", "-snapshots", "0", "-eval-every", "10"}
	rbmtrain.OK(t, append(args, "-steps", "40", "-schedule", "constant", "-out", "run")...)
	rbmtrain.OK(t, append(args, "-steps", "80", "-schedule", "constant", "-out", "whole")...)
	kept := presets
	defer func() { presets = kept }()
	presets = []preset{{name: "classifier", flags: []setting{{flag: "rate", value: "7"}, {flag: "temperatures", value: "1,9"}}}}
	rbmtrain.OK(t, "-resume", "run", "-steps", "80", "-quiet")
	sameRuns(t, "run", "whole")
	presets = kept
	var command []string
	if err := json.Unmarshal(config("run")["command"], &command); err != nil || slices.Contains(command, "-resume") || !slices.Contains(command, "-schedule") {
		t.Errorf("the command line that began the run is %v, %v", command, err)
	}

	paper := append(args, "-preset", "ins-paper", "-labels", "softmax", "-batch", "7", "-chains", "7")
	rbmtrain.OK(t, append(paper, "-steps", "40", "-out", "old")...)
	rbmtrain.OK(t, append(paper, "-steps", "80", "-out", "oldwhole")...)
	c := config("old")
	delete(c, "preset")
	var flags map[string]string
	if err := json.Unmarshal(c["flags"], &flags); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(flags, func(name, _ string) bool { return name == "chains" }) // then as many as rows in a batch
	c["flags"], _ = json.Marshal(flags)
	rewrite("old", c)
	rbmtrain.OK(t, "-resume", "old", "-steps", "80", "-quiet")
	if clitest.Read(t, "old/"+rundir.ModelFile) != clitest.Read(t, "oldwhole/"+rundir.ModelFile) {
		t.Error("a run without a preset goes on otherwise")
	}
}

// A schedule that ends with the run is stretched by -resume with more steps, and
// that is said.
func TestStretchedScheduleIsSaid(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	for _, c := range []struct {
		schedule string
		said     bool
	}{{"linear", true}, {"cosine", true}, {"inverse", true}, {"inverse:50", false}, {"constant", false}} {
		rbmtrain.OK(t, "-data", clitest.Toy, "-hidden", "4", "-steps", "40", "-schedule", c.schedule, "-negphase", "cd", "-metrics", "none", "-quiet", "-out", "run", "-force")
		r := rbmtrain.Call("-resume", "run", "-steps", "80", "-quiet")
		if r.Status != 0 || strings.Contains(r.Stderr, "was to end at step 40 and now ends at step 80") != c.said {
			t.Errorf("%s: %d, %s", c.schedule, r.Status, r.Stderr)
		}
	}
}

// A run goes on with the metrics that it has, although auto may stand for more by
// now than when it began.
func TestResumeKeepsTheMetrics(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-metrics", "classification", "-quiet", "-out", "run")...)
	file := filepath.Join("run", rundir.ConfigFile)
	text := clitest.Read(t, file)
	if err := os.WriteFile(file, []byte(strings.Replace(text, `"metrics": "classification"`, `"metrics": "auto"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if clitest.Read(t, file) == text {
		t.Fatal("config.json does not say -metrics")
	}
	before := table(t, filepath.Join("run", rundir.MetricsFile))
	rbmtrain.OK(t, "-resume", "run", "-steps", "120", "-quiet")
	after := table(t, filepath.Join("run", rundir.MetricsFile))
	if !slices.Equal(after[0], before[0]) || len(after) <= len(before) {
		t.Errorf("the columns are %v, and were %v; %d rows, and were %d", after[0], before[0], len(after), len(before))
	}
}
