// Package claimstest has checks that the tests of all experiments call.
package claimstest

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims"
)

var long = flag.Bool("long", false, "run experiments in their quick size, some seconds each")

// Long skips a test unless the flag -long is given.
func Long(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes some seconds, with -long")
	}
}

// Quick runs all figures in the quick size. Each must have a table, a picture, a
// section of the page and decided claims. It returns the verdicts by figure and
// claim.
func Quick(t *testing.T, e claims.Experiment, run cli.Command, flags ...string) map[string]claims.Verdict {
	t.Helper()
	Long(t)
	out := filepath.Join(t.TempDir(), "out")
	command := clitest.Command{Name: e.Name, Run: run}
	args := append([]string{"-quick", "-json", "-out", out}, flags...)
	var result struct {
		Claims []struct {
			Figure, Claim, Statistic string
			Verdict                  claims.Verdict
			Pass                     bool
		}
	}
	if err := json.Unmarshal([]byte(command.OK(t, args...)), &result); err != nil {
		t.Fatal(err)
	}
	verdicts, has := map[string]claims.Verdict{}, map[string]bool{}
	for _, c := range result.Claims {
		if c.Verdict == claims.Open || c.Pass != (c.Verdict == claims.Pass) || c.Statistic == "" {
			t.Errorf("figure %s: %+v", c.Figure, c)
		}
		verdicts[c.Figure+": "+c.Claim] = c.Verdict
		has[c.Figure] = true
	}
	page := clitest.Read(t, filepath.Join(out, "README.md"))
	if strings.Contains(page, "Not run yet") || strings.Contains(page, "the others are missing") {
		t.Error("README.md says that runs are missing")
	}
	for _, f := range e.Figures {
		if !has[f.Name] {
			t.Errorf("figure %s has no claims", f.Name)
		}
		name := "figure-" + strings.ToLower(strings.ReplaceAll(f.Name, ".", ""))
		for _, ending := range []string{".png", ".csv"} {
			if info, err := os.Stat(filepath.Join(out, name+ending)); err != nil || info.Size() == 0 {
				t.Errorf("there is no %s%s", name, ending)
			}
		}
		if !strings.Contains(page, "("+name+".png)") {
			t.Errorf("README.md does not show %s", name)
		}
	}
	// Nothing is run again, and the pages do not change.
	command.OK(t, args...)
	if clitest.Read(t, filepath.Join(out, "README.md")) != page {
		t.Error("README.md changes when nothing is run")
	}
	return verdicts
}

// Committed checks that the pages in the working folder are what the program
// writes from the tables there. The tables must have all planned jobs and no others, so that
// a call of the program runs none.
func Committed(t *testing.T, e claims.Experiment) {
	t.Helper()
	dir := t.TempDir()
	tables, err := filepath.Glob("figure-*.csv")
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables here: %v", err)
	}
	for _, name := range tables {
		if err := copyFile(filepath.Join(dir, name), name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(strings.TrimSuffix(name, ".csv") + ".png"); err != nil {
			t.Errorf("%s has no picture", name)
		}
	}
	if err := e.WritePages(dir, claims.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(tables) != len(e.Figures) {
		t.Errorf("got %d tables, want one for each of %d figures", len(tables), len(e.Figures))
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
	for _, name := range []string{"README.md", "findings.csv"} {
		if clitest.Read(t, name) != clitest.Read(t, filepath.Join(dir, name)) {
			t.Errorf("%s is not what the program writes: go run ./experiments/%s -redraw", name, e.Name)
		}
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}
