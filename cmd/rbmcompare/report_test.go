package main

import (
	"math"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/train/report/reporttest"
)

// TestReport opens the reports for a model and for -run in a browser.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	isolate(t)
	rbmcompare.OK(t, small("-model", "softmax.safetensors", "-negphase", "pcd,cd,exact", "-data", clitest.Toy, "-out", "one", "-quiet")...)
	text := clitest.Read(t, "one/report.html")
	for _, want := range []string{"is nearest to the truth", "the computing time of the quickest estimator", "exact, by enumeration", "-negphase", "µs/step"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	rbmcompare.OK(t, small("-run", "run", "-negphase", "pcd,ins", "-out", "along", "-quiet")...)
	if text := clitest.Read(t, "along/report.html"); !strings.Contains(text, "compared on 3 snapshots") || !strings.Contains(text, "Mean along the run") {
		t.Error("the report of a run does not say so")
	}
	if n := reporttest.Check(t, "one/report.html"); n != 4 {
		t.Errorf("the report of a model has %d charts, want 4", n)
	}
	if n := reporttest.Check(t, "along/report.html"); n != 6 {
		t.Errorf("the report of a run has %d charts, want 6", n)
	}
}

// TestWords checks which estimator is named as the nearest at the end and in equal time.
func TestWords(t *testing.T) {
	curve := func(points ...[2]float64) (c compare.Curve) {
		c.Repeats, c.Bias.Floor = 5, math.NaN()
		for _, pt := range points {
			c.Points = append(c.Points, compare.Point{Seconds: pt[0], Distance: compare.Moment{Mean: pt[1], SD: 0.01}})
		}
		return c
	}
	slow, quick := curve([2]float64{1, 0.5}, [2]float64{10, 0.1}), curve([2]float64{1, 0.3}, [2]float64{2, 0.2})
	biased := curve([2]float64{2, 0.4})
	biased.Bias.Norm, biased.Bias.Floor = 0.3, 0.1
	p := &plan{names: []string{"slow", "quick", "biased"}}
	got := strings.Join(p.words(result{truth: &compare.Truth{}, curves: []compare.Curve{slow, quick, biased}}), "\n")
	for _, want := range []string{"At the last step slow is nearest to the truth, with a distance of 0.1 ± 0.01", "Within 2 s, the computing time of the quickest estimator, it is quick: 0.2 ± 0.01", "biased is biased: its mean over the repeats is 0.3 away, and noise explains only 0.1"} {
		if !strings.Contains(got, want) {
			t.Errorf("the words lack %q:\n%s", want, got)
		}
	}
}

// The remedy for a bias depends on the estimator: cd has no temperatures, and more steps do not remove
// its bias.
func TestBiasRemedy(t *testing.T) {
	for kind, want := range map[string]string{
		"cd":  "a larger k, or chains that persist, such as pcd",
		"pcd": "more steps, or a ladder of temperatures",
		"ins": "more steps, more temperatures",
	} {
		if got := biasRemedy(negphase.DefaultSettings(kind)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
