package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
)

var rbmeval = clitest.Command{Name: "rbmeval", Run: clitest.Alone(runRanks)}

// toy describes a model of the toy data.
var toy = modelfile.About{ClassNames: []string{"11", "10", "01", "00"}, Data: clitest.Toy + ":seed=1", Binarize: "binary", Height: 2, Width: 4, Seed: 1}

// isolate changes to an empty folder and saves three models of the toy data: with softmax labels, with
// Bernoulli labels and without labels.
func isolate(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	clitest.Save(t, "softmax.safetensors", clitest.Model(12, 5, 4, rbm.Softmax), toy)
	clitest.Save(t, "bernoulli.safetensors", clitest.Model(12, 5, 4, rbm.Bernoulli), toy)
	plain := toy
	plain.ClassNames, plain.Data = nil, clitest.Toy+":plain:seed=1"
	clitest.Save(t, "plain.npz", clitest.Model(8, 5, 0, rbm.Softmax), plain)
}

func TestHelp(t *testing.T) {
	rbmeval.Help(t, "ais", "ais-chains", "ais-temperatures", "base", "bennett", "binarize", "classes", "classify", "data", "data-dir", "exact", "features", "json",
		"label-column", "label-in-features", "labels", "ladder", "ladder-rounds", "model", "out", "part", "pl", "quiet", "reverse-ais", "rows", "run", "scale", "seed", "shape", "test", "workers")
	const counted = "one line per row from 0:"
	if out := rbmeval.OK(t, "-h"); !strings.Contains(out, counted) {
		t.Errorf("-h lacks %q:\n%s", counted, out)
	}
}

// TestGolden compares text, JSON and the table of -rows with golden files.
func TestGolden(t *testing.T) {
	isolate(t)
	for _, c := range []struct{ name, args string }{
		{"softmax", "-model softmax.safetensors -rows rows.csv"},
		{"bernoulli", "-model bernoulli.safetensors"},
		{"plain", "-model plain.npz"},
		{"unlabelled", "-model softmax.safetensors -data toy:4,4,50,0.2:plain"},
		{"bernoulli-unlabelled", "-model bernoulli.safetensors -data toy:4,4,50,0.2:plain"},
		{"pl", "-model softmax.safetensors -pl"},
		{"estimates", "-model softmax.safetensors -ais -reverse-ais -bennett -ais-temperatures 100 -ladder-rounds 600 -seed 3"},
	} {
		args := strings.Fields(c.args)
		clitest.Golden(t, c.name+".txt", rbmeval.OK(t, args...))
		if c.name == "softmax" {
			first, _, _ := strings.Cut(clitest.Read(t, "rows.csv"), "\n3,")
			clitest.Golden(t, "rows.csv", first+"\n")
			args = args[:2]
		}
		clitest.Golden(t, c.name+".json", clitest.JSON(t, rbmeval.OK(t, append(args, "-json")...)))
	}
}

// rows reads the table of -rows and returns its columns by name.
func rows(t *testing.T, path string) (header []string, column map[string][]string) {
	t.Helper()
	table, err := csv.NewReader(strings.NewReader(clitest.Read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column = map[string][]string{}
	for _, row := range table[1:] {
		for i, x := range row {
			column[table[0][i]] = append(column[table[0][i]], x)
		}
	}
	return table[0], column
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// free computes F(v) = −bᵀv − Σⱼ log(1 + exp(cⱼ + (vᵀW)ⱼ)) directly.
func free(m *rbm.RBM, v []int) float64 {
	f := 0.0
	for i, on := range v {
		f -= float64(on) * float64(m.VisibleBias[i])
	}
	for j := range m.Hidden() {
		a := float64(m.HiddenBias[j])
		for i, on := range v {
			a += float64(on) * float64(m.Weight(i, j))
		}
		f -= math.Log1p(math.Exp(a))
	}
	return f
}

// states returns the visible states of the rows of a data set. Without classes all label units are
// off.
func states(set *data.Set, classes int) [][]int {
	v := make([][]int, set.Len())
	for r := range v {
		v[r] = make([]int, set.X.Cols+classes)
		for i := range set.X.Cols {
			if set.X.Get(r, i) {
				v[r][i] = 1
			}
		}
		if classes > 0 && set.Y != nil {
			v[r][set.X.Cols+int(set.Y[r])] = 1
		}
	}
	return v
}

func load(t *testing.T, spec string) *data.Set {
	t.Helper()
	set, _, err := data.Load(context.Background(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// logZ sums over all visible states of m, which has few.
func logZ(m *rbm.RBM) float64 {
	sum := 0.0
	v := make([]int, m.Visible())
	for s := range 1 << m.Visible() {
		on := 0
		for i := range v {
			v[i] = s >> i & 1
			if i >= m.Inputs() {
				on += v[i]
			}
		}
		if m.Classes() == 0 || m.LabelKind() == rbm.Bernoulli || on == 1 {
			sum += math.Exp(-free(m, v))
		}
	}
	return math.Log(sum)
}

// TestAgreesWithDefinition compares -rows and the means with sums computed here.
func TestAgreesWithDefinition(t *testing.T) {
	for _, c := range []struct{ model, spec string }{
		{"softmax.safetensors", clitest.Toy},
		{"bernoulli.safetensors", clitest.Toy},
		{"plain.npz", clitest.Toy + ":plain"},
	} {
		isolate(t)
		m, _ := clitest.Load(t, c.model)
		set := load(t, c.spec)
		var result jsonResult
		if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", c.model, "-rows", "rows.csv", "-json")), &result); err != nil {
			t.Fatal(err)
		}
		_, column := rows(t, "rows.csv")
		z := logZ(m)
		if math.Abs(*result.LogZ-z) > 1e-9 {
			t.Errorf("%s: log Z %v, want %v", c.model, *result.LogZ, z)
		}
		meanF, wrong, meanP, n := 0.0, 0.0, 0.0, float64(set.Len())
		for r, v := range states(set, m.Classes()) {
			f := free(m, v)
			meanF += f / n
			if got := number(t, column["free_energy"][r]); math.Abs(got-f) > 1e-9 {
				t.Fatalf("%s: row %d has free energy %v, want %v", c.model, r, got, f)
			}
			if got := number(t, column["log_likelihood"][r]); math.Abs(got+f+z) > 1e-9 {
				t.Fatalf("%s: row %d has log-likelihood %v, want %v", c.model, r, got, -f-z)
			}
			// Besag: each unit given the others. A softmax label counts as one unit.
			pl := 0.0
			units := m.Visible()
			if m.Classes() > 0 && m.LabelKind() == rbm.Softmax {
				units = m.Inputs()
			}
			for i := range units {
				v[i] = 1 - v[i]
				pl -= math.Log1p(math.Exp(f - free(m, v)))
				v[i] = 1 - v[i]
			}
			if m.Classes() > 0 {
				p := predict(m, v)
				y := int(set.Y[r])
				if units == m.Inputs() {
					pl += math.Log(p[y])
				}
				meanP += math.Log(p[y]) / n
				best := slices.Index(p, slices.Max(p))
				if best != y {
					wrong++
				}
				if got := column["predicted"][r]; got != toy.ClassNames[best] {
					t.Errorf("%s: row %d is predicted as %s, want %s", c.model, r, got, toy.ClassNames[best])
				}
				if got := column["label"][r]; got != toy.ClassNames[y] {
					t.Errorf("%s: row %d is labelled %s, want %s", c.model, r, got, toy.ClassNames[y])
				}
				for k, name := range toy.ClassNames {
					if got := number(t, column["p_"+name][r]); math.Abs(got-p[k]) > 1e-9 {
						t.Fatalf("%s: row %d has p(%s|x) = %v, want %v", c.model, r, name, got, p[k])
					}
				}
			}
			if got := number(t, column["pseudo_log_likelihood"][r]); math.Abs(got-pl) > 1e-9 {
				t.Fatalf("%s: row %d has pseudo-log-likelihood %v, want %v", c.model, r, got, pl)
			}
		}
		if math.Abs(*result.FreeEnergy-meanF) > 1e-9 || math.Abs(*result.MeanLogLikelihood+meanF+z) > 1e-9 {
			t.Errorf("%s: mean free energy %v, want %v; likelihood %v", c.model, *result.FreeEnergy, meanF, *result.MeanLogLikelihood)
		}
		if s := result.Classification; m.Classes() > 0 && (s.N != set.Len() || math.Abs(s.Error-wrong/n) > 1e-12 || math.Abs(s.MeanLogP-meanP) > 1e-9) {
			t.Errorf("%s: %+v, want error %v, mean log p %v", c.model, *s, wrong/n, meanP)
		}
	}
}

// predict returns p(y|x) for each class. It leaves the labels in v unchanged.
func predict(m *rbm.RBM, v []int) []float64 {
	p := make([]float64, m.Classes())
	with, sum := slices.Clone(v), 0.0
	for y := range p {
		clear(with[m.Inputs():])
		with[m.Inputs()+y] = 1
		p[y] = math.Exp(-free(m, with))
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
	return p
}

// TestUnlabelled checks a model with softmax labels on rows without labels: labels are predicted, and
// F sums over them.
func TestUnlabelled(t *testing.T) {
	isolate(t)
	m, _ := clitest.Load(t, "softmax.safetensors")
	out := rbmeval.OK(t, "-model", "softmax.safetensors", "-data", clitest.Toy+":plain", "-rows", "rows.csv")
	if strings.Contains(out, "classification") || strings.Contains(out, "pseudo") {
		t.Errorf("scores that need labels: %s", out)
	}
	header, column := rows(t, "rows.csv")
	if slices.Contains(header, "label") || !slices.Contains(header, "predicted") {
		t.Errorf("columns %v", header)
	}
	for r, v := range states(load(t, clitest.Toy+":plain"), 4) {
		p := predict(m, v)
		if best := slices.Index(p, slices.Max(p)); column["predicted"][r] != toy.ClassNames[best] {
			t.Errorf("row %d is predicted as %s, want %s", r, column["predicted"][r], toy.ClassNames[best])
		}
		sum := 0.0
		for y := range p {
			clear(v[8:])
			v[8+y] = 1
			sum += math.Exp(-free(m, v))
		}
		if got := number(t, column["free_energy"][r]); math.Abs(got+math.Log(sum)) > 1e-9 {
			t.Fatalf("row %d has free energy %v, want %v", r, got, -math.Log(sum))
		}
	}
}

// writeParts writes rows.npz with three training and two test rows.
func writeParts(t *testing.T) {
	t.Helper()
	f, err := os.Create("rows.npz")
	if err != nil {
		t.Fatal(err)
	}
	err = npz.Write(f, []npz.Named{
		{Name: "x_train", Shape: []int{3, 4}, Data: []uint8{0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0}},
		{Name: "x_test", Shape: []int{2, 4}, Data: []uint8{0, 1, 0, 1, 1, 0, 0, 0}},
	})
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestPart checks which rows are evaluated where there are test rows.
func TestPart(t *testing.T) {
	isolate(t)
	writeParts(t)
	clitest.Save(t, "m.safetensors", clitest.Model(4, 2, 0, rbm.Softmax), modelfile.About{Data: "rows.npz"})
	for part, want := range map[string]string{
		"auto":  "\nrows.npz test: 2 rows",
		"test":  "\nrows.npz test: 2 rows",
		"train": "\nrows.npz: 3 rows",
	} {
		if out := rbmeval.OK(t, "-model", "m.safetensors", "-part", part); !strings.Contains(out, want) {
			t.Errorf("-part %s: %s, want %q in it", part, out, want)
		}
	}
}

// TestUndescribed checks -classes and -labels for a model file without a description.
func TestUndescribed(t *testing.T) {
	python, err := python()
	if err != nil {
		t.Skip(err)
	}
	isolate(t)
	m, _ := clitest.Load(t, "softmax.safetensors")
	script := `
import sys, numpy
m = numpy.load(sys.argv[1])
numpy.savez(sys.argv[2], weights=m["weights"], visible_bias=m["visible_bias"], hidden_bias=m["hidden_bias"])
`
	clitest.Save(t, "described.npz", m, toy)
	if out, err := exec.Command(python, "-c", script, "described.npz", "bare.npz").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	same := func(args ...string) string {
		out := rbmeval.OK(t, append(args, "-data", clitest.Toy)...)
		_, out, _ = strings.Cut(out, ":") // without the name of the file
		return out
	}
	if same("-model", "bare.npz", "-classes", "4") != same("-model", "softmax.safetensors") {
		t.Error("-classes 4 does not make the same model")
	}
	if same("-model", "bare.npz", "-classes", "4", "-labels", "bernoulli") != same("-model", "bernoulli.safetensors") {
		t.Error("-classes 4 -labels bernoulli does not make the same model")
	}
	rbmeval.Fails(t, cli.Usage, []string{"-model", "bare.npz"}, "-data is missing", "bare.npz does not record")
	rbmeval.Fails(t, cli.Usage, []string{"-model", "bare.npz", "-classes", "12", "-data", clitest.Toy}, "-classes is 12", "0 … 11", "12 visible units")
	rbmeval.Fails(t, cli.Usage, []string{"-model", "bare.npz", "-classes", "-1", "-data", clitest.Toy}, "-classes is -1", "12 visible units")
	rbmeval.Fails(t, cli.Failed, []string{"-model", "bare.npz", "-data", clitest.Toy}, "bare.npz does not fit the data", "12 inputs", "have 8")
}

// python returns a Python that has numpy.
func python() (string, error) {
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy").Run() == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no python3 with numpy")
}

// TestNumPy loads a model.npz into NumPy, which must compute the same free energies as rbmeval.
func TestNumPy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	python, err := python()
	if err != nil {
		t.Skip(err)
	}
	isolate(t)
	m, about := clitest.Load(t, "plain.npz")
	var csv strings.Builder
	for _, v := range states(load(t, clitest.Toy+":plain"), 0) {
		fmt.Fprintln(&csv, strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
	}
	clitest.Write(t, "x.csv", csv.String())
	clitest.Save(t, "m.safetensors", m, about)
	rbmeval.OK(t, "-model", "m.safetensors", "-data", "x.csv", "-rows", "rows.csv")
	_, column := rows(t, "rows.csv")
	script := `
import numpy
m = numpy.load("plain.npz")
v = numpy.loadtxt("x.csv", delimiter=",")
assert m["weights"].shape == (8, 5), m["weights"].shape
a = v @ m["weights"].astype("f8") + m["hidden_bias"]
for f in -v @ m["visible_bias"].astype("f8") - numpy.logaddexp(0, a).sum(axis=1):
    print(repr(float(f)))
`
	out, err := exec.Command(python, "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := strings.Fields(string(out))
	if len(got) != 200 || len(column["free_energy"]) != 200 {
		t.Fatalf("%d rows by NumPy, %d by rbmeval, want 200 and 200", len(got), len(column["free_energy"]))
	}
	for r := range got {
		if a, b := number(t, got[r]), number(t, column["free_energy"][r]); math.Abs(a-b) > 1e-5 {
			t.Fatalf("row %d: %v by NumPy, %v by rbmeval", r, a, b)
		}
	}
}
