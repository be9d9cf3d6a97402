package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
	"gorbm/train/rundir"
)

// -preset auto chooses a preset by the data, which flags override. The same preset by name has
// the same effect.
func TestPresets(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "five.csv", strings.Repeat("0,1,1\n1,0,1\n", 3)[:30])
	wide := strings.Repeat("0,1,", train.ManyInputs/2-1) + "0,"
	clitest.Write(t, "wide.csv", strings.Repeat(wide+"1\n"+wide+"0\n", 20))
	header := strings.Repeat("x,", train.ManyInputs) + "label\n"
	clitest.Write(t, "labelled.csv", header+strings.Repeat(wide+"1,a\n"+wide+"0,b\n", 20))
	for _, c := range []struct {
		name, args, preset string
		want               []string
	}{
		{"labelled", "-data labelled.csv", "classifier", []string{"tau=reach/5", "chains=10", "rate 0.1 linear", "batch 20", " 1000 steps", "softmax"}},
		{"unlabelled", "-data labelled.csv -labels none", "generative", []string{"tau=reach/5", "chains=40", "rate 0.2 cosine, center 0.01, batch 40, 1000 steps"}},
		{"without labels", "-data wide.csv", "generative", []string{"rate 0.2 cosine, center 0.01"}},
		{"small", "-data " + clitest.Toy, "small", []string{"rate 0.1 linear", "tau=reach/5"}},
		{"small, unlabelled", "-data bars:3", "small", []string{"rate 0.1 linear"}},
		{"few rows", "-data five.csv", "small", []string{"batch 5,"}},
		{"flags", "-data labelled.csv -rate 0.3 -schedule cosine -batch 7 -chains 3 -steps 11", "classifier", []string{"rate 0.3 cosine", "batch 7,", "chains=3", " 11 steps"}},
		{"average over the steps", "-data labelled.csv -preset discriminative -steps 2000", "discriminative", []string{"average 0.985,", " 2000 steps"}},
		{"average over the epochs", "-data labelled.csv -preset discriminative -epochs 25", "discriminative", []string{"average 0.7,", " 100 steps"}},
		{"average given", "-data labelled.csv -preset discriminative -steps 2000 -average 0.9", "discriminative", []string{"average 0.9,", " 2000 steps"}},
		{"grammar", "-data labelled.csv -negphase ins:tau=1/2:chains=4", "classifier", []string{"tau=1/2,", "chains=4"}},
		{"pcd", "-data labelled.csv -negphase pcd", "classifier", []string{"chains=50"}},
		{"sardonics", "-data labelled.csv -negphase sardonics:k=1-2", "classifier", []string{"chains=50"}},
		{"pt with a sampler", "-data labelled.csv -negphase pt:im:k=1-2", "classifier", []string{"chains=10"}},
		{"paper", "-data labelled.csv -preset ins-paper", "ins-paper", []string{"tau=1/2/3/4/5", "chains=10", "rate 0.1, batch 10, 10000 steps", "bernoulli"}},
		{"paper, unlabelled", "-data bars:3 -preset ins-paper", "ins-paper", []string{"tau=1/2/3/4/5"}},
		{"paper, other labels", "-data labelled.csv -preset ins-paper -labels softmax", "ins-paper", []string{"softmax"}},
	} {
		args := append(strings.Fields(c.args), "-hidden", "4", "-dry-run")
		out := rbmtrain.OK(t, args...)
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
			t.Errorf("%s: the preset is %s, want %s", c.name, config.Preset.Name, c.preset)
		}
		if !strings.Contains(c.args, "-preset") {
			if named := rbmtrain.OK(t, append(args, "-preset", c.preset)...); named != out {
				t.Errorf("%s: -preset %s says %s, and auto %s", c.name, c.preset, named, out)
			}
		}
	}
	rbmtrain.Fails(t, cli.Usage, []string{"-preset", "clasifier"}, "-preset", `"clasifier"`, "did you mean classifier?")
	help := rbmtrain.OK(t, "-preset", "help")
	for _, p := range presets {
		if !strings.Contains(help, "\n"+p.Name+": ") {
			t.Errorf("-preset help lacks %s", p.Name)
		}
	}
}

// Training with the library, by the preset for the data, gives the parameters of the command.
func TestLibraryIsTheCommand(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	wide := strings.Repeat("0,1,", train.ManyInputs/2-1) + "0,"
	clitest.Write(t, "wide.csv", strings.Repeat("x,", train.ManyInputs)+"label\n"+strings.Repeat(wide+"1,a\n"+wide+"0,b\n", 8))
	for _, c := range []struct {
		data, negative string
		labelled       bool
	}{{clitest.Toy, "ins", true}, {"bars:3", "pcd", false}, {"wide.csv", "ins", true}, {"wide.csv", "pt", false}, {"wide.csv", "cd", true}} {
		labels := "none"
		if c.labelled {
			labels = "softmax"
		}
		rbmtrain.OK(t, "-data", c.data, "-labels", labels, "-hidden", "4", "-negphase", c.negative, "-steps", "30", "-metrics", "none", "-snapshots", "0", "-quiet", "-out", "run", "-force")
		got, _, err := modelfile.Read(filepath.Join("run", rundir.ModelFile))
		if err != nil {
			t.Fatal(err)
		}
		set, _, err := data.Load(t.Context(), c.data, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		preset := train.PresetFor(set, c.labelled)
		settings := preset.Settings(c.negative)
		settings.Horizon = 30
		want := preset.NewModel(set, 4, c.labelled, settings.Seed)
		trainer, err := train.New(settings, set, want)
		if err != nil {
			t.Fatal(err)
		}
		if err := trainer.Run(t.Context(), settings.Horizon); err != nil {
			t.Fatal(err)
		}
		for i := range want.Visible() {
			for j := range want.Hidden() {
				if got.Weight(i, j) != want.Weight(i, j) {
					t.Fatalf("%v: weight %d, %d is %v of the command and %v of the library", c, i, j, got.Weight(i, j), want.Weight(i, j))
				}
			}
		}
	}
}

// A run stores the values of its preset in config.json, and resumes with them. A run without a
// preset is refused.
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
	presets = train.Presets()
	presets[0].Common.Rate, presets[0].Temperatures = 7, "1,9"
	rbmtrain.OK(t, "-resume", "run", "-steps", "80", "-quiet")
	sameRuns(t, "run", "whole")
	presets = kept
	var command []string
	if err := json.Unmarshal(config("run")["command"], &command); err != nil || slices.Contains(command, "-resume") || !slices.Contains(command, "-schedule") {
		t.Errorf("the command line that began the run is %v, %v", command, err)
	}

	c := config("run")
	delete(c, "preset")
	rewrite("run", c)
	rbmtrain.Fails(t, cli.Failed, []string{"-resume", "run", "-steps", "90", "-quiet"}, "names no preset")
}

// -resume with more steps stretches a schedule that ends with the run, and warns.
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

// A resumed run has the metrics that it had, although auto may now mean more metrics than when
// it began.
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

// By default there are two hidden units per input for few inputs, and 500 for many inputs.
func TestHiddenByInputs(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "wide.csv", strings.Repeat(strings.Repeat("0,1,", train.ManyInputs/2-1)+"0,1\n", 20))
	clitest.Write(t, "real.csv", "-2.5,1.5\n1.25,-3\n0.5,0.75\n")
	clitest.Write(t, "one.csv", "0\n1\n1\n")
	for args, want := range map[string]string{
		"-data bars:3":                    "9 inputs, 18 hidden units",
		"-data bars:3 -hidden 5":          "9 inputs, 5 hidden units",
		"-data bars:3 -preset generative": "9 inputs, 500 hidden units",
		"-data wide.csv":                  "100 inputs, 500 hidden units",
		"-data real.csv -units gaussian":  "2 inputs, 4 hidden units; ins:k=1:swaps=1:chains=40:start=uniform:tau=reach/5, rate 0.02 cosine, center 0.01, batch 3, 10000 steps",
		"-data one.csv":                   "RBM: 1 input, 2 hidden units",
	} {
		if out := rbmtrain.OK(t, append(strings.Fields(args), "-dry-run")...); !strings.Contains(out, want) {
			t.Errorf("%s: no %q in %s", args, want, out)
		}
	}
}

// Random labels can only be memorised, so more steps are not advised. For labels with a rule they are advised.
func TestMemorisedRows(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	r := rbm.NewKey(1).Rand()
	rows := func(n int, label func(bits []int) int) string {
		var b strings.Builder
		for range n {
			bits := make([]int, 24)
			for j := range bits {
				bits[j] = r.IntN(2)
				fmt.Fprintf(&b, "%d,", bits[j])
			}
			fmt.Fprintf(&b, "class %d\n", label(bits))
		}
		return b.String()
	}
	for name, label := range map[string]func([]int) int{"chance": func([]int) int { return r.IntN(2) }, "rule": func(bits []int) int { return bits[0] }} {
		clitest.Write(t, name+".csv", rows(60, label))
		clitest.Write(t, name+"-test.csv", rows(200, label))
		out := rbmtrain.OK(t, "-data", name+".csv", "-label-column", "last", "-test", name+"-test.csv", "-hidden", "50", "-preset", "discriminative", "-steps", "20000", "-out", name)
		if told := strings.Contains(out, "the training rows are learnt, "); told != (name == "chance") {
			t.Errorf("%s: told %v: %s, want %v", name, told, out, name == "chance")
		}
		page := clitest.Read(t, filepath.Join(name, rundir.ReportFile))
		if told := strings.Contains(page, "The training rows are learnt, "); told != (name == "chance") || told && strings.Contains(page, "getting better") {
			t.Errorf("%s: the report says it: %v, or contradicts it; want %v, as the closing lines do", name, told, name == "chance")
		}
	}
}

// Training rows count as learnt only if hardly any is wrong, also compared with other rows, whose error has stopped
// falling.
func TestLearntRows(t *testing.T) {
	set := func(n int) *data.Set { return &data.Set{X: rbm.NewBits(n, 1)} }
	for _, c := range []struct {
		name        string
		train, test float64
		errors      []float64 // errors of the test rows at steps 20, 40 … 100
		standing    bool
		told        bool
	}{
		{"learnt", 0.01, 0.18, []float64{0.4, 0.2, 0.18, 0.18, 0.18}, false, true},
		{"learnt, after the least error", 0.01, 0.18, []float64{0.4, 0.2, 0.17, 0.17, 0.18}, false, true},
		{"fewer wrong than half of the others", 0.083, 0.183, []float64{0.4, 0.2, 0.183, 0.183, 0.183}, false, false},
		{"few wrong, and not next to the others", 0.019, 0.06, []float64{0.4, 0.2, 0.06, 0.06, 0.06}, false, false},
		{"the others still fall", 0.01, 0.18, []float64{0.4, 0.3, 0.25, 0.21, 0.18}, false, false},
		{"a warning stands", 0.01, 0.18, []float64{0.4, 0.2, 0.18, 0.18, 0.18}, true, false},
	} {
		folder := &rundir.Folder{Dir: t.TempDir()}
		text := "step,error_train,error_test\n"
		for i, e := range c.errors {
			text += fmt.Sprintf("%d,%v,%v\n", 20*(i+1), c.train, e)
		}
		clitest.Write(t, folder.Path(rundir.MetricsFile), text)
		r := &runner{plan: &plan{settings: train.Settings{Schedule: "constant"}, sets: train.Sets{Train: set(1000), Test: set(2000)}}, folder: folder}
		r.final.Values = []train.Value{{Name: "error_train", Value: c.train}, {Name: "error_test", Value: c.test}}
		if c.standing {
			r.standing = []diag.Warning{{Kind: train.FallKind}}
		}
		if told := r.memorised(); (told != "") != c.told {
			t.Errorf("%s: says %q, want some: %v", c.name, told, c.told)
		}
	}
}
