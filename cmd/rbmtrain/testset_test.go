package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/train/rundir"
)

// TestOwnTestSet checks that a test file is measured as the same rows are when
// they are in the archive of the training rows, that it is in config.json and in
// the model, and that a resumed run has it, from any folder.
func TestOwnTestSet(t *testing.T) {
	undrawn(t)
	at := clitest.Isolate(t)
	greys := func(n, from int) []byte {
		b := make([]byte, 4*n)
		for i := range b {
			b[i] = byte((i*i + from*i) % 17) // grey values of 0 … 16
		}
		b[0] = 16
		return b
	}
	x, y := greys(40, 1), make([]byte, 40)
	xTest, yTest := greys(12, 2), make([]byte, 12)
	text := ""
	for i := range y {
		y[i] = byte(i % 3)
	}
	for i := range yTest {
		yTest[i] = byte(2 - 2*(i%2)) // none of class 1
		v := xTest[4*i:]
		text += fmt.Sprintf("%d,%d,%d,%d,%d\n", v[0], v[1], v[2], v[3], yTest[i])
	}
	clitest.Write(t, "both.npz", archive(t, "x", npy("40, 4", x), "y", npy("40,", y), "x_test", npy("12, 4", xTest), "y_test", npy("12,", yTest)))
	clitest.Write(t, "rows.npz", archive(t, "x_train", npy("40, 4", x), "y_train", npy("40,", y)))
	clitest.Write(t, "own.npz", archive(t, "x", npy("12, 4", xTest), "y", npy("12,", yTest)))
	clitest.Write(t, "own.csv", "a,b,c,d,label\n"+text)
	common := []string{"-hidden", "3", "-steps", "60", "-labels", "softmax", "-scale", "max", "-binarize", "none", "-negphase", "pcd", "-snapshots", "2", "-eval-every", "10"}
	run := func(out string, args ...string) {
		rbmtrain.OK(t, append(append(args, common...), "-quiet", "-out", out)...)
	}
	run("both", "-data", "both.npz")
	for _, test := range []string{"own.npz", "own.csv"} {
		run(test+".run", "-data", "rows.npz", "-test", test)
		if a, b := metrics(t, test+".run"), metrics(t, "both"); !reflect.DeepEqual(a, b) {
			t.Errorf("-test %s is measured as\n%v, not as\n%v", test, a, b)
		}
	}
	if len(column(t, "both", "error_test")) == 0 {
		t.Fatal("nothing is tested")
	}
	var c config
	if err := json.Unmarshal([]byte(clitest.Read(t, "own.csv.run/"+rundir.ConfigFile)), &c); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(at, "own.csv")
	if c.Flags["test"] != own || c.Flags["scale"] != "max" || c.Data.Test != "own.csv" || c.Data.TestRows != 12 || c.Data.Scale != "0:16" || c.Data.TestHash == "" {
		t.Errorf("config.json says %v and %+v", c.Flags, c.Data)
	}
	if _, about := clitest.Load(t, "own.csv.run/"+rundir.ModelFile); about.Test != own || about.Scale != "0:16" || about.Binarize != data.None {
		t.Errorf("the model says %+v", about)
	}
	stoppedAt(t, interrupt(30, append([]string{"-data", "rows.npz", "-test", "own.csv", "-out", "again"}, common...)...), "again")
	t.Chdir(t.TempDir())
	rbmtrain.OK(t, "-resume", filepath.Join(at, "again"), "-quiet")
	t.Chdir(at)
	sameRuns(t, "again", "own.csv.run")
}

// TestUnusedTestSet checks that a test set that is there and not used is said,
// once and in one line.
func TestUnusedTestSet(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "train.csv", "0,1\n1,1\n")
	clitest.Write(t, "test.csv", "0,1\n")
	clitest.Write(t, "both.npz", archive(t, "x", npy("2, 2", []byte{0, 1, 1, 1}), "x_test", npy("1, 2", []byte{0, 1})))
	for args, want := range map[string][]string{
		"-data train.csv":                {"test.csv lies next to train.csv but is not used; -test test.csv evaluates on it"},
		"-data train.csv -test test.csv": nil,
		"-data both.npz":                 nil,
		"-data both.npz -test test.csv":  {"both.npz test, 1 rows, is not used: the test rows are those of -test"},
	} {
		r := rbmtrain.Call(append(strings.Fields(args), "-hidden", "2", "-batch", "1", "-steps", "2", "-dry-run")...)
		if r.Status != 0 || want == nil && r.Stderr != "" {
			t.Errorf("%s: status %d, %s, want 0 and nothing", args, r.Status, r.Stderr)
		}
		if want != nil {
			rbmtrain.OneLine(t, r.Stderr, append(want, "warning: ")...)
		}
		if tests := strings.Contains(r.Stdout, "; 1 test row"); tests != (args != "-data train.csv") {
			t.Errorf("%s prints %s", args, r.Stdout)
		}
	}
}

// TestInitOfOtherClasses checks that the labels of data are matched by name with
// those of the model that training starts from.
func TestInitOfOtherClasses(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "abc.csv", "0,1,a\n1,1,b\n1,0,c\n")
	clitest.Write(t, "cb.csv", "0,1,c\n1,1,b\n")
	clitest.Write(t, "d.csv", "0,1,d\n")
	common := []string{"-label-column", "last", "-batch", "1", "-labels", "softmax"}
	rbmtrain.OK(t, append(common, "-data", "abc.csv", "-hidden", "2", "-steps", "2", "-quiet", "-out", "first")...)
	p := planned(t, append(common, "-data", "cb.csv", "-init", "first")...)
	if got := []int32{p.sets.Train.Y[0], p.sets.Train.Y[1], p.rows.Y[0]}; !reflect.DeepEqual(got, []int32{2, 1, 2}) || !reflect.DeepEqual(p.about().ClassNames, []string{"a", "b", "c"}) {
		t.Errorf("labels %v of %q, want %v and %q", got, p.about().ClassNames, []int32{2, 1, 2}, []string{"a", "b", "c"})
	}
	rbmtrain.Fails(t, 1, append(common, "-data", "d.csv", "-init", "first"), "-init: first", "does not fit the data", `row 0 has the label "d"`)
}
