package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// planned returns the plan that the arguments make, with the initial model.
func planned(t *testing.T, args ...string) *plan {
	t.Helper()
	o := newOptions()
	if err := o.flags.Parse(args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := o.check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// names lists the files of a folder.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// column returns a column of metrics.csv.
func column(t *testing.T, dir, name string) (values []float64) {
	t.Helper()
	columns, rows, err := rundir.ReadTable(filepath.Join(dir, rundir.MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(columns, name)
	if at < 0 {
		t.Fatalf("metrics.csv has no column %s, but %v", name, columns)
	}
	for _, row := range rows {
		values = append(values, row[at])
	}
	return values
}

// TestSnapshots checks the steps of the snapshots, and that each is the model of its
// step.
func TestSnapshots(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "4", "-negphase", "cd", "-quiet"}
	for _, c := range []struct {
		n, steps string
		want     []int
	}{
		{"0", "60", nil},
		{"1", "60", []int{60}},
		{"2", "60", []int{1, 60}},
		{"4", "1000", []int{1, 10, 100, 1000}},
		{"6", "120", []int{1, 3, 7, 18, 46, 120}}, // 120^(k/5)
		{"20", "5", []int{1, 2, 3, 4, 5}},
		{"20", "1", []int{1}},
	} {
		rbmtrain.OK(t, append(args, "-steps", c.steps, "-snapshots", c.n, "-out", "run", "-force", "-metrics", "none")...)
		if c.want == nil {
			if _, err := os.Stat("run/models"); err == nil {
				t.Errorf("-snapshots 0 makes a folder")
			}
			continue
		}
		var want []string
		for _, step := range c.want {
			want = append(want, fmt.Sprintf("%07d.safetensors", step))
		}
		if got := names(t, "run/models"); !slices.Equal(got, want) {
			t.Errorf("-snapshots %s -steps %s keeps %v, want %v", c.n, c.steps, got, want)
			continue
		}
		if clitest.Read(t, "run/models/"+want[len(want)-1]) != clitest.Read(t, "run/model.safetensors") {
			t.Errorf("-steps %s: the last snapshot is not the model", c.steps)
		}
	}
	rbmtrain.OK(t, append(args, "-steps", "120", "-snapshots", "6", "-out", "long")...)
	rbmtrain.OK(t, append(args, "-steps", "18", "-out", "short")...)
	if clitest.Read(t, "long/models/0000018.safetensors") != clitest.Read(t, "short/model.safetensors") {
		t.Error("the snapshot of step 18 is not the model of a run of 18 steps")
	}
}

// The closing lines name the best model, or say that no step was better on the rows held out than the start.
func TestClosingLinesNameTheModel(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	var rows strings.Builder
	for i := range 40 { // rows of noise
		for j := range 12 {
			fmt.Fprintf(&rows, "%d,", rbm.NewKey(uint64(i)).Child(uint64(j))[0]&1)
		}
		rows.WriteString("1\n")
	}
	clitest.Write(t, "noise.csv", rows.String())
	noise := rbmtrain.Call("-data", "noise.csv", "-holdout", "20", "-hidden", "100", "-rate", "1", "-steps", "300", "-stop-after", "3", "-out", "noise")
	if !strings.Contains(noise.Stdout, "no step was better than the start, log_likelihood_holdout") || strings.Contains(noise.Stdout, rundir.BestFile) || strings.Contains(noise.Stdout, "trains for longer") {
		t.Errorf("of noise: %s", noise.Stdout)
	}
	if !strings.Contains(noise.Stderr, "no step was better on the rows held out than the start") {
		t.Errorf("of noise: %s, want %q in it", noise.Stderr, "no step was better on the rows held out than the start")
	}
	learns := rbmtrain.Call("-data", "fontdigits:500", "-holdout", "100", "-hidden", "20", "-steps", "300", "-eval-every", "100", "-metrics", "pseudo_likelihood", "-out", "learns")
	if !strings.Contains(learns.Stdout, "use "+filepath.Join("learns", rundir.ModelFile)+"\n") || !strings.Contains(learns.Stdout, "-steps 600 trains for longer") || strings.Contains(learns.Stderr, "than the start") {
		t.Errorf("a run that learns: %s %s", learns.Stdout, learns.Stderr)
	}
}

// TestBest checks which model is kept as the best on the rows held out, and
// when -stop-after ends the run, against metrics.csv.
func TestBest(t *testing.T) {
	undrawn(t)
	// Few rows and a large rate, so that the model overfits soon.
	args := []string{"-preset", "ins-paper", "-labels", "softmax", "-data", "toy:4,4,8,0.2", "-holdout", "0.5", "-hidden", "8", "-negphase", "exact", "-rate", "0.5", "-eval-every", "10", "-snapshots", "0"}
	model := func(step int) string { // the model of a run that ends at the step
		rbmtrain.OK(t, append(args, "-metrics", "none", "-steps", strconv.Itoa(step), "-quiet", "-force", "-out", "ended")...)
		return clitest.Read(t, "ended/model.safetensors")
	}
	for _, c := range []struct {
		metrics, choice string
		sign            float64
	}{
		{"auto", "log_likelihood_holdout", 1},
		{"pseudo_likelihood,classification", "pseudo_likelihood_holdout", 1},
		{"classification", "error_holdout", -1},
		{"reconstruction", "reconstruction_error_holdout", -1},
		{"reconstruction,classification", "error_holdout", -1},
	} {
		clitest.Isolate(t)
		r := result(t, rbmtrain.OK(t, append(args, "-metrics", c.metrics, "-steps", "300", "-json", "-out", "run")...))
		values, steps := column(t, "run", c.choice), column(t, "run", "step")
		best := 0
		for i, v := range values {
			if c.sign*v > c.sign*values[best] {
				best = i
			}
		}
		if best == 0 || best == len(values)-1 {
			t.Fatalf("%s is best at row %d of %d: nothing is tested", c.choice, best, len(values))
		}
		if step := int(steps[best]); r.BestStep == nil || *r.BestStep != step {
			t.Errorf("%s: the best step is %v, want %d", c.metrics, r.BestStep, step)
		} else if clitest.Read(t, "run/best.safetensors") != model(step) {
			t.Errorf("%s: best.safetensors is not the model of step %d", c.metrics, step)
		}

		// The run ends at the third measurement in a row that is no better than
		// the best before.
		since, end := 0, 0
		for i, top := 1, values[0]; i < len(values) && since < 3; i++ {
			since, end = since+1, int(steps[i])
			if c.sign*values[i] > c.sign*top {
				since, top = 0, values[i]
			}
		}
		out := rbmtrain.OK(t, append(args, "-metrics", c.metrics, "-steps", "300", "-stop-after", "3", "-out", "stopped")...)
		if since < 3 {
			t.Fatalf("%s never gets worse: nothing is tested, got %v, want at least 3", c.choice, since)
		}
		for _, want := range []string{fmt.Sprintf("\n%d steps in ", end), fmt.Sprintf("\nstopped at step %d of 300: no better %s in 3 measurements\n", end, c.choice), "\nbest on the rows held out: "} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: does not say %q: %s", c.metrics, want, out)
			}
		}
		if got := column(t, "stopped", "step"); int(got[len(got)-1]) != end {
			t.Errorf("%s: stopped at step %v, want %d", c.metrics, got[len(got)-1], end)
		}
		if clitest.Read(t, "stopped/model.safetensors") != model(end) {
			t.Errorf("%s: the model is not that of step %d", c.metrics, end)
		}
	}
	// Of equal models the first is the best: at this small rate all are equal.
	clitest.Isolate(t)
	r := result(t, rbmtrain.OK(t, small("-holdout", "0.5", "-metrics", "classification", "-rate", "1e-9", "-eval-every", "10", "-stop-after", "2", "-json", "-out", "equal")...))
	if r.Steps != 20 || r.BestStep == nil || *r.BestStep != 0 {
		t.Errorf("of equals: stopped at step %d with the best at %v, want 20 and 0", r.Steps, *r.BestStep)
	}
	rbmtrain.OK(t, small("-quiet", "-out", "run")...)
	if _, err := os.Stat("run/best.safetensors"); err == nil {
		t.Error("there is a best model without rows held out")
	}
}

// TestHoldout checks the number of rows held out, and that they depend on the seed.
func TestHoldout(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	for _, c := range []struct {
		holdout string
		rows    int
	}{{"0.1", 20}, {"0.25", 50}, {"1", 1}, {"30", 30}, {"199", 199}} {
		p := planned(t, small("-holdout", c.holdout, "-batch", "1")...)
		if p.sets.Holdout.Len() != c.rows || p.sets.Train.Len() != 200-c.rows {
			t.Errorf("-holdout %s: %d rows are held out, %d remain; want %d of 200", c.holdout, p.sets.Holdout.Len(), p.sets.Train.Len(), c.rows)
		}
	}
	a, b, c := planned(t, small("-holdout", "0.3")...), planned(t, small("-holdout", "0.3", "-rate", "0.2")...), planned(t, small("-holdout", "0.3", "-seed", "2")...)
	if a.sets.Holdout.Hash() != b.sets.Holdout.Hash() || a.sets.Holdout.Hash() == c.sets.Holdout.Hash() {
		t.Error("the rows held out do not hang on the seed alone")
	}
	if out := rbmtrain.OK(t, small("-holdout", "0.1", "-dry-run")...); !strings.Contains(out, ": 180 rows of 8 inputs (binary), density ") || !strings.Contains(out, "; 20 rows held out\n") {
		t.Errorf("prints %s", out)
	}
}

// TestInit checks the models that training starts from.
func TestInit(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	set, _, err := data.Load(context.Background(), clitest.Toy, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := planned(t, small()...).model
	odds := planned(t, small("-init", "log-odds")...).model
	sparse := planned(t, small("-init", "sparse")...).model
	for j, b := range random.HiddenBias {
		if odds.HiddenBias[j] != b || sparse.HiddenBias[j] != b-1 {
			t.Errorf("hidden bias %d is %v, %v with -init log-odds and %v with -init sparse; want the first two equal, and the third lower by 1", j, b, odds.HiddenBias[j], sparse.HiddenBias[j])
		}
	}
	for i := range odds.Inputs() {
		if sparse.VisibleBias[i] != odds.VisibleBias[i] {
			t.Errorf("-init sparse: visible bias %d is %v, want that of log-odds, %v", i, sparse.VisibleBias[i], odds.VisibleBias[i])
		}
		n := 0.5
		for r := range set.Len() {
			if set.X.Get(r, i) {
				n++
			}
		}
		// A float32 has some seven digits.
		if want := math.Log(n / (float64(set.Len()) + 1 - n)); math.Abs(float64(odds.VisibleBias[i])-want) > 1e-6 {
			t.Errorf("-init log-odds: bias %d is %v, want %v", i, odds.VisibleBias[i], want)
		}
		for j := range odds.Hidden() {
			if odds.Weight(i, j) != random.Weight(i, j) {
				t.Fatal("-init log-odds changes the weights")
			}
		}
	}

	rbmtrain.OK(t, small("-quiet", "-out", "first")...)
	file := filepath.Join("first", rundir.ModelFile)
	want, _ := clitest.Load(t, file)
	if p := planned(t, "-data", clitest.Toy, "-init", file); !p.model.Equal(want) || p.config("").Model.Hidden != 4 {
		t.Error("-init with a file starts from another model")
	}
	before := clitest.Read(t, file)
	rbmtrain.OK(t, small("-init", file, "-quiet", "-out", "second")...)
	if clitest.Read(t, file) != before {
		t.Error("-init changes the file")
	}
	if a, b := column(t, "first", "log_likelihood_train"), column(t, "second", "log_likelihood_train"); a[len(a)-1] != b[0] {
		t.Errorf("the first run ends at %v, the one that goes on from its model begins at %v", a[len(a)-1], b[0])
	}

	rbmtrain.OK(t, "-data", clitest.Toy+":plain", "-hidden", "4", "-steps", "5", "-quiet", "-out", "plain")
	rbmtrain.OK(t, small("-labels", "bernoulli", "-quiet", "-out", "bernoulli")...)
	clitest.Write(t, "cut.safetensors", before[:len(before)-4])
	clitest.Write(t, "text.txt", "no model")
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		{cli.Failed, "-init nothing.npz", []string{"-init", "no file nothing.npz", "a model file, random, log-odds or sparse"}},
		{cli.Failed, "-init log-ods", []string{"-init", "log-ods", "did you mean log-odds?"}},
		{cli.Failed, "-init cut.safetensors", []string{"-init", "cut.safetensors", "cut short or damaged"}},
		{cli.Failed, "-init text.txt", []string{"-init", "text.txt", ".safetensors or .npz"}},
		{cli.Usage, "-init plain/model.safetensors", []string{"-init", "plain/model.safetensors", "0 label units", "-labels auto"}},
		{cli.Usage, "-init " + file + " -labels none", []string{"-init", "4 label units", "-labels none"}},
		{cli.Usage, "-init " + file + " -labels bernoulli", []string{"-labels is bernoulli", "are softmax"}},
		{cli.Usage, "-init bernoulli/model.safetensors -labels softmax", []string{"-labels is softmax", "are bernoulli"}},
		{cli.Usage, "-init " + file + " -hidden 5", []string{"-hidden is 5", "4 hidden units", "leave -hidden out"}},
		{cli.Failed, "-init " + file + " -data toy:4,5,50,0.2", []string{"-init", "does not fit the data", "8 inputs", "10"}},
		{cli.Failed, "-init " + file + " -data toy:8,4,5,0.2", []string{"-init", "does not fit the data"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmtrain.Fails(t, c.status, append([]string{"-data", clitest.Toy}, strings.Fields(c.args)...), c.want...)
		})
	}
}

// grey is a table of grey values, some of them on the threshold.
func grey() (text string, values [][]float64) {
	var b strings.Builder
	for r := range 12 {
		row := []float64{float64(r%5) / 4, float64(r*7%11) / 10, 0.5, float64(r*3%8) / 7}
		values = append(values, row)
		for i, x := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.String(), values
}

// bits writes the rows of a set as a table of 0 and 1.
func bits(set *data.Set) string {
	var b strings.Builder
	for r := range set.Len() {
		for i := range set.X.Cols {
			if i > 0 {
				b.WriteByte(',')
			}
			if set.X.Get(r, i) {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestBinarize checks the use of grey values: threshold and sample train like the
// corresponding bits, and none trains on the values.
func TestBinarize(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	text, values := grey()
	clitest.Write(t, "grey.csv", text)
	args := []string{"-hidden", "3", "-batch", "12", "-negphase", "exact", "-quiet"}
	for _, mode := range []string{data.Threshold, data.Sample} {
		set, _, err := data.Load(context.Background(), "grey.csv", data.Options{Binarize: mode})
		if err != nil {
			t.Fatal(err)
		}
		clitest.Write(t, mode+".csv", bits(set))
		rbmtrain.OK(t, append(args, "-steps", "40", "-data", "grey.csv", "-binarize", mode, "-out", mode)...)
		rbmtrain.OK(t, append(args, "-steps", "40", "-data", mode+".csv", "-out", mode+"-bits")...)
		a, about := clitest.Load(t, filepath.Join(mode, rundir.ModelFile))
		b, bitsAbout := clitest.Load(t, filepath.Join(mode+"-bits", rundir.ModelFile))
		if !a.Equal(b) {
			t.Errorf("-binarize %s trains another model than its bits", mode)
		}
		if about.Binarize != mode || bitsAbout.Binarize != data.Binary {
			t.Errorf("-binarize %s: the models say %q and, of bits, %q", mode, about.Binarize, bitsAbout.Binarize)
		}
	}
	if clitest.Read(t, "threshold.csv") == clitest.Read(t, "sample.csv") {
		t.Error("threshold and sample give the same bits: nothing is tested")
	}
	rbmtrain.OK(t, append(args, "-steps", "40", "-data", "grey.csv", "-out", "default")...)
	if clitest.Read(t, "default/model.safetensors") != clitest.Read(t, "threshold/model.safetensors") {
		t.Error("the default is not threshold")
	}

	// One step on all rows changes the biases by the rate times the mean of the
	// values minus the mean under the model.
	before := planned(t, append(args, "-data", "grey.csv", "-binarize", "none")...).model
	rbmtrain.OK(t, append(args, "-steps", "1", "-rate", "0.5", "-data", "grey.csv", "-binarize", "none", "-out", "none")...)
	after, about := clitest.Load(t, "none/model.safetensors")
	if about.Binarize != data.None {
		t.Errorf("-binarize none: the model says %q, want %q", about.Binarize, data.None)
	}
	mean := modelMean(before)
	for i := range before.VisibleBias {
		sum := 0.0
		for _, row := range values {
			sum += row[i]
		}
		want := float64(before.VisibleBias[i]) + 0.5*(sum/float64(len(values))-mean[i])
		if got := float64(after.VisibleBias[i]); math.Abs(got-want) > 1e-6 { // some ulps of float32 below 1
			t.Errorf("-binarize none: bias %d is %v after a step, want %v", i, got, want)
		}
	}
	if n := len(column(t, "none", "log_likelihood_train")); n == 0 {
		t.Error("grey rows have no score")
	}
	rbmtrain.Fails(t, cli.Usage, append(args, "-data", "grey.csv", "-binarize", "none", "-metrics", "pseudo_likelihood"), "-metrics", "pseudo_likelihood needs binary inputs", "grey.csv are grey")
	rbmtrain.Fails(t, cli.Usage, append(args, "-data", "grey.csv", "-binarize", "smaple"), "-binarize", "did you mean sample?")
}

// modelMean returns ⟨v⟩ under m, which has few visible units, by summing over
// all of their states.
func modelMean(m *rbm.RBM) []float64 {
	mean, z := make([]float64, m.Visible()), 0.0
	for s := range 1 << m.Visible() {
		logw := 0.0
		for i, b := range m.VisibleBias {
			logw += float64(b) * float64(s>>i&1)
		}
		for j, c := range m.HiddenBias {
			a := float64(c)
			for i := range m.Visible() {
				a += float64(m.Weight(i, j)) * float64(s>>i&1)
			}
			logw += math.Log1p(math.Exp(a))
		}
		z += math.Exp(logw)
		for i := range mean {
			mean[i] += math.Exp(logw) * float64(s>>i&1)
		}
	}
	for i := range mean {
		mean[i] /= z
	}
	return mean
}

// TestShape checks that -shape decides the shape of pictures and is stored in the model's file.
func TestShape(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", rowsCSV(40))
	for _, c := range []struct {
		shape         []string
		height, width int
	}{
		{nil, 2, 3},
		{[]string{"-shape", "3x2"}, 3, 2},
		{[]string{"-shape", "1x6"}, 1, 6},
	} {
		rbmtrain.OK(t, append(c.shape, "-data", "rows.csv", "-hidden", "4", "-steps", "20", "-quiet", "-out", "run", "-force")...)
		_, about := clitest.Load(t, "run/model.safetensors")
		if about.Height != c.height || about.Width != c.width {
			t.Errorf("%v: the model says %d × %d, want %d × %d", c.shape, about.Height, about.Width, c.height, c.width)
		}
		// Four filters, two in a line, enlarged to at least 56 pixels, with
		// gaps of 2.
		scale := (56 + max(c.height, c.width) - 1) / max(c.height, c.width)
		want := image.Pt(2*(c.width*scale+2)+2, 2*(c.height*scale+2)+2)
		if c.shape == nil { // columns of a table
			if page := clitest.Read(t, "run/report.html"); !strings.Contains(page, "Samples of the model, column by column") || strings.Contains(page, "Filters") {
				t.Error("the report of a table has no bars, or pictures")
			}
			continue
		}
		if got := picture(t, "run/filters.png").Bounds().Size(); got != want {
			t.Errorf("%v: filters.png is %v, want %v", c.shape, got, want)
		}
	}
	for _, c := range []struct {
		shape string
		want  []string
	}{
		{"4x2", []string{"rows.csv", "6 inputs", "4 × 2", "product is 6"}},
		{"6", []string{"-shape", `"6"`, "28x28"}},
		{"0x6", []string{"-shape", `"0x6"`}},
		{"-2x-3", []string{"-shape", `"-2x-3"`}},
		{"2x3x1", []string{"-shape", `"2x3x1"`}},
		{"99999999999999999999x1", []string{"-shape"}},
		{"3037000500x6074001000", []string{"6 inputs"}}, // the product overflows to a small number
	} {
		t.Run(c.shape, func(t *testing.T) {
			rbmtrain.Fails(t, cli.Usage, []string{"-data", "rows.csv", "-shape", c.shape}, c.want...)
		})
	}
}

// TestGeneratedData trains on each data set of known distribution, and compares the
// log-likelihood of that distribution with a formula.
func TestGeneratedData(t *testing.T) {
	undrawn(t)
	h := func(p float64) float64 { return -p*math.Log(p) - (1-p)*math.Log(1-p) }
	for _, c := range []struct {
		spec, folder string
		inputs       int
		law, within  float64
	}{
		// Of 2·2³ pictures the empty and the full one occur twice.
		{"bars:3", "bars_3", 9, -(12*math.Log(16) + 4*math.Log(8)) / 16, 1e-12},
		{"bars:3:distinct", "bars_3_distinct", 9, -math.Log(14), 1e-12},
		// 2⁴ patterns, each shifted in three ways.
		{"shifter:4", "shifter_4", 8, -math.Log(48), 1e-12},
		// Four modes with hardly any overlap. The rows are a sample of 10000. The
		// number of flips in their 160000 bits has a standard deviation of 87; the
		// tolerance is five of these, with log 19 for each flip.
		{"desjardins:0.05", "desjardins_0.05", 16, -math.Log(4) - 16*h(0.05), 5 * 87 * math.Log(19) / 10000},
	} {
		clitest.Isolate(t)
		out := rbmtrain.OK(t, "-preset", "ins-paper", "-data", c.spec, "-hidden", "5", "-negphase", "exact", "-rate", "0.3", "-steps", "200", "-eval-every", "100", "-json")
		r := result(t, out)
		if r.Law == nil || math.Abs(*r.Law-c.law) > c.within {
			t.Errorf("%s: the law is said to score %v, want %v", c.spec, *r.Law, c.law)
		}
		ll := column(t, "runs/"+c.folder+"-exact-1", "log_likelihood_train")
		if !(ll[len(ll)-1] > ll[0]+0.01) || !(ll[len(ll)-1] < *r.Law) {
			t.Errorf("%s: the log-likelihood goes from %v to %v under a law of %v", c.spec, ll[0], ll[len(ll)-1], *r.Law)
		}
		if m, _ := clitest.Load(t, "runs/"+c.folder+"-exact-1/model.safetensors"); m.Inputs() != c.inputs {
			t.Errorf("%s: the model has %d inputs, want %d", c.spec, m.Inputs(), c.inputs)
		}
	}
	clitest.Isolate(t)
	for _, c := range []struct{ spec, want string }{
		{"bars:0", "bars:0"}, {"bars:x", `"x"`}, {"bars:4:distnct", "distnct"}, {"bars:40", "bars"}, {"shifter:99", "shifter"}, {"desjardins:2", `"2"`},
	} {
		rbmtrain.Fails(t, cli.Usage, []string{"-data", c.spec, "-dry-run"}, "-data", c.want)
	}
}

// TestConstantColumns checks that inputs that never change are named.
func TestConstantColumns(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", "0,1,1,0\n0,0,1,1\n0,1,1,1\n")
	args := []string{"-data", "rows.csv", "-hidden", "2", "-steps", "5", "-batch", "3"}
	const want = "\n2 of 4 columns are constant (0, 2)\n"
	for _, more := range [][]string{nil, {"-dry-run"}} {
		if out := rbmtrain.OK(t, append(args, more...)...); !strings.Contains(out, want) {
			t.Errorf("%v: does not say %q: %s", more, want, out)
		}
	}
	if out := rbmtrain.OK(t, small("-dry-run")...); strings.Contains(out, "constant") {
		t.Errorf("says so of data that change: %s, want no %q in it", out, "constant")
	}
}

// TestDryRunJSON checks that -dry-run -json prints the config.json that the run
// will write.
func TestDryRunJSON(t *testing.T) {
	clitest.Isolate(t)
	args := demanding("pt", "-init", "log-odds")
	read := func(text string) (c config) {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	dry := read(rbmtrain.OK(t, append(args, "-dry-run", "-json")...))
	if tree := clitest.Tree(t, "."); tree != "" {
		t.Errorf("-dry-run -json leaves:\n%s", tree)
	}
	rbmtrain.OK(t, append(args, "-quiet", "-out", "run")...)
	real := read(clitest.Read(t, "run/config.json"))
	if want := append([]string{"rbmtrain"}, append(args, "-dry-run", "-json")...); !slices.Equal(dry.Command, want) {
		t.Errorf("the command is %q, want %q", dry.Command, want)
	}
	if dry.Memory <= 0 || real.Memory != 0 {
		t.Errorf("the memory is %v, and in config.json %v", dry.Memory, real.Memory)
	}
	dry.Command, real.Command, dry.Memory = nil, nil, 0
	if a, b := fmt.Sprintf("%+v", dry), fmt.Sprintf("%+v", real); a != b {
		t.Errorf("-dry-run -json prints\n%s, the run writes\n%s", a, b)
	}
	if s := real.Training; s.Momentum != 0.5 || s.Center != 0.05 || s.Average != 0.9 || s.L1 != 0.0001 || s.L2 != 0.001 || s.Schedule != "cosine" || s.Horizon != 120 ||
		real.Model.Init != "log-odds" || real.Data.Rows != 160 || real.Data.HoldoutRows != 40 || real.Flags["momentum"] != "0.5" {
		t.Errorf("config.json says %+v", real)
	}
}

// TestSettingsMatter checks that each setting of the optimizer changes the
// model, and is named before the run.
func TestSettingsMatter(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-negphase", "cd", "-quiet", "-out", "plain")...)
	model := clitest.Read(t, "plain/model.safetensors")
	for _, c := range []struct{ args, want string }{
		{"-schedule linear", "rate 0.1 linear,"},
		{"-schedule cosine", "rate 0.1 cosine,"},
		{"-schedule inverse", "rate 0.1 inverse,"},
		{"-schedule inverse:20", "rate 0.1 inverse:20,"},
		{"-momentum 0.5", ", momentum 0.5,"},
		{"-l1 0.01", ", l1 0.01,"},
		{"-l2 0.01", ", l2 0.01,"},
		{"-center 0.01", ", center 0.01,"},
		{"-average 0.9", ", average 0.9,"},
		{"-init log-odds", ""},
		{"-init sparse", ""},
	} {
		out := rbmtrain.OK(t, small(append(strings.Fields(c.args), "-negphase", "cd", "-metrics", "none", "-snapshots", "0", "-out", "run", "-force")...)...)
		if clitest.Read(t, "run/model.safetensors") == model {
			t.Errorf("%s has no effect", c.args)
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("%s is not named: %s, want %q in it", c.args, out, c.want)
		}
	}
}

// TestCurves checks that curves.png has a panel for each kind of metric, and a
// curve in each.
func TestCurves(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	for _, c := range []struct {
		args   string
		panels int // 0: no picture
	}{
		{"-negphase ins", 6}, // likelihoods, error, log p(y|x), exchange, weight
		{"-negphase pcd -holdout 0.2", 5},
		{"-negphase pt -metrics none", 1},
		{"-negphase cd -metrics none", 0},
		{"-negphase cd -metrics classification -steps 1", 2},
	} {
		rbmtrain.OK(t, small(append(strings.Fields(c.args), "-quiet", "-out", "run", "-force")...)...)
		path := filepath.Join("run", rundir.CurvesFile)
		if c.panels == 0 {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: curves of nothing", c.args)
			}
			continue
		}
		img := picture(t, path)
		size := img.Bounds().Size()
		rows := (c.panels + curvesAcross - 1) / curvesAcross
		for row := range rows {
			coloured := 0
			for y := size.Y * row / rows; y < size.Y*(row+1)/rows; y++ {
				for x := range size.X {
					if r, g, b, _ := img.At(x, y).RGBA(); max(r, g, b)-min(r, g, b) > 0x4000 {
						coloured++
					}
				}
			}
			if coloured < 30 {
				t.Errorf("%s: row %d of %d has %d coloured pixels, want at least 30", c.args, row+1, rows, coloured)
			}
		}
		if size.X < 400*min(c.panels, curvesAcross) || size.Y/rows < 300 {
			t.Errorf("%s: %v is small for %d panels", c.args, size, c.panels)
		}
	}
}

// TestWarnings checks when a run warns, and that it warns once.
func TestWarnings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	undrawn(t)
	clitest.Isolate(t)
	const ladder, worse = "rbmtrain: warning: the ladder does not exchange: ", "rbmtrain: warning: the model is worse than before the first step: "
	frozen := []string{"-preset", "ins-paper", "-data", "toy:2,64,50,0", "-hidden", "64", "-steps", "300", "-metrics", "none", "-quiet"}
	for _, kind := range []string{"pt:tau=1/1000", "ins:tau=1/1000"} {
		r := interrupt(200, append(frozen, "-negphase", kind)...)
		early, rest, _ := strings.Cut(r.Stderr, "\n")
		if !strings.HasPrefix(early, ladder) || !strings.Contains(early, "so that the") || !strings.HasPrefix(rest, "rbmtrain: stopped after step ") {
			t.Errorf("%s: an interrupted run prints %q", kind, r.Stderr)
		}
		if r = rbmtrain.Call(append(frozen, "-negphase", kind)...); strings.Count(r.Stderr, ladder) != 1 {
			t.Errorf("%s: the warning is printed %d times, want 1", kind, strings.Count(r.Stderr, ladder))
		}
	}
	bad := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "8", "-steps", "200", "-rate", "20", "-negphase", "cd"}
	// The exact likelihood warns at once, with the cause, and again at the end.
	if r := result(t, rbmtrain.OK(t, append(bad, "-json")...)); len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], ": the rate is too high, as ") || !strings.HasPrefix(r.Warnings[1], "8 of 8 hidden units") {
		t.Errorf("the JSON has the warnings %q", r.Warnings)
	}
	bad = append(bad, "-metrics", "pseudo_likelihood")
	r := rbmtrain.Call(append(bad, "-quiet")...)
	dead, last, _ := strings.Cut(r.Stderr, "\n")
	rbmtrain.OneLine(t, dead+"\n", "warning: 8 of 8 hidden units are dead at step 200: ", "smaller -rate")
	rbmtrain.OneLine(t, last, strings.TrimPrefix(worse, "rbmtrain: "), "pseudo_likelihood_train is -", "it was -", "smaller -rate")
	if r := result(t, rbmtrain.OK(t, append(bad, "-json")...)); len(r.Warnings) != 2 || !strings.HasPrefix(r.Warnings[0], "8 of 8 hidden units") || !strings.HasPrefix(r.Warnings[1], "the model is worse") {
		t.Errorf("the JSON has the warnings %q", r.Warnings)
	}
	// The first and the last value are measured on the same rows. So a run that changes
	// nothing is not worse, although a large model is measured on few rows.
	for seed := range 3 {
		r := rbmtrain.Call("-data", "toy:4,4,100,0.3", "-labels", "none", "-hidden", "40000", "-negphase", "cd", "-rate", "1e-9", "-schedule", "constant",
			"-steps", "2", "-metrics", "pseudo_likelihood", "-init", "log-odds", "-seed", strconv.Itoa(seed), "-quiet", "-snapshots", "0")
		if r.Status != 0 || r.Stderr != "" {
			t.Errorf("a run that changes nothing: %d, %s, want 0 and nothing", r.Status, r.Stderr)
		}
	}
	if r := rbmtrain.Call("-data", clitest.Toy, "-hidden", "8", "-steps", "200", "-negphase", "exact"); r.Stderr != "" {
		t.Errorf("a run that learns prints %q, want nothing", r.Stderr)
	}
}

// TestLadderWarnings checks that warnings about a ladder need enough attempts, and
// use recent counts.
func TestLadderWarnings(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	// The coldest pair attempts no swap in every other step, and few in a short run.
	// The model is sharp before the first tuning.
	for _, args := range [][]string{
		{"-negphase", "pt:order=evenodd:tau=1/1.1/1.2", "-steps", "20", "-eval-every", "1"},
		{"-negphase", "pt:order=evenodd:hottest=5:tau=auto/9", "-steps", "7"},
		{"-negphase", "pt", "-temperatures", "auto/9", "-steps", "60", "-eval-every", "1", "-chains", "1"},
	} {
		if r := rbmtrain.Call(append([]string{"-data", "toy:4,4,100,0.2", "-hidden", "4", "-metrics", "none", "-quiet"}, args...)...); r.Status != 0 || r.Stderr != "" {
			t.Errorf("%s: a ladder that exchanges: status %d, %q, want 0 and nothing", args, r.Status, r.Stderr)
		}
	}
	// At first the model is flat and particles make round trips. Later the hot end is
	// cut off, although the coldest pair still exchanges.
	cut := []string{"-data", "toy:2,64,50,0", "-hidden", "16", "-steps", "4000", "-metrics", "none", "-quiet", "-negphase", "pt:tau=1/1.001/1000"}
	r := result(t, rbmtrain.OK(t, append(cut, "-json")...))
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "the ladder does not exchange: temperatures 2 and 3 of 3") || *r.RoundTrips == 0 {
		t.Errorf("after %d round trips the warnings are %q", *r.RoundTrips, r.Warnings)
	}
	// A ladder was tuned 35 rounds before the end, and no particle ever crossed it.
	r = result(t, rbmtrain.OK(t, "-data", "toy:2,64,50,0", "-hidden", "64", "-steps", "2700", "-rate", "1", "-schedule", "constant", "-metrics", "none",
		"-negphase", "pt:chains=1:tau=auto/6:path=uniform", "-quiet", "-json"))
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "no particle has gone from the coldest of 6 temperatures") || r.Ladder.Rounds != 35 {
		t.Errorf("%d rounds after it was tuned the warnings are %q", r.Ladder.Rounds, r.Warnings)
	}
}

// TestFirstLadder checks that the picture of a tuned ladder shows the ladder before the
// tuning, whatever the steps of measurements, and that the JSON reports the tuning.
func TestFirstLadder(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	const first = `"first_ladder":{"name":"step 50","Beta":[1,0.75,0.5,0.25,0]`
	for _, every := range []string{"20", "50", "80"} {
		r := result(t, rbmtrain.OK(t, "-data", "toy:4,4,100,0.2", "-hidden", "4", "-metrics", "none", "-json", "-negphase", "pt:tau=auto", "-steps", "120", "-eval-every", every, "-out", every))
		if !strings.Contains(clitest.Read(t, filepath.Join(every, rundir.CheckpointFile)), first) {
			t.Errorf("measured every %s steps, the first ladder is not that before the tuning", every)
		}
		if r.Ladder.Tuned != 2 || r.Ladder.Capped {
			t.Errorf("tuned %d times, capped %v", r.Ladder.Tuned, r.Ladder.Capped)
		}
	}
}

// TestBadSettings checks mistakes in further flags.
func TestBadSettings(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-schedule foo", []string{`-schedule "foo" is unknown`, "constant, inverse"}},
		{"-schedule inverse:x", []string{`-schedule "inverse:x"`, "of steps above 0"}},
		{"-schedule inverse:0", []string{`-schedule "inverse:0"`}},
		{"-schedule inverse:NaN", []string{`-schedule "inverse:NaN"`}},
		{"-schedule cosine:3", []string{`-schedule "cosine:3"`, "only inverse"}},
		{"-momentum 1", []string{"-momentum is 1", "below 0.9999"}},
		{"-momentum -0.5", []string{"-momentum is -0.5", "at least 0"}},
		{"-momentum NaN", []string{"-momentum is NaN"}},
		{"-l1 -1", []string{"-l1 is -1"}},
		{"-l1 NaN", []string{"-l1 is NaN"}},
		{"-l2 11", []string{"-l2 is 11", "below 10"}}, // at rate 0.1
		{"-center 1", []string{"-center is 1"}},
		{"-average 1", []string{"-average is 1"}},
		{"-average -1", []string{"-average is -1"}},
		{"-holdout 0", []string{"-holdout", "0 rows cannot be held out", "fraction between 0 and 1"}},
		{"-holdout -1", []string{"-holdout", "-1 rows cannot be held out"}},
		{"-holdout 1.5", []string{"-holdout", "1.5 rows cannot be held out", "whole number of rows"}},
		{"-holdout NaN", []string{"-holdout", "NaN rows cannot be held out"}},
		{"-holdout 200", []string{"-holdout", "from 1 to 199 rows"}},
		{"-holdout 195 -batch 10", []string{"-batch is 10", "only 5 rows"}},
		{"-stop-after 3", []string{"-stop-after", "-holdout", "0.1"}},
		{"-stop-after -1", []string{"-stop-after is -1"}},
		{"-stop-after 3 -holdout 0.1 -metrics none", []string{"-stop-after needs a metric of the rows held out", "-metrics none"}},
		{"-snapshots -1", []string{"-snapshots is -1", "0 … 10000"}},
		{"-snapshots 10001", []string{"-snapshots is 10001"}},
		{"-checkpoint-every 0", []string{"-checkpoint-every is 0", "1 …"}},
		{"-checkpoint-every -5m", []string{`-checkpoint-every is "-5m"`, "5m"}},
		{"-checkpoint-every soon", []string{`-checkpoint-every is "soon"`, "5m, or a number of steps"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmtrain.Fails(t, cli.Usage, append([]string{"-data", clitest.Toy}, strings.Fields(c.args)...), c.want...)
		})
	}
}

// If cells are missing and the model is too large to enumerate, -stop-after has no metric, unless there
// are labels.
func TestStopAfterWithGaps(t *testing.T) {
	clitest.Isolate(t)
	var head, first, second []string
	for i := range 40 {
		head = append(head, "c"+strconv.Itoa(i))
		first, second = append(first, "x"), append(second, "y")
	}
	table := strings.Join(head, ",") + ",label\n" + strings.Repeat(strings.Join(second, ",")+",l\n", 4)
	second[3] = "NA"
	table += strings.Repeat(strings.Join(first, ",")+",k\n"+strings.Join(second, ",")+",l\n", 10)
	clitest.Write(t, "t.csv", table)
	args := strings.Fields("-data t.csv -hidden 50 -negphase pcd -batch 5 -steps 20 -holdout 0.3 -stop-after 3 -quiet -out run -label-column")
	rbmtrain.Fails(t, cli.Usage, append(args, "none"), "as cells are missing, it can use the exact log_likelihood, for which -hidden 50 is too large, or the classification")
	if got := rbmtrain.Call(append(args, "label")...); got.Status != 0 {
		t.Errorf("with labels it exits with %d: %s, want 0", got.Status, got.Stderr)
	}
}

// curves.png leaves out charts of single points next to others.
func TestPointwise(t *testing.T) {
	metrics := []train.Metric{{Columns: []train.Column{{Name: "a", Single: true, Axis: "a"}, {Name: "b", Single: true, Axis: "b"}}}}
	nan := math.NaN()
	for _, c := range []struct {
		rows   [][]float64
		panels int
	}{
		{[][]float64{{0, 1, nan}, {5, 2, 3}}, 1},
		{[][]float64{{0, 1, 2}, {5, 2, 3}}, 2},
		{[][]float64{{5, 2, 3}}, 2},
	} {
		b := new(bytes.Buffer)
		if err := curves(metrics, []string{"step", "a", "b"}, c.rows).Write(b, plots.PNG); err != nil {
			t.Fatal(err)
		}
		img, err := png.DecodeConfig(b)
		if want := c.panels * 100 * 144 / 254 * 10; err != nil || img.Width < want-2 || img.Width > want+20 { // 10 cm each
			t.Errorf("%v: %d pixels wide, %v, want some %d", c.rows, img.Width, err, want)
		}
	}
}
