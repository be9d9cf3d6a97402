package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/diag"
	"gorbm/train"
)

// TestGreyRowsShowProgress trains on grey rows without labels, with too many units for
// enumeration. The reconstruction error is measured, falls, and has a line and a
// panel. There is no warning that the model became worse.
func TestGreyRowsShowProgress(t *testing.T) {
	clitest.Isolate(t)
	text := ""
	for r := range 60 {
		var row []string
		for i := range 36 {
			x := r % 4 // three patterns of dark and light
			if (r+i/4)%3 == 0 {
				x = 16 - x
			}
			row = append(row, fmt.Sprint(x))
		}
		text += strings.Join(row, ",") + "\n"
	}
	clitest.Write(t, "grey.csv", text)
	args := []string{"-data", "grey.csv", "-scale", "max", "-binarize", "none", "-labels", "none", "-hidden", "36", "-batch", "10", "-rate", "0.05", "-steps", "400", "-negphase", "pcd", "-holdout", "10"}
	r := rbmtrain.Call(append(args, "-out", "run")...)
	if r.Status != 0 || r.Stderr != "" {
		t.Fatalf("status %d: %s, want 0 and nothing", r.Status, r.Stderr)
	}
	for _, want := range []string{"\nmean squared reconstruction error: train 0.", ", holdout 0.", "\nbest on the rows held out: step ", ", reconstruction_error_holdout 0."} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("does not say %q: %s", want, r.Stdout)
		}
	}
	values := column(t, "run", "reconstruction_error_train")
	if first, last := values[0], values[len(values)-1]; !(last < 0.5*first) {
		t.Errorf("the error goes from %v to %v, want less than %v", first, last, 0.5*first)
	}
	if size := picture(t, "run/curves.png").Bounds().Size(); size.X < 400 || size.Y < 150 {
		t.Errorf("a picture of %v", size)
	}
}

// TestWorseReconstruction checks that a larger error is reported as worse.
func TestWorseReconstruction(t *testing.T) {
	undrawn(t)
	p := planned(t, small("-metrics", "reconstruction,classification")...)
	first := 0.2
	r := &runner{plan: p, state: progressState{First: &first}}
	for end, worse := range map[float64]bool{0.1: false, 0.2: false, 0.201: false, 0.21: true} {
		r.last.Values = []train.Value{{Name: "reconstruction_error_train", Value: end}}
		if w := r.worse(); (w != nil) != worse || worse && !maps.Equal(w[0].Numbers, diag.Numbers{"last": end, "first": first}) {
			t.Errorf("%v: %v", end, w)
		}
	}
}

// TestLatest checks the text of the progress bar: the first metric, in the words
// and the format of its row.
func TestLatest(t *testing.T) {
	values := []train.Value{{Name: "error_train", Value: 0.1}, {Name: "error_test", Value: 0.125}, {Name: "reconstruction_error_train", Value: 0.0123456}, {Name: "pseudo_likelihood_train", Value: -12.3456}}
	for _, c := range []struct{ metrics, want string }{
		{"classification", "classification error 12.5 %"}, {"reconstruction,classification", "mean squared reconstruction error 0.01235"},
		{"pseudo_likelihood", "pseudo-log-likelihood -12.346"}, {"none", "training"}, {"free_energy_gap", "training"},
	} {
		r := &runner{plan: planned(t, small("-metrics", c.metrics, "-test", "toy:4,4,20,0.2:seed=2")...), last: train.Evaluation{Values: values}}
		if got := r.latest(); got != c.want {
			t.Errorf("%s: %q, want %q", c.metrics, got, c.want)
		}
	}
}
