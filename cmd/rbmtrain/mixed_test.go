package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
)

// mixedFile writes rows of a category, a number whose mean depends on the category, and a bit. A fraction of the cells is missing.
func mixedFile(t *testing.T, name string, rows int, missing float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	text := "kind,height,bit\n"
	for range rows {
		k := r.IntN(3)
		cells := []string{string("abc"[k]), fmt.Sprintf("%.5g", 100*float64(k)+20*r.NormFloat64()), fmt.Sprint(r.IntN(2))}
		for i := range cells {
			if r.Float64() < missing {
				cells[i] = ""
			}
		}
		text += strings.Join(cells, ",") + "\n"
	}
	clitest.Write(t, name, text)
}

// A table with missing cells whose numbers are Gaussian units trains a model of groups of three kinds. Its file has the scale of the number. The precision is
// learned unless -units is gaussian; then it is 1. The printed log-likelihood is in the number's units. A resumed run has the same parameters, and
// so has a run on another number of processors.
func TestMixedTable(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	mixedFile(t, "train.csv", 600, 0.1, 1)
	mixedFile(t, "test.csv", 300, 0, 2)
	args := []string{"-data", "train.csv", "-test", "test.csv", "-hidden", "6", "-negphase", "pcd", "-numbers", "gaussian", "-schedule", "constant"}
	r := rbmtrain.Call(append(args, "-steps", "4000", "-out", "run")...)
	if r.Status != 0 || !strings.Contains(r.Stdout, "600 rows of 3 columns, 1 of numbers and the others of 5 levels in all") || !strings.Contains(r.Stdout, ", precisions learned") {
		t.Fatalf("status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
	m, about, err := modelfile.Read("run/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := data.ParseSchema(about.Schema)
	if err != nil {
		t.Fatal(err)
	}
	scale := schema.Columns[1].Number
	if m.GroupsText() != "softmax:3 gaussian:1 bernoulli:1" || scale == nil || math.Abs(scale.Mean-100) > 15 || math.Abs(scale.Deviation-84) > 8 || about.Means[3] != scale.Mean || about.Deviations[0] != 1 {
		t.Fatalf("the model is %s with the schema %s and means %v", m.GroupsText(), about.Schema, about.Means)
	}
	test, _, err := data.Load(t.Context(), "test.csv", data.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	logZ, err := exact.LogZ(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	free, mean := make([]float64, test.Len()), -logZ-math.Log(scale.Deviation)
	m.FreeEnergy(free, test.Rows(data.RowNumbers(0, test.Len()), 0))
	for _, f := range free {
		mean -= f / float64(len(free))
	}
	values := column(t, "run", "log_likelihood_test")
	if last := values[len(values)-1]; math.Abs(last-mean) > 1e-9*math.Abs(mean) {
		t.Errorf("the log-likelihood is %v, want %v", last, mean)
	}
	// The distribution of the data has categories, a bit, and a Gaussian of standard deviation 20 for each category. The baseline has a single Gaussian.
	truth := -math.Log(3) - math.Ln2 - math.Log(2*math.Pi*math.E*400)/2
	apart := -math.Log(3) - math.Ln2 - math.Log(2*math.Pi*math.E*(400+20000.0/3))/2
	if mean > truth+0.1 || mean < (truth+apart)/2 {
		t.Errorf("the log-likelihood is %v; the distribution of the data has %v, columns apart have %v", mean, truth, apart)
	}
	if p := m.VisibleParams()[0]; p[3] < 5 || p[0] != 0 || p[4] != 0 {
		t.Errorf("precisions %v", p)
	}
	fixed := rbmtrain.Call(append(args, "-steps", "300", "-units", "gaussian", "-out", "fixed")...)
	if m, _, err := modelfile.Read("fixed/model.safetensors"); fixed.Status != 0 || err != nil || m.VisibleParams()[0][3] != 1 {
		t.Errorf("of fixed precision: %v%s", err, fixed.Stderr)
	}
	whole := rbmtrain.Call(append(args, "-steps", "300", "-out", "whole")...)
	alone := rbmtrain.Call(append(args, "-steps", "300", "-workers", "1", "-out", "alone")...)
	first := rbmtrain.Call(append(args, "-steps", "200", "-out", "halves")...)
	second := rbmtrain.Call("-resume", "halves", "-steps", "300")
	if whole.Status+alone.Status+first.Status+second.Status != 0 {
		t.Fatalf("%s%s%s%s", whole.Stderr, alone.Stderr, first.Stderr, second.Stderr)
	}
	want, _, err := modelfile.Read("whole/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"halves", "alone"} {
		if got, _, err := modelfile.Read(run + "/model.safetensors"); err != nil || !got.Equal(want) {
			t.Errorf("%s has other parameters: %v", run, err)
		}
	}
}

// Settings without meaning are refused in one line.
func TestMixedRefusals(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	mixedFile(t, "train.csv", 300, 0, 1)
	mixedFile(t, "gaps.csv", 300, 0.1, 1)
	clitest.Write(t, "words.csv", "a,b\nx,y\nz,w\nz,y\n")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-numbers gaussian -units binary", 2, "-units binary and -numbers gaussian do not go together"},
		{"-numbers gaussian -units spin", 2, "-units spin and -numbers gaussian do not go together"},
		{"-numbers levels -units gaussian", 2, "-units gaussian and -numbers levels do not go together"},
		{"-numbers real", 2, "it is auto, levels, gaussian"},
		{"-data bars -numbers gaussian", 2, "-numbers is for .csv files"},
		{"-data words.csv -units gaussian", 2, "holds categories alone, which cannot be standardised"},
		{"-numbers gaussian -negphase ptt", 2, "keeps states as bits; use pcd, pt, ins or pins"},
		{"-data gaps.csv -numbers gaussian -hidden-units relu", 1, "gaps.csv has missing cells: real visible and real hidden units have no densities unit by unit; use hidden units of bits"},
		{"-numbers gaussian -hidden-units relu -metrics pseudo_likelihood", 2, "real visible and real hidden units have no densities unit by unit"},
		{"-numbers gaussian -constraint hidden=2", 2, "units are not binary"},
		{"-numbers gaussian -negphase pcd -rate 9 -schedule constant", 1, "the mean square of real units is"},
		{"-numbers gaussian -negphase exact -rate 9 -schedule constant", 1, "the mean square of real units is"},
	} {
		refused(t, c.args, c.status, c.want)
	}
	if r := rbmtrain.Call(strings.Fields("-data gaps.csv -numbers gaussian -hidden-units relu -dry-run")...); strings.Contains(r.Stderr, "labels") {
		t.Errorf("labels are not the cause: %s", r.Stderr)
	}
}
