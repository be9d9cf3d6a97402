package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/train/rundir"
)

// TestHeader checks that the line about the data mentions a header of numbers, and that
// -header overrides it and is stored for -resume and in the model's file. The hash of the
// data is that of the rows.
func TestHeader(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rows := ""
	for i := range 30 {
		rows += fmt.Sprintf("%d,%d,0,%d,16,0\n", i%4, i%3, i%17)
	}
	clitest.Write(t, "bare.csv", rows)
	clitest.Write(t, "pandas.csv", "0,1,2,3,4,5\n"+rows)
	clitest.Write(t, "words.csv", "a,b,c,d,e,f\n"+rows)
	hash := map[string]string{}
	run := func(out string, args ...string) clitest.Result {
		t.Helper()
		r := rbmtrain.Call(append([]string{"-scale", "max", "-shape", "1x6", "-hidden", "2", "-negphase", "cd", "-batch", "5", "-steps", "4", "-out", out}, args...)...)
		if r.Status != 0 {
			t.Fatal(r.Stderr)
		}
		var c config
		if err := json.Unmarshal([]byte(clitest.Read(t, out+"/"+rundir.ConfigFile)), &c); err != nil {
			t.Fatal(err)
		}
		hash[out] = fmt.Sprint(c.Data.Rows, c.Data.Hash)
		_, about := clitest.Load(t, out+"/"+rundir.ModelFile)
		if c.Flags["header"] != about.Header || c.Data.Header == "" {
			t.Errorf("%s: config.json has header %q, flag %q, the model %q", out, c.Data.Header, c.Flags["header"], about.Header)
		}
		return r
	}
	const note = "rbmtrain: pandas.csv: the first line is numbers and is read as names of the columns; -header no reads it as a row\n"
	for _, c := range []struct{ out, args, line, note string }{
		{"bare", "-data bare.csv", "bare.csv: 30 rows of 6 inputs (threshold), density 0.244; no header\n", ""},
		{"words", "-data words.csv", "; the first line names the columns\n", ""},
		{"pandas", "-data pandas.csv", "; the first line is numbers and names the columns (-header no: it is a row)\n", note},
		{"yes", "-data pandas.csv -header yes", "; the first line names the columns\n", ""},
		{"no", "-data pandas.csv -header no", "pandas.csv: 31 rows of 6 inputs (threshold), density", ""},
		{"test", "-data bare.csv -test pandas.csv", "; 30 test rows; no header\n", note},
	} {
		r := run(c.out, strings.Fields(c.args)...)
		if !strings.Contains(r.Stdout, c.line) || c.out != "test" && r.Stderr != c.note || !strings.Contains(r.Stderr, c.note) {
			t.Errorf("%s: %s%s\nwant %q and %q", c.args, r.Stdout, r.Stderr, c.line, c.note)
		}
	}
	if hash["bare"] != hash["words"] || hash["bare"] != hash["pandas"] || hash["bare"] != hash["yes"] || hash["bare"] == hash["no"] {
		t.Errorf("rows and hashes %v", hash)
	}
	for _, out := range []string{"pandas", "no", "test"} { // the same rows again
		rbmtrain.OK(t, "-resume", out, "-steps", "6", "-quiet")
	}
	// Commands that read the model read the rows as training did.
	_, about := clitest.Load(t, "no/"+rundir.ModelFile)
	d := cli.NewFlags("reader", "", "").AddData(cli.DataRows{})
	d.Follow(about)
	if d.Header != data.HeaderNo {
		t.Errorf("a reader of the model has -header %q, want %q", d.Header, data.HeaderNo)
	}
	rbmtrain.Fails(t, cli.Usage, []string{"-data", clitest.Toy, "-header", "no"}, "-header is for .csv files", "leave it out")
	rbmtrain.Fails(t, cli.Usage, []string{"-data", "bare.csv", "-header", "maybe"}, "-header", "maybe")
}

// -holdout takes a file, such as the validation rows of a published split, and rbmeval -part holdout
// evaluates it.
func TestHoldoutFile(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	rows := func(n, from int) string {
		b := "a,b,class\n"
		for i := range n {
			b += fmt.Sprintf("%d,%d,%s\n", (i+from)%2, i/2%2, []string{"x", "y"}[i%2])
		}
		return b
	}
	clitest.Write(t, "train.csv", rows(40, 0))
	clitest.Write(t, "valid.csv", rows(10, 0))
	clitest.Write(t, "other.csv", "a,c,class\n1,0,x\n")
	args := strings.Fields("-data train.csv -hidden 4 -negphase exact -batch 10 -steps 40 -eval-every 20 -out run -holdout")
	got := rbmtrain.Call(append(args, "valid.csv")...)
	if got.Status != 0 || !strings.Contains(got.Stdout, "40 rows") || !strings.Contains(got.Stdout, "10 rows held out") || !strings.Contains(got.Stdout, "best on the rows held out") {
		t.Errorf("%s%s", got.Stdout, got.Stderr)
	}
	if got := rbmtrain.Call("-resume", "run", "-steps", "60"); got.Status != 0 {
		t.Errorf("the run does not resume: %s%s", got.Stdout, got.Stderr)
	}
	args[len(args)-2] = "two"
	rbmtrain.Fails(t, 1, append(args, "other.csv"), `other.csv has no column "b", which the model has`)
	rbmtrain.Fails(t, 1, append(args, "absent.csv"), "absent.csv: file does not exist")
}
