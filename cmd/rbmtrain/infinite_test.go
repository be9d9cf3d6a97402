package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// Chains that never move have an infinite R-hat and autocorrelation time. The run still ends
// normally: such numbers are null in result.json, and +Inf in metrics.csv.
func TestInfiniteMetrics(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := []string{"-data", "desjardins:0.001", "-labels", "none", "-hidden", "10", "-negphase", "pcd", "-rate", "0.1", "-steps", "20000",
		"-schedule", "constant", "-seed", "2", "-metrics", "mixing", "-eval-every", "1000", "-out", "run", "-json"}
	for _, args := range [][]string{args, {"-resume", "run", "-json"}} {
		r := rbmtrain.Call(args...)
		if r.Status != 0 {
			t.Fatalf("%v exits with %d: %s, want 0", args, r.Status, r.Stderr)
		}
		for _, text := range []string{r.Stdout, clitest.Read(t, filepath.Join("run", rundir.ResultFile))} {
			var out struct{ Metrics map[string]*float64 }
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"mixing_r_hat", "mixing_tau"} {
				if x, there := out.Metrics[name]; !there || x != nil {
					t.Errorf("%s is %v, %v in %s", name, x, there, text)
				}
			}
			if out.Metrics["mixing_drift"] == nil {
				t.Errorf("there is no mixing_drift in %s", text)
			}
		}
		rows := strings.Split(strings.TrimSpace(clitest.Read(t, filepath.Join("run", rundir.MetricsFile))), "\n")
		if last := rows[len(rows)-1]; !strings.Contains(last, "+Inf,+Inf") {
			t.Errorf("the chains do not stand still, so that this checks nothing: %s, want %q in it", last, "+Inf,+Inf")
		}
	}
}
