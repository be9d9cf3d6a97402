package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/negphase"
	"gorbm/train/rundir"
)

// asCommand makes the test binary behave as rbmtrain, for tests of signals.
const asCommand = "RBMTRAIN_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

var rbmtrain = clitest.Command{Name: "rbmtrain", Run: clitest.Alone(runRanks)}

// small returns the arguments of a small run, and more.
func small(more ...string) []string {
	return append([]string{"-data", clitest.Toy, "-hidden", "4", "-steps", "60", "-preset", "ins-paper", "-labels", "softmax"}, more...)
}

// undrawn omits the pictures of runs, in tests that do not check them.
func undrawn(t *testing.T) {
	pictures = false
	t.Cleanup(func() { pictures = true })
}

func TestHelp(t *testing.T) {
	rbmtrain.Help(t, "alpha", "array", "array-index", "average", "batch", "binarize", "center", "chains", "checkpoint-every", "cpuprofile", "data", "data-dir", "dry-run",
		"epochs", "eval-every", "force", "header", "hidden", "holdout", "init", "json", "k", "l1", "l2", "label-column", "labels", "metrics", "momentum",
		"negphase", "objective", "out", "pictures", "quiet", "rate", "resume", "scale", "schedule", "seed", "shape", "snapshots", "sparse", "start", "steps", "stop-after", "swaps", "tensorboard", "temperatures", "test", "unlabelled", "workers")
	out := rbmtrain.OK(t, "-negphase", "help")
	for _, kind := range negphase.Kinds() {
		if !regexp.MustCompile(`(?m)^  ` + kind + ` +\w.*\n +cost: \w`).MatchString(out) {
			t.Errorf("-negphase help does not say what %s is", kind)
		}
	}
	out = rbmtrain.OK(t, "-hidden-units", "help")
	for _, kind := range hiddenUnits {
		if !strings.Contains(out, "\n  "+kind+" ") {
			t.Errorf("-hidden-units help does not say what %s is", kind)
		}
	}
}

var speed = regexp.MustCompile(`steps in \S+ s, \S+ steps/s; \S+ s in all`)

// TestGolden compares the output of a run, its config.json and its metrics.csv with
// golden files, except for times and versions, for every estimator and objective.
func TestGolden(t *testing.T) {
	clitest.Isolate(t)
	for _, kind := range append(negphase.Kinds(), "discriminative", "hybrid-cd") {
		t.Run(kind, func(t *testing.T) {
			args := []string{"-negphase", kind}
			switch kind {
			case "discriminative":
				args = []string{"-objective", "discriminative", "-negphase", "pcd", "-chains", "5"}
			case "hybrid-cd":
				args = []string{"-objective", "hybrid", "-alpha", "0.1", "-negphase", "cd"}
			}
			r := rbmtrain.Call(small(args...)...)
			if r.Status != 0 {
				t.Fatalf("exits with %d: %s", r.Status, r.Stderr)
			}
			text := speed.ReplaceAllString(r.Stdout, "steps in TIME s, SPEED steps/s; TIME s in all") + r.Stderr
			clitest.Golden(t, kind+".txt", text)

			dir := filepath.Join("runs", "toy_4_4_50_0.2-"+kind+"-1")
			config := clitest.Read(t, filepath.Join(dir, rundir.ConfigFile))
			for _, key := range []string{"version", "kernels", "processor", "workers"} {
				mask := regexp.MustCompile(`(?m)^  "` + key + `": ("[^"]+"|[1-9][0-9]*),$`)
				if !mask.MatchString(config) {
					t.Errorf("config.json has no %s", key)
				}
				config = mask.ReplaceAllString(config, `  "`+key+`": "MASKED",`)
			}
			clitest.Golden(t, kind+".config.json", config)

			rows := table(t, filepath.Join(dir, rundir.MetricsFile))
			clitest.Golden(t, kind+".header.csv", strings.Join(rows[0], ",")+"\n")
			if len(rows) != 1+21 { // step 0 and a row every 3 of 60 steps
				t.Errorf("metrics.csv has %d rows below the header, want 21", len(rows)-1)
			}
			for i, row := range rows[1:] {
				if row[0] != strconv.Itoa(3*i) {
					t.Errorf("row %d of metrics.csv is of step %s", i, row[0])
				}
			}
		})
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

// TestJSON checks the keys that scripts rely on, and that the metrics are those
// of the last row of metrics.csv.
func TestJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	common := []string{"steps", "seconds", "seconds_in_all", "samples_mixed", "steps_per_second", "balanced_error", "metrics", "true_log_likelihood_train", "best", "data", "binarize", "negphase", "model", "folder"}
	for _, c := range []struct {
		kind string
		more []string
	}{
		{"cd", nil},
		{"pcd", nil},
		{"exact", nil},
		{"ptt", []string{"swap_rates", "mean_age", "log_z", "log_z_std_err"}},
		{"pt", []string{"swap_rates", "round_trips", "ladder"}},
		{"ins", []string{"swap_rates", "round_trips", "off_weight", "ladder"}},
		{"pins:tau=auto", []string{"swap_rates", "round_trips", "off_weight", "ladder"}},
	} {
		clitest.Isolate(t)
		out := rbmtrain.OK(t, small("-negphase", c.kind, "-rate", "0.5", "-json", "-out", "run")...)
		if strings.Count(out, "\n") != 1 {
			t.Errorf("%s: -json prints more than a line: %q", c.kind, out)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", c.kind, err)
		}
		var keys []string
		for k := range got {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		want := slices.Sorted(slices.Values(append(c.more, common...)))
		if !slices.Equal(keys, want) {
			t.Errorf("%s: keys %v, want %v", c.kind, keys, want)
		}
		var r jsonResult
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Steps != 60 || r.Seconds <= 0 || math.Abs(r.StepsPerSecond*r.Seconds-60) > 1e-6 {
			t.Errorf("%s: %d steps in %v s at %v steps/s", c.kind, r.Steps, r.Seconds, r.StepsPerSecond)
		}
		if r.Folder != "run" || r.Model != filepath.Join("run", rundir.ModelFile) || r.Data != clitest.Toy+":seed=1" {
			t.Errorf("%s: folder %s, model %s, data %s", c.kind, r.Folder, r.Model, r.Data)
		}
		rows := table(t, filepath.Join("run", rundir.MetricsFile))
		last := rows[len(rows)-1]
		if len(r.Metrics) == 0 {
			t.Errorf("%s: no metrics", c.kind)
		}
		for name, v := range r.Metrics {
			at := slices.Index(rows[0], name)
			if at < 0 {
				t.Errorf("%s: metrics.csv has no column %s", c.kind, name)
				continue
			}
			if x, err := strconv.ParseFloat(last[at], 64); err != nil || math.Abs(x-v) > 1e-8*math.Abs(v) {
				t.Errorf("%s: %s is %v, but %s in metrics.csv", c.kind, name, v, last[at])
			}
		}
	}
}

// TestResultWithoutJSON checks that result.json has the output of -json, also without -json.
func TestResultWithoutJSON(t *testing.T) {
	clitest.Isolate(t)
	results := func(flags ...string) (printed, file map[string]any) {
		out := rbmtrain.OK(t, small(append(flags, "-negphase", "cd", "-out", "run", "-force")...)...)
		if err := json.Unmarshal([]byte(clitest.Read(t, filepath.Join("run", rundir.ResultFile))), &file); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(out), &printed); slices.Contains(flags, "-json") && err != nil {
			t.Fatal(err)
		}
		return printed, file
	}
	printed, file := results("-json")
	if !reflect.DeepEqual(printed, file) {
		t.Errorf("-json prints %v, and result.json holds %v", printed, file)
	}
	_, alone := results()
	for _, time := range []string{"seconds", "steps_per_second", "seconds_in_all"} {
		delete(file, time)
		delete(alone, time)
	}
	if _, ok := alone["true_log_likelihood_train"].(float64); !ok || !reflect.DeepEqual(alone, file) {
		t.Errorf("without -json result.json holds %v, with it %v", alone, file)
	}
}

// TestQuiet checks that -quiet leaves standard output empty, and that the
// warning of a ladder that does not exchange remains, also in the JSON.
func TestQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	undrawn(t)
	clitest.Isolate(t)
	if out := rbmtrain.OK(t, small("-quiet", "-negphase", "pcd")...); out != "" {
		t.Errorf("-quiet prints %q", out)
	}
	// A model of strong weights, and a temperature at which weights hardly matter.
	frozen := []string{"-data", "toy:2,64,50,0", "-hidden", "64", "-steps", "300", "-metrics", "none", "-negphase", "pt:tau=1/1000"}
	r := rbmtrain.Call(append(frozen, "-quiet")...)
	if r.Status != 0 || r.Stdout != "" {
		t.Errorf("exits with %d and prints %q", r.Status, r.Stdout)
	}
	rbmtrain.OneLine(t, r.Stderr, "warning: the ladder does not exchange", "temperatures 1 and 2 of 2", "closer together")
	if out := rbmtrain.OK(t, append(frozen, "-json")...); !strings.Contains(out, `"warnings":["the ladder does not exchange`) {
		t.Errorf("the warning is not in the JSON: %s", out)
	}
	// Long walks that ignore the model.
	stuck := []string{"-data", "toy:2,64,50,0", "-hidden", "64", "-steps", "250", "-metrics", "none", "-rate", "0.3", "-negphase", "sardonics:k=50-64:gamma=0"}
	r = rbmtrain.Call(append(stuck, "-quiet")...)
	if r.Status != 0 || r.Stdout != "" {
		t.Errorf("exits with %d and prints %q", r.Status, r.Stdout)
	}
	rbmtrain.OneLine(t, r.Stderr, "warning: the chains hardly move", "walks of sardonics are accepted", "shorter walks")
	out := rbmtrain.OK(t, append(stuck, "-json")...)
	if !strings.Contains(out, `"warnings":["the chains hardly move`) || !strings.Contains(out, `"acceptance":0.`) || !strings.Contains(out, `"flips_per_update":`) {
		t.Errorf("the JSON does not say how the chains move: %s", out)
	}
	// Metropolis at inverse temperature 0 accepts every other flip, which needs no warning.
	if r := rbmtrain.Call("-labels", "none", "-data", "toy:2,8,50,0.1", "-hidden", "4", "-steps", "20", "-metrics", "none", "-negphase", "pt:tau=1/2/inf:metropolis", "-quiet"); strings.Contains(r.Stderr, "metropolis") {
		t.Errorf("metropolis at inverse temperature 0: %s", r.Stderr)
	}
	if r := rbmtrain.Call("-data", "toy:2,8,50,0.1", "-hidden", "4", "-steps", "20", "-metrics", "none", "-negphase", "walk:metropolis", "-quiet"); strings.Contains(r.Stderr, "metropolis") {
		t.Errorf("metropolis at one temperature: %s", r.Stderr)
	}
}

// TestEqualSeeds checks that equal seeds give equal models at any GOMAXPROCS,
// and different seeds different models.
func TestEqualSeeds(t *testing.T) {
	undrawn(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, kind := range negphase.Kinds() {
		clitest.Isolate(t)
		for i, procs := range []int{1, 4, 4} {
			runtime.GOMAXPROCS(procs)
			pictures = kind == "ins" && i < 2 // compare the pictures of these runs
			rbmtrain.OK(t, small("-quiet", "-metrics", "none", "-snapshots", "3", "-negphase", kind, "-out", strconv.Itoa(i))...)
		}
		rbmtrain.OK(t, small("-quiet", "-metrics", "none", "-snapshots", "3", "-negphase", kind, "-seed", "2", "-out", "other")...)
		model := func(dir string) string { return clitest.Read(t, filepath.Join(dir, rundir.ModelFile)) }
		if model("0") != model("1") {
			t.Errorf("%s: models differ between GOMAXPROCS 1 and 4", kind)
		}
		if model("1") != model("2") {
			t.Errorf("%s: two equal runs give different models", kind)
		}
		if model("0") == model("other") {
			t.Errorf("%s: the seed does not matter", kind)
		}
		for _, picture := range []string{rundir.FiltersFile, rundir.SamplesFile} {
			if kind != "ins" {
				continue
			}
			if clitest.Read(t, filepath.Join("0", picture)) != clitest.Read(t, filepath.Join("1", picture)) {
				t.Errorf("%s: %s differs between GOMAXPROCS 1 and 4", kind, picture)
			}
		}
	}
}

// TestObserversDoNotDisturb checks that measurements do not change the model.
func TestObserversDoNotDisturb(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-quiet", "-out", "a")...)
	rbmtrain.OK(t, small("-quiet", "-out", "b", "-metrics", "none")...)
	rbmtrain.OK(t, small("-quiet", "-out", "c", "-eval-every", "1")...)
	a := clitest.Read(t, filepath.Join("a", rundir.ModelFile))
	for _, dir := range []string{"b", "c"} {
		if clitest.Read(t, filepath.Join(dir, rundir.ModelFile)) != a {
			t.Errorf("run %s has another model", dir)
		}
	}
	if n := len(table(t, filepath.Join("c", rundir.MetricsFile))); n != 62 {
		t.Errorf("-eval-every 1 gives %d rows, want 62", n)
	}
	if n := len(table(t, filepath.Join("b", rundir.MetricsFile))[0]); n != 2+4+1+1+3 {
		t.Errorf("-metrics none leaves %d columns, want 11", n)
	}
}

// TestLadder checks ladder.csv and ladder.png of a tuned ladder against the JSON.
// At each measurement ladder.csv has a row for each temperature, as many as metrics.csv
// has.
func TestLadder(t *testing.T) {
	clitest.Isolate(t)
	out := rbmtrain.OK(t, "-data", "toy:4,8,50,0.1", "-hidden", "8", "-rate", "0.2", "-steps", "400", "-eval-every", "40",
		"-negphase", "pins", "-temperatures", "auto", "-json", "-out", "run")
	var r jsonResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.NegPhase, ":path=data:") && !strings.HasSuffix(r.NegPhase, ":path=data") {
		t.Errorf("the tuned ladder leads elsewhere than to the data's frequencies: %s", r.NegPhase)
	}
	_, metrics, err := rundir.ReadTable(filepath.Join("run", rundir.MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(table(t, filepath.Join("run", rundir.MetricsFile))[0], "temperatures")
	columns, rows, err := rundir.ReadTable(filepath.Join("run", rundir.LaddersFile))
	if err != nil || !slices.Equal(columns, pairColumns) {
		t.Fatalf("ladder.csv has columns %v: %v", columns, err)
	}
	for _, m := range metrics[1:] { // there was no round before step 0
		n := int(m[at])
		if n < 3 || len(rows) < n {
			t.Fatalf("step %v has %d temperatures, and %d rows are left in ladder.csv", m[0], n, len(rows))
		}
		ladder := rows[:n]
		rows = rows[n:]
		for k, row := range ladder {
			if row[0] != m[0] || row[1] != float64(k+1) || row[3] > 0 && math.Abs(row[2]*row[3]-1) > 1e-8 || k > 0 && row[3] >= ladder[k-1][3] {
				t.Errorf("step %v: row %d of ladder.csv is %v", m[0], k, row)
			}
		}
		if ladder[0][3] != 1 || ladder[n-1][3] != 0 || !math.IsNaN(ladder[n-1][4]) {
			t.Errorf("step %v: the ladder goes from β = %v to %v", m[0], ladder[0][3], ladder[n-1][3])
		}
		if len(rows) == 0 {
			for k, x := range r.Ladder.Rejection {
				if math.Abs(x-ladder[k][4]) > 1e-9 {
					t.Errorf("rejection %d is %v in the JSON, %v in ladder.csv", k, x, ladder[k][4])
				}
			}
		}
	}
	if len(rows) > 0 || r.RoundTrips == nil || *r.RoundTrips == 0 {
		t.Errorf("%d rows of ladder.csv belong to no measurement; round trips %v", len(rows), r.RoundTrips)
	}
	if _, err := os.Stat(filepath.Join("run", rundir.LadderFile)); err != nil {
		t.Error(err)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	clitest.Isolate(t)
	out := rbmtrain.OK(t, small("-dry-run")...)
	for _, want := range []string{"toy:4,4,50,0.2:seed=1: 200 rows of 8 inputs (binary)", "8 inputs + 4 softmax labels, 4 hidden units", "ins:k=1", "60 steps", "up to ", " of memory besides the data"} {
		if !strings.Contains(out, want) {
			t.Errorf("-dry-run does not say %q: %s", want, out)
		}
	}
	rbmtrain.OK(t, small("-dry-run", "-out", "run")...)
	rbmtrain.OK(t, small("-dry-run", "-cpuprofile", "cpu")...)
	if tree := clitest.Tree(t, "."); tree != "" {
		t.Errorf("-dry-run leaves:\n%s", tree)
	}
}

// TestGrammar checks that flags and settings of -negphase have the same effect.
func TestGrammar(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct{ flags, grammar []string }{
		{[]string{"-negphase", "cd", "-k", "3"}, []string{"-negphase", "cd:k=3"}},
		{[]string{"-negphase", "pt", "-temperatures", "1,1.5,2", "-swaps", "2", "-chains", "3", "-start", "data"}, []string{"-negphase", "pt:tau=1/1.5/2:swaps=2:chains=3:start=data"}},
		{[]string{"-epochs", "0.5"}, []string{"-steps", "5"}}, // 100 of 200 rows in batches of 20
	} {
		args := []string{"-data", clitest.Toy, "-dry-run"}
		says := func(more ...string) string { return rbmtrain.OK(t, append(args, more...)...) }
		a, b := says(c.flags...), says(c.grammar...)
		if a != b {
			t.Errorf("%v and %v differ: %s and %s", c.flags, c.grammar, a, b)
		}
		if a == says() {
			t.Errorf("%v has no effect", c.flags)
		}
	}
}

// TestLabels checks the effect of -labels on data with and without labels.
func TestLabels(t *testing.T) {
	undrawn(t)
	for _, c := range []struct {
		data, labels string
		classes      int
		kind         string
	}{
		{clitest.Toy, "auto", 4, "softmax"},
		{clitest.Toy, "softmax", 4, "softmax"},
		{clitest.Toy, "bernoulli", 4, "bernoulli"},
		{clitest.Toy, "none", 0, "softmax"},
		{clitest.Toy + ":plain", "auto", 0, "softmax"},
		{clitest.Toy + ":plain", "none", 0, "softmax"},
	} {
		clitest.Isolate(t)
		rbmtrain.OK(t, "-data", c.data, "-labels", c.labels, "-hidden", "3", "-steps", "5", "-quiet", "-out", "run")
		m, about := clitest.Load(t, filepath.Join("run", rundir.ModelFile))
		if m.Classes() != c.classes || m.LabelKind().String() != c.kind || m.Inputs() != 8 || m.Hidden() != 3 || len(about.ClassNames) != c.classes {
			t.Errorf("%s with -labels %s: %d %s labels named %v, %d inputs, %d hidden units", c.data, c.labels, m.Classes(), m.LabelKind(), about.ClassNames, m.Inputs(), m.Hidden())
		}
		if about.Data != c.data+":seed=1" || about.Binarize != "binary" || about.Seed != 1 || about.Height != 2 || about.Width != 4 {
			t.Errorf("the model says of itself: %+v", about)
		}
	}
}
