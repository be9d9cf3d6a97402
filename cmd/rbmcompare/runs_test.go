package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/plots"
	"gorbm/train/report/reporttest"
	"gorbm/train/rundir"
)

// writeRun writes the files of a run that -runs reads.
func writeRun(t *testing.T, dir, training, metrics, result string) {
	t.Helper()
	config := fmt.Sprintf(`{"data": {"name": "toy", "binarize": "binary", "rows": 200}, "model": {"hidden": 4, "labels": "softmax", "init": "random"}, "steps": 60, "training": {"horizon": 60, %s}}`, training)
	for name, text := range map[string]string{rundir.ConfigFile: config, rundir.MetricsFile: metrics, rundir.ResultFile: result} {
		if text == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeRuns writes three runs, one of them unfinished, and another kind of folder.
func writeRuns(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	clitest.Write(t, "runs/threes.png", "no run") // not a run: rbmsample writes such files here
	writeRun(t, "runs/a", `"rate": 0.1, "seed": 1, "negphase": {"kind": "pcd", "chains": 10}`, "step,seconds,error_test,pseudo_likelihood_test,barrier\n0,0,0.5,-9,1\n30,2,0.1,-8,1\n60,4,0.2,-7,2\n", `{"seconds": 4.5, "metrics": {"error_test": 0.21}}`)
	writeRun(t, "runs/b", `"rate": 0.2, "seed": 1, "negphase": {"kind": "pcd", "chains": 10}`, "step,seconds,error_test,pseudo_likelihood_test\n0,0,0.5,-9\n20,1,0.05,-6\n", "")
	writeRun(t, "runs/c", `"rate": 0.1, "seed": 1, "negphase": {"kind": "pins", "chains": 10, "temperatures": [1, 2]}`, "step,seconds,error_test,pseudo_likelihood_test\n0,0,0.5,-9\n60,5,NaN,-7.5\n", `{"seconds": 6, "metrics": {}}`)
	writeRun(t, "runs/other", "", "step\n", "")
	if err := os.Remove("runs/other/" + rundir.ConfigFile); err != nil {
		t.Fatal(err)
	}
}

// Runs that differ only in the kind of hidden units are told apart, and -over does not average them. A
// run without the metric has no step of its best value.
func TestRunsOfRealHiddenUnits(t *testing.T) {
	clitest.Isolate(t)
	const metrics = "step,seconds,pseudo_likelihood_train\n0,0,-9\n60,4,-7\n"
	for i, kind := range []string{"", "relu", "relu"} {
		dir := fmt.Sprintf("runs/%d", i)
		writeRun(t, dir, fmt.Sprintf(`"rate": 0.1, "seed": %d`, i), metrics, `{"metrics": {}}`)
		if kind != "" {
			path := filepath.Join(dir, rundir.ConfigFile)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clitest.Write(t, path, strings.Replace(string(text), `"hidden": 4`, `"hidden": 4, "hidden_units": "`+kind+`"`, 1))
		}
	}
	writeRun(t, "runs/3", `"rate": 0.1, "seed": 3`, "step,seconds,error_train\n0,0,0.5\n", "")
	text := rbmcompare.OK(t, "-runs", "runs/*", "-sort", "pseudo_likelihood_train")
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case fields[0] == "run" && fields[1] != "hidden_units",
			fields[0] == "runs/0" && fields[1] != "bernoulli",
			fields[0] == "runs/1" && fields[1] != "relu",
			fields[0] == "runs/3" && strings.Count(line, " –") != 3:
			t.Errorf("%s", line)
		}
	}
	if text := rbmcompare.OK(t, "-runs", "runs/[0-2]", "-over", "seed"); !strings.Contains(text, "bernoulli") || !strings.Contains(text, "relu") {
		t.Errorf("over seeds:\n%s", text)
	}
}

// A run with a divergence file is listed as diverged, unless it was finished later.
func TestRunsDiverged(t *testing.T) {
	writeRuns(t)
	clitest.Write(t, "runs/b/"+rundir.DivergedFile, "training step 20: diverged\n")
	clitest.Write(t, "runs/a/"+rundir.DivergedFile, "training step 20: diverged\n") // written before the run was continued
	text := rbmcompare.OK(t, "-runs", "runs/*")
	for line := range strings.Lines(text) {
		if got, want := strings.Contains(line, "diverged"), strings.Contains(line, "runs/b"); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

func TestRuns(t *testing.T) {
	writeRuns(t)
	// The fields of each line, separated by single spaces.
	table := func(args ...string) (lines []string) {
		for line := range strings.Lines(rbmcompare.OK(t, append([]string{"-runs", "runs/*"}, args...)...)) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"run negphase rate temperatures error_test best along the run at step steps done seconds", "runs/b pcd 0.2 – 5 % 5 % 20 20 1 not finished", "runs/a pcd 0.1 – 21 % 10 % 30 60 4.5", "runs/c pins 0.1 [1,2] – 50 % 0 60 6",
			"error_test of a finished run is its final value, over all rows or a large sample; the best along the run is from metrics.csv, over a smaller sample if there are many rows, or from a measurement between its steps"}},
		{[]string{"-sort", "pseudo_likelihood_test"}, []string{"run negphase rate temperatures pseudo_likelihood_test best along the run at step steps done seconds", "runs/b pcd 0.2 – -6 -6 20 20 1 not finished", "runs/a pcd 0.1 – -7 -7 60 60 4.5", "runs/c pins 0.1 [1,2] -7.5 -7.5 60 60 6"}},
		{[]string{"-sort", "seconds"}, []string{"run negphase rate temperatures steps done seconds", "runs/b pcd 0.2 – 20 1 not finished", "runs/a pcd 0.1 – 60 4.5", "runs/c pins 0.1 [1,2] 60 6"}},
		{[]string{"-sort", "path"}, []string{"run negphase rate temperatures steps done seconds", "runs/a pcd 0.1 – 60 4.5", "runs/b pcd 0.2 – 20 1 not finished", "runs/c pins 0.1 [1,2] 60 6"}},
	} {
		if got := table(c.args...); !slices.Equal(got, c.want) {
			t.Errorf("%q prints\n%s\nnot\n%s", c.args, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestRunsOfSeveralPatterns: patterns are separated by commas, a folder matched by several patterns is
// one run, and the name of a folder or a class of characters may include a comma.
func TestRunsOfSeveralPatterns(t *testing.T) {
	writeRuns(t)
	writeRun(t, "runs/a,runs/b", `"rate": 0.3`, "step,seconds,error_test\n0,0,0.5\n", "")
	for pattern, want := range map[string]string{
		"runs/c,runs/[ab]":      "runs/a runs/b runs/c",
		"runs/b,runs/?,runs//b": "runs/a runs/b runs/c",
		"runs/[a,b]":            "runs/a runs/b",
		"runs/a,runs/b":         "runs/a,runs/b",
		"runs/a,runs/*":         "runs/a,runs/b",
		"./runs/c,runs/a":       "runs/a runs/c",
	} {
		o := newOptions()
		o.runs = pattern
		all, err := o.findRuns()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range all {
			got = append(got, r.Path)
		}
		slices.Sort(got)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q finds %q, want %q", pattern, got, want)
		}
	}
}

func TestRunsFiles(t *testing.T) {
	writeRuns(t)
	var object, written struct {
		SortedBy  string `json:"sorted_by"`
		Differing []string
		Runs      []runSummary
	}
	if err := json.Unmarshal([]byte(rbmcompare.OK(t, "-runs", "runs/*", "-json", "-out", "compared")), &object); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(clitest.Read(t, "compared/runs.json")), &written); err != nil || fmt.Sprint(written.Differing, len(written.Runs)) != fmt.Sprint(object.Differing, len(object.Runs)) {
		t.Errorf("runs.json: %v, %+v", err, written)
	}
	a := object.Runs[1]
	if m := a.Metrics["error_test"]; a.Path != "runs/a" || !a.Finished || a.Settings["chains"] != "10" || a.Settings["hidden"] != "4" || *m.Last != 0.21 || *m.Best != 0.1 || m.BestStep != 30 || a.Metrics["barrier"].Best != nil || string(a.Final) != `{"error_test":0.21}` {
		t.Errorf("the run is %+v", a)
	}
	if m := object.Runs[2].Metrics["error_test"]; m.Last != nil || *m.Best != 0.5 {
		t.Errorf("a value that is no number gives %+v", m)
	}
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, "compared/runs.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"run", "negphase", "rate", "temperatures", "barrier", "error_test", "error_test_best", "error_test_best_step", "pseudo_likelihood_test", "pseudo_likelihood_test_best", "pseudo_likelihood_test_best_step", "steps", "seconds", "finished"},
		{"runs/b", "pcd", "0.2", "", "", "0.05", "0.05", "20", "-6", "-6", "20", "20", "1", "false"},
		{"runs/a", "pcd", "0.1", "", "2", "0.21", "0.1", "30", "-7", "-7", "60", "60", "4.5", "true"},
		{"runs/c", "pins", "0.1", "[1,2]", "", "", "0.5", "0", "-7.5", "-7.5", "60", "60", "6", "true"},
	}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("runs.csv holds\n%q\nnot\n%q", lines, want)
	}
	f, err := os.Open("compared/runs.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	if text := clitest.Read(t, "compared/report.html"); !strings.Contains(text, "runs/b is the best of 3 runs") {
		t.Error("the report does not name the best run")
	}
	if text := clitest.Read(t, "compared/report.html"); !strings.Contains(text, "steps done") || strings.Contains(text, "pseudo_likelihood_test") {
		t.Error("the table of the report is not the printed one, with the metric of -sort alone")
	}
	if n := reporttest.Check(t, "compared/report.html"); n != 1 {
		t.Errorf("the report has %d charts, want 1", n)
	}
}

// -out with a file name writes the same file as -out with a folder.
func TestRunsFile(t *testing.T) {
	writeRuns(t)
	rbmcompare.OK(t, "-runs", "runs/*", "-out", "v0.1")
	for name, other := range map[string]string{"one.csv": "v0.1/runs.csv", "one.json": "v0.1/runs.json", "one.PNG": "v0.1/runs.png"} {
		rbmcompare.OK(t, "-runs", "runs/*", "-out", name)
		if clitest.Read(t, name) != clitest.Read(t, other) {
			t.Errorf("%s is not %s", name, other)
		}
	}
	rbmcompare.Fails(t, cli.Usage, []string{"-runs", "runs/*", "-sort", "path", "-out", "two.svg"}, "two.svg", "-sort")
}

// Curves are labelled by the settings that all runs have and that differ, and errors are in percent.
func TestRunsAreNamedBySettings(t *testing.T) {
	run := func(settings map[string]string) *runSummary {
		return &runSummary{Path: "runs/x", Settings: settings, columns: []string{"step", "error_test"}, rows: [][]float64{{0, 0.5}, {9, 0.25}}}
	}
	c := runsChart([]*runSummary{run(map[string]string{"negphase": "cd", "seed": "1"}), run(map[string]string{"negphase": "pcd", "seed": "2", "chains": "50"})}, "error_test", []string{"chains", "negphase", "seed"})
	if c.Lines[0].Name != "negphase cd, seed 1" || c.Lines[1].Name != "negphase pcd, seed 2" || c.Lines[1].Y[1] != 25 {
		t.Errorf("%+v", c.Lines)
	}
}

// The axis of a chart has the quantity and its unit.
func TestRunsChart(t *testing.T) {
	for by, want := range map[string]string{"pseudo_likelihood_test": "pseudo-log-likelihood, test rows (nats)", "error_holdout": "classification error, held-out rows (%)", "accuracy_mean": "mean log p(y|x) (nats)", "barrier": "barrier"} {
		if got := runsChart(nil, by, nil).Y; got != want {
			t.Errorf("%s is called %q, not %q", by, got, want)
		}
	}
}

// -over averages runs that differ only in one setting.
func TestMeansOverRuns(t *testing.T) {
	clitest.Isolate(t)
	for i, last := range []string{"-7", "-7.5", "-9"} {
		seed := fmt.Sprint(i + 1)
		writeRun(t, "runs/pcd"+seed, `"rate": 0.1, "negphase": {"kind": "pcd"}, "seed": `+seed, "step,seconds,pseudo_likelihood_test\n60,4,"+last+"\n", `{"seconds": 4.5, "metrics": {}}`)
	}
	writeRun(t, "runs/ins1", `"rate": 0.1, "negphase": {"kind": "ins"}, "seed": 1`, "step,seconds,pseudo_likelihood_test\n60,4,-7.2\n", `{"seconds": 6, "metrics": {}}`)
	writeRun(t, "runs/ins2", `"rate": 0.1, "negphase": {"kind": "ins"}, "seed": 2`, "step,seconds,pseudo_likelihood_test\n30,4,-5\n", "")
	r := rbmcompare.Call("-runs", "runs/*", "-over", "seed", "-out", "compared")
	var lines []string
	for line := range strings.Lines(r.Stdout) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	// The standard deviation of -7, -7.5 and -9 about -47/6 is √(13/12) = 1.04.
	want := []string{"negphase pseudo_likelihood_test, mean ± sd runs seconds", "ins -7.2 1 6", "pcd -7.8 ± 1.0 3 4.5", "results in compared"}
	if r.Status != 0 || !slices.Equal(lines, want) || !strings.Contains(r.Stderr, "1 run not finished") {
		t.Errorf("status %d prints %q and %s", r.Status, lines, r.Stderr)
	}
	var object struct{ Means []group }
	if err := json.Unmarshal([]byte(clitest.Read(t, "compared/runs.json")), &object); err != nil {
		t.Fatal(err)
	}
	if m := object.Means[1].Metrics["pseudo_likelihood_test"]; m.N != 3 || math.Abs(*m.Mean+47./6) > 1e-12 || math.Abs(*m.SD-math.Sqrt(13./12)) > 1e-12 || len(object.Means[1].Runs) != 3 {
		t.Errorf("the means are %+v", object.Means)
	}
	rbmcompare.OK(t, "-runs", "runs/*", "-over", "seed", "-out", "means.csv")
	table := "negphase,pseudo_likelihood_test,pseudo_likelihood_test_sd,pseudo_likelihood_test_runs,seconds,seconds_sd,seconds_runs,runs\n" +
		"ins,-7.2,,1,6,,1,1\npcd,-7.833333333," + cli.Field(math.Sqrt(13./12), 10) + ",3,4.5,0,3,3\n"
	for _, file := range []string{"means.csv", "compared/means.csv"} {
		if got := clitest.Read(t, file); got != table {
			t.Errorf("%s holds\n%s, not\n%s", file, got, table)
		}
	}
	rbmcompare.Fails(t, cli.Usage, []string{"-runs", "runs/*", "-over", "rate"}, `-over is "rate"`, "negphase, seed")
	rbmcompare.Fails(t, cli.Usage, []string{"-over", "seed"}, "-over is for -runs")
}

// A setting with the name of a metric or of another column gets another column name, in the tables of
// runs and of means. -sort uses the metric.
func TestSettingsOfOtherNamesThanMetrics(t *testing.T) {
	clitest.Isolate(t)
	for i, temperatures := range []string{"2", "5"} {
		for seed := range 2 {
			dir := fmt.Sprintf("runs/%d-%d", i, seed)
			writeRun(t, dir, fmt.Sprintf(`"negphase": {"kind": "pins", "temperatures": [%s]}, "seed": %d`, temperatures, seed), "step,seconds,temperatures,error_test\n60,4,"+temperatures+"0,0.5\n", `{"seconds": 4, "metrics": {}}`)
			config := clitest.Read(t, dir+"/"+rundir.ConfigFile)
			clitest.Write(t, dir+"/"+rundir.ConfigFile, strings.Replace(config, `"steps": 60`, `"steps": 6`+temperatures, 1))
		}
	}
	rbmcompare.OK(t, "-runs", "runs/*", "-sort", "temperatures", "-over", "seed", "-out", "compared")
	for file, want := range map[string]string{
		"compared/means.csv": "steps,setting_temperatures,error_test,error_test_sd,error_test_runs,temperatures,temperatures_sd,temperatures_runs,seconds,seconds_sd,seconds_runs,runs\n65,[5],0.5,0,2,50,0,2,4,0,2,2\n62,[2],0.5,0,2,20,0,2,4,0,2,2\n",
		"compared/runs.csv":  "run,seed,setting_steps,setting_temperatures,error_test,error_test_best,error_test_best_step,temperatures,steps,seconds,finished\nruns/1-0,0,65,[5],0.5,0.5,60,50,60,4,true\n",
	} {
		if got := clitest.Read(t, file); !strings.HasPrefix(got, want) {
			t.Errorf("%s holds\n%s, not\n%s", file, got, want)
		}
	}
}

// The curves of -over are means over the runs with equal settings, at the steps that all of them have,
// with bands of one standard deviation.
func TestGroupsChart(t *testing.T) {
	clitest.Isolate(t)
	for i, values := range []string{"30,1,-9\n60,2,-7\n90,3,-6\n", "30,1,-10\n60,2,-8\n", "30,1,-11\n60,2,nan\n90,3,-6\n"} {
		seed := fmt.Sprint(i + 1)
		writeRun(t, "runs/pcd"+seed, `"rate": 0.1, "negphase": {"kind": "pcd"}, "seed": `+seed, "step,seconds,pseudo_likelihood_test\n"+values, `{"seconds": 4.5, "metrics": {}}`)
	}
	writeRun(t, "runs/ins1", `"rate": 0.1, "negphase": {"kind": "ins"}, "seed": 1`, "step,seconds,pseudo_likelihood_test\n30,1,-5\n60,2,-4\n", `{"seconds": 6, "metrics": {}}`)
	o := newOptions()
	o.runs = "runs/*"
	all, err := o.findRuns()
	if err != nil {
		t.Fatal(err)
	}
	const by = "pseudo_likelihood_test"
	groups, others, err := groupRuns(all, "seed", by, differing(all))
	if err != nil {
		t.Fatal(err)
	}
	c := groupsChart(groups, all, "seed", by, others)
	want := []plots.Line{
		{Name: "negphase ins", X: []float64{30, 60}, Y: []float64{-5, -4}, Low: []float64{-5, -4}, High: []float64{-5, -4}},
		{Name: "negphase pcd", X: []float64{30}, Y: []float64{-10}, Low: []float64{-11}, High: []float64{-9}, Dots: true},
	}
	if len(c.Lines) != 2 || fmt.Sprintf("%+v", c.Lines) != fmt.Sprintf("%+v", want) {
		t.Errorf("the curves are %+v, want %+v", c.Lines, want)
	}
	if want := "Means ± standard deviations over seed, the best 2 settings by pseudo-log-likelihood, test rows"; c.Title != want {
		t.Errorf("the title is %q, want %q", c.Title, want)
	}
}

func TestRunsRefuses(t *testing.T) {
	writeRuns(t)
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"-runs", "none/*"}, cli.Failed, []string{`"none/*"`, "rbmtrain made", "'runs/a*,runs/b'"}},
		{[]string{"-runs", "runs/a,runs/other,runs/b"}, cli.Failed, []string{`no folder of a run matches "runs/other"`}},
		{[]string{"-runs", "runs/a,"}, cli.Failed, []string{`no folder of a run matches ""`}},
		{[]string{"-runs", "runs/a,runs/["}, cli.Usage, []string{`-runs "runs/a,runs/["`}},
		{[]string{"-runs", "runs/["}, cli.Usage, []string{"-runs", "runs/["}},
		{[]string{"-runs", "runs/*", "-sort", "error_tset"}, cli.Usage, []string{"-sort", "error_tset", "error_test"}},
		{[]string{"-runs", "runs/*", "-model", "runs/a"}, cli.Usage, []string{"-model cannot go with -runs"}},
		{[]string{"-sort", "error_test"}, cli.Usage, []string{"-sort is for -runs"}},
		{[]string{"-runs", "runs/*", "-pictures", "svg"}, cli.Usage, []string{"-pictures is for -out"}},
		{[]string{"-runs", "runs/*", "-pictures", "gif", "-out", "new"}, cli.Usage, []string{`-pictures is "gif"`}},
		{[]string{"-runs", "runs/*", "-out", "runs"}, cli.Failed, []string{"-out", "there already"}},
	} {
		rbmcompare.Fails(t, c.status, c.args, c.want...)
	}
	if err := os.WriteFile("runs/a/config.json", []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	rbmcompare.Fails(t, cli.Failed, []string{"-runs", "runs/*"}, "runs/a/config.json")
}

// The best log-likelihood is the one in the warnings of the run, possibly measured between the rows of metrics.csv.
func TestBestBetweenRows(t *testing.T) {
	clitest.Isolate(t)
	const metrics = "step,seconds,log_likelihood_train\n0,0,-9\n30,2,-4\n60,4,-7\n"
	for _, c := range []struct {
		result     string
		best, step float64
	}{
		{`{"metrics": {}, "best": {"log_likelihood_train": {"value": -3, "step": 25}}}`, -3, 25},
		{`{"metrics": {}, "best": {"log_likelihood_train": {"value": -5, "step": 25}}}`, -4, 30},
		{`{"metrics": {}, "best": {"log_likelihood_test": {"value": -5, "step": 25}}}`, -4, 30},
		{`{"metrics": {}}`, -4, 30},
	} {
		writeRun(t, "runs/a", `"rate": 0.1`, metrics, c.result)
		r, err := readRun("runs/a")
		if err != nil {
			t.Fatal(err)
		}
		if m := r.Metrics["log_likelihood_train"]; *m.Best != c.best || float64(m.BestStep) != c.step || *m.Last != -7 {
			t.Errorf("%s: %v at step %d, at last %v, want %v at step %v", c.result, *m.Best, m.BestStep, *m.Last, c.best, c.step)
		}
	}
}
