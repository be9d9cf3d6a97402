package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
)

// realFile writes rows of three columns on different scales: two correlated columns, in two
// clusters, and a constant column.
func realFile(t *testing.T, name string, rows int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	text := "length,weight,zero\n"
	for range rows {
		side := float64(2*r.IntN(2) - 1)
		text += fmt.Sprintf("%.6g,%.6g,-3\n", 1000+10*(side+0.5*r.NormFloat64()), 0.01*(side+0.5*r.NormFloat64()))
	}
	clitest.Write(t, name, text)
}

// A file of real numbers trains a model of Gaussian units, after a line that says so. The printed
// log-likelihood is the log density in the data's units: that of the standardised rows minus
// Σ log deviation. Equal seeds give equal parameters, also after a resume.
func TestRealNumbers(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	realFile(t, "train.csv", 400, 1)
	realFile(t, "test.csv", 100, 2)
	args := []string{"-data", "train.csv", "-test", "test.csv", "-hidden", "4", "-negphase", "pcd", "-steps", "2000"}
	r := rbmtrain.Call(append(args, "-out", "run")...)
	if r.Status != 0 || !strings.Contains(r.Stderr, "train.csv holds real numbers: its columns are standardised, for Gaussian units") {
		t.Fatalf("status %d: %s", r.Status, r.Stderr)
	}
	for _, want := range []string{"1 of 3 columns is constant (zero), and held at their values", "exact log-likelihood: train "} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("does not say %q: %s", want, r.Stdout)
		}
	}
	m, about, err := modelfile.Read("run/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if m.GroupsText() != "gaussian:3" || math.Abs(about.Means[0]-1000) > 3 || about.Means[2] != -3 || about.Deviations[2] != 0 {
		t.Errorf("the model is %s with means %v and deviations %v", m.GroupsText(), about.Means, about.Deviations)
	}
	train, _, err := data.Load(t.Context(), "train.csv", data.Options{Binarize: data.Standard})
	if err != nil {
		t.Fatal(err)
	}
	logZ, err := exact.LogZ(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	free, mean := make([]float64, train.Len()), 0.0
	m.FreeEnergy(free, train.Rows(data.RowNumbers(0, train.Len()), 0))
	for _, f := range free {
		mean += (-f - logZ) / float64(len(free))
	}
	mean -= math.Log(about.Deviations[0]) + math.Log(about.Deviations[1])
	values := column(t, "run", "log_likelihood_train")
	if last := values[len(values)-1]; math.Abs(last-mean) > 1e-9*math.Abs(mean) {
		t.Errorf("the log-likelihood is %v, want %v", last, mean)
	}
	// Units of fixed precision are never narrower than independent Gaussians, and represent the
	// clusters. In each cluster the data have half of their standard deviation. The constant
	// column has unit variance in the model, and is at its mean.
	apart := -math.Log(2*math.Pi*math.E) - math.Log(about.Deviations[0]) - math.Log(about.Deviations[1]) - math.Log(2*math.Pi)/2
	truth := -2*math.Log(math.Sqrt(2*math.Pi*math.E)*0.5) - math.Ln2 - math.Log(10) - math.Log(0.01) - math.Log(2*math.Pi)/2
	if mean < apart+0.02 || mean > truth {
		t.Errorf("the log-likelihood is %v; independent Gaussians have %v, the distribution of the data %v", mean, apart, truth)
	}
	whole := rbmtrain.Call(append(args[:len(args)-1:len(args)-1], "900", "-schedule", "constant", "-out", "whole")...)
	first := rbmtrain.Call(append(args[:len(args)-1:len(args)-1], "500", "-schedule", "constant", "-out", "halves")...)
	second := rbmtrain.Call("-resume", "halves", "-steps", "900")
	if whole.Status+first.Status+second.Status != 0 {
		t.Fatalf("%s%s%s", whole.Stderr, first.Stderr, second.Stderr)
	}
	a, _, err1 := modelfile.Read("whole/model.safetensors")
	b, _, err2 := modelfile.Read("halves/model.safetensors")
	if err1 != nil || err2 != nil || !a.Equal(b) {
		t.Errorf("a resumed run has other parameters: %v %v", err1, err2)
	}
}

// A run whose columns are all constant learns no precision, and prints none.
func TestNoPrecisionIsLearned(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	clitest.Write(t, "constant.csv", "a,b\n"+strings.Repeat("1.5,2\n", 4))
	args := []string{"-data", "constant.csv", "-units", "gaussian:precision=learned", "-hidden", "2", "-negphase", "pcd", "-steps", "20", "-batch", "2"}
	for _, args := range [][]string{append(args, "-out", "text"), append(args, "-out", "json", "-json")} {
		if r := rbmtrain.Call(args...); r.Status != 0 || strings.Contains(r.Stdout, "Inf") || strings.Contains(r.Stdout, `"precisions"`) || strings.Contains(r.Stdout, "precisions given") {
			t.Errorf("%q: status %d: %s%s", args, r.Status, r.Stdout, r.Stderr)
		}
	}
}

// Learned precisions are those of the clusters, 5 for columns of unit variance, with particles
// and with exact moments. So the log-likelihood is close to that of the true distribution, which units
// of precision 1 do not reach. A constant column keeps its precision. A resumed run is identical to an
// uninterrupted one, with momentum and an average.
func TestLearnedPrecisions(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	realFile(t, "train.csv", 2000, 1)
	learned := []string{"-data", "train.csv", "-hidden", "2", "-units", "gaussian:precision=learned", "-schedule", "constant", "-rate", "0.02"}
	for _, negative := range []string{"pcd", "exact"} {
		r := rbmtrain.Call(append(learned[:len(learned):len(learned)], "-negphase", negative, "-steps", "2000", "-batch", "100", "-out", negative)...)
		if r.Status != 0 || !strings.Contains(r.Stdout, ", precisions learned") || !regexp.MustCompile(`precisions given the hidden units: [4-5]\.?\d* to [5-6]`).MatchString(r.Stdout) {
			t.Fatalf("status %d: %s%s", r.Status, r.Stdout, r.Stderr)
		}
		m, about, err := modelfile.Read(negative + "/model.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		if p := m.VisibleParams()[0]; math.Abs(math.Log(float64(p[0])/5)) > 0.15 || math.Abs(math.Log(float64(p[1])/5)) > 0.15 || p[2] != 1 {
			t.Errorf("%s: precisions are %v, want about 5, 5 and 1", negative, p)
		}
		truth := -2*math.Log(math.Sqrt(2*math.Pi*math.E)*0.5) - math.Ln2 - math.Log(10) - math.Log(0.01) - math.Log(2*math.Pi)/2
		values := column(t, negative, "log_likelihood_train")
		if got := values[len(values)-1]; math.Abs(got-truth) > 0.1 {
			t.Errorf("%s: the log-likelihood is %v, that of the data's own distribution %v; deviations %v", negative, got, truth, about.Deviations)
		}
	}
	args := append(learned, "-negphase", "pcd", "-momentum", "0.5", "-average", "0.9")
	whole := rbmtrain.Call(append(args[:len(args):len(args)], "-steps", "300", "-out", "whole")...)
	first := rbmtrain.Call(append(args[:len(args):len(args)], "-steps", "200", "-out", "halves")...)
	second := rbmtrain.Call("-resume", "halves", "-steps", "300")
	if whole.Status+first.Status+second.Status != 0 {
		t.Fatalf("%s%s%s", whole.Stderr, first.Stderr, second.Stderr)
	}
	a, _, err1 := modelfile.Read("whole/model.safetensors")
	b, _, err2 := modelfile.Read("halves/model.safetensors")
	if err1 != nil || err2 != nil || !a.Equal(b) || a.VisibleParams()[0][0] == 1 {
		t.Errorf("a resumed run has other parameters: %v %v", err1, err2)
	}
}

// Settings that real numbers exclude are refused in one line, and a rate that is too high is
// detected early, with its remedy.
func TestRealRefusals(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	realFile(t, "train.csv", 60, 1)
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-negphase ptt", 2, "keeps states as bits; use pcd, pt, ins or pins"},
		{"-negphase walk:flip", 2, "there are no layers to update; use pcd"},
		{"-units gaussian -binarize sample", 2, "-units gaussian and -binarize sample do not go together"},
		{"-units gaussian -scale max", 2, "real values are standardised and have no scale"},
		{"-units binary", 1, "is outside [0,1]"},
		{"-units real", 2, "it is auto, binary, gaussian, gaussian:precision=learned, spin"},
		{"-units gaussian:precision=lerned", 2, "did you mean gaussian:precision=learned"},
		{"-constraint hidden=2", 2, "units are not binary"},
		{"-negphase pcd -rate 2 -schedule constant", 1, "the mean square of real units is"},
		{"-negphase exact -rate 9 -schedule constant", 1, "the mean square of real units is"},
		{"-negphase pcd -rate 2 -schedule constant -units gaussian:precision=learned", 1, ", or with a fixed precision"},
	} {
		refused(t, c.args, c.status, c.want)
	}
}

// refused fails unless a short run on train.csv with these flags ends with that status and a last line that has the text.
func refused(t *testing.T, args string, status int, want string) {
	t.Helper()
	r := rbmtrain.Call(append(strings.Fields("-data train.csv -hidden 4 -steps 500 -out x -force "), strings.Fields(args)...)...)
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	if last := lines[len(lines)-1]; r.Status != status || !strings.Contains(last, want) {
		t.Errorf("%s: status %d, %q, want %q", args, r.Status, last, want)
	}
}

// Data of −1 and +1 train the same model as their bits, and its file records that they are spins.
// Other values are not spins.
func TestSpinUnits(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	r := rand.New(rand.NewPCG(3, 4))
	spins, bits := "", ""
	for range 60 {
		line := [2][]string{}
		for range 5 {
			x := r.IntN(2)
			line[0], line[1] = append(line[0], fmt.Sprint(2*x-1)), append(line[1], fmt.Sprint(x))
		}
		spins, bits = spins+strings.Join(line[0], ",")+"\n", bits+strings.Join(line[1], ",")+"\n"
	}
	clitest.Write(t, "spins.csv", spins)
	clitest.Write(t, "bits.csv", bits)
	args := []string{"-hidden", "3", "-steps", "100", "-negphase", "pcd", "-label-column", "none"}
	rbmtrain.OK(t, append(args, "-data", "spins.csv", "-units", "spin", "-out", "s")...)
	rbmtrain.OK(t, append(args, "-data", "bits.csv", "-out", "b")...)
	a, about, err1 := modelfile.Read("s/model.safetensors")
	b, _, err2 := modelfile.Read("b/model.safetensors")
	if err1 != nil || err2 != nil || !a.Equal(b) || about.Scale != "spins" {
		t.Errorf("spins have another model than their bits, of scale %q: %v %v", about.Scale, err1, err2)
	}
	rbmtrain.Fails(t, 1, append(args, "-data", "bits.csv", "-units", "spin", "-out", "x"), "is no spin")
	rbmtrain.Fails(t, 2, append(args, "-data", "bits.csv", "-units", "spin", "-scale", "max", "-out", "x"), "-units spin takes values of −1 and +1")
}

// The presets of classifiers detect real numbers like the default does, and hybrid uses a rate at which
// Gaussian units do not diverge.
func TestClassifierPresetsOfRealNumbers(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	r := rand.New(rand.NewPCG(1, 3))
	text := "a,b,c,d,label\n"
	for i := range 300 {
		side := 2*float64(i%3) - 2
		text += fmt.Sprintf("%.4f,%.4f,%.4f,%.4f,%c\n", side+r.NormFloat64(), 30*(side+r.NormFloat64()), r.NormFloat64()-side, r.NormFloat64(), 'x'+i%3)
	}
	clitest.Write(t, "real.csv", text)
	for preset, rate := range map[string]string{"discriminative": "0.3", "hybrid": "0.04"} {
		got := rbmtrain.Call("-data", "real.csv", "-preset", preset, "-steps", "1500", "-out", preset)
		if got.Status != 0 || !strings.Contains(got.Stderr, "holds real numbers") || !strings.Contains(got.Stdout, ", rate "+rate+",") {
			t.Errorf("-preset %s: status %d, want the rate %s: %s%s", preset, got.Status, rate, got.Stdout, got.Stderr)
		}
		if errors := column(t, preset, "error_train"); errors[len(errors)-1] > 0.2 {
			t.Errorf("-preset %s: the error is %v", preset, errors)
		}
	}
	if got := rbmtrain.Call("-resume", "hybrid", "-steps", "1600"); got.Status != 0 {
		t.Errorf("the run does not resume: %s%s", got.Stdout, got.Stderr)
	}
}

// The scale of a model is that of the rows it was trained on, without those that the run held out; and a
// resumed run has the same.
func TestScaleOfTheTrainingRows(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	realFile(t, "train.csv", 100, 1)
	r := rbmtrain.Call("-data", "train.csv", "-holdout", "0.4", "-seed", "3", "-hidden", "4", "-negphase", "pcd", "-steps", "20", "-metrics", "none", "-out", "run")
	if r.Status != 0 {
		t.Fatalf("status %d: %s", r.Status, r.Stderr)
	}
	_, about, err := modelfile.Read("run/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := data.Load(t.Context(), "train.csv", data.Options{Binarize: data.Standard})
	if err != nil {
		t.Fatal(err)
	}
	part, _, err := all.Split(0.4, data.HoldoutKey(3))
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for i := range part.Len() {
		mean += (all.Means[0] + all.Deviations[0]*float64(part.Grey.Row(i)[0])) / float64(part.Len())
	}
	if math.Abs(about.Means[0]-mean) > 1e-4 || math.Abs(all.Means[0]-mean) < 1e-2 {
		t.Errorf("the model has the mean %v, want %v of the training rows; that of all rows is %v", about.Means[0], mean, all.Means[0])
	}
	if r := rbmtrain.Call("-resume", "run", "-steps", "40"); r.Status != 0 {
		t.Errorf("status %d on resuming: %s", r.Status, r.Stderr)
	}
}
