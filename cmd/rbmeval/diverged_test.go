package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
)

// spoilSnapshot changes one parameter of the snapshot of a step in run/models.
func spoilSnapshot(t *testing.T, step int, spoil func(m *rbm.RBM)) {
	t.Helper()
	path := "run/models/" + leftPad(step)
	m, about := clitest.Load(t, path)
	spoil(m)
	clitest.Save(t, path, m, about)
}

// A diverged snapshot has no numbers and is reported, and the other snapshots keep theirs. If all have
// diverged, the command fails.
func TestRunDiverged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	nan := float32(math.NaN())
	spoilWeight := func(m *rbm.RBM) {
		w := rbm.NewMatrix(m.Visible(), m.Hidden())
		m.Weights(w)
		w.Row(1)[2] = nan
		m.SetWeights(w)
	}
	for _, c := range []struct {
		name, flags string
		spoil       func(m *rbm.RBM)
	}{
		{"estimates", " -ais -reverse-ais -bennett" + quick, func(m *rbm.RBM) { m.VisibleBias[3] = 3e38 }},
		{"estimates of a weight", " -ais" + quick[:strings.Index(quick, " -ladder")], spoilWeight},
		{"exact", "", func(m *rbm.RBM) { m.HiddenBias[1] = nan }},
		{"exact of a weight", " -exact", spoilWeight},
		{"exact of a visible bias", " -exact", func(m *rbm.RBM) { m.VisibleBias[0] = float32(math.Inf(1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			isolate(t)
			makeRun(t)
			args := strings.Fields("-run run -out before.csv" + c.flags)
			rbmeval.OK(t, args...)
			spoilSnapshot(t, 100, c.spoil)
			args[3] = "out"
			call := rbmeval.Call(args...)
			if call.Status != cli.OK || strings.Count(call.Stdout, "\n") != 9 {
				t.Fatalf("exits with %d and prints\n%s%s", call.Status, call.Stdout, call.Stderr)
			}
			rbmeval.OneLine(t, call.Stderr, "warning: step 100 is shown without numbers")
			for i, line := range strings.Split(call.Stdout, "\n")[3:8] {
				if strings.HasSuffix(line, "  !") != (i == 2) {
					t.Errorf("snapshot %d is marked or not:\n%s", i, call.Stdout)
				}
			}
			decodes(t, "out/likelihood.png")
			before := strings.Split(clitest.Read(t, "before.csv"), "\n")
			for i, line := range strings.Split(clitest.Read(t, "out/likelihood.csv"), "\n") {
				if want := before[i]; i == 3 {
					if empty := strings.Repeat(",", strings.Count(before[0], ",")); !strings.HasPrefix(line, "100"+empty) {
						t.Errorf("the table has numbers: %s, want %q at its start", line, "100"+empty)
					}
				} else if line != want {
					t.Errorf("the table has %s, without the spoiled one %s", line, want)
				}
			}
			var r historyResult
			both := rbmeval.Call(append(strings.Fields("-run run -json"+c.flags), "-quiet")...)
			if err := json.Unmarshal([]byte(both.Stdout), &r); err != nil {
				t.Fatal(err)
			}
			if s := r.Snapshots[2]; s.Step != 100 || s.LogZ != nil || s.Train != nil || s.TrainBound != nil || len(s.Warnings) != 1 || both.Stderr != call.Stderr {
				t.Errorf("-json says %s and %s", both.Stdout, both.Stderr)
			}
			for i, step := range []int{1, 10, 1000, 12345678} {
				if i == 1 { // now step 1 has diverged too
					args[3] = "two.csv"
					call := rbmeval.Call(args...)
					if call.Status != cli.OK || strings.Count(call.Stderr, "is shown without numbers") != 2 {
						t.Errorf("two diverged: exits with %d and warns %s", call.Status, call.Stderr)
					}
				}
				spoilSnapshot(t, step, c.spoil)
			}
			args[3] = "none"
			rbmeval.Fails(t, cli.Failed, args, "0000001.safetensors")
		})
	}
}
