package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/experiments/internal/program"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(&program.Runs{}), run) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(&program.Runs{})) }

// Claims by hand: −84.5 nats are better than the published −86.34 and worse than −84. A bracket of 0.9 nats
// is narrow, with its ends in either order, and one of 1.1 nats is not.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		ais  float64
		pass string
	}{{-84, "110"}, {-85.8, "110"}, {-83.8, "100"}, {-86, "100"}} {
		dir := t.TempDir()
		clitest.Write(t, filepath.Join(dir, "figure-long.csv"), fmt.Sprintf("job,panel,curve,repeat,x,y\n"+
			"sampled,%[1]s,%[2]s,1,0,-84.5\nsampled,%[1]s,%[3]s,1,0,%[5]v\nsampled,%[1]s,%[4]s,1,0,-84.9\nsampled,seconds,,0,0,5\n", testPanel, byBennett, byAIS, byReverse, c.ais))
		var result struct{ Claims []struct{ Verdict string } }
		command := clitest.Command{Name: "mnist-likelihood", Run: run}
		if err := json.Unmarshal([]byte(command.OK(t, "-figure", "long", "-redraw", "-json", "-out", dir)), &result); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range result.Claims {
			got += map[bool]string{true: "1", false: "0"}[x.Verdict == "PASS"]
		}
		if got != c.pass {
			t.Errorf("AIS at %v: the claims pass as %s, want %s", c.ais, got, c.pass)
		}
	}
}
