package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
)

// features reads a file that -features wrote.
func features(t *testing.T, path string) (rows [][]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := npz.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.Array("features")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if len(a.Shape) != 2 {
		t.Fatalf("features have the shape %v, want 2 of them", a.Shape)
	}
	rows = make([][]float64, a.Shape[0])
	err = a.Rows(int(a.Shape[0]), int(a.Shape[1]), func(i int, values []float64) error {
		rows[i] = append(rows[i], values...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// hidden computes p(h|v) directly.
func hidden(m *rbm.RBM, v []float64) []float64 {
	p := make([]float64, m.Hidden())
	for j, a := range preactivations(m, v) {
		p[j] = 1 / (1 + math.Exp(-a))
	}
	return p
}

func preactivations(m *rbm.RBM, v []float64) []float64 {
	a := make([]float64, m.Hidden())
	for j := range a {
		a[j] = float64(m.HiddenBias[j])
		for i, x := range v {
			a[j] += x * float64(m.Weight(i, j))
		}
	}
	return a
}

// hiddenOfInputs computes p(h|x) = Σ_y p(x,y) p(h|x,y) / Σ_y p(x,y) directly. It ignores the label
// units in v.
func hiddenOfInputs(m *rbm.RBM, v []float64) []float64 {
	if m.Classes() == 0 {
		return hidden(m, v)
	}
	p, sum := make([]float64, m.Hidden()), 0.0
	for y := range m.Classes() {
		v := append([]float64(nil), v...)
		for k := range m.Classes() {
			v[m.Inputs()+k] = 0
		}
		v[m.Inputs()+y] = 1
		w := math.Exp(float64(m.VisibleBias[m.Inputs()+y]))
		for _, a := range preactivations(m, v) {
			w *= 1 + math.Exp(a)
		}
		sum += w
		for j, q := range hidden(m, v) {
			p[j] += w * q
		}
	}
	for j := range p {
		p[j] /= sum
	}
	return p
}

// greyRows writes a table of grey values of 8 inputs and returns its path and values.
func greyRows(t *testing.T, path string) (values [][]float64) {
	t.Helper()
	var b strings.Builder
	for r := range 23 {
		row := make([]float64, 8)
		for i := range row {
			row[i] = float64((r*r+3*i)%9) / 8 // includes the value 1/2
		}
		values = append(values, row)
		fmt.Fprintln(&b, strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]"))
	}
	clitest.Write(t, path, b.String())
	return values
}

// TestFeatures compares -features with p(h|x), and with -label-in-features with p(h|x,y), computed in
// float64.
func TestFeatures(t *testing.T) {
	isolate(t)
	values := greyRows(t, "grey.csv")
	// The same rows with labels, and with each label replaced by the one that follows.
	names := []string{"a", "b", "c", "d"}
	clitest.Save(t, "named.safetensors", clitest.Model(12, 5, 4, rbm.Softmax), modelfile.About{ClassNames: names})
	for shift, path := range []string{"labelled.csv", "relabelled.csv"} {
		text := ""
		for r, line := range strings.Fields(clitest.Read(t, "grey.csv")) {
			text += line + "," + names[(r+shift)%4] + "\n"
		}
		clitest.Write(t, path, text+"0,0,0,0,0,0,0,1,c\n0,0,0,0,0,0,0,1,d\n")
	}
	values = append(values, []float64{7: 1}, []float64{7: 1})
	for _, c := range []struct{ model, args, data, binarize string }{
		{"softmax.safetensors", "", clitest.Toy, ""},
		{"bernoulli.safetensors", "", clitest.Toy, ""},
		{"plain.npz", "", clitest.Toy + ":plain", ""},
		{"softmax.safetensors", "-data " + clitest.Toy + ":plain", clitest.Toy + ":plain", ""},
		{"bernoulli.safetensors", "-data " + clitest.Toy + ":plain", clitest.Toy + ":plain", ""},
		{"softmax.safetensors", "-label-in-features", clitest.Toy, ""},
		{"bernoulli.safetensors", "-data toy:4,4,100,0.2 -label-in-features", "toy:4,4,100,0.2", ""}, // more rows than a chunk
		{"named.safetensors", "-data labelled.csv -label-column last -binarize none", "labelled.csv", data.None},
		{"named.safetensors", "-data labelled.csv -label-column last -binarize none -label-in-features", "labelled.csv", data.None},
		{"plain.npz", "-data grey.csv", "grey.csv", data.Threshold},
		{"plain.npz", "-data grey.csv -binarize sample", "grey.csv", data.Sample},
		{"plain.npz", "-data grey.csv -binarize none", "grey.csv", data.None},
		{"softmax.safetensors", "-data grey.csv -binarize none", "grey.csv", data.None},
	} {
		m, _ := clitest.Load(t, c.model)
		in, law := strings.Contains(c.args, "-label-in-features"), "p(h|x)"
		if in {
			law = "p(h|x,y)"
		}
		options := data.Options{Binarize: c.binarize}
		if c.data == "labelled.csv" {
			options.LabelColumn = "last"
		}
		set, _, err := data.Load(t.Context(), c.data, options)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		for r, v := range states(set, m.Classes()) {
			x := make([]float64, len(v))
			for i, on := range v {
				x[i] = float64(on)
			}
			if c.binarize == data.None {
				copy(x, values[r])
			}
			if in {
				want = append(want, hidden(m, x))
			} else {
				want = append(want, hiddenOfInputs(m, x))
			}
		}
		path := filepath.Join(t.TempDir(), "h.npz")
		out := rbmeval.OK(t, append(strings.Fields(c.args), "-model", c.model, "-features", path)...)
		if !strings.HasSuffix(out, "\nfeatures "+law+" written to "+path+"\n") {
			t.Errorf("%+v: prints %s, want %q at its end", c, out, "\nfeatures "+law+" written to "+path+"\n")
		}
		got := features(t, path)
		if len(got) != len(want) || len(got[0]) != m.Hidden() {
			t.Fatalf("%+v: %d × %d features, want %d × %d", c, len(got), len(got[0]), len(want), m.Hidden())
		}
		for r := range got {
			for j := range got[r] {
				if !(math.Abs(got[r][j]-want[r][j]) <= 1e-6) { // float32 rounding of values below 1
					t.Fatalf("%+v: row %d, unit %d: %v, want %v", c, r, j, got[r][j], want[r][j])
				}
			}
		}
	}
	// The label changes no bit of the features.
	for _, binarize := range []string{data.None, data.Threshold} {
		var want [][]float64
		for i, path := range []string{"labelled.csv", "relabelled.csv", "bare.csv"} {
			column := "last"
			if i == 2 {
				column = "none"
				text := ""
				for _, line := range strings.Fields(clitest.Read(t, "labelled.csv")) {
					text += line[:strings.LastIndex(line, ",")] + "\n"
				}
				clitest.Write(t, path, text)
			}
			out := binarize + path + ".npz"
			rbmeval.OK(t, "-model", "named.safetensors", "-data", path, "-label-column", column, "-binarize", binarize, "-features", out)
			if got := features(t, out); i == 0 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: the same inputs have other features", path, binarize)
			}
		}
	}
	for i, args := range []string{"", "-label-in-features"} {
		var got jsonResult
		out, want := rbmeval.OK(t, append(strings.Fields(args), "-model", "softmax.safetensors", "-features", fmt.Sprint("json", i, ".npz"), "-json")...), []string{"p(h|x)", "p(h|x,y)"}[i]
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Features != want {
			t.Errorf("JSON says %q, want %q: %v", got.Features, want, err)
		}
	}
	clitest.Write(t, "there.npz", "a file")
	const s = "-model softmax.safetensors "
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		{cli.Failed, s + "-features there.npz", []string{"-features", "there.npz is there already"}},
		{cli.Failed, s + "-features no/h.npz", []string{"-features", "no folder no"}},
		{cli.Usage, s + "-features h.csv", []string{`-features is "h.csv"`, ".npz"}},
		{cli.Usage, s + "-label-in-features", []string{"-label-in-features is for -features", "not given"}},
		{cli.Usage, "-run runs -label-in-features", []string{"-label-in-features is for -features"}},
		{cli.Usage, "-model plain.npz -label-in-features -features h.npz", []string{"-label-in-features needs labels", "the model has 0 classes"}},
		{cli.Usage, s + "-data " + clitest.Toy + ":plain -label-in-features -features h.npz", []string{"-label-in-features needs labels", "toy:4,4,50,0.2:plain:seed=1 0"}},
		{cli.Usage, "-model plain.npz -data grey.csv -binarize none -pl", []string{"-pl needs binary inputs", "grey.csv are grey"}},
		{cli.Usage, s + "-binarize smaple", []string{"-binarize", "did you mean sample?"}},
		{cli.Usage, s + "-shape 3x3", []string{"8 inputs", "3 × 3"}},
	} {
		rbmeval.Fails(t, c.status, strings.Fields(c.args), c.want...)
	}
}

// TestFollowsModel checks that data are read with the settings in the model's file, unless flags
// change them.
func TestFollowsModel(t *testing.T) {
	isolate(t)
	greyRows(t, "grey.csv")
	m := clitest.Model(8, 3, 0, rbm.Softmax)
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, mode := range []string{data.Threshold, data.Sample, data.None} {
		clitest.Save(t, mode+".safetensors", m, modelfile.About{Data: filepath.Join(at, "grey.csv"), Binarize: mode, Height: 4, Width: 2})
		said := rbmeval.OK(t, "-model", mode+".safetensors")
		if !strings.Contains(said, "grey.csv: 23 rows ("+mode+")\n") {
			t.Errorf("a model of %s prints %s, want %q in it", mode, said, "grey.csv: 23 rows ("+mode+")\n")
		}
		_, said, _ = strings.Cut(said, ":") // without the name of the model's file
		told[mode] = said
	}
	for mode, said := range told {
		for other, want := range told {
			if mode != other && said == want {
				t.Fatalf("%s and %s judge alike: nothing is tested", mode, other)
			}
			out := rbmeval.OK(t, "-model", mode+".safetensors", "-binarize", other)
			if _, out, _ = strings.Cut(out, ":"); out != want {
				t.Errorf("a model of %s with -binarize %s prints %s, want %s", mode, other, out, want)
			}
		}
		// Other data too.
		clitest.Write(t, "other.csv", clitest.Read(t, "grey.csv"))
		if out := rbmeval.OK(t, "-model", mode+".safetensors", "-data", "other.csv"); !strings.Contains(out, "other.csv: 23 rows ("+mode+")\n") {
			t.Errorf("a model of %s on other rows prints %s, want %q in it", mode, out, "other.csv: 23 rows ("+mode+")\n")
		}
	}
	// From any folder.
	t.Chdir(t.TempDir())
	if out := rbmeval.OK(t, "-model", filepath.Join(at, "none.safetensors")); !strings.Contains(out, ": 23 rows (none)\n") {
		t.Errorf("from another folder: %s, want %q in it", out, ": 23 rows (none)\n")
	}
}

// TestGreyScore compares the score of grey rows with sums computed directly.
func TestGreyScore(t *testing.T) {
	isolate(t)
	values := greyRows(t, "grey.csv")
	m, _ := clitest.Load(t, "plain.npz")
	var got jsonResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "plain.npz", "-data", "grey.csv", "-binarize", "none", "-json")), &got); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, row := range values {
		for i, x := range row {
			sum -= x * float64(m.VisibleBias[i])
		}
		for j := range m.Hidden() {
			a := float64(m.HiddenBias[j])
			for i, x := range row {
				a += x * float64(m.Weight(i, j))
			}
			sum -= math.Log1p(math.Exp(a))
		}
	}
	// The values are stored in float32, and eight of them are multiplied by weights near 1: an error of
	// little more than 8·2⁻²⁴.
	if f := sum / float64(len(values)); math.Abs(*got.FreeEnergy-f) > 1e-6 || math.Abs(*got.MeanLogLikelihood+f+logZ(m)) > 1e-6 {
		t.Errorf("free energy %v, want %v; score %v, want %v", *got.FreeEnergy, f, *got.MeanLogLikelihood, -f-logZ(m))
	}
	if got.PseudoLikelihood != nil || got.Binarize != data.None {
		t.Errorf("of grey rows: %+v, got %q, want %q", got, got.Binarize, data.None)
	}
}

// commands builds the other commands and returns a function that runs one of them.
func commands(t *testing.T) func(t *testing.T, name string, args ...string) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to build the other commands with")
	}
	dir := t.TempDir()
	if out, err := exec.Command(tool, "build", "-o", dir+string(filepath.Separator), "gorbm/cmd/rbmtrain", "gorbm/cmd/rbmexport").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(t *testing.T, name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(filepath.Join(dir, name), args...).Output()
		if err != nil {
			t.Fatalf("%s %q: %v", name, args, err)
		}
		return string(out)
	}
}

// TestEndToEnd trains, exports and evaluates models of every kind of data: rbmeval on the folder of a
// run reproduces the last numbers of the run, and scikit-learn, if installed, computes the same
// features as rbmeval.
func TestEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("seven seconds: it builds the commands and trains with them")
	}
	call := commands(t) // before isolate hides the build cache
	isolate(t)
	greyRows(t, "grey.csv")
	for _, spec := range []string{"-data bars:3", "-data shifter:4", "-data desjardins:0.05", "-data " + clitest.Toy, "-data grey.csv -shape 4x2",
		"-data grey.csv -binarize sample", "-data grey.csv -binarize none"} {
		if err := os.RemoveAll("run"); err != nil {
			t.Fatal(err)
		}
		args := append(strings.Fields(spec), "-hidden", "4", "-steps", "50", "-out", "run", "-json")
		var trained struct {
			Binarize string
			Metrics  map[string]float64
			Law      *float64 `json:"true_log_likelihood_train"`
		}
		if err := json.Unmarshal([]byte(call(t, "rbmtrain", args...)), &trained); err != nil {
			t.Fatal(err)
		}
		var judged jsonResult
		if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "run", "-json")), &judged); err != nil {
			t.Fatal(err)
		}
		same := func(what string, got *float64, want float64, there bool) {
			if (got != nil) != there || there && math.Abs(*got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s: %s is %v by rbmeval and %v by rbmtrain", spec, what, got, want)
			}
		}
		same("log-likelihood", judged.MeanLogLikelihood, trained.Metrics["log_likelihood_train"], true)
		pl, there := trained.Metrics["pseudo_likelihood_train"]
		same("pseudo-likelihood", judged.PseudoLikelihood, pl, there)
		if trained.Law != nil {
			same("law", judged.TrueLogLikelihood, *trained.Law, true)
		}
		if e, there := trained.Metrics["error_train"]; there {
			same("error", &judged.Classification.Error, e, true)
		}
		if judged.Binarize != trained.Binarize || judged.Model != filepath.Join("run", "model.safetensors") {
			t.Errorf("%s: %s, %s", spec, judged.Binarize, judged.Model)
		}
	}

	// The last case is the run on grey values.
	call(t, "rbmexport", "-model", "run", "-sklearn", "-out", "sk.npz")
	rbmeval.OK(t, "-model", "run", "-features", "h.npz")
	rbmeval.OK(t, "-model", "sk.npz", "-features", "h2.npz") // with the run's data and binarisation
	if a, b := clitest.Read(t, "h.npz"), clitest.Read(t, "h2.npz"); a != b {
		t.Errorf("the exported model has other features: got %q, want %q", a, b)
	}
	python, err := sklearn()
	if err != nil {
		t.Skip(err)
	}
	script := `
import numpy
from sklearn.neural_network import BernoulliRBM
m = numpy.load("sk.npz")
r = BernoulliRBM(n_components=m["components_"].shape[0])
r.components_, r.intercept_hidden_, r.intercept_visible_ = m["components_"], m["intercept_hidden_"], m["intercept_visible_"]
x = numpy.loadtxt("grey.csv", delimiter=",")
assert m["components_"].shape == (4, 8) and m["intercept_visible_"].shape == (8,), m["components_"].shape
h = numpy.load("h.npz")["features"]
t = r.transform(x)
assert h.shape == t.shape, (h.shape, t.shape)
print(abs(h - t).max())
`
	out, err := exec.Command(python, "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if d := number(t, strings.TrimSpace(string(out))); !(d <= 1e-5) {
		t.Errorf("features differ by %v from those of scikit-learn, want at most 1e-5", d)
	}
}

// sklearn returns a Python that has scikit-learn.
func sklearn() (string, error) {
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import sklearn.neural_network").Run() == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no python3 with scikit-learn")
}

// TestFolderOfRun checks -model with a folder.
func TestFolderOfRun(t *testing.T) {
	isolate(t)
	clitest.Write(t, "run/model.safetensors", clitest.Read(t, "softmax.safetensors"))
	clitest.Write(t, "empty/notes.txt", "no run")
	a, b := rbmeval.OK(t, "-model", "run"), rbmeval.OK(t, "-model", "softmax.safetensors")
	if a != strings.Replace(b, "softmax.safetensors", filepath.Join("run", "model.safetensors"), 1) {
		t.Errorf("the folder is judged as %s, its model as %s", a, b)
	}
	rbmeval.Fails(t, cli.Failed, []string{"-model", "empty"}, "model empty is a folder without model.safetensors", "a run that has ended")
}
