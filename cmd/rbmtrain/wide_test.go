package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/rundir"
)

// Of rows that are too wide for a sheet no samples are drawn, and the closing lines say
// so.
func TestWide(t *testing.T) {
	clitest.Isolate(t)
	const inputs = 50_000 // a hundred of them are above plots.MaxValues
	row := strings.Repeat("0,1,1,0,0,", inputs/5-1) + "0,1,1,0,"
	clitest.Write(t, "wide.csv", row+"1\n"+row+"0\n")
	args := []string{"-data", "wide.csv", "-hidden", "4", "-steps", "1", "-negphase", "cd", "-metrics", "none", "-out", "run"}
	out := rbmtrain.OK(t, args...)
	if !strings.Contains(out, "\nno samples: 100 pictures of 50000 inputs are too large for a sheet; rbmsample -model run draws them\n") || strings.Contains(out, "samples.png") {
		t.Errorf("prints %s", out)
	}
	if _, err := os.Stat(filepath.Join("run", rundir.SamplesFile)); err == nil {
		t.Error("there is a picture of samples")
	}
}

// The chains of samples.png have as many rounds as their work allows.
func TestSamplesRounds(t *testing.T) {
	s := train.DefaultSettings("pcd")
	s.Batch = 1200 // and as many chains: a step has 6000 rows of work, and a round of 100 pictures 600
	for _, c := range []struct {
		inputs, hidden, classes, steps int // −10 classes: none, under a constraint
		want                           int // 0: no picture
	}{
		{784, 500, 10, 20_000, 1024},
		{784, 500, 10, 200, 200},
		{784, 500, 10, 2, 64},
		{784, 500, 100, 20_000, 876}, // 2³⁷ / (400 · 784 · 500), as 40 of the classes are drawn
		{8000, 500, 0, 20_000, 343},  // 2³⁷ / (100 · 8000 · 500)
		{8000, 2684, 0, 20_000, 64},
		{8000, 2685, 0, 20_000, 0}, // 64 · 100 · 8000 · 2685 > 2³⁷
		{41_943, 2, 0, 1, 64},
		{41_944, 2, 0, 1, 0},         // 100 · 41944 values are above 2²²
		{784, 500, -10, 20_000, 219}, // 2³⁷ / (16 · 100 · 784 · 500), under a constraint
		{784, 100, -10, 20_000, 1024},
		{784, 100, -10, 800, 100},
	} {
		m := rbm.New(c.inputs, c.hidden, max(0, c.classes), rbm.Softmax)
		if c.classes < 0 {
			m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 20}
		}
		got, why := samplesRounds(m, s, c.steps)
		if got != c.want || (why == "") != (c.want > 0) {
			t.Errorf("%+v: %d rounds, %q", c, got, why)
		}
	}
}
