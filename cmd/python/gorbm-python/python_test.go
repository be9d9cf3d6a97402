package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
	"gorbm/rbm/units"
)

var long = flag.Bool("long", false, "run scikit-learn's checks of the estimators, and 1000 fits under joblib")

// python returns the first interpreter that has NumPy and scikit-learn, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	reason := "there is no python3"
	for _, name := range []string{os.Getenv("PYTHON"), "python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil {
			if exec.Command(path, "-c", "import sys; from importlib.util import find_spec; sys.exit(not (find_spec('numpy') and find_spec('sklearn')))").Run() == nil {
				return path
			}
			reason = "python3 has no NumPy or no scikit-learn"
		}
	}
	t.Skip(reason)
	return ""
}

// environment sets the variables with which the package in this folder starts the test binary as its
// program.
func environment(t *testing.T, more ...string) []string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), append(more, asProgram+"=1", "GORBM_PYTHON="+program, "PYTHONPATH="+folder,
		"PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")...)
}

// TestPython runs the tests of the package.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some hundred processes")
	}
	t.Parallel() // mostly two processes
	interpreter := python(t)
	models := t.TempDir()
	writeModels(t, models)
	cmd := exec.Command(interpreter, "-m", "unittest", "-v", "test_gorbm")
	cmd.Dir = "../tests"
	cmd.Env = environment(t, "GORBM_MODEL="+models)
	if *long {
		cmd.Env = append(cmd.Env, "GORBM_LONG=1")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// writeModels writes models of several kinds and their results for some rows.
func writeModels(t *testing.T, folder string) {
	t.Helper()
	const inputs, hidden, rows = 7, 5, 9
	x := rbm.NewMatrix(rows, inputs)
	v := rbm.NewBits(rows, inputs)
	for i := range x.Data {
		if rbm.NewKey(4).Uniform(uint64(i)) < 0.5 {
			x.Data[i] = 1
			v.Set(i/inputs, i%inputs, true)
		}
	}
	plain := rbm.New(inputs, hidden, 0, rbm.Softmax)
	plain.Randomize(1, rbm.NewKey(1))
	labelled := rbm.New(inputs+3, hidden, 3, rbm.Softmax)
	labelled.Randomize(1, rbm.NewKey(2))
	schema := &data.Schema{Columns: []data.Column{{Name: "colour", Levels: []string{"blue", "green", "red"}}, {Name: "sex", Levels: []string{"f", "m"}, Bit: true},
		{Name: "size", Levels: []string{"1", "5", "20"}, Edges: []float64{3, 10}}}}
	table := rbm.NewGroups(hidden, schema.Groups()...)
	table.Randomize(1, rbm.NewKey(3))
	numbers := rbm.NewGroups(hidden, rbm.Group{Kind: rbm.Gaussian, Units: inputs})
	numbers.Randomize(1, rbm.NewKey(4))
	means, deviations := make([]float64, inputs), make([]float64, inputs)
	for i, p := range numbers.VisibleParams()[0] {
		numbers.VisibleParams()[0][i] = p + float32(i)/4
		means[i], deviations[i] = 10*float64(i), 0.5*float64(i) // the first is constant
	}
	both := &data.Schema{Columns: []data.Column{{Name: "colour", Levels: []string{"blue", "green", "red"}}, {Name: "height", Number: &data.Scale{Mean: 100, Deviation: 20}}, {Name: "sex", Levels: []string{"f", "m"}, Bit: true}}}
	mixed := rbm.NewGroups(hidden, both.Groups()...)
	mixed.Randomize(1, rbm.NewKey(6))
	mixed.VisibleParams()[0][3] = 1.5
	constrained := plain.Clone()
	constrained.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	for name, c := range map[string]struct {
		m     *rbm.RBM
		about modelfile.About
	}{
		"model":       {plain, modelfile.About{Described: true}},
		"labelled":    {labelled, modelfile.About{Described: true, ClassNames: []string{"3", "5", "8"}, Scale: "0:16"}},
		"spins":       {plain, modelfile.About{Described: true, Scale: "spins"}},
		"columns":     {plain, modelfile.About{Described: true, Scale: "0:1,0:2,0:3,0:4,0:5,0:6,-1:0"}},
		"table":       {table, modelfile.About{Described: true, Schema: schema.Text()}},
		"numbers":     {numbers, modelfile.About{Described: true, Binarize: data.Standard, Means: means, Deviations: deviations, Columns: strings.Split("abcdefg", "")}},
		"mixed":       {mixed, modelfile.About{Described: true, Binarize: data.Standard, Schema: both.Text(), Means: []float64{0, 0, 0, 100, 0}, Deviations: []float64{1, 1, 1, 20, 1}}},
		"constrained": {constrained, modelfile.About{Described: true}},
		"drelu":       {rbm.NewLayers(rbm.Group{Kind: units.DReLU, Units: hidden}, plain.Groups()...), modelfile.About{Described: true}},
	} {
		f, err := os.Create(filepath.Join(folder, name+".safetensors"))
		if err == nil {
			err = errors.Join(modelfile.WriteSafetensors(f, c.m, c.about), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mean, free := rbm.NewMatrix(rows, hidden), make([]float64, rows)
	plain.HiddenMean(mean, v)
	plain.FreeEnergy(free, v)
	logProb := make([]float64, 3*rows)
	wide := rbm.NewBits(rows, inputs+3)
	for r := range rows {
		v.Each(r, func(i int) { wide.Set(r, i, true) })
	}
	labelled.ClassLogProb(logProb, wide)
	logZ, err := exact.LogZ(context.Background(), plain)
	if err != nil {
		t.Fatal(err)
	}
	words := [][]int32{{0, 0, 2}, {1, 1, 0}, {2, 0, 1}}
	levels, levelsFree := rbm.NewBits(len(words), inputs), make([]float64, len(words))
	for r, row := range words {
		schema.Put(levels, r, row)
	}
	table.FreeEnergy(levelsFree, levels)
	tableZ, err := exact.LogZ(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	mixedFree := make([]float64, 2)
	mixed.FreeEnergy(mixedFree, rbm.Matrix{Rows: 2, Cols: 5, Data: []float32{1, 0, 0, 0.5, 0, 0, 0, 1, -0.75, 1}}.Values())
	mixedZ, err := exact.LogZ(context.Background(), mixed)
	if err != nil {
		t.Fatal(err)
	}
	real, realFree := rbm.NewMatrix(rows, inputs), make([]float64, rows)
	for i := range real.Data {
		real.Data[i] = float32(2*rbm.NewKey(5).Uniform(uint64(i)) - 1)
	}
	numbers.FreeEnergy(realFree, real.Values())
	realMean := rbm.NewMatrix(rows, hidden)
	numbers.HiddenMean(realMean, real.Values())
	realZ, err := exact.LogZ(context.Background(), numbers)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(folder, "want.npz"))
	if err == nil {
		err = errors.Join(npz.Write(f, []npz.Named{{Name: "x", Shape: []int{rows, inputs}, Data: x.Data}, {Name: "hidden", Data: mean.Data},
			{Name: "free", Data: free}, {Name: "log_proba", Data: logProb}, {Name: "log_z", Data: []float64{logZ}},
			{Name: "table_free", Data: levelsFree}, {Name: "table_log_z", Data: []float64{tableZ}},
			{Name: "mixed_free", Data: mixedFree}, {Name: "mixed_log_z", Data: []float64{mixedZ}}, {Name: "real", Shape: []int{rows, inputs}, Data: real.Data}, {Name: "real_free", Data: realFree}, {Name: "real_hidden", Data: realMean.Data}, {Name: "real_log_z", Data: []float64{realZ}}}), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// examples returns the Python code blocks of a page, by the heading above each.
func examples(t *testing.T, page string) (names, blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	heading, block, in := "", "", false
	for line := range strings.Lines(string(text)) {
		switch {
		case in && strings.HasPrefix(line, "```"):
			names, blocks, in = append(names, heading), append(blocks, block), false
		case in:
			block += line
		case strings.HasPrefix(line, "```python"):
			block, in = "", true
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	return names, blocks
}

// TestPage runs the examples of the page and compares their output with the comments.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for some seconds")
	}
	t.Parallel() // mostly two processes
	interpreter := python(t)
	names, blocks := examples(t, "../README.md")
	if len(blocks) < 6 {
		t.Fatalf("the page has %d examples, not six", len(blocks))
	}
	// A single process runs all: each import takes a second.
	const between = "---- next example ----"
	script := "import sys\nfor block in sys.argv[1:]:\n    exec(block, {'__name__': '__main__'})\n    print('" + between + "', flush=True)\n"
	cmd := exec.Command(interpreter, append([]string{"-W", "error", "-c", script}, blocks...)...)
	cmd.Dir, cmd.Env = t.TempDir(), environment(t)
	out, err := cmd.CombinedOutput()
	parts := strings.Split(string(out), between+"\n")
	if err != nil {
		t.Fatalf("%s: %v\n%s", names[min(len(parts), len(names))-1], err, parts[len(parts)-1])
	}
	for i, block := range blocks {
		if why := printed(block, parts[i]); why != "" {
			t.Errorf("%s: %s; it prints\n%s", names[i], why, parts[i])
		}
		t.Logf("%s:\n%s", names[i], parts[i])
	}
}

// printed checks that the output of an example has the lines of its comments that begin with "# →", in
// order. It returns "" or an error message.
func printed(block, out string) string {
	rest := strings.Split(strings.TrimSpace(out), "\n")
	for line := range strings.Lines(block) {
		_, want, ok := strings.Cut(line, "# → ")
		if !ok {
			continue
		}
		want = strings.TrimSpace(want)
		at := slices.Index(rest, want)
		if at < 0 {
			return fmt.Sprintf("the page says %q", want)
		}
		rest = rest[at+1:]
	}
	return ""
}

func TestPrinted(t *testing.T) {
	const block = "print(0)\nprint(1)  # → 1\nprint(a, b)  # → 2 3\n"
	if why := printed(block, "0\n1\n2 3\n4\n"); why != "" {
		t.Errorf("got %q, want %q", why, "")
	}
	for _, out := range []string{"", "1\n", "1\n2 4\n", "2 3\n1\n"} {
		if printed(block, out) == "" {
			t.Errorf("%q passes", out)
		}
	}
}
