package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/experiments/internal/training"
)

func TestPage(t *testing.T) { figurestest.Page(t, (&bench{}).experiment(&training.Commands{})) }

// Sets without files are named and left out, and so are those that -sets does not name.
func TestMissing(t *testing.T) {
	figurestest.Long(t)
	dir := t.TempDir()
	rows := strings.Repeat("0,1,1\n1,0,0\n1,1,0\n", 20)
	clitest.Write(t, filepath.Join(dir, "debd", "nltcs.train.csv.gz"), rows)
	clitest.Write(t, filepath.Join(dir, "debd", "nltcs.test.csv.gz"), rows)
	result := clitest.Command{Name: "benchmarks", Run: run}.Call("-quick", "-data-dir", dir, "-sets", "nltcs,dna", "-out", filepath.Join(dir, "out"))
	if !strings.Contains(result.Stderr, "dna is left out: there is no "+filepath.Join(dir, "debd", "dna.train.csv.gz")) || strings.Contains(result.Stderr, "nips") {
		t.Errorf("warnings: %s", result.Stderr)
	}
	if !strings.Contains(result.Stdout, "| nltcs | 16 | 16181 | -") || !strings.Contains(result.Stdout, "1 of 17 runs; the others are missing") {
		t.Errorf("the table is %s", result.Stdout)
	}
}
