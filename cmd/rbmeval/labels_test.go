package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
	"gorbm/train/rundir"
)

// TestUnlabelledRows checks that rows without a label are left out and counted, by -unlabelled or as
// the model's file says, and that the other results match those without these rows.
func TestUnlabelledRows(t *testing.T) {
	clitest.Isolate(t)
	var all, labelled strings.Builder
	for i := range 30 {
		row := fmt.Sprintf("%d,%d,%d,", i%2, i/2%2, i/4%2)
		label := []string{"x", "?", "y", ""}[i*i%4+i%3/2]
		fmt.Fprintf(&all, "%s%s\n", row, label)
		if label == "x" || label == "y" {
			fmt.Fprintf(&labelled, "%s%s\n", row, label)
		}
	}
	clitest.Write(t, "all.csv", all.String())
	clitest.Write(t, "some.csv", labelled.String())
	m := clitest.Model(5, 3, 2, rbm.Softmax)
	clitest.Save(t, "m.safetensors", m, modelfile.About{ClassNames: []string{"x", "y"}})
	clitest.Save(t, "says.safetensors", m, modelfile.About{ClassNames: []string{"x", "y"}, Data: "all.csv", LabelColumn: "last", Unlabelled: "?"})
	read := func(args ...string) (r jsonResult, stderr string) {
		got := rbmeval.Call(append(args, "-json")...)
		if got.Status != 0 {
			t.Fatalf("%v exits with %d: %s, want 0", args, got.Status, got.Stderr)
		}
		if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil {
			t.Fatal(err)
		}
		return r, got.Stderr
	}
	want, _ := read("-model", "m.safetensors", "-data", "some.csv", "-label-column", "last")
	n := strings.Count(labelled.String(), "\n")
	for _, args := range []string{"-model m.safetensors -data all.csv -label-column last -unlabelled ?", "-model says.safetensors"} {
		got, stderr := read(strings.Fields(args)...)
		if got.N != n || *got.FreeEnergy != *want.FreeEnergy || got.Classification.Score != want.Classification.Score {
			t.Errorf("%s: %d rows, %+v; want %d, %+v", args, got.N, got.Classification.Score, n, want.Classification.Score)
		}
		if line := fmt.Sprintf("%d of 30 rows of all.csv have no label and are left out\n", 30-n); !strings.Contains(stderr, line) {
			t.Errorf("%s: prints %q, want %q in it", args, stderr, line)
		}
	}
	// -rows and -features include all rows in the order of the file. Rows without a label get the values
	// that they have in unlabelled data.
	var plain strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(all.String()), "\n") {
		fmt.Fprintln(&plain, line[:strings.LastIndex(line, ",")])
	}
	clitest.Write(t, "plain.csv", plain.String())
	table := func(name string, args ...string) [][]string {
		t.Helper()
		rbmeval.OK(t, append(args, "-rows", name+".rows.csv", "-features", name+".npz")...)
		lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, name+".rows.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return lines[1:]
	}
	bare := table("plain", "-model", "m.safetensors", "-data", "plain.csv", "-label-column", "none")
	some := table("some", "-model", "m.safetensors", "-data", "some.csv", "-label-column", "last", "-classify")
	both := table("both", "-model", "says.safetensors", "-classify")
	if len(bare) != 30 || len(some) != n || len(both) != 30 {
		t.Fatalf("-rows writes %d, %d and %d rows, want 30, %d and 30", len(bare), len(some), len(both), n)
	}
	var wantY []string
	for i, line := range strings.Split(strings.TrimSpace(all.String()), "\n") {
		want := append([]string{strconv.Itoa(i), bare[i][1], ""}, bare[i][len(bare[i])-3:]...)
		if label := line[strings.LastIndex(line, ",")+1:]; label == "x" || label == "y" {
			want, some = some[0], some[1:]
			want[0] = strconv.Itoa(i)
		}
		if !slices.Equal(both[i], want) {
			t.Errorf("row %d is written as %q, want %q", i, both[i], want)
		}
		wantY = append(wantY, want[2])
	}
	if got, want := features(t, "both.npz"), features(t, "plain.npz"); !reflect.DeepEqual(got, want) {
		t.Errorf("features of rows without a label among others are\n%v\nwant\n%v", got, want)
	}
	set, _, err := data.Load(context.Background(), "both.npz", data.Options{Unlabelled: true})
	if err != nil {
		t.Fatal(err)
	}
	for r, y := range set.Y {
		name := ""
		if y != data.NoClass {
			name = set.Classes[y]
		}
		if name != wantY[r] {
			t.Errorf("the y of row %d is %q, want %q", r, name, wantY[r])
		}
	}
	rbmeval.Fails(t, cli.Usage, []string{"-model", "says.safetensors", "-features", "leak.npz", "-label-in-features"}, "the label of every row", fmt.Sprint(30-n))
	// The same with -run.
	var tables [2]string
	for i, file := range []string{"all.csv", "some.csv"} {
		dir := strings.TrimSuffix(file, ".csv")
		clitest.Write(t, dir+"/models/keep", "")
		clitest.Save(t, dir+"/models/0000001.safetensors", m, modelfile.About{ClassNames: []string{"x", "y"}, Data: file, LabelColumn: "last", Unlabelled: "?"})
		rbmeval.Call("-run", dir, "-out", dir+".table.csv")
		tables[i] = clitest.Read(t, dir+".table.csv")
	}
	if tables[0] != tables[1] || !strings.Contains(tables[0], "log_likelihood") {
		t.Errorf("along a run:\n%s\nwant\n%s", tables[0], tables[1])
	}
	rbmeval.Fails(t, 1, []string{"-model", "m.safetensors", "-data", "all.csv", "-label-column", "last"}, `label "?"`, `"x", "y"`)
}

// TestCalibration checks that -classify reports the temperature that package train computes, or no
// temperature if the best lies outside the range searched.
func TestCalibration(t *testing.T) {
	clitest.Isolate(t)
	m := clitest.Model(12, 5, 4, rbm.Softmax)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: clitest.Toy})
	set := load(t, clitest.Toy)
	rows := make([]int32, set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	logp := make([]float64, set.Len()*4)
	m.ClassLogProb(logp, set.Rows(rows, 4))
	if c, ok := train.Calibrate(logp, set.Y, nil, calibrationKey); !ok || !c.AtBound() {
		t.Fatalf("the labels of the toy have a temperature: %+v", c)
	}
	text := rbmeval.OK(t, "-model", "m.safetensors", "-classify")
	if !strings.Contains(text, "calibration temperature    none (the likelihood of the 100 rows of the fit grows as T rises, beyond 128)\n") || strings.Contains(text, "on the other") {
		t.Error(text)
	}
	// Two thirds of the labels are the class that is most probable under the model.
	var csv strings.Builder
	csv.WriteString("a,b,c,d,e,f,g,h,label\n")
	for r := range rows {
		for i := range m.Inputs() {
			fmt.Fprintf(&csv, "%v,", set.X.Get(r, i))
		}
		if set.Y[r] = int32(r / 3 % 4); r%3 > 0 {
			set.Y[r] = int32(train.Likeliest(logp[r*4:][:4]))
		}
		fmt.Fprintln(&csv, set.Y[r])
	}
	clitest.Write(t, "right.csv", csv.String())
	var r jsonResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "m.safetensors", "-data", "right.csv", "-classify", "-json")), &r); err != nil {
		t.Fatal(err)
	}
	want, ok := train.Calibrate(logp, set.Y, nil, calibrationKey)
	if c := r.Classification; !ok || *c.Calibration != want || c.NLL != -c.MeanLogP || c.Score != train.ScoreRows(logp, set.Y, nil) {
		t.Errorf("got %+v, want %+v", *r.Classification.Calibration, want)
	}
	text = rbmeval.OK(t, "-model", "m.safetensors", "-data", "right.csv", "-classify")
	for _, line := range []string{
		fmt.Sprintf("calibration error          %.4f (ECE, 15 bins)\n", want.ECE),
		fmt.Sprintf("calibration temperature    %.4g (T of p(y|x)^(1/T), fitted on 100 rows", want.Temperature),
		fmt.Sprintf("  on the other 100 rows    mean log p(y|x) %.6f, ECE %.4f; without it %.6f, %.4f\n", -want.After.NLL, want.After.ECE, -want.Before.NLL, want.Before.ECE),
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// Rows are refused if the header has the inputs of the model in another order.
func TestColumnsInAnotherOrder(t *testing.T) {
	clitest.Isolate(t)
	clitest.Save(t, "m.safetensors", clitest.Model(2, 3, 0, rbm.Softmax), modelfile.About{Columns: []string{"age", "smokes"}})
	clitest.Write(t, "same.csv", "age,smokes\n0,1\n1,1\n")
	clitest.Write(t, "other.csv", "smokes,age\n1,0\n1,1\n")
	rbmeval.OK(t, "-model", "m.safetensors", "-data", "same.csv")
	rbmeval.Fails(t, cli.Failed, []string{"-model", "m.safetensors", "-data", "other.csv"}, `column 1 is "smokes"`, `"age"`)
	// The error concerns the order alone, not values outside the ranges of other columns.
	clitest.Save(t, "scaled.safetensors", clitest.Model(2, 3, 0, rbm.Softmax), modelfile.About{Columns: []string{"age", "smokes"}, Scale: "0:99,0:1"})
	clitest.Write(t, "scaled.csv", "smokes,age\n1,30\n0,50\n")
	rbmeval.Fails(t, cli.Failed, []string{"-model", "scaled.safetensors", "-data", "scaled.csv"}, `column 1 is "smokes"`)
}

// Other rows are read with the label column of the model's data. They may lack it.
func TestLabelColumnIsRemembered(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", "a,diag,b\n"+strings.Repeat("0,x,1\n1,y,1\n1,x,0\n", 5))
	clitest.Write(t, "bare.csv", "a,b\n"+strings.Repeat("0,1\n1,1\n1,0\n", 5))
	clitest.Save(t, "m.safetensors", clitest.Model(4, 3, 2, rbm.Softmax), modelfile.About{ClassNames: []string{"x", "y"}, Data: "gone.csv", LabelColumn: "diag"})
	got := rbmeval.OK(t, "-model", "m.safetensors", "-data", "rows.csv", "-classify")
	if want := rbmeval.OK(t, "-model", "m.safetensors", "-data", "rows.csv", "-classify", "-label-column", "diag"); got != want || !strings.Contains(got, "of 15 rows") {
		t.Errorf("prints %s, and with -label-column %s", got, want)
	}
	got = rbmeval.OK(t, "-model", "m.safetensors", "-data", "bare.csv", "-exact")
	if want := rbmeval.OK(t, "-model", "m.safetensors", "-data", "bare.csv", "-exact", "-label-column", "none"); got != want {
		t.Errorf("of rows without labels it prints %s, and with -label-column none %s", got, want)
	}
	rbmeval.Fails(t, 1, strings.Fields("-model m.safetensors -data bare.csv -classify -label-column diag"), `no column is named "diag"`)
}

// Rows that the run held out are evaluated by default where there are no test rows, and are not among
// those of -part train. A line says that rows have changed since the training.
func TestRowsHeldOut(t *testing.T) {
	isolate(t)
	write := func(rows int) (set *data.Set) {
		text := "a,b,c,label\n"
		for i := range rows {
			text += fmt.Sprintf("%d,%d,%d,%d\n", i%2, i/2%2, i/4%2, i%3)
		}
		clitest.Write(t, "rows.csv", text)
		set, _, err := data.Load(t.Context(), "rows.csv", data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	all := write(60)
	numbered := *all
	numbered.Numbers = data.RowNumbers(0, all.Len())
	trained, held, err := numbered.Split(20, data.HoldoutKey(7))
	if err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, "run/"+rundir.ConfigFile, fmt.Sprintf(`{"data": {"rows": 40, "holdout_rows": 20, "hash": %q}, "training": {"seed": 7}}`, trained.Hash()))
	m := clitest.Model(6, 2, 3, rbm.Softmax) // three inputs
	clitest.Save(t, "run/"+rundir.ModelFile, m, modelfile.About{Data: "rows.csv", ClassNames: all.Classes})
	mean := func(set *data.Set) string {
		free := make([]float64, set.Len())
		m.FreeEnergy(free, set.Rows(data.RowNumbers(0, set.Len()), 3))
		return fmt.Sprintf("mean free energy           %.6f", floats.Sum(free)/float64(len(free)))
	}
	const changed = "the rows of rows.csv have changed since the model was trained on them"
	evaluate := func(args ...string) clitest.Result {
		t.Helper()
		r := rbmeval.Call(append([]string{"-model", "run", "-exact"}, args...)...)
		if r.Status != cli.OK {
			t.Fatalf("%q: status %d: %s, want %d", args, r.Status, r.Stderr, cli.OK)
		}
		return r
	}
	for _, c := range []struct {
		args string
		rows *data.Set
	}{{"", held}, {"-part holdout", held}, {"-part train", trained}, {"-data rows.csv", all}} {
		want := mean(c.rows)
		if r := evaluate(strings.Fields(c.args)...); !strings.Contains(r.Stdout, want) || strings.Contains(r.Stderr, changed) {
			t.Errorf("%q: want %s, got %s%s", c.args, want, r.Stdout, r.Stderr)
		}
	}
	evaluate("-rows", "out.csv")
	if got, want := strings.Split(clitest.Read(t, "out.csv"), "\n")[1], fmt.Sprintf("%d,", held.Numbers[0]); !strings.HasPrefix(got, want) {
		t.Errorf("the first row held out is written as %q, want one that starts with %s", got, want)
	}
	rbmeval.Fails(t, cli.Usage, strings.Fields("-model run -data rows.csv -part holdout"), "no rows of rows.csv are known to be held out")
	text := clitest.Read(t, "rows.csv")
	clitest.Write(t, "rows.csv", strings.Replace(text, "0", "1", 30))
	if r := evaluate(); !strings.Contains(r.Stderr, changed) {
		t.Errorf("of other rows nothing is said: %s, want %q in it", r.Stderr, changed)
	}
	write(61)
	if r := evaluate(); !strings.Contains(r.Stderr, changed) {
		t.Errorf("of more rows nothing is said: %s, want %q in it", r.Stderr, changed)
	}
}

// The confusion matrix and the recalls are those of the labels and predictions that -rows writes. They are
// printed with -classify, and in JSON always.
func TestConfusion(t *testing.T) {
	clitest.Isolate(t)
	m := rbm.New(12, 3, 4, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(4))
	if err := modelfile.Write("m.safetensors", m, modelfile.About{Described: true, ClassNames: []string{"00", "01", "10", "11"}}); err != nil {
		t.Fatal(err)
	}
	args := []string{"-model", "m.safetensors", "-data", clitest.Toy}
	var r struct {
		Classification struct {
			Error     float64
			Classes   []string
			Confusion [][]float64
			Recall    []float64
		}
	}
	if err := json.Unmarshal([]byte(rbmeval.OK(t, append(args, "-rows", "rows.csv", "-json")...)), &r); err != nil {
		t.Fatal(err)
	}
	lines, err := data.Lines(t.Context(), "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := r.Classification
	want, total, wrong := make([][]float64, 4), make([]float64, 4), 0.0
	for k := range want {
		want[k] = make([]float64, 4)
	}
	label, predicted := slices.Index(lines[0], "label"), slices.Index(lines[0], "predicted")
	for _, line := range lines[1:] {
		k, j := slices.Index(c.Classes, line[label]), slices.Index(c.Classes, line[predicted])
		want[k][j]++
		total[k]++
		if k != j {
			wrong++
		}
	}
	for k := range want {
		if !slices.Equal(c.Confusion[k], want[k]) || math.Abs(c.Recall[k]-want[k][k]/total[k]) > 1e-9 {
			t.Errorf("class %s: %v with recall %v, want %v", c.Classes[k], c.Confusion[k], c.Recall[k], want[k])
		}
	}
	if math.Abs(c.Error-wrong/float64(len(lines)-1)) > 1e-9 || wrong == 0 {
		t.Errorf("error %v, want %v of %d", c.Error, wrong, len(lines)-1)
	}
	text := rbmeval.OK(t, append(args, "-classify")...)
	for k, name := range c.Classes {
		line := name + " " + strings.Trim(fmt.Sprint(want[k]), "[]") + fmt.Sprintf(" %.1f %%", 100*c.Recall[k])
		if !strings.Contains(strings.Join(strings.Fields(text), " "), line) {
			t.Errorf("class %s is not in\n%s", name, text)
		}
	}
}
