package main

import (
	"fmt"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

func TestExpandGrid(t *testing.T) {
	for line, want := range map[string]string{
		"-rate 0.1":                           "[[-rate 0.1]]",
		"-negphase {pcd,ins} -seed {1..3}":    "[[-negphase pcd -seed 1] [-negphase pcd -seed 2] [-negphase pcd -seed 3] [-negphase ins -seed 1] [-negphase ins -seed 2] [-negphase ins -seed 3]]",
		"-negphase pt:chains={2,4}:tau={1,2}": "[[-negphase pt:chains=2:tau=1] [-negphase pt:chains=2:tau=2] [-negphase pt:chains=4:tau=1] [-negphase pt:chains=4:tau=2]]",
		"-out {x}{1..2} -data a{b":            "[[-out {x}1 -data a{b] [-out {x}2 -data a{b]]",
		"-seed {-1..1}":                       "[[-seed -1] [-seed 0] [-seed 1]]",
		"-constraint {,hidden=2}":             "[[-constraint ] [-constraint hidden=2]]",
	} {
		runs, err := expandGrid(strings.Fields(line))
		if got := fmt.Sprint(runs); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", line, got, err, want)
		}
	}
	for line, want := range map[string]string{"-seed {3..1}": "no range", "-seed {a..c}": "no range", "-seed {1..1000000}": "100000", "-rate {1,{2,3}}": "braces within braces", "-seed {1..1000} -k {1..101}": "100000", "x{1..1000}{1..101}": "100000", "{0..9223372036854775807}": "100000", "{-9223372036854775808..9223372036854775807}": "100000"} {
		if _, err := expandGrid(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", line, err, want)
		}
	}
}

// A line with alternatives makes a run of each, and the file numbers all folders.
func TestGridInArray(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "sweep.txt", "-negphase {cd,pcd} -seed {1..2}\n-rate 0.2\n")
	args := small("-steps", "3", "-array", "sweep.txt", "-quiet")
	rbmtrain.OK(t, args...)
	for i, want := range []string{`"seed": 1`, `"seed": 2`, `"seed": 1`, `"seed": 2`, `"rate": 0.2`} {
		text := clitest.Read(t, fmt.Sprintf("runs/sweep-%d/config.json", i))
		if kind := []string{"cd", "cd", "pcd", "pcd", "ins"}[i]; !strings.Contains(text, want) || !strings.Contains(text, `"kind": "`+kind+`"`) {
			t.Errorf("run %d is not of %s and %s", i, kind, want)
		}
	}
	// The same command again finds all runs finished, including those with a constraint.
	clitest.Write(t, "fixed.txt", "-negphase im -constraint hidden={1..2}\n")
	args = small("-steps", "3", "-array", "fixed.txt")
	for range 2 {
		rbmtrain.OK(t, args...)
	}
	clitest.Write(t, "two.txt", "-seed {1..2} -out runs/same\n")
	rbmtrain.Fails(t, cli.Usage, small("-array", "two.txt"), "two.txt:1", "several runs of this line have -out runs/same")
	clitest.Write(t, "bad.txt", "\n-seed {2..1}\n")
	rbmtrain.Fails(t, cli.Usage, small("-array", "bad.txt"), "bad.txt:2", "{2..1}")
	clitest.Write(t, "long.txt", "-rate "+strings.Repeat("{1}", 100_000)+"\n")
	if r := rbmtrain.Call(small("-array", "long.txt")...); r.Status != cli.Usage || len(r.Stderr) > 1000 || !strings.Contains(r.Stderr, "long.txt:1: invalid value") {
		t.Errorf("a long value: status %d and %d bytes of message, want %d and at most 1000", r.Status, len(r.Stderr), cli.Usage)
	}
}
