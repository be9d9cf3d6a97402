// Package figurestest has checks that the tests of all experiments call.
package figurestest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/figures"
)

var long = flag.Bool("long", false, "run experiments in their quick size, some seconds each")

// Long skips a test unless the flag -long is given.
func Long(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes some seconds, with -long")
	}
}

// Quick runs all figures in the quick size. Each must have a table, a picture, and decided claims if it has any. A second call runs
// nothing. Quick returns whether claims pass, by figure and claim.
func Quick(t *testing.T, e figures.Experiment, run cli.Command, flags ...string) map[string]bool {
	t.Helper()
	Long(t)
	out := filepath.Join(t.TempDir(), "out")
	command := clitest.Command{Name: e.Name, Run: run}
	args := append([]string{"-quick", "-out", out}, flags...)
	var result struct {
		Claims []struct {
			Figure, Claim, Statistic string
			Pass                     bool
		}
	}
	if err := json.Unmarshal([]byte(command.OK(t, append(args, "-json")...)), &result); err != nil {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, c := range result.Claims {
		if c.Statistic == "" || strings.HasPrefix(c.Statistic, "pairs of repetitions") {
			t.Errorf("figure %s: %+v", c.Figure, c)
		}
		passed[c.Figure+": "+c.Claim] = c.Pass
	}
	tables := map[string]string{}
	for _, f := range e.Figures {
		name := filepath.Join(out, "figure-"+strings.ToLower(strings.ReplaceAll(f.Name, ".", "")))
		tables[name] = clitest.Read(t, name+".csv")
		if info, err := os.Stat(name + ".png"); err != nil || info.Size() == 0 {
			t.Errorf("there is no %s.png", name)
		}
	}
	text := command.OK(t, args...)
	if strings.Contains(text, "Not run yet") || strings.Contains(text, "the others are missing") {
		t.Errorf("runs are missing: %s", text)
	}
	for name, table := range tables {
		if clitest.Read(t, name+".csv") != table {
			t.Errorf("%s.csv changes in a second call", name)
		}
	}
	return passed
}

// Committed checks the page in the working folder, and that the tables there have all planned jobs and no others, so that a call
// of the program runs none.
func Committed(t *testing.T, e figures.Experiment) {
	t.Helper()
	tables, err := filepath.Glob("figure-*.csv")
	if err != nil || len(tables) != len(e.Figures) {
		t.Errorf("got %d tables, want one for each of %d figures: %v", len(tables), len(e.Figures), err)
	}
	for _, name := range tables {
		if _, err := os.Stat(strings.TrimSuffix(name, ".csv") + ".png"); err != nil {
			t.Errorf("%s has no picture", name)
		}
	}
	for _, f := range e.Figures {
		missing, other, err := f.Unfinished(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range missing {
			t.Errorf("figure %s: job %q is not in the table", f.Name, job)
		}
		for _, job := range other {
			t.Errorf("figure %s: the table has job %q, which is not planned", f.Name, job)
		}
	}
	Page(t, e)
}

// Page checks that the blocks of the page in the working folder are what the program writes from the tables there, and
// that the results have their numbers.
func Page(t *testing.T, e figures.Experiment) {
	t.Helper()
	page := clitest.Read(t, "README.md")
	want, err := e.Page(page, ".", figures.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if page != want {
		t.Errorf("README.md is not what the program writes: go run ./experiments/%s -redraw", e.Name)
	}
	for _, n := range figures.Unsourced(page) {
		t.Errorf("README.md: the block has no such number as the result in bold type: %s", n)
	}
}
