package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/sample"
	"gorbm/train/rundir"
)

// TestObjectiveChoosesByError checks that a run with a discriminative part keeps the
// model with the smallest error on all rows held out, and that other runs use the
// likelihood.
func TestObjectiveChoosesByError(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for objective, column := range map[string]string{"joint": "log_likelihood_holdout", "hybrid": "error_holdout", "discriminative": "error_holdout"} {
		clitest.Isolate(t)
		out := rbmtrain.OK(t, small("-objective", objective, "-holdout", "0.4", "-rate", "0.5", "-eval-every", "5", "-out", "run")...)
		rows := table(t, filepath.Join("run", rundir.MetricsFile))
		at, best, step := slices.Index(rows[0], column), math.Inf(1), ""
		for _, row := range rows[1:] {
			x, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				t.Fatal(err)
			}
			if objective == "joint" {
				x = -x
			}
			if x < best {
				best, step = x, row[0]
			}
		}
		if want := fmt.Sprintf("best on the rows held out: step %s, %s ", step, column); !strings.Contains(out, want) {
			t.Errorf("%s: no %q in %s", objective, want, out)
		}
		_, err := os.Stat(filepath.Join("run", rundir.SamplesFile))
		if drawn := err == nil; drawn != (objective != "discriminative") {
			t.Errorf("%s: samples are drawn: %v, want %v", objective, drawn, objective != "discriminative")
		}
	}
}

// TestObjectiveInJSON checks the objective in -json and config.json.
func TestObjectiveInJSON(t *testing.T) {
	undrawn(t)
	for _, c := range []struct {
		args, objective, negphase string
		alpha                     float64
	}{
		{"-negphase cd", "", "cd:k=1", 0},
		{"-negphase cd -objective joint", "", "cd:k=1", 0},
		{"-negphase cd -objective hybrid", "hybrid", "cd:k=1", defaultAlpha},
		{"-negphase cd -objective hybrid -alpha 0.25", "hybrid", "cd:k=1", 0.25},
		{"-objective discriminative", "discriminative", "", 0},
	} {
		clitest.Isolate(t)
		var r jsonResult
		if err := json.Unmarshal([]byte(rbmtrain.OK(t, small(append(strings.Fields(c.args), "-json", "-out", "run")...)...)), &r); err != nil {
			t.Fatal(err)
		}
		var saved struct{ Training struct{ Objective string } }
		text := []byte(clitest.Read(t, filepath.Join("run", rundir.ConfigFile)))
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		if r.Objective != c.objective || r.NegPhase != c.negphase || r.Alpha != c.alpha || saved.Training.Objective != c.objective {
			t.Errorf("%s: %q %q %v, config.json %q", c.args, r.Objective, r.NegPhase, r.Alpha, saved.Training.Objective)
		}
	}
}

// TestPartlyLabelled trains on rows of which some have no label. Their label is summed
// out, or the rows are left out and counted.
func TestPartlyLabelled(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	var b strings.Builder
	b.WriteString("a,b,c,label\n")
	for i := range 40 {
		label := []string{"x", "", "y", "?"}[i%4]
		fmt.Fprintf(&b, "%d,%d,%d,%s\n", i%2, i/2%2, i/4%2, label)
	}
	clitest.Write(t, "x.csv", b.String())
	common := []string{"-data", "x.csv", "-unlabelled", "?", "-hidden", "3", "-steps", "40", "-negphase", "cd"}
	for objective, want := range map[string]string{
		"joint":          "; 20 rows have no label: it is summed out\n",
		"hybrid":         "; 20 rows have no label: it is summed out\n",
		"discriminative": "; 20 rows have no label and are left out\n",
	} {
		r := rbmtrain.Call(append(common, "-objective", objective, "-out", objective)...)
		if r.Status != 0 || !strings.Contains(r.Stdout, want) || !strings.Contains(r.Stdout, "2 softmax labels") {
			t.Errorf("%s: exits with %d\n%s%s", objective, r.Status, r.Stdout, r.Stderr)
		}
		if c := clitest.Read(t, filepath.Join(objective, rundir.ConfigFile)); !strings.Contains(c, `"unlabelled_rows": 20`) {
			t.Errorf("%s: config.json does not count the rows without a label", objective)
		}
		rbmtrain.OK(t, "-resume", objective, "-steps", "50", "-quiet")
	}
	// Without -unlabelled "?" is a class. Too few rows with a label are an error.
	if out := rbmtrain.OK(t, "-data", "x.csv", "-hidden", "3", "-steps", "5", "-negphase", "cd", "-dry-run"); !strings.Contains(out, "3 softmax labels") || !strings.Contains(out, "; 10 rows have no label") {
		t.Errorf("prints %s", out)
	}
	rbmtrain.Fails(t, 2, append(common, "-objective", "discriminative", "-batch", "21"), "-batch is 21", "only 20 rows with a label")
	rbmtrain.Fails(t, 1, append(common, "-constraint", "hidden=1"), "20 rows of x.csv have no class", "constraint hidden=1")
	clitest.Write(t, "none.csv", "a,label\n0,\n1,\n")
	rbmtrain.Fails(t, 2, []string{"-data", "none.csv", "-objective", "discriminative"}, "needs labels", "none.csv has none")
}

// If chains have not mixed, the closing line on samples.png says at which states they started.
func TestDescribeSamples(t *testing.T) {
	const count, stuck = "of 20 samples, 18 are nearest to a row of their class (of training rows, 19); ", "(so the samples are from chains that started at training rows)"
	s := samples{agreement: &sample.Agreement{Same: 18, Of: 20, Rows: 19}, verdict: "their chains have mixed in 1 of 2 lines", fromData: true}
	if got := s.describe(2, true); !strings.HasPrefix(got, count+s.verdict+" "+stuck) {
		t.Error(got)
	}
	s.mixed, s.verdict, s.fromData = true, "their chains have mixed", false
	if got := s.describe(2, false); got != count+s.verdict {
		t.Errorf("got %q, want %q", got, count+s.verdict)
	}
	if got := s.describe(2, true); got != count+s.verdict+", so they show the model of the warning" {
		t.Errorf("got %q, want %q", got, count+s.verdict+", so they show the model of the warning")
	}
}
