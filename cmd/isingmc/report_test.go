package main

import (
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/train/report/reporttest"
)

// TestReport opens reports in a browser: of a race, and of a tuned sampler.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	isingmc.OK(t, "-lattice", "8x8", "-sampler", "gibbs,sw", "-moves", "3000", "-observables", "-out", "race.html", "-quiet")
	text := clitest.Read(t, "race.html")
	for _, want := range []string{"isingmc: 8x8", "; seed 1; ", "agree: the farthest apart", "halves the errors", "susceptibility", "-moves", "energy of sw"} {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if n := reporttest.Check(t, "race.html"); n != 3 { // the autocorrelation, and the energies of two samplers
		t.Errorf("the report has %d charts, want 3", n)
	}
	isingmc.OK(t, "-lattice", "6x6", "-sampler", "sardonics", "-tune=ei:seconds=1:evaluations=4", "-moves", "500", "-out", "tuned.html", "-quiet")
	if text := clitest.Read(t, "tuned.html"); !strings.Contains(text, "Rewards of the trials") || !strings.Contains(text, "The policy") {
		t.Error("the report of a tuned sampler does not show the tuning")
	}
}
