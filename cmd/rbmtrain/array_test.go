package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// sweep writes a file of lines for -array and returns arguments that run it.
func sweep(t *testing.T, lines string, more ...string) []string {
	t.Helper()
	for _, name := range taskVariables {
		t.Setenv(name, "")
	}
	if err := os.WriteFile("sweep.txt", []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	return append(small("-metrics", "none", "-snapshots", "0", "-array", "sweep.txt"), more...)
}

const three = "# three runs\n-negphase pcd -rate 0.2\n\n-negphase cd   -out 'my run' # in a folder of its own\n-negphase \"pcd:chains=4\"\n"

// All lines run, each like a separate command; a second call runs none.
func TestArray(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := sweep(t, three)
	if out := rbmtrain.OK(t, append(args, "-dry-run")...); strings.Count(out, ", new: RBM: 8 inputs") != 3 || !strings.Contains(out, "\ntotal: 3 runs left\n") || !strings.Contains(out, "run 1, my run, new") {
		t.Errorf("-dry-run says %s", out)
	}
	if tree := clitest.Tree(t, "."); strings.Count(tree, "\n") != 1 {
		t.Errorf("-dry-run leaves %s", tree)
	}
	rbmtrain.OK(t, append(args, "-quiet")...)
	for folder, more := range map[string][]string{"runs/sweep-0": {"-negphase", "pcd", "-rate", "0.2"}, "my run": {"-negphase", "cd"}, "runs/sweep-2": {"-negphase", "pcd:chains=4"}} {
		rbmtrain.OK(t, small(append(more, "-metrics", "none", "-snapshots", "0", "-out", "alone", "-force", "-quiet")...)...)
		if clitest.Read(t, filepath.Join(folder, rundir.ModelFile)) != clitest.Read(t, "alone/"+rundir.ModelFile) {
			t.Errorf("%s has another model than the same flags without -array", folder)
		}
	}
	before := clitest.Tree(t, ".")
	if out := rbmtrain.OK(t, args...); strings.Count(out, "is finished\n") != 3 || strings.Count(out, "\n") != 3 {
		t.Errorf("the second time it says %s", out)
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("the second time files changed: got %q, want %q", after, before)
	}
	if out := rbmtrain.OK(t, append(args, "-dry-run")...); strings.Count(out, ", finished: ") != 3 || !strings.Contains(out, "\ntotal: 0 runs left\n") {
		t.Errorf("-dry-run says of finished runs %s", out)
	}
}

// -dry-run describes the run of each line in one line, and reports a missing file.
func TestArrayDryRun(t *testing.T) {
	clitest.Isolate(t)
	args := sweep(t, "-negphase cd -labels none -data constant.csv\n", "-dry-run")
	clitest.Write(t, "constant.csv", "0,1,1\n0,1,0\n0,0,1\n")
	if out := rbmtrain.OK(t, args...); !strings.HasPrefix(out, "run 0, runs/sweep-0, new: RBM: 3 inputs") {
		t.Errorf("-dry-run says %s, want %q at its start", out, "run 0, runs/sweep-0, new: RBM: 3 inputs")
	}
	rbmtrain.Fails(t, cli.Failed, []string{"-array", "nope.txt"}, "-array: there is no file nope.txt", "flags of a run in each line")
}

// A scheduler's number, or -array-index, chooses a line.
func TestArrayIndex(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := sweep(t, three, "-quiet")
	rbmtrain.OK(t, append(args, "-array-index", "2")...)
	for i, name := range taskVariables {
		for _, other := range taskVariables {
			t.Setenv(other, "")
		}
		t.Setenv(name, "1")
		if i == 0 {
			rbmtrain.OK(t, args...)
			continue
		}
		if out := rbmtrain.OK(t, slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-quiet" })...); out != "run 1, my run, is finished\n" {
			t.Errorf("%s=1 says %s, want %s", name, out, "run 1, my run, is finished\n")
		}
	}
	t.Setenv(taskVariables[0], "3")
	rbmtrain.Fails(t, cli.Usage, args, taskVariables[0]+" is 3", "the runs 0 to 2")
	rbmtrain.Fails(t, cli.Usage, append(args, "-array-index", "-1"), "-array-index is -1")
	if _, err := os.Stat("runs/sweep-0"); err == nil {
		t.Error("run 0 was not asked for")
	}
}

// Interrupted runs resume from their checkpoints, with results identical to uninterrupted ones.
// Runs without a checkpoint begin again.
func TestArrayGoesOn(t *testing.T) {
	clitest.Isolate(t)
	args := sweep(t, three, "-quiet")
	rbmtrain.OK(t, args...)
	want := clitest.Read(t, "my run/"+rundir.ModelFile)
	for _, folder := range []string{"my run", "runs/sweep-2"} {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
	interrupt(20, small("-metrics", "none", "-snapshots", "0", "-negphase", "cd", "-out", "my run", "-quiet")...)
	if err := os.MkdirAll("runs/sweep-2", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("runs/sweep-2/config.json", []byte(clitest.Read(t, "runs/sweep-0/config.json")), 0o666); err != nil {
		t.Fatal(err)
	}
	rbmtrain.Fails(t, cli.Usage, args, "sweep.txt:5", "runs/sweep-2 has another run", `its -negphase is "pcd", not "pcd:chains=4"`)
	config := strings.Replace(clitest.Read(t, "runs/sweep-0/config.json"), `"negphase": "pcd"`, `"negphase": "pcd:chains=4"`, 1)
	config = strings.Replace(config, `"rate": "0.2",`, "", 1)
	if err := os.WriteFile("runs/sweep-2/config.json", []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := rbmtrain.OK(t, append(args, "-dry-run", "-json")...); states(t, out) != "finished interrupted empty" {
		t.Errorf("the states are %s, want %s", states(t, out), "finished interrupted empty")
	}
	rbmtrain.OK(t, args...)
	if clitest.Read(t, "my run/"+rundir.ModelFile) != want {
		t.Error("the run that was cut off ends at another model")
	}
	if out := rbmtrain.OK(t, append(args, "-dry-run", "-json")...); states(t, out) != "finished finished finished" {
		t.Errorf("in the end the states are %s, want %s", states(t, out), "finished finished finished")
	}
	if out := rbmtrain.OK(t, append(args, "-dry-run")...); !strings.HasSuffix(out, "\ntotal: 0 runs left\n") {
		t.Errorf("a finished array: %s", out)
	}
	// A finished run that is extended counts as unfinished until its new end.
	interrupt(80, "-resume", "runs/sweep-0", "-steps", "100", "-quiet")
	if _, err := os.Stat("runs/sweep-0/" + rundir.ResultFile); err == nil {
		t.Error("a run that is under way again has a result")
	}
}

// An array that is interrupted is resumed by its own command.
func TestArrayInterrupted(t *testing.T) {
	clitest.Isolate(t)
	args := sweep(t, three, "-quiet")
	r := interrupt(40, args...)
	rbmtrain.OneLine(t, r.Stderr, "stopped after step ", "; resume by: the same command again, which resumes this run and trains the others")
	if out := rbmtrain.OK(t, append(args, "-dry-run")...); !strings.Contains(out, ", interrupted: ") || !strings.Contains(out, "\ntotal: ") {
		t.Errorf("the array that was interrupted: %s", out)
	}
	rbmtrain.OK(t, args...)
	if out := rbmtrain.OK(t, append(args, "-dry-run", "-json")...); states(t, out) != "finished finished finished" {
		t.Errorf("in the end the states are %s", states(t, out))
	}
}

func states(t *testing.T, text string) string {
	t.Helper()
	var all struct{ Runs []arrayRun }
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, r := range all.Runs {
		s = append(s, r.State)
	}
	return strings.Join(s, " ")
}

// Two processes that train the same file together share its runs: neither calls a run of the other a
// failure, and both end well.
func TestArrayTogether(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := sweep(t, "-seed {1..8} -steps 400\n")
	results := make(chan clitest.Result, 2)
	for range cap(results) {
		go func() { results <- rbmtrain.Call(args...) }()
	}
	for range cap(results) {
		if r := <-results; r.Status != 0 || strings.Count(r.Stdout, "\nrun ")+1 < 8 {
			t.Errorf("status %d, %s%s", r.Status, r.Stderr, r.Stdout)
		}
	}
	if out := rbmtrain.OK(t, args...); strings.Count(out, "is finished\n") != 8 {
		t.Errorf("afterwards it says %s", out)
	}
}

// A line that cannot run is found before the first run starts.
func TestArrayRefuses(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		lines string
		more  []string
		want  []string
	}{
		{"-seed 1\n-sed 2\n", nil, []string{"sweep.txt:2", "-sed", "did you mean -seed"}},
		{"-seed 1\n-rate -2\n", nil, []string{"sweep.txt:2", "rate is -2"}},
		{"-seed 1\n\n-data none.csv\n", nil, []string{"sweep.txt:3", "none.csv"}},
		{"-seed 1 -out a\n-seed 2 -out ./a\n", nil, []string{"sweep.txt:2", "-out ./a is already the folder of line 1"}},
		{"-seed 1 -out 'a\n", nil, []string{"sweep.txt:1", "a quote ' is not closed"}},
		{"-resume a\n", nil, []string{"sweep.txt:1", "a line of an array cannot have -resume"}},
		{"# nothing\n", nil, []string{"no lines of flags"}},
		{"-seed 1\n", []string{"-out", "a"}, []string{"-out cannot go with -array; give it in its lines"}},
		{"-seed 1\n", []string{"-resume", "a"}, []string{"-array", "cannot go with -resume"}},
		{"-seed 1\n", []string{"-force"}, []string{"-force cannot go with -array; remove the folders"}},
	} {
		rbmtrain.Fails(t, cli.Usage, sweep(t, c.lines, c.more...), c.want...)
	}
	rbmtrain.Fails(t, cli.Usage, small("-array-index", "1"), "-array-index is for -array")
	rbmtrain.Fails(t, cli.Failed, small("-array", "none.txt"), "-array", "none.txt")
}

// A run that fails does not stop the others. -json has the result of each run.
func TestArrayWithAFailure(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := sweep(t, three, "-json")
	rbmtrain.OK(t, args...)
	for _, path := range []string{"my run", "runs/sweep-0/" + rundir.ResultFile, "runs/sweep-0/" + rundir.CheckpointFile, "runs/sweep-0/" + rundir.ModelFile} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("runs/sweep-0/"+rundir.ModelFile+"/not a file", 0o777); err != nil { // the folder cannot be removed
		t.Fatal(err)
	}
	r := rbmtrain.Call(args...)
	var all struct{ Runs []arrayRun }
	if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	if len(all.Runs) != 3 || !strings.Contains(string(all.Runs[1].Result), `"steps":60`) || !strings.Contains(all.Runs[0].Error, "cannot replace the earlier run") || all.Runs[2].Result != nil {
		t.Errorf("the runs are %s", r.Stdout)
	}
	if r.Status != cli.Failed || !strings.Contains(r.Stderr, "\nrbmtrain: 1 run of 3 failed: 0; repeat the command to try them again\n") {
		t.Errorf("exits with %d: %s", r.Status, r.Stderr)
	}
}

// Several ranks do each run of an array together.
func TestArrayInRanks(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := sweep(t, three, "-quiet")
	rbmtrain.OK(t, args...)
	want := clitest.Read(t, "my run/"+rundir.ModelFile)
	if err := os.RemoveAll("my run"); err != nil {
		t.Fatal(err)
	}
	if r := inRanks(t, context.Background(), 3, clitest.Same(args...)); r.Status != cli.OK || r.Stdout+r.Stderr != "" {
		t.Errorf("exits with %d: %s", r.Status, r.Stderr)
	}
	if clitest.Read(t, "my run/"+rundir.ModelFile) != want {
		t.Error("three ranks write another model")
	}
}

// In an array, a warning names the folder of its run.
func TestArrayWarningsNameTheRun(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rare.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,common\n0,0,1,common\n", 20)+"0,1,0,rare\n")
	clitest.Write(t, "runs.txt", "-seed 1 -out first\n-seed 2 -out second\n")
	r := rbmtrain.Call("-array", "runs.txt", "-data", "rare.csv", "-hidden", "4", "-steps", "200", "-quiet")
	for _, folder := range []string{"first", "second"} {
		if !strings.Contains(r.Stderr, "rbmtrain: warning: "+folder+": never predicted: ") {
			t.Errorf("status %d: no warning names %s: %s, want %q in it", r.Status, folder, r.Stderr, "rbmtrain: warning: "+folder+": never predicted: ")
		}
	}
}
