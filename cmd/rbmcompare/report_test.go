package main

import (
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
)

// TestReport opens reports in a browser: of a model, and along a run.
func TestReport(t *testing.T) {
	isolate(t)
	rbmcompare.OK(t, small("-model", "softmax.safetensors", "-negphase", "pcd,cd,exact", "-data", clitest.Toy, "-out", "one", "-quiet")...)
	text := clitest.Read(t, "one/report.html")
	for _, want := range []string{"is nearest to the truth", "In equal computing time", "exact, by enumeration", "-negphase", "µs/step"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	rbmcompare.OK(t, small("-run", "run", "-negphase", "pcd,ins", "-out", "along", "-quiet")...)
	if text := clitest.Read(t, "along/report.html"); !strings.Contains(text, "3 snapshots were compared on") || !strings.Contains(text, "Mean along the run") {
		t.Error("the report of a run does not say so")
	}
	if n := clitest.Report(t, "one/report.html"); n != 4 {
		t.Errorf("the report of a model has %d charts", n)
	}
	if n := clitest.Report(t, "along/report.html"); n != 6 {
		t.Errorf("the report of a run has %d charts", n)
	}
}
