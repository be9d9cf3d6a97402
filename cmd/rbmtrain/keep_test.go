package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// TestFinish checks that -resume completes a run that was killed after its last
// checkpoint, and that a second -resume changes nothing.
func TestFinish(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	args := demanding("pt:tau=1/2")
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	rbmtrain.OK(t, append(args, "-quiet", "-out", "run")...)
	for _, name := range []string{rundir.ModelFile, rundir.FiltersFile, rundir.SamplesFile, rundir.CurvesFile, rundir.LadderFile} {
		remove(t, filepath.Join("run", name))
	}
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	sameRuns(t, "run", "whole")
	if out := rbmtrain.OK(t, "-resume", "run"); !strings.Contains(out, "\n120 steps in ") {
		t.Errorf("prints %s, want %q in it", out, "\n120 steps in ")
	}
	sameRuns(t, "run", "whole")
}

// TestFinishStopped checks the same for a run that -stop-after ended: it takes no
// further steps.
func TestFinishStopped(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := demanding("cd", "-stop-after", "1", "-eval-every", "2", "-steps", "1000", "-rate", "1")
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	rbmtrain.OK(t, append(args, "-quiet", "-out", "run")...)
	remove(t, "run/"+rundir.ModelFile)
	if out := rbmtrain.OK(t, "-resume", "run"); !strings.Contains(out, "\nstopped at step ") {
		t.Errorf("prints %s, want %q in it", out, "\nstopped at step ")
	}
	sameRuns(t, "run", "whole")
}

// TestInitGone resumes a run without the model that it began with.
func TestInitGone(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", rowsCSV(60))
	clitest.Write(t, "back.csv", strings.Replace(rowsCSV(60), "\n0,0,1,1,0,1,even", "", 1)) // classes in another order
	rbmtrain.OK(t, "-data", "back.csv", "-label-column", "last", "-hidden", "5", "-steps", "5", "-quiet", "-out", "first", "-constraint", "hidden=2")
	args := small("-data", "rows.csv", "-label-column", "last", "-init", "first")
	args = slices.DeleteFunc(args, func(s string) bool { return s == "-hidden" || s == "4" })
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	stoppedAt(t, interrupt(40, append(args, "-out", "run")...), "run")
	if err := os.RemoveAll("first"); err != nil {
		t.Fatal(err)
	}
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	sameRuns(t, "run", "whole")
}

// TestResumeRate checks that a new rate is used, recorded, and stays in force.
func TestResumeRate(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	stoppedAt(t, interrupt(40, small("-out", "run")...), "run")
	r := interrupt(20, "-resume", "run", "-rate", "0.01")
	stoppedAt(t, r, "run")
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	var c config
	if err := json.Unmarshal([]byte(clitest.Read(t, "run/"+rundir.ConfigFile)), &struct {
		Rates *[]rateChange      `json:"rates"`
		Flags *map[string]string `json:"flags"`
	}{&c.Rates, &c.Flags}); err != nil {
		t.Fatal(err)
	}
	if len(c.Rates) != 1 || c.Rates[0].Rate != 0.01 || c.Rates[0].Step < 30 || c.Flags["rate"] != "0.01" {
		t.Errorf("config.json has rates %v and -rate %s", c.Rates, c.Flags["rate"])
	}
	rbmtrain.OK(t, small("-out", "other", "-quiet")...)
	if clitest.Read(t, "run/"+rundir.ModelFile) == clitest.Read(t, "other/"+rundir.ModelFile) {
		t.Error("the other rate made no difference")
	}
}

// TestResumeNotices checks the warnings about changes since the run began.
func TestResumeNotices(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", rowsCSV(60))
	clitest.Write(t, "test.csv", rowsCSV(30))
	stoppedAt(t, interrupt(40, small("-data", "rows.csv", "-label-column", "last", "-test", "test.csv", "-eval-every", "10", "-out", "run")...), "run")
	clitest.Write(t, "test.csv", rowsCSV(31))
	lines := strings.SplitAfter(clitest.Read(t, "run/"+rundir.MetricsFile), "\n")
	clitest.Write(t, "run/"+rundir.MetricsFile, strings.Join(slices.Delete(lines, 2, 4), ""))
	clitest.Write(t, "run/"+rundir.SnapshotFile(50), "of a step that is taken again")
	r := rbmtrain.Call("-resume", "run", "-quiet", "-steps", "45")
	for _, want := range []string{"test.csv, have changed since the run began", "metrics.csv has lost 2 rows of the "} {
		if r.Status != cli.OK || !strings.Contains(r.Stderr, want) {
			t.Errorf("exits with %d and says %q, want %q", r.Status, r.Stderr, want)
		}
	}
	if _, err := os.Stat("run/" + rundir.SnapshotFile(50)); err == nil {
		t.Error("a snapshot of a later step than the last is left")
	}
}

// TestBestOfCheckpoint checks that the best model is that of the checkpoint, not a later
// one from a process that was killed.
func TestBestOfCheckpoint(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := demanding("exact", "-data", "toy:2,2,500,0.05", "-labels", "none", "-snapshots", "0", "-eval-every", "4", "-rate", "0.2", "-schedule", "constant")
	stoppedAt(t, interrupt(10, append(args, "-out", "run")...), "run")
	best := clitest.Read(t, "run/"+rundir.BestFile)
	if err := os.CopyFS("killed", os.DirFS("run")); err != nil {
		t.Fatal(err)
	}
	kill(14, "-resume", "killed", "-quiet")
	if clitest.Read(t, "killed/"+rundir.BestFile) == best {
		t.Fatal("no better model was found; the test shows nothing")
	}
	stoppedAt(t, interrupt(6, "-resume", "killed"), "killed")
	if clitest.Read(t, "killed/"+rundir.BestFile) != best {
		t.Error("the best model is one of a later step")
	}
	remove(t, "killed/"+rundir.BestFile)
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	r := rbmtrain.Call("-resume", "killed", "-quiet")
	rbmtrain.OneLine(t, r.Stderr, "is not the best model of the checkpoint", "lost")
}

// TestConfigFlags checks that config.json, which may come from elsewhere, sets only
// settings of a run.
func TestConfigFlags(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	stoppedAt(t, interrupt(40, small("-out", "run")...), "run")
	config := clitest.Read(t, "run/"+rundir.ConfigFile)
	for _, name := range []string{"cpuprofile", "out", "force"} {
		for _, at := range []string{`"flags": {`, `"Flags": {`} {
			clitest.Write(t, "run/"+rundir.ConfigFile, strings.Replace(config, `"flags": {`, at+"\n"+`"`+name+`": "true",`, 1))
			rbmtrain.Fails(t, cli.Failed, []string{"-resume", "run"}, rundir.ConfigFile, "sets -"+name)
		}
	}
	i := strings.LastIndex(config, `"flags": {`)
	clitest.Write(t, "run/"+rundir.ConfigFile, config[:i]+`"flags": {"cpuprofile": "p",`+config[i+len(`"flags": {`):])
	rbmtrain.Fails(t, cli.Failed, []string{"-resume", "run"}, rundir.ConfigFile, "sets -cpuprofile")
}

// TestDiskTrouble checks that a checkpoint that cannot be written does not stop
// training, has one warning, and is written when it is possible again.
func TestDiskTrouble(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := small("-snapshots", "0", "-checkpoint-every", "10")
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	stoppedAt(t, interrupt(25, append(args, "-out", "run")...), "run")
	last := clitest.Read(t, "run/"+rundir.CheckpointFile)
	clitest.Write(t, "run/checkpoint.new/in the way", "") // a folder cannot be replaced by a file
	r := rbmtrain.Call("-resume", "run", "-quiet")
	if r.Status != cli.Failed || strings.Count(r.Stderr, "training continues and tries again; the last checkpoint is that of step ") != 1 || !strings.Contains(r.Stderr, "finish by: rbmtrain -resume run") {
		t.Errorf("exits with %d and says %s", r.Status, r.Stderr)
	}
	if clitest.Read(t, "run/"+rundir.CheckpointFile) != last {
		t.Error("the last checkpoint is not as it was")
	}
	if err := os.RemoveAll("run/checkpoint.new"); err != nil {
		t.Fatal(err)
	}
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	sameRuns(t, "run", "whole")
}

// A checkpoint follows each slow step, unless writing it takes long compared with the step.
// Otherwise time or the number of steps decides, and the first comes within a minute.
func TestDue(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		s    *saver
		step int
		want bool
	}{
		"a slow step":            {&saver{every: interval{time: time.Hour}, tried: now, took: 2 * time.Second, cost: time.Second / 10}, 1, true},
		"and a slow disk":        {&saver{every: interval{time: time.Hour}, tried: now, took: 2 * time.Second, cost: time.Second}, 1, false},
		"a quick step":           {&saver{every: interval{time: time.Hour}, tried: now, took: time.Second / 2, cost: time.Millisecond}, 1, false},
		"by the clock":           {&saver{every: interval{time: time.Minute}, tried: now.Add(-2 * time.Minute)}, 1, true},
		"not yet by the clock":   {&saver{every: interval{time: time.Hour}, tried: now.Add(-2 * time.Minute)}, 1, false},
		"by the count":           {&saver{every: interval{steps: 7}, tried: now, triedAt: 10}, 17, true},
		"not yet by the count":   {&saver{every: interval{steps: 7}, tried: now, triedAt: 10}, 16, false},
		"after a full disk":      {&saver{every: interval{steps: 7}, tried: now.Add(-tryAgain), triedAt: 10, failing: true}, 11, true},
		"soon after a full disk": {&saver{every: interval{steps: 7}, tried: now, triedAt: 10, failing: true}, 11, false},
	} {
		if got := c.s.due(c.step); got != c.want {
			t.Errorf("%s: a checkpoint is due: %v, want %v", name, got, c.want)
		}
	}
	var s saver
	s.begin(interval{time: time.Hour}, 0)
	if in := s.every.time - time.Since(s.tried); in <= 0 || in > time.Minute {
		t.Errorf("the first checkpoint is due in %v, want 0 to %v", in, time.Minute)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
