package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
)

// mixingRun returns the arguments of a run of few chains at this rate.
func mixingRun(rate string, more ...string) []string {
	return append([]string{"-data", "bars:6", "-hidden", "50", "-negphase", "pcd", "-rate", rate, "-batch", "10", "-chains", "10",
		"-schedule", "constant", "-steps", "2000", "-metrics", "mixing", "-snapshots", "0"}, more...)
}

// A run at a large constant rate warns on standard error during the run and at the end. The JSON has only the
// final warning. At a small rate, or at a rate that falls to 0, there is no warning.
func TestMixingWarning(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	for _, c := range []struct {
		args []string
		want int
	}{
		{mixingRun("0.1"), 2},
		{mixingRun("0.005"), 0},
		{mixingRun("0.1", "-schedule", "linear"), 0},
	} {
		r := rbmtrain.Call(append(c.args, "-json")...)
		if r.Status != 0 {
			t.Fatalf("exits with %d: %s, want 0", r.Status, r.Stderr)
		}
		var out struct {
			Warnings []string
			Metrics  map[string]float64
		}
		if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, w := range out.Warnings {
			if strings.Contains(w, "lag behind the model") {
				said++
			}
		}
		early := strings.Count(r.Stderr, "lag behind the model") // with -json the final warning is only in the JSON
		all := strings.Count(rbmtrain.Call(append(c.args, "-quiet")...).Stderr, "lag behind the model")
		if early != min(c.want, 1) || said != min(c.want, 1) || all != c.want {
			t.Errorf("%v: %d warnings on standard error, without -json %d, and %d in the JSON; in all %d are wanted: %s", c.args, early, all, said, c.want, r.Stderr)
		}
		if _, ok := out.Metrics["mixing_drift"]; !ok {
			t.Errorf("%v: the JSON has no mixing_drift: %v", c.args, out.Metrics)
		}
	}
}

// A run whose likelihood falls warns during training, with the cause, and has another warning at the
// end, which is also in the JSON. No closing line then has the drift of the chains. A warning that does
// not hold at the end is withdrawn, and is not in the JSON.
func TestJudgedWarnings(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	for _, c := range []struct {
		args, kind string
		stands     bool
	}{
		{"-negphase pcd -rate 0.2 -steps 15000 -schedule constant", ": the chains lag behind the model, as ", true},
		{"-labels none -negphase exact -rate 3 -steps 3000 -schedule linear", ": the rate is too high, as ", false},
	} {
		args := append([]string{"-data", "toy:8,6,100,0.05", "-hidden", "12", "-snapshots", "0"}, strings.Fields(c.args)...)
		r := rbmtrain.Call(args...)
		lines := slices.DeleteFunc(strings.Split(r.Stderr, "\n"), func(l string) bool { return !strings.Contains(l, "warning: ") })
		const said = "log_likelihood_train is "
		want := "rbmtrain: warning: this does not hold at the end: " + said
		if c.stands {
			want = "rbmtrain: warning: " + said
		}
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "rbmtrain: warning: "+said) || !strings.Contains(lines[0], c.kind) || !strings.HasPrefix(lines[1], want) || !strings.Contains(lines[1], c.kind) || lines[0] == lines[1] {
			t.Errorf("%s: prints %q", c.args, lines)
		}
		if drift := strings.Contains(r.Stdout, "drift of the chains"); drift && c.stands {
			t.Errorf("%s: the closing lines have the drift of the chains: %s", c.args, r.Stdout)
		}
		out := result(t, rbmtrain.OK(t, append(args, "-json")...))
		if c.stands && (len(out.Warnings) != 1 || !strings.Contains(lines[1], out.Warnings[0])) || !c.stands && len(out.Warnings) != 0 {
			t.Errorf("%s: the JSON has the warnings %q", c.args, out.Warnings)
		}
	}
}

// A resumed run measures mixing and the estimated likelihood, and warns, as if it had
// never stopped.
func TestMixingResume(t *testing.T) {
	if testing.Short() {
		t.Skip("four seconds; TestResume goes on with runs of all kinds")
	}
	undrawn(t)
	clitest.Isolate(t)
	for name, c := range map[string]struct {
		more []string
		want string // a key in the JSON
	}{
		"warned": {nil, "mixing_drift"},
		"judged": {[]string{"-data", "toy:8,6,100,0.05", "-labels", "none", "-hidden", "12", "-metrics", "log_likelihood,mixing", "-rate", "0.3"}, "log_likelihood_train"},
		"own":    {[]string{"-negphase", "pt:tau=1/1.5/3/inf", "-metrics", "log_likelihood,mixing", "-steps", "900", "-rate", "0.02"}, "log_likelihood_train"},
		"beside": {[]string{"-metrics", "log_likelihood,mixing", "-steps", "900"}, "log_likelihood_std_err"},
	} {
		args := func(out string) []string { return append(mixingRun("0.1", c.more...), "-out", name+out, "-json") }
		whole := rbmtrain.Call(args("whole")...)
		if whole.Status != 0 {
			t.Fatalf("exits with %d: %s, want 0", whole.Status, whole.Stderr)
		}
		interrupt(700, args("parts")...)
		rest := rbmtrain.Call("-resume", name+"parts", "-json")
		if rest.Status != 0 {
			t.Fatalf("exits with %d: %s, want 0", rest.Status, rest.Stderr)
		}
		sameRuns(t, name+"parts", name+"whole")
		want, got := result(t, whole.Stdout), result(t, rest.Stdout)
		if !slices.Equal(got.Warnings, want.Warnings) || name == "warned" && (len(want.Warnings) != 1 || !strings.Contains(want.Warnings[0], "lag behind the model")) ||
			name == "judged" && (len(want.Warnings) != 1 || !strings.Contains(want.Warnings[0], "the chains lag behind the model, as ")) {
			t.Errorf("%s: the resumed run warns %q\nthe whole one %q", name, got.Warnings, want.Warnings)
		}
		if _, ok := want.Metrics[c.want]; !ok || !maps.Equal(got.Metrics, want.Metrics) {
			t.Errorf("%s: the resumed run measures %v\nthe whole one %v", name, got.Metrics, want.Metrics)
		}
	}
}
