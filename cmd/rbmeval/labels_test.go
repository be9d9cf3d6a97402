package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// TestUnlabelledRows checks that rows without a label are left out and counted, by
// the flag or as the model's file says, and that the rest is as without them.
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
			t.Fatalf("%v exits with %d: %s", args, got.Status, got.Stderr)
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
			t.Errorf("%s: prints %q", args, stderr)
		}
	}
	// Rows keep the numbers that they have in the file.
	rbmeval.OK(t, "-model", "says.safetensors", "-rows", "rows.csv")
	lines := strings.Split(strings.TrimSpace(clitest.Read(t, "rows.csv")), "\n")[1:]
	if len(lines) != n {
		t.Errorf("-rows writes %d rows, want %d", len(lines), n)
	}
	for i, line := range strings.Split(strings.TrimSpace(all.String()), "\n") {
		label := line[strings.LastIndex(line, ",")+1:]
		if label != "x" && label != "y" {
			continue
		}
		if !strings.HasPrefix(lines[0], fmt.Sprintf("%d,", i)) || !strings.Contains(lines[0], ","+label+",") {
			t.Errorf("row %d of label %s is written as %s", i, label, lines[0])
		}
		lines = lines[1:]
	}
	// Along a run too.
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

// TestCalibration checks that -classify reports what package train computes.
func TestCalibration(t *testing.T) {
	clitest.Isolate(t)
	m := clitest.Model(12, 5, 4, rbm.Softmax)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: clitest.Toy})
	var r jsonResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "m.safetensors", "-classify", "-json")), &r); err != nil {
		t.Fatal(err)
	}
	set := load(t, clitest.Toy)
	rows := make([]int32, set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	logp := make([]float64, set.Len()*4)
	m.ClassLogProb(logp, set.Rows(rows, 4))
	want, ok := train.Calibrate(logp, set.Y, calibrationKey)
	if c := r.Classification; !ok || *c.Calibration != want || c.NLL != -c.MeanLogP || c.Score != train.ScoreRows(logp, set.Y) {
		t.Errorf("got %+v, want %+v", *r.Classification.Calibration, want)
	}
	text := rbmeval.OK(t, "-model", "m.safetensors", "-classify")
	for _, line := range []string{
		fmt.Sprintf("calibration error          %.4f (ECE, 15 bins)\n", want.ECE),
		fmt.Sprintf("temperature                %.4g (largest likelihood of the labels of 100 rows", want.Temperature),
		fmt.Sprintf("  on the other 100 rows    mean log p(y|x) %.6f, ECE %.4f; without it %.6f, %.4f\n", -want.After.NLL, want.After.ECE, -want.Before.NLL, want.Before.ECE),
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}
