package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/train/rundir"
)

// writeRows writes a file of rows of eight bits: two halves that repeat a bit, with flips.
func writeRows(t *testing.T, path string, rows int) {
	t.Helper()
	var b strings.Builder
	r := rbm.NewKey(5).Rand()
	for range rows {
		halves := [2]int{r.IntN(2), r.IntN(2)}
		for j := range 8 {
			x := halves[j/4]
			if r.IntN(10) == 0 {
				x = 1 - x
			}
			fmt.Fprint(&b, x, map[bool]string{true: "\n", false: ","}[j == 7])
		}
	}
	clitest.Write(t, path, b.String())
}

// A run on a file says what its trials chose. It is repeatable, and a resumed run has the same settings without
// trials. What is given stays.
func TestTune(t *testing.T) {
	clitest.Isolate(t)
	writeRows(t, "rows.csv", 200)
	args := []string{"-data", "rows.csv", "-tune", "0.01", "-pictures", "none"}
	said := rbmtrain.OK(t, append(args, "-out", "a", "-json")...)
	var result struct {
		Trials []struct {
			Hidden, Steps int
			L2, Rate      float64
			Score         float64
		} `json:"trials"`
		Rows  int `json:"trial_rows"`
		Steps int
	}
	if err := json.Unmarshal([]byte(said), &result); err != nil {
		t.Fatal(err)
	}
	best := result.Trials[0]
	for _, c := range result.Trials {
		if c.Score > best.Score {
			best = c
		}
	}
	if len(result.Trials) < 8 || result.Rows != 66 || result.Steps != best.Steps {
		t.Errorf("%d trials on %d rows chose %d steps; want 8 or more on 66 rows, and the best's %d", len(result.Trials), result.Rows, result.Steps, best.Steps)
	}
	text := rbmtrain.OK(t, append(args, "-out", "b")...)
	for _, want := range []string{fmt.Sprintf("chosen by %d trials on 66 rows held out: %d hidden units, %d steps, rate %v, l2 %v", len(result.Trials), best.Hidden, best.Steps, best.Rate, best.L2), "200 rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("the run does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "trains for longer") {
		t.Errorf("it advises a longer run, though trials chose the length:\n%s", text)
	}
	model := clitest.Read(t, "a/"+rundir.ModelFile)
	if clitest.Read(t, "b/"+rundir.ModelFile) != model {
		t.Error("two equal runs have different models")
	}
	checks := best.Steps / 2
	for _, c := range result.Trials {
		checks += c.Steps
	}
	if got := interrupt(checks+len(result.Trials), append(args, "-out", "c", "-quiet")...); got.Status != 1 || !strings.Contains(got.Stderr, "stopped after step") {
		t.Fatalf("the interrupted run exits with %d, want 1 and the step: %s", got.Status, got.Stderr)
	}
	if resumed := rbmtrain.OK(t, "-resume", "c"); strings.Contains(resumed, "trials") || clitest.Read(t, "c/"+rundir.ModelFile) != model {
		t.Errorf("the resumed run has trials or another model:\n%s", resumed)
	}
	given := rbmtrain.OK(t, append(args, "-out", "d", "-hidden", "3", "-rate", "0.07", "-l2", "0.002")...)
	if want := ": 3 hidden units, "; !strings.Contains(given, want) || !strings.Contains(given, "rate 0.07, l2 0.002 (") {
		t.Errorf("what is given does not stay:\n%s", given)
	}
}

// Runs whose length or recipe is given, on few rows, of a known distribution, or with -tune 0 have no trials.
func TestTuneOnlyFiles(t *testing.T) {
	clitest.Isolate(t)
	writeRows(t, "rows.csv", 200)
	writeRows(t, "few.csv", 49)
	for i, args := range []string{"-data rows.csv -steps 20", "-data rows.csv -epochs 1", "-data rows.csv -preset small -tune 0", "-data few.csv", "-data toy:2,2,60,0.1", "-data rows.csv -tune 0"} {
		if text := rbmtrain.OK(t, append(strings.Fields(args), "-pictures", "none", "-metrics", "none", "-hidden", "2", "-negphase", "cd", "-out", fmt.Sprint(i))...); strings.Contains(text, "trial") {
			t.Errorf("%s has trials:\n%s", args, text)
		}
	}
	text := rbmtrain.OK(t, "-data", "rows.csv", "-dry-run")
	if !strings.Contains(text, "will choose -hidden, -rate, -l2 and -steps by trials, for some 30 s of one core; -tune 0") {
		t.Errorf("-dry-run does not name the trials:\n%s", text)
	}
	for _, args := range []string{"-constraint hidden=2", "-hidden-units relu", "-init 0/model.safetensors"} {
		rbmtrain.Fails(t, cli.Usage, append(strings.Fields(args), "-data", "rows.csv", "-tune", "0.01"), "-tune", strings.Fields(args)[0])
	}
	for _, bad := range []string{"-1", fmt.Sprint(math.Inf(1)), "much"} {
		rbmtrain.Fails(t, cli.Usage, []string{"-data", "rows.csv", "-tune", bad}, "-tune")
	}
}
