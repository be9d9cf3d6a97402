package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/figures/figurestest"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment, experiment.Command(nil)) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment) }

// Equal seeds give equal numbers, except for seconds, for any number of concurrent jobs and of
// repetitions.
func TestEqualSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("trains some models")
	}
	command := clitest.Command{Name: experiment.Name, Run: experiment.Command(nil)}
	table := func(figure string, flags ...string) (numbers []string) {
		out := t.TempDir()
		command.OK(t, append([]string{"-quick", "-figure", figure, "-out", out}, flags...)...)
		for line := range strings.Lines(clitest.Read(t, filepath.Join(out, "figure-"+figure+".csv"))) {
			if !strings.Contains(line, ",seconds,") {
				numbers = append(numbers, line)
			}
		}
		return numbers
	}
	for _, figure := range []string{"2", "3", "6"} {
		one, two := table(figure, "-jobs", "1", "-repeats", "2"), table(figure, "-jobs", "4", "-repeats", "3")
		if len(one) < 10 || len(two) <= len(one) || strings.Join(one, "") != strings.Join(two[:len(one)], "") {
			t.Errorf("figure %s: %d and %d lines, which do not begin alike", figure, len(one), len(two))
		}
	}
}
