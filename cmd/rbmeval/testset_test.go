package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// someRows writes the rows of the toy set that belong to these classes, with or without a label
// column, and returns their numbers.
func someRows(t *testing.T, path string, labelled bool, classes ...string) (rows []int32, set *data.Set) {
	t.Helper()
	set, _, err := data.Load(t.Context(), clitest.Toy, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := "a,b,c,d,e,f,g,h"
	if labelled {
		text += ",label"
	}
	for r := range set.Len() {
		name := set.Classes[set.Y[r]]
		if !slices.Contains(classes, name) {
			continue
		}
		text += "\n"
		for j := range set.X.Cols {
			text += map[bool]string{true: "1", false: "0"}[set.X.Get(r, j)] + ","
		}
		if rows = append(rows, int32(r)); labelled {
			text += "class " + name
		} else {
			text = strings.TrimSuffix(text, ",")
		}
	}
	clitest.Write(t, path, text+"\n")
	return rows, set
}

// TestOwnTestSet compares the results for a test file of some classes, in another order than the
// model's, with values computed here, and then for the same rows without labels.
func TestOwnTestSet(t *testing.T) {
	isolate(t)
	rows0, set := someRows(t, "test.csv", true, "00", "10")
	someRows(t, "bare.csv", false, "00", "10")
	about := toy
	about.ClassNames = nil
	for _, name := range toy.ClassNames {
		about.ClassNames = append(about.ClassNames, "class "+name)
	}
	someRows(t, "all.csv", true, toy.ClassNames...)
	at := filepath.Dir(cliAbs(t, "all.csv"))
	about.Data, about.Test = filepath.Join(at, "all.csv"), filepath.Join(at, "test.csv")
	m := clitest.Model(12, 5, 4, rbm.Softmax)
	clitest.Save(t, "m.safetensors", m, about)

	free, logp := make([]float64, len(rows0)), make([]float64, 4*len(rows0))
	v := set.Rows(rows0, 4)
	m.FreeEnergy(free, v)
	m.ClassLogProb(logp, v)
	for i, args := range []string{"-test test.csv", "-data test.csv", "-data test.csv -test test.csv", "", "-test bare.csv", "-data bare.csv"} {
		labelled := i < 4
		out := fmt.Sprint("rows", i, ".csv")
		said := rbmeval.OK(t, append(strings.Fields(args), "-model", "m.safetensors", "-rows", out)...)
		if !strings.Contains(said, fmt.Sprintf(".csv: %d rows (binary)\n", len(rows0))) || !strings.Contains(said, "mean log p(x") {
			t.Errorf("%s prints %s", args, said)
		}
		header, column := rows(t, out)
		if slices.Contains(header, "label") != labelled {
			t.Errorf("%s: columns %v", args, header)
			continue
		}
		for r := range rows0 {
			p := logp[4*r : 4*r+4]
			f := free[r]
			if !labelled { // F(x) = F(x,y) + log p(y|x)
				f += p[set.Y[rows0[r]]]
			}
			// The file has twelve digits, and the two computations round differently.
			if d := math.Abs(number(t, column["free_energy"][r]) - f); d > 1e-9*math.Abs(f) {
				t.Fatalf("%s: row %d has free energy %s, want %v", args, r, column["free_energy"][r], f)
			}
			for y, name := range about.ClassNames {
				if d := math.Abs(number(t, column["p_"+name][r]) - math.Exp(p[y])); d > 1e-9 {
					t.Fatalf("%s: row %d has p(%s|x) = %s, want %v", args, r, name, column["p_"+name][r], math.Exp(p[y]))
				}
			}
			if want := "class " + set.Classes[set.Y[rows0[r]]]; labelled && column["label"][r] != want {
				t.Fatalf("%s: row %d is labelled %s, want %s", args, r, column["label"][r], want)
			}
		}
	}
	if out := rbmeval.OK(t, "-model", "m.safetensors", "-part", "train"); !strings.Contains(out, "all.csv: 200 rows") {
		t.Errorf("-part train: %s, want %q in it", out, "all.csv: 200 rows")
	}
	// From any folder, and with -run.
	clitest.Write(t, "run/models/0000001.safetensors", clitest.Read(t, "m.safetensors"))
	t.Chdir(t.TempDir())
	if out := rbmeval.OK(t, "-run", filepath.Join(at, "run"), "-json"); !strings.Contains(out, fmt.Sprintf(`"n_train":200,"n_test":%d`, len(rows0))) {
		t.Errorf("-run: %s, want %q in it", out, fmt.Sprintf(`"n_train":200,"n_test":%d`, len(rows0)))
	}
}

// cliAbs returns an absolute path.
func cliAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// TestFollowsScale checks that rows are read with the scale of the model's data, and that a warning
// names an unused test set.
func TestFollowsScale(t *testing.T) {
	isolate(t)
	clitest.Write(t, "train.csv", "0,4,8,16\n16,2,3,1\n")
	clitest.Write(t, "test.csv", "0,4,8,8\n")
	clitest.Write(t, "unit.csv", "0,0.25,0.5,0.5\n")
	clitest.Save(t, "m.safetensors", clitest.Model(4, 3, 0, rbm.Softmax), modelfile.About{Data: cliAbs(t, "train.csv"), Binarize: data.None, Scale: "0:16"})
	_, want, _ := strings.Cut(rbmeval.OK(t, "-model", "m.safetensors", "-data", "unit.csv", "-scale", "auto"), "1 rows (none)")
	for _, args := range []string{"-test test.csv", "-data test.csv"} {
		r := rbmeval.Call(append(strings.Fields(args), "-model", "m.safetensors")...)
		if _, got, _ := strings.Cut(r.Stdout, "1 rows (none)"); r.Stderr != "" || got != want {
			t.Errorf("%s prints %s and %s, want %s", args, r.Stdout, r.Stderr, want)
		}
	}
	r := rbmeval.Call("-model", "m.safetensors")
	rbmeval.OneLine(t, r.Stderr, "warning: ", "test.csv lies next to ", "but is not used; -test ", "test.csv evaluates on it")
	if !strings.Contains(r.Stdout, "train.csv: 2 rows") {
		t.Errorf("prints %s, want %q in it", r.Stdout, "train.csv: 2 rows")
	}
}

// TestFeaturesAsData reads the file of -features as the data of another model: values and label names
// are preserved.
func TestFeaturesAsData(t *testing.T) {
	isolate(t)
	for _, rename := range []func(string) string{
		func(s string) string { return s },         // 00 and 01 are not numbers
		func(s string) string { return "é. " + s }, // neither are these
		func(s string) string { return map[string]string{"11": "5", "10": "3", "01": "-4", "00": "2"}[s] },
	} {
		text, names := "", map[string]bool{}
		set, _, err := data.Load(t.Context(), clitest.Toy, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		about := modelfile.About{}
		for _, name := range set.Classes {
			about.ClassNames = append(about.ClassNames, rename(name))
		}
		for r := range set.Len() {
			for j := range set.X.Cols {
				text += map[bool]string{true: "1", false: "0"}[set.X.Get(r, j)] + ","
			}
			name := rename(set.Classes[set.Y[r]])
			names[name] = true
			text += name + "\n"
		}
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		clitest.Write(t, at("rows.csv"), text)
		clitest.Save(t, at("m.safetensors"), clitest.Model(12, 5, 4, rbm.Softmax), about)
		rbmeval.OK(t, "-model", at("m.safetensors"), "-data", at("rows.csv"), "-label-column", "last", "-features", at("h.npz"))
		got, test, err := data.Load(t.Context(), at("h.npz"), data.Options{Binarize: data.None})
		if err != nil {
			t.Fatal(err)
		}
		if test != nil || got.Len() != set.Len() || len(got.Classes) != len(names) || got.Binarize != data.None {
			t.Errorf("%d rows of classes %q, %s", got.Len(), got.Classes, got.Binarize)
		}
		for r, row := range features(t, at("h.npz")) {
			for j, x := range row {
				if float64(got.Grey.Row(r)[j]) != x {
					t.Fatalf("row %d, unit %d: %v, want %v", r, j, got.Grey.Row(r)[j], x)
				}
			}
			if name := got.Classes[got.Y[r]]; name != rename(set.Classes[set.Y[r]]) {
				t.Fatalf("row %d is labelled %s, want %s", r, name, rename(set.Classes[set.Y[r]]))
			}
		}
	}
}

// TestBaseOfNamedClasses checks that tempering starts at the means of the training rows with the
// model's classes, whatever the order of the classes in the file.
func TestBaseOfNamedClasses(t *testing.T) {
	isolate(t)
	set, _, err := data.Load(t.Context(), clitest.Toy, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	someRows(t, "bare.csv", false, "00")
	clitest.Write(t, "bare.csv", "0,1,1,0,0,1,1,0\n")
	letters := []string{"a", "b", "c", "d"}
	backward := []string{"d", "c", "b", "a"}
	said := map[string][2]string{}
	for name, order := range map[string][]string{"forward": letters, "backward": backward} {
		text := ""
		for r := range set.Len() {
			if y := set.Y[r]; y < 2 || r%4 == 0 { // unequal class frequencies
				for j := range set.X.Cols {
					text += map[bool]string{true: "1", false: "0"}[set.X.Get(r, j)] + ","
				}
				text += order[y] + "\n"
			}
		}
		clitest.Write(t, name+"/rows.csv", text)
		if err := os.Mkdir(name+"/models", 0o755); err != nil {
			t.Fatal(err)
		}
		about := modelfile.About{ClassNames: order, Data: cliAbs(t, name+"/rows.csv"), LabelColumn: "last"}
		clitest.Save(t, name+"/models/0000001.safetensors", clitest.Model(12, 5, 4, rbm.Softmax), about)
		_, one, _ := strings.Cut(rbmeval.OK(t, "-model", name+"/models/0000001.safetensors", "-part", "train", "-ais", "-ais-temperatures", "50"), "rows (binary)\n")
		_, run, _ := strings.Cut(rbmeval.OK(t, "-run", name, "-ais", "-ais-temperatures", "50", "-json"), "n_train")
		said[name] = [2]string{one, run}
	}
	if said["forward"] != said["backward"] || !strings.Contains(said["forward"][0], "log Z by AIS") || !strings.Contains(said["forward"][1], `"ais"`) {
		t.Errorf("%q", said)
	}
	one := func(name string) string {
		_, out, _ := strings.Cut(rbmeval.OK(t, "-model", name+"/models/0000001.safetensors", "-test", "bare.csv", "-data", "with.csv", "-ais", "-ais-temperatures", "50"), "rows (binary)\n")
		return out
	}
	for _, name := range []string{"forward", "backward"} {
		text := "a,b,c,d,e,f,g,h,label\n" + clitest.Read(t, name+"/rows.csv")
		clitest.Write(t, "with.csv", text)
		said[name] = [2]string{one(name), ""}
	}
	if said["forward"] != said["backward"] {
		t.Errorf("with other rows to test on: %q", said)
	}
}

// TestBoundOfMixedRows checks the lower bound of log Z by rows with and without labels, some with the
// same inputs: each state counts once.
func TestBoundOfMixedRows(t *testing.T) {
	isolate(t)
	_, set := someRows(t, "train.csv", true, "11", "10", "01", "00")
	someRows(t, "bare.csv", false, "00")
	m, _ := clitest.Load(t, "softmax.safetensors")
	clitest.Save(t, "m.safetensors", m, modelfile.About{ClassNames: []string{"class 11", "class 10", "class 01", "class 00"}})
	seen, sum := map[string]bool{}, 0.0
	for r := range set.Len() {
		v := make([]int, m.Visible())
		set.X.Each(r, func(i int) { v[i] = 1 })
		if key := fmt.Sprint(v); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		for y := range m.Classes() {
			v[m.Inputs()+y] = 1
			sum += math.Exp(-free(m, v))
			v[m.Inputs()+y] = 0
		}
	}
	for _, args := range []string{"-data train.csv -test bare.csv", "-data bare.csv -test train.csv"} {
		r, _ := evaluate(t, "-model m.safetensors -ais -ais-temperatures 50 "+args)
		if r.LowerBound == nil || math.Abs(*r.LowerBound-math.Log(sum)) > 1e-9*math.Abs(math.Log(sum)) {
			t.Errorf("%s: the bound is %v, want %v", args, *r.LowerBound, math.Log(sum))
		}
	}
}
