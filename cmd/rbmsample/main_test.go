package main

import (
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
)

var rbmsample = clitest.Command{Name: "rbmsample", Run: clitest.Alone(runRanks)}

// isolate changes to an empty folder and saves two models: m, of the toy data with 8 inputs and 4
// classes, and plain, of 6 inputs without recorded data.
func isolate(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	clitest.Save(t, "m.npz", clitest.Model(12, 5, 4, rbm.Softmax),
		modelfile.About{Data: clitest.Toy, ClassNames: []string{"00", "01", "10", "11"}, Height: 2, Width: 4})
	clitest.Save(t, "named.npz", clitest.Model(8, 4, 2, rbm.Softmax), modelfile.About{ClassNames: []string{"cat", "dog"}, Height: 2, Width: 3})
	clitest.Save(t, "plain.npz", clitest.Model(6, 4, 0, rbm.Softmax), modelfile.About{})
	clitest.Write(t, "holes.csv", "1,,0,nan,,1\n,,,,1,0\n")
}

func TestHelp(t *testing.T) {
	rbmsample.Help(t, "model", "n", "class", "clamp", "negphase", "out", "start", "rounds", "means", "seed", "data", "json", "quiet", "workers")
}

// Output of -json.

type jsonResult struct {
	N        int               `json:"n"`
	Class    string            `json:"class,omitempty"`
	Mixed    bool              `json:"mixed"`
	Tau      *float64          `json:"tau"`
	ESS      *float64          `json:"ess"`
	RHat     *float64          `json:"r_hat"`
	Queries  []jsonQuery       `json:"queries"`
	Nearest  *nearest          `json:"nearest,omitempty"`
	Classes  *sample.Agreement `json:"samples_of_class,omitempty"`
	Seconds  float64           `json:"seconds"`
	Means    bool              `json:"means"`
	Seed     uint64            `json:"seed"`
	Model    string            `json:"model"`
	Warnings []string          `json:"warnings,omitempty"`
	Out      string            `json:"out"`
}

type jsonQuery struct {
	Of        string     `json:"of,omitempty"` // "class 3", "row 0"
	NegPhase  string     `json:"negphase"`
	Start     string     `json:"start"` // how the chains of the samples start
	Mixed     bool       `json:"mixed"`
	Why       string     `json:"why,omitempty"` // reason why it has not mixed
	Rounds    int        `json:"rounds"`
	BurnIn    int        `json:"burn_in"`
	Chains    int        `json:"chains"`
	Tau       *float64   `json:"tau"`
	TauStdErr *float64   `json:"tau_std_err"`
	TauOf     string     `json:"tau_of,omitempty"` // the quantity with the longest autocorrelation time
	ESS       *float64   `json:"ess"`
	RHat      *float64   `json:"r_hat"`
	Samples   *twoSample `json:"two_sample,omitempty"`
	Trips     *int64     `json:"round_trips,omitempty"`
}

type twoSample struct {
	FreeEnergy [2]float64 `json:"free_energy"` // the means of the two samples
	Z          *float64   `json:"z"`
	P          float64    `json:"p"`
	PicturesP  float64    `json:"pictures_p"`
}

type nearest struct {
	Distance    float64 `json:"distance"`
	RowDistance float64 `json:"row_distance"`
	Copies      int     `json:"copies"`
}

// object runs the command with -json.
func object(t *testing.T, args string) (r jsonResult) {
	t.Helper()
	if err := json.Unmarshal([]byte(rbmsample.OK(t, append(strings.Fields(args), "-json")...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Every kind of file holds the samples, and equal seeds give equal bytes.
func TestFiles(t *testing.T) {
	isolate(t)
	const toy = "-model named.npz -rounds 64 -n 3 "
	for _, name := range []string{"a.png", "a.npz", "a.csv", "a.tsv"} {
		for copyOf, seed := range map[string]string{"": "1", "b": "1", "c": "2"} {
			object(t, toy+"-seed "+seed+" -workers 1 -out "+copyOf+name)
		}
		if clitest.Read(t, name) != clitest.Read(t, "b"+name) || clitest.Read(t, name) == clitest.Read(t, "c"+name) {
			t.Errorf("%s: equal seeds give other bytes, or other seeds the same", name)
		}
	}
	f, err := os.Open("a.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Three pictures of 2 × 3 values, 19 pixels each, in two rows with their names.
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 3*57 || img.Bounds().Dy() < 2*38 {
		t.Errorf("a.png: %v, %v", img.Bounds(), err)
	}
	// The files can be read as data.
	for _, name := range []string{"a.npz", "a.csv", "a.tsv"} {
		set, _, err := data.Load(context.Background(), name, data.Options{Binarize: data.None})
		if err != nil {
			t.Fatal(err)
		}
		if set.Len() != 6 || set.X.Cols != 6 || strings.Join(set.Classes, " ") != "cat dog" || set.Grey.Rows != 0 || set.Y[2] != 0 || set.Y[3] != 1 {
			t.Errorf("%s: %d rows, classes %q, labels %v", name, set.Len(), set.Classes, set.Y)
		}
	}
	// Means in .npz files have another name than samples.
	object(t, toy+"-means -out means.npz")
	f, err = os.Open("means.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := npz.Open(f, info.Size())
	if err != nil || !a.Has("means") || !a.Has("x") {
		t.Fatalf("the arrays are %s, %v", a.Names(), err)
	}
	for name, grey := range map[string]bool{"x": false, "means": true} {
		r, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		between := false
		err = r.Rows(6, 6, func(_ int, values []float64) error {
			between = between || slices.ContainsFunc(values, func(v float64) bool { return v > 0 && v < 1 })
			return nil
		})
		if r.Close(); err != nil || between != grey {
			t.Errorf("%s: values between 0 and 1: %v, %v, want %v", name, between, err, grey)
		}
	}
	if out := rbmsample.OK(t, strings.Fields(toy+"-means -out means.csv -quiet=false")...); !strings.Contains(out, "means.csv: means p(x|h) of 6 samples") {
		t.Errorf("prints %q, want %q in it", out, "means.csv: means p(x|h) of 6 samples")
	}
	object(t, toy+"-class dog -out bits.csv")
	for i, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "bits.csv")), "\n")[1:] {
		if fields := strings.Split(line, ","); len(fields) != 7 || fields[6] != "dog" || strings.Trim(strings.Join(fields[:6], ""), "01") != "" {
			t.Errorf("row %d of bits is %s", i, line)
		}
	}
}

// Spins are written as −1 and +1, and pictures in the shape of the training rows.
func TestAsTheyCame(t *testing.T) {
	isolate(t)
	x := make([]int8, 40*6)
	for i := range x {
		x[i] = int8(1 - 2*(i*i%7%2))
	}
	f, err := os.Create("pictures.npz")
	if err == nil {
		err = npz.Write(f, []npz.Named{{Name: "x", Shape: []int{40, 2, 3}, Data: x}})
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	set, _, err := data.Load(context.Background(), "pictures.npz", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var about modelfile.About
	new(cli.DataFlags).Describe(&about, set)
	clitest.Save(t, "spins.safetensors", rbm.New(6, 2, 0, rbm.Softmax), about)
	for _, format := range []string{"npz", "csv"} {
		object(t, "-model spins.safetensors -rounds 64 -n 20 -out s."+format)
		s, _, err := data.Load(context.Background(), "s."+format, data.Options{Scale: "spins"}) // refuses other values
		if err != nil || s.Len() != 20 || s.Pictures != (format == "npz") || s.Pictures && (s.Height != 2 || s.Width != 3) {
			t.Errorf("%s: %+v, %v", format, s, err)
		}
	}
	object(t, "-model spins.safetensors -rounds 64 -n 20 -means -out means.csv")
	for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "means.csv")), "\n")[1:] {
		if line != "0,0,0,0,0,0" { // p = ½ for zero weights
			t.Errorf("the means of spins are %s, want %s", line, "0,0,0,0,0,0")
		}
	}
}

// The diagnostics are in -json, with keys that scripts rely on.
func TestJSON(t *testing.T) {
	isolate(t)
	r := object(t, "-model m.npz -class 11 -n 30 -out a.npz")
	if r.N != 30 || r.Class != "11" || !r.Mixed || r.Tau == nil || r.ESS == nil || r.RHat == nil || r.Out != "a.npz" || len(r.Queries) != 1 ||
		r.Queries[0].TauOf == "" ||
		r.Queries[0].Samples == nil || r.Queries[0].Start != "random" || r.Nearest == nil || r.Queries[0].Trips != nil {
		t.Errorf("%+v", r)
	}
	r = object(t, "-model m.npz -class 11 -rounds 256 -negphase pt:chains=4:tau=1/2/4 -out b.npz")
	if r.Class != "11" || r.N != 50 || r.Queries[0].Trips == nil || *r.Queries[0].Trips == 0 || r.Queries[0].NegPhase != "pt:k=1:swaps=1:chains=4:start=uniform:tau=1/2/4" {
		t.Errorf("a ladder: %+v", r)
	}
	// Without data there is no comparison with them, and a message says so.
	r = object(t, "-model plain.npz -out c.npz")
	if r.N != 100 || r.Queries[0].Samples != nil || r.Nearest != nil || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "-data") {
		t.Errorf("no data: %+v", r)
	}
	r = object(t, "-model m.npz -class any -n 40 -out d.csv")
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "d.csv")), "\n")[1:] {
		seen[line[strings.LastIndex(line, ",")+1:]] = true
	}
	if r.N != 40 || r.Class != "" || len(seen) < 2 {
		t.Errorf("any class: %v, %+v", seen, r)
	}
}

// Chains that have not mixed lead to a warning on standard error and exit status 0.
func TestNotMixed(t *testing.T) {
	isolate(t)
	m := rbm.New(12, 4, 0, rbm.Softmax)
	w := rbm.NewMatrix(12, 4)
	for i := range w.Data {
		w.Data[i] = 3
	}
	m.SetWeights(w)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = -6
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = -18
	}
	clitest.Save(t, "stuck.npz", m, modelfile.About{})
	clitest.Write(t, "ones.csv", strings.Repeat(strings.Repeat("1,", 11)+"1\n", 20))
	args := strings.Fields("-model stuck.npz -data ones.csv -label-column none -negphase pcd -rounds 256 -n 20 -out a.npz")
	r := rbmsample.Call(args...)
	if r.Status != cli.OK || !strings.Contains(r.Stderr, "warning: the chains have not mixed") || !strings.Contains(r.Stdout, "not mixed; ") {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	args[len(args)-1] = "b.npz"
	if got := object(t, strings.Join(args, " ")); got.Mixed || got.Queries[0].Why == "" || got.Queries[0].Start != "data" {
		t.Errorf("%+v", got)
	}
	args[len(args)-1] = "c.npz"
	if r := rbmsample.Call(append(args, "-quiet")...); r.Stdout != "" || !strings.Contains(r.Stderr, "not mixed") {
		t.Errorf("-quiet: %q, %q", r.Stdout, r.Stderr)
	}
}

// Missing values are filled and given values are kept, in every kind of file.
func TestClamp(t *testing.T) {
	isolate(t)
	nan := float32(math.NaN())
	arrays := func(name string, all ...npz.Named) {
		t.Helper()
		f, err := os.Create(name)
		if err == nil {
			err = npz.Write(f, all)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	x := npz.Named{Name: "x", Shape: []int{2, 6}, Data: []float32{1, nan, 0, nan, nan, 1, nan, nan, nan, nan, 0.7, 0.2}}
	arrays("holes.npz", x)
	arrays("labelled.npz", x, npz.Named{Name: "y", Data: []string{"dog", ""}})
	clitest.Write(t, "labelled.csv", "a,b,c,d,e,f,y\n1,,0,nan,,1,dog\n,,,,1,0,\n")
	clitest.Write(t, "spins.csv", "1,,-1,nan,,1\n,,,,1,-1\n") // the same rows
	for _, c := range []struct{ model, file, class string }{
		{"plain", "holes.csv", ""}, {"plain", "spins.csv", ""}, {"plain", "holes.npz", ""}, {"named", "labelled.npz", "dog"}, {"named", "labelled.csv", "dog"}, {"named", "holes.csv", ""},
	} {
		out := c.model + c.file + ".csv"
		r := object(t, "-model "+c.model+".npz -clamp "+c.file+" -rounds 64 -n 8 -means -out "+out)
		lines := strings.Split(strings.TrimSpace(clitest.Read(t, out)), "\n")
		if r.N != 16 || len(r.Queries) != 2 || len(lines) != 17 {
			t.Fatalf("%s: %+v", c.file, r)
		}
		filled := map[string]bool{}
		for i, line := range lines[1:] {
			f := strings.Split(line, ",")
			wrong := i < 8 && (f[0] != "1" || f[2] != "0" || f[5] != "1" || f[6] != "0" || c.class != "" && f[7] != c.class) ||
				i >= 8 && (f[4] != "1" || f[5] != "0" || f[6] != "1")
			if wrong {
				t.Errorf("%s: sample %d is %s", c.file, i, line)
			}
			filled[f[1]] = true
		}
		if len(filled) < 3 {
			t.Errorf("%s: holes have the values %v alone, want at least 3 of them", c.file, filled)
		}
		object(t, "-model "+c.model+".npz -clamp "+c.file+" -rounds 64 -n 2 -out "+out+".png")
	}
}

// The label of a row of -clamp cannot be mistaken for a class.
func TestClampLabels(t *testing.T) {
	p := &plan{classes: []string{"0", "1"}, given: &given{queries: []sample.Query{{Class: rbm.Free}, {Class: 0}}}}
	if a, b := p.label(0), p.label(1); a != "row 0" || b != "row 1: 0" {
		t.Errorf("%q, %q, want %q and %q", a, b, "row 0", "row 1: 0")
	}
}

func TestBadInput(t *testing.T) {
	isolate(t)
	clitest.Write(t, "there.png", "a file")
	clitest.Write(t, "short.csv", "1,,0\n")
	clitest.Write(t, "word.csv", "1,,0,x,0,0\n")
	clitest.Write(t, "hex.csv", "1,,0,0x1p-1,0,0\n")
	clitest.Write(t, "underscore.csv", "1,,0,0,0_1,0\n")
	clitest.Write(t, "endless.csv", strings.Repeat("0,", 1<<20))
	clitest.Write(t, "large.csv", "1,,0,7,0,0\n")
	clitest.Write(t, "full.csv", "1,0,0,1,0,0\n")
	clitest.Write(t, "fox.csv", "1,,0,1,0,0,fox\n")
	clitest.Write(t, "mixed.csv", "1,,0,1,0,0,cat\n1,,0,1,0,0\n")
	clitest.Write(t, "empty.csv", "")
	clitest.Write(t, "wide.csv", "1,0,1,1,0,1,1,1,0,0\n")
	clitest.Write(t, "bad.npz", "no archive")
	const m, plain, named = "-model m.npz -out a.png ", "-model plain.npz -out a.png ", "-model named.npz -out a.png "
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		{cli.Usage, "", []string{"-out is missing"}},
		{cli.Usage, "-out a.png", []string{"-model is missing"}},
		{cli.Usage, "-model m.npz -out a.txt", []string{`"a.txt"`, ".pdf, .npz, .csv, .tsv or .fasta"}},
		{cli.Failed, "-model m.npz -out there.png", []string{"there.png is there already"}},
		{cli.Failed, "-model none.npz -out a.png", []string{"none.npz does not exist"}},
		{cli.Usage, m + "-class four", []string{`-class is "four"`, "00, 01, 10, 11"}},
		{cli.Usage, m + "-class 4", []string{`-class is "4"`}},
		{cli.Usage, m + "-class 1", []string{`-class is "1"`, "00, 01, 10, 11"}}, // no index, as the classes have names
		{cli.Usage, named + "-class dgo", []string{"did you mean dog?"}},
		{cli.Usage, plain + "-class 1", []string{"plain.npz has no labels"}},
		{cli.Usage, m + "-n -1", []string{"-n is -1"}},
		{cli.Usage, m + "-n 1000000", []string{"4000000 samples"}},
		{cli.Usage, m + "-rounds 3", []string{"-rounds is 3", "16"}},
		{cli.Usage, m + "-start cold", []string{`-start is "cold"`, "auto, random, data"}},
		{cli.Usage, plain + "-start data", []string{"-start data", "-data"}},
		{cli.Usage, m + "-negphase zzz", []string{"-negphase", `"zzz"`}},
		{cli.Usage, m + "-negphase cd", []string{"-negphase: cd starts at the data", "pcd"}},
		{cli.Usage, m + "-negphase ptt", []string{"-negphase: ptt follows a model in training", "pcd"}},
		{cli.Usage, m + "-negphase exact -rounds 100", []string{"-negphase exact has no chains", "leave -rounds out"}},
		{cli.Usage, plain + "-negphase pt:path=data", []string{"path=data"}},
		{cli.Usage, plain + "-clamp holes.txt", []string{`"holes.txt"`, ".csv, .npz or .npy"}},
		{cli.Failed, plain + "-clamp none.csv", []string{"none.csv does not exist"}},
		{cli.Failed, plain + "-clamp short.csv", []string{"short.csv", "line 1 has 3 values", "6 inputs"}},
		{cli.Failed, m + "-clamp holes.csv", []string{"line 1 has 6 values", "8 inputs"}},
		{cli.Failed, plain + "-clamp word.csv", []string{"line 1, column 4", `"x"`, "missing values are NaN or empty"}},
		{cli.Failed, plain + "-clamp hex.csv", []string{"line 1, column 4", `"0x1p-1" is not a number`}},
		{cli.Failed, plain + "-clamp underscore.csv", []string{"line 1, column 5", `"0_1" is not a number`}},
		{cli.Failed, plain + "-clamp endless.csv", []string{"line 1: a row of more than the 1048576 columns"}},
		{cli.Failed, plain + "-clamp large.csv", []string{"column 4", "7 is not in [0,1]"}},
		{cli.Failed, plain + "-clamp full.csv", []string{"full.csv", "all rows are complete; leave cells empty"}},
		{cli.Failed, plain + "-clamp empty.csv", []string{"no rows"}},
		{cli.Failed, plain + "-clamp bad.npz", []string{"bad.npz", "not an npz archive"}},
		{cli.Failed, plain + "-clamp fox.csv", []string{"has labels, but plain.npz has none"}},
		{cli.Failed, named + "-clamp fox.csv", []string{`row 0 has the label "fox"`, "cat, dog"}},
		{cli.Failed, named + "-clamp mixed.csv", []string{"line 2 has 6 values"}},
		{cli.Usage, named + "-clamp fox.csv -class cat", []string{"both give the class"}},
		{cli.Failed, plain + "-data wide.csv", []string{"plain.npz does not fit the data"}},
		{cli.Failed, plain + "-data none.csv", []string{"none.csv"}},
		{cli.Usage, m + "-workers -1", []string{"-workers is -1"}},
	} {
		t.Run(c.args, func(t *testing.T) { rbmsample.Fails(t, c.status, strings.Fields(c.args), c.want...) })
	}
}

// Ctrl-C leaves no file.
func TestInterrupted(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := rbmsample.CallContext(ctx, "-model", "plain.npz", "-out", "a.png"); r.Status == cli.OK {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("a.png"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file is left")
	}
}

// Training rows are found where some have no label, however a missing label is written.
func TestRowsWithoutLabel(t *testing.T) {
	isolate(t)
	rows := "a,b,c,d,e,f,y\n"
	for r := range 60 {
		rows += []string{"1,1,1,0,0,0,cat\n", "0,0,0,1,1,1,dog\n", "1,1,0,0,1,0,?\n"}[r%3]
	}
	clitest.Write(t, "semi.csv", rows)
	clitest.Save(t, "semi.npz", clitest.Model(8, 4, 2, rbm.Softmax),
		modelfile.About{Data: "semi.csv", Unlabelled: "?", ClassNames: []string{"cat", "dog"}, Height: 2, Width: 3})
	clitest.Write(t, "empty.csv", strings.ReplaceAll(rows, "?", ""))
	for out, args := range map[string]string{"a": "", "b": "-data empty.csv ", "c": "-data semi.csv -unlabelled ? ", "d": "-class any "} {
		r := object(t, "-model semi.npz -rounds 64 -n 5 "+args+"-out "+out+".npz")
		if r.Nearest == nil || r.Queries[0].Samples == nil {
			t.Errorf("%q: nothing is compared with the training rows: %+v, %q", args, r, r.Warnings)
		}
	}
}

// The warning names the draws that have not mixed, up to five, and says where their chains started.
func TestNotMixedNames(t *testing.T) {
	p := &plan{classes: []string{"0", "1"}, given: &given{open: []int{0, 1, 2, 3, 4, 5, 6, 7}}, queries: make([]sample.Query, 8)}
	for i := range p.queries {
		p.queries[i].Class = rbm.Free
	}
	p.queries[1].Class = 1
	bad := func(why diag.Kind, start string) sample.Draw {
		return sample.Draw{Start: start, Proof: sample.Proof{Why: diag.Warning{Kind: why}}}
	}
	s := sample.Sheet{Draws: []sample.Draw{{Proof: sample.Proof{Mixed: true}}}}
	for i, want := range []string{"", "for 1 of 2 (row 1 of class 1); of the first: because; more -rounds may help"} {
		if got := p.notMixed(s); (want == "") != (got == "") || !strings.HasSuffix(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
		s.Draws = append(s.Draws, bad("because", ""))
	}
	for len(s.Draws) < 8 {
		s.Draws = append(s.Draws, bad("another", sample.FromData))
	}
	if got := p.notMixed(s); !strings.Contains(got, "7 of 8 (row 1 of class 1, row 2, row 3, row 4, row 5, …); of the first: because; their samples are from chains that started at training rows") {
		t.Error(got)
	}
}

// An autocorrelation time too long to be measured is reported as a lower bound, and the effective
// sample size as an upper bound.
func TestDescribe(t *testing.T) {
	d := sample.Draw{Proof: sample.Proof{Sampler: "pcd", Tau: 2, TauOf: "hidden activity", Effective: 5, RHat: 1.5, P: math.NaN()}}
	for want, stdErr := range map[string]float64{
		"τ ≥ 2 rounds (hidden activity), effective size ≤ 5, R̂ 1.5": math.Inf(1),
		"τ 2 rounds (hidden activity), effective size 5, R̂ 1.5":     0.25,
	} {
		d.TauErr = stdErr
		if got := describe(d); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// Samples have the names of the inputs. With many rows of -clamp only the first are listed.
func TestManyRowsAndNames(t *testing.T) {
	clitest.Isolate(t)
	clitest.Save(t, "m.npz", clitest.Model(3, 4, 0, rbm.Softmax), modelfile.About{Columns: []string{"age", "smokes", "rich"}})
	clitest.Write(t, "holes.csv", strings.Repeat("0,,\n1,,\n", 15))
	out := rbmsample.OK(t, "-model", "m.npz", "-clamp", "holes.csv", "-n", "1", "-rounds", "200", "-out", "s.csv")
	if n := strings.Count(out, "; R̂") + strings.Count(out, ", R̂"); n != describedDraws || !strings.Contains(out, "… and 10 others, of which ") {
		t.Errorf("%d lines: %s", n, out)
	}
	if text := clitest.Read(t, "s.csv"); !strings.HasPrefix(text, "age,smokes,rich,row\n") {
		t.Errorf("the file begins %.40q, want %q at its start", text, "age,smokes,rich,row\n")
	}
}

// Labels read from a named column have that name in a file of samples, which can be read like the
// data.
func TestNameOfLabels(t *testing.T) {
	clitest.Isolate(t)
	for column, head := range map[string]string{"kind": "a,b,kind\n", "first": "a,b,y\n", "last": "a,b,y\n", "": "a,b,y\n"} {
		m := clitest.Model(4, 2, 2, rbm.Softmax)
		clitest.Save(t, "m.safetensors", m, modelfile.About{ClassNames: []string{"k", "l"}, Columns: []string{"a", "b"}, LabelColumn: column})
		rbmsample.OK(t, "-model", "m.safetensors", "-n", "1", "-out", "samples-"+column+".csv", "-quiet")
		if got := clitest.Read(t, "samples-"+column+".csv"); !strings.HasPrefix(got, head) {
			t.Errorf("%q: %s, want %q at its start", column, got, head)
		}
	}
}
