package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims/claimstest"
)

var defaults = clitest.Command{Name: "defaults", Run: run}

// A quick experiment goes on where it was left, and its table holds the means of
// its rows.
func TestQuick(t *testing.T) {
	claimstest.Long(t)
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"-quick", "-data", clitest.Toy, "-out", out}
	text := defaults.OK(t, args...)
	if !strings.Contains(text, "ins better ± se") || !strings.Contains(text, "pcd, 100 chains") {
		t.Errorf("prints %s", text)
	}
	file := filepath.Join(out, "results.csv")
	rows, err := readRows(file)
	if err != nil || len(rows) != 2*len(methods) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Data != clitest.Toy || r.Steps != 200 || !(r.Seconds > 0) || !math.IsNaN(r.Error) || !(r.LogLikelihood < -4) || (r.Hottest > 1) != (r.Method == "ins" || r.Method == "pt") {
			t.Errorf("%+v", r)
		}
	}
	if info, err := os.Stat(filepath.Join(out, "defaults.png")); err != nil || info.Size() == 0 {
		t.Error("there is no picture")
	}

	if tables := clitest.Read(t, filepath.Join(out, "tables.txt")); !strings.Contains(tables, clitest.Toy+", -labels auto, 20 hidden units\nsteps ") || !strings.Contains(text, strings.SplitAfterN(tables, "\n", 2)[1]) {
		t.Errorf("tables.txt has\n%s\nand the terminal\n%s", tables, text)
	}
	before := clitest.Read(t, file)
	defaults.OK(t, append(args, "-redraw", "-seeds", "3")...)
	if clitest.Read(t, file) != before {
		t.Error("-redraw measures")
	}
	defaults.Fails(t, cli.Failed, append(args, "-redraw", "-data", "bars:3"), "no rows of bars:3")

	// Without two of its rows it measures these and no other.
	lines := strings.SplitAfter(before, "\n")
	last := len(lines) - 1 // after the last line
	if err := os.WriteFile(file, []byte(strings.Join(lines[:last-2], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	var table table
	if err := json.Unmarshal([]byte(defaults.OK(t, append(args, "-json")...)), &table); err != nil {
		t.Fatal(err)
	}
	if after := clitest.Read(t, file); strings.Count(after, "\n") != strings.Count(before, "\n") || !strings.HasPrefix(after, strings.Join(lines[:last-2], "")) {
		t.Errorf("the rows are\n%s\nand were\n%s", after, before)
	}
	if len(table) != len(methods) || table[0].LogLikelihood.N != 2 || table[0].Error.Mean != nil {
		t.Errorf("the table is %+v", table)
	}
	clitest.Write(t, file, "a,b\n1,2\n")
	defaults.Fails(t, cli.Failed, args, "results.csv", "-out")
	for flags, words := range map[string]string{"-seeds 1": "-seeds is 1", "-steps 10,x": `-steps is "10,x"`, "-steps 0": "-steps", "-methods ins;pdc": "did you mean pcd?"} {
		defaults.Fails(t, cli.Usage, strings.Fields(flags), words)
	}
}

// Means, standard deviations and paired differences of rows by hand.
func TestSummarize(t *testing.T) {
	nan := math.NaN()
	rows := []row{
		{Method: "ins", Steps: 10, Seed: 1, Seconds: 1, Error: 0.1, LogP: -1, LogLikelihood: -10, Hottest: 2},
		{Method: "ins", Steps: 10, Seed: 2, Seconds: 3, Error: 0.2, LogP: -3, LogLikelihood: nan, Hottest: 4},
		{Method: "pcd", Steps: 10, Seed: 2, Seconds: 2, Error: 0.4, LogP: -1, LogLikelihood: -30},
		{Method: "pcd", Steps: 10, Seed: 1, Seconds: 2, Error: 0.2, LogP: -1, LogLikelihood: -20},
		{Method: "pcd", Steps: 20, Seed: 1, Seconds: 2, Error: 0.3, LogP: -1, LogLikelihood: -20},
	}
	table := summarize(rows)
	if len(table) != 3 || table[0].Method != "ins" || table[1].Method != "pcd" || table[2].Steps != 20 {
		t.Fatalf("%+v", table)
	}
	near := func(what string, m mean, n int, want, sd float64) {
		t.Helper()
		if m.N != n || math.Abs(*m.Mean-want) > 1e-12 || n > 1 && math.Abs(*m.SD-sd) > 1e-12 || n > 1 && math.Abs(*m.SE-sd/math.Sqrt(float64(n))) > 1e-12 {
			t.Errorf("%s: %+v", what, m)
		}
	}
	near("seconds", table[0].Seconds, 2, 2, math.Sqrt2)
	near("log-likelihood", table[0].LogLikelihood, 1, -10, 0)
	near("hottest", table[0].Hottest, 2, 3, math.Sqrt2)
	near("error of pcd", table[1].Error, 2, 0.3, 0.1*math.Sqrt2)
	near("better error", table[1].BetterError, 2, 0.15, 0.1/math.Sqrt2) // 0.1 and 0.2
	near("better log-likelihood", table[1].BetterLogLikelihood, 1, 10, 0)
	if table[0].BetterError.Mean != nil || table[2].BetterError.Mean != nil || table[1].Hottest.Mean != nil {
		t.Errorf("what is not known is %+v", table)
	}
}
