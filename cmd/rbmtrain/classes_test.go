package main

import (
	"fmt"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
)

// If there are many classes, only some are drawn, and a line says so.
func TestManyClasses(t *testing.T) {
	clitest.Isolate(t)
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "%d,%d,%d,c%d\n", i&1, i>>1&1, i>>2&1, i%200)
	}
	clitest.Write(t, "many.csv", text.String())
	out := rbmtrain.OK(t, "-data", "many.csv", "-shape", "1x3", "-label-column", "last", "-hidden", "2", "-steps", "30000", "-snapshots", "0", "-out", "run")
	if !strings.Contains(out, "samples: 40 of 200 classes are drawn; ") && !strings.Contains(out, "\n40 of 200 classes are drawn; of 400 samples") {
		t.Errorf("it does not say how many classes it draws: %s", out)
	}
	f, err := os.Open("run/samples.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := png.DecodeConfig(f)
	if err != nil || size.Height > 4000 {
		t.Errorf("samples.png has the size %d × %d, %v, want at most 4000", size.Width, size.Height, err)
	}
	if text := clitest.Read(t, "run/report.html"); !strings.Contains(text, "40 of 200 classes are drawn; ") || len(text) > 1<<20 {
		t.Errorf("report.html has %d bytes, or does not say how many classes it draws", len(text))
	}
	for _, c := range []struct{ classes, drawn, last int }{{0, 0, 0}, {1, 1, 0}, {10, 10, 9}, {40, 40, 39}, {41, 40, 39}, {4096, 40, 3993}} {
		if got := drawnClasses(rbm.New(3+c.classes, 2, c.classes, rbm.Softmax)); len(got) != c.drawn || c.drawn > 0 && (got[0] != 0 || got[c.drawn-1] != c.last) {
			t.Errorf("of %d classes %v are drawn", c.classes, got)
		}
	}
}

// If almost all rows are of one class, a model that always predicts it has a small error. The closing
// lines then have the balanced error, and a warning names the class that is never predicted.
func TestRareClassIsNamed(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rare.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,common\n0,0,1,common\n", 20)+"0,1,0,rare\n")
	r := rbmtrain.Call("-data", "rare.csv", "-hidden", "4", "-steps", "500", "-out", "run")
	if !strings.Contains(r.Stdout, "\nbalanced error: train 50 % (mean over the classes") || !strings.Contains(r.Stderr, "never predicted: rare; look at the balanced error, 50 %, not at the error; try larger -weights of their rows, as many rows of each class or -preset discriminative\n") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	clitest.Write(t, "even.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,rare\n", 20))
	r = rbmtrain.Call("-data", "even.csv", "-hidden", "4", "-steps", "500", "-out", "even")
	if strings.Contains(r.Stdout, "balanced error") || strings.Contains(r.Stderr, "never predicted") {
		t.Errorf("classes of equal size: %s%s", r.Stdout, r.Stderr)
	}
}

// If training rows are repeated or weighted until their classes are equal, and test rows are skewed, the closing
// lines have the balanced error. If test classes are equal too, they do not have it.
func TestBalancedErrorOfSkewedTestRows(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	const common, rare = "0,1,0,1,common\n", "1,1,1,9,rare\n"
	clitest.Write(t, "test.csv", "p,q,r,times,label\n"+strings.Repeat(common, 90)+strings.Repeat(rare, 10))
	clitest.Write(t, "weighted.csv", "p,q,r,times,label\n"+strings.Repeat(common, 90)+strings.Repeat(rare, 10))
	clitest.Write(t, "repeated.csv", "p,q,r,times,label\n"+strings.Repeat(common, 90)+strings.Repeat(rare, 90))
	clitest.Write(t, "weights.txt", strings.Repeat("1\n", 90)+strings.Repeat("9\n", 10))
	for args, want := range map[string]bool{
		"-data weighted.csv -ignore times -test test.csv":                      true,
		"-data weighted.csv -ignore times -test test.csv -weights weights.txt": true,
		"-data weighted.csv -test test.csv -weights times":                     true,
		"-data repeated.csv -ignore times -test test.csv":                      true,
		"-data repeated.csv -ignore times -test repeated.csv":                  false,
	} {
		out := rbmtrain.OK(t, append(strings.Fields(args), "-hidden", "4", "-steps", "20", "-force", "-out", "run")...)
		if got := strings.Contains(out, "\nbalanced error: train "); got != want {
			t.Errorf("%s: balanced error %v, want %v: %s", args, got, want, out)
		}
	}
}

// The advice for a class that is never predicted has no remedy that the run refuses, for example with missing cells.
func TestNeverPredictedAdvisesWhatTheRunTakes(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	gaps := strings.Repeat("0,1,0,common\n1,,1,common\n0,0,1,common\n", 20) + "0,1,0,rare\n0,1,0,other\n"
	clitest.Write(t, "gaps.csv", "p,q,r,label\n"+gaps)
	clitest.Write(t, "full.csv", "p,q,r,label\n"+strings.ReplaceAll(gaps, ",,", ",1,"))
	const end = "\n"
	for _, c := range []struct{ args, help string }{
		{"-data gaps.csv -numbers gaussian", "larger -weights of their rows or as many rows of each class" + end},
		{"-data full.csv -numbers gaussian", "larger -weights of their rows, as many rows of each class or -preset discriminative" + end},
		{"-data full.csv -objective hybrid", "larger -weights of their rows or as many rows of each class" + end},
	} {
		r := rbmtrain.Call(append(strings.Fields(c.args), "-hidden", "4", "-steps", "500", "-force", "-out", "run")...)
		if r.Status != 0 || !strings.Contains(r.Stderr, "never predicted: other, rare; look at the balanced error, 66.7 %, not at the error; try "+c.help) {
			t.Errorf("%s: status %d: %s%s", c.args, r.Status, r.Stdout, r.Stderr)
		}
		// The summary of the report names this warning, even if others, such as about missing cells, were printed before.
		if page := clitest.Read(t, "run/report.html"); !strings.Contains(page, ": never predicted.") {
			t.Errorf("%s: report.html does not begin with the class that is never predicted", c.args)
		}
	}
	if r := rbmtrain.Call("-data", "gaps.csv", "-numbers", "gaussian", "-preset", "discriminative", "-out", "refused"); r.Status != 1 || !strings.Contains(r.Stderr, "cannot go with the objective discriminative") {
		t.Errorf("missing cells are not refused: status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
}

// 196 of 204 rows are of one class, so that always predicting it has an error of 4 %. The best model is
// chosen by the balanced error, and the closing lines have its balanced error.
func TestSkewedClassesChooseByBalancedError(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "skewed.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,common\n0,0,1,common\n1,0,0,common\n", 49)+strings.Repeat("1,1,1,rare\n", 8))
	args := []string{"-preset", "discriminative", "-hidden", "8", "-holdout", "0.5", "-steps", "2000", "-eval-every", "10"}
	out := rbmtrain.OK(t, append(args, "-data", "skewed.csv", "-out", "run")...)
	if !strings.Contains(out, ", balanced_error_holdout 0; use run/best.safetensors") {
		t.Errorf("the best model is not chosen by the balanced error: %s, want %q in it", out, ", balanced_error_holdout 0; use run/best.safetensors")
	}
	first := column(t, "run", "balanced_error_holdout")[0]
	if first != 0.5 {
		t.Errorf("before training the balanced error is %v, want 0.5", first)
	}
	// If one class has three times as many rows, classes are unequal, but the error is still meaningful.
	clitest.Write(t, "unequal.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,common\n0,0,1,common\n1,1,1,rare\n1,1,0,rare\n0,1,1,third\n", 20))
	out = rbmtrain.OK(t, append(args, "-data", "unequal.csv", "-out", "unequal")...)
	if !strings.Contains(out, ", error_holdout ") || !strings.Contains(out, "\nbalanced error: train ") {
		t.Errorf("classes that are unequal and not skewed: %s", out)
	}
}

// A run that was never better than its start on the rows held out does not recommend the initial model. Its
// advice depends on the training rows: at such a small rate nothing is learnt.
func TestStepZeroIsNotAdvised(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	r := rand.New(rand.NewPCG(1, 4))
	text := "a,b,label\n"
	for i := range 200 {
		text += fmt.Sprintf("%.4f,%.4f,%c\n", r.NormFloat64(), r.NormFloat64(), 'x'+i%2)
	}
	clitest.Write(t, "real.csv", text)
	for _, c := range []struct {
		more       []string
		help, none string
	}{
		{[]string{"-metrics", "classification", "-rate", "1e-9"}, "try more -steps, a larger -rate or -negphase exact", "smaller -rate"},
		{[]string{"-metrics", "classification", "-rate", "1e-9", "-negphase", "exact"}, "try more -steps or a larger -rate\n", "-negphase exact"},
	} {
		r := rbmtrain.Call(append([]string{"-data", "real.csv", "-holdout", "50", "-hidden", "3", "-negphase", "pcd", "-steps", "40", "-force", "-out", "run"}, c.more...)...)
		if !strings.Contains(r.Stdout, "no step was better than the start") || !strings.Contains(r.Stderr, c.help) {
			t.Errorf("%v: %s%s", c.more, r.Stdout, r.Stderr)
		}
		if strings.Contains(r.Stdout+r.Stderr, "best.safetensors") || strings.Contains(r.Stderr, c.none) {
			t.Errorf("%v: advises the model before training, or %s: %s%s", c.more, c.none, r.Stdout, r.Stderr)
		}
	}
}
