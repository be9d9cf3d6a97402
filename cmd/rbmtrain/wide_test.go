package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/rundir"
)

// Of rows that are too wide for a sheet no samples are drawn, and the closing lines say
// so.
func TestWide(t *testing.T) {
	clitest.Isolate(t)
	const inputs = 50_000 // two hundred of them are above plots.MaxValues
	row := strings.Repeat("0,1,1,0,0,", inputs/5-1) + "0,1,1,0,"
	clitest.Write(t, "wide.csv", row+"1\n"+row+"0\n")
	args := []string{"-data", "wide.csv", "-hidden", "4", "-steps", "1", "-negphase", "cd", "-metrics", "none", "-out", "run"}
	out := rbmtrain.OK(t, args...)
	if !strings.Contains(out, "\nno samples: 200 samples of 50000 inputs are too large for a sheet; rbmsample -model run -out samples.csv draws them\n") || strings.Contains(out, "samples.png") {
		t.Errorf("prints %s", out)
	}
	if _, err := os.Stat(filepath.Join("run", rundir.SamplesFile)); err == nil {
		t.Error("there is a picture of samples")
	}
}

// samples.png takes no more work than it may: fewer rounds, then ten samples in place of ten of each class, then
// none. A round of ten classes has 10 · 10 · 2 · 20 = 4000 rows, one of ten samples 400, and one without classes
// 2000, each of the weights and 2¹⁴, or of 4·10⁴ if that is more. They may take 6·2³¹, and 4 % of the steps, whose rows are of the
// weights, 24·2¹⁰, and 83 for each unit: with 1294 of them U = 131978.
func TestQueriesOf(t *testing.T) {
	for _, c := range []struct {
		inputs, hidden, classes, steps int // −1 class: none, under a constraint
		lines, rounds                  int // 0 lines: no picture
	}{
		{784, 500, 10, 48_000, 10, 124}, // (6·2³¹ + 0.04 · 48000 · 190 · (397000+U)) / (4000 · (397000+2¹⁴))
		{784, 500, 10, 480_000, 10, 1024},
		{784, 500, 10, 600, 1, 93}, // (6·2³¹ + 0.04 · 600 · 190 · (397000+U)) / (400 · (397000+2¹⁴))
		{784, 500, 10, 48, 1, 48},
		{784, 500, 0, 600, 1, 93},
		{784, 500, 0, 10_000, 1, 64},
		{16, 16, 0, 1000, 1, 163}, // (6·2³¹ + 0.04 · 1000 · 190 · (256+24·2¹⁰+83·32)) / (2000 · 4·10⁴)
		{16, 16, 0, 100, 1, 100},
		{16, 16, 0, 10, 1, 32},
		{784, 500, -1, 600, 0, 0},
		{784, 500, -1, 48_000, 1, 77},
		{784, 500, -1, 480_000, 1, 147},
		{41_943, 2, 0, 300_000, 1, 1024},
		{41_944, 2, 0, 300_000, 0, 0}, // 100 · 41944 values are above 2²²
	} {
		m := rbm.New(c.inputs, c.hidden, max(0, c.classes), rbm.Softmax)
		if c.classes < 0 {
			m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 1}
		}
		s := train.DefaultSettings("pcd") // a step of 190 rows: batches of 20 and 50 chains
		queries, got, why := queriesOf(m, true, s, c.steps)
		if len(queries) != c.lines || got.Rounds != c.rounds || (why == "") != (c.lines > 0) {
			t.Errorf("%+v: %d lines, %d rounds, %q", c, len(queries), got.Rounds, why)
		}
	}
}

// Samples of sequences are a file of their letters; others are in the tests of what was left out.
func TestSampleCommand(t *testing.T) {
	set := &data.Set{Schema: &data.Schema{Alphabet: "-ACGU"}}
	if got, want := sampleCommand("run", set), "rbmsample -model run -out samples.fasta"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A run has as many measurements and samples as its work allows.
func TestLeftOut(t *testing.T) {
	clitest.Isolate(t)
	args := []string{"-data", "fontdigits:1000", "-hidden", "500", "-steps", "40", "-negphase", "cd", "-metrics", "classification", "-out", "run"}
	out := rbmtrain.OK(t, args...)
	if want := "\nsamples: 10 of any class; "; !strings.Contains(out, want) {
		t.Errorf("prints %s, no %q", out, want)
	}
	if rows := strings.Count(clitest.Read(t, filepath.Join("run", rundir.MetricsFile)), "\n"); rows != 4 {
		t.Errorf("metrics.csv has %d lines, want a head, step 0, half and the last", rows)
	}
	// An enumeration counts: each measurement takes 32 · 2¹⁸ · 784 of 6·2³¹.
	rbmtrain.OK(t, append(args, "-hidden", "18", "-metrics", "log_likelihood", "-force", "-quiet")...)
	if rows := strings.Count(clitest.Read(t, filepath.Join("run", rundir.MetricsFile)), "\n"); rows != 4 {
		t.Errorf("with an enumeration metrics.csv has %d lines, want 4", rows)
	}
}

// A number of rounds that the work bounds is named only where chains have not mixed. Weights of 8 keep a
// chain where it begins: at rows of zeros, or, from a random state, at ones.
func TestRoundsAreNamedWhereChainsHaveNotMixed(t *testing.T) {
	const inputs, hidden, steps = 16, 16, 1000
	set := &data.Set{X: rbm.NewBits(200, inputs), Height: 4, Width: 4}
	for _, weight := range []float32{0, 8} {
		m := rbm.New(inputs, hidden, 0, rbm.Softmax)
		w := rbm.NewMatrix(inputs, hidden)
		for i := range w.Data {
			w.Data[i] = weight
		}
		m.SetWeights(w)
		for _, bias := range [][]float32{m.VisibleBias, m.HiddenBias} {
			for i := range bias {
				bias[i] = -weight * inputs / 2
			}
		}
		s, err := drawSamples(t.Context(), m, set, train.DefaultSettings("pcd"), steps, "run", func(float64) {})
		if err != nil || s.missing != "" || s.mixed != (weight == 0) {
			t.Fatalf("weight %v: %v, %q; mixed %v", weight, err, s.missing, s.mixed)
		}
		if named := strings.Contains(s.verdict, "rounds, the limit in a run of 1000 steps; longer chains by: rbmsample -model run -out samples.png)"); named == s.mixed {
			t.Errorf("weight %v: %q", weight, s.verdict)
		}
	}
}
