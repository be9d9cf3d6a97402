package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase"
	"gorbm/rbm/modelfile"
	"gorbm/train/rundir"
)

// A countdown is a context that calls end when it was checked a number of times. Training checks
// it once per step, so that a run always stops at the same step.
type countdown struct {
	context.Context
	left int
	end  func()
}

func newCountdown(n int, end func()) *countdown {
	return &countdown{Context: context.Background(), left: n, end: end}
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.end()
	return context.Canceled
}

// interrupt runs rbmtrain and cancels its context, like Ctrl-C, after about n steps.
func interrupt(n int, args ...string) clitest.Result {
	return rbmtrain.CallContext(newCountdown(n, func() {}), args...)
}

// kill runs rbmtrain and ends it within a step, after about n steps, so that nothing
// more is written: like SIGKILL.
func kill(n int, args ...string) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cli.Run(newCountdown(n, runtime.Goexit), "rbmtrain", rbmtrain.Run, args, io.Discard, io.Discard)
	}()
	<-ended
}

// demanding returns the arguments of a run whose next step needs everything that a
// checkpoint can have.
func demanding(kind string, more ...string) []string {
	kind, objective, _ := strings.Cut(kind, " ")
	more = append(strings.Fields(objective), more...)
	if kind != "" {
		more = append(more, "-negphase", kind)
	}
	return append([]string{"-data", clitest.Toy, "-hidden", "4", "-seed", "3", "-steps", "120", "-eval-every", "10", "-snapshots", "6", "-holdout", "0.2",
		"-momentum", "0.5", "-center", "0.05", "-average", "0.9", "-l1", "0.0001", "-l2", "0.001", "-schedule", "cosine"}, more...)
}

// metrics reads metrics.csv without the column of seconds.
func metrics(t *testing.T, dir string) [][]string {
	t.Helper()
	rows := table(t, filepath.Join(dir, rundir.MetricsFile))
	at := slices.Index(rows[0], "seconds")
	if at < 0 {
		t.Fatalf("metrics.csv has no seconds: %v", rows[0])
	}
	for i := range rows {
		rows[i] = slices.Delete(rows[i], at, at+1)
	}
	return rows
}

// sameRuns checks that two folders have the same content except for times and paths.
func sameRuns(t *testing.T, got, want string) {
	t.Helper()
	list := func(dir string) (files []string) {
		for line := range strings.Lines(strings.ReplaceAll(clitest.Tree(t, dir), dir+"/", "")) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(name, "."+rundir.CheckpointFile+".new.") {
				continue // an incomplete file of a killed process
			}
			// Fields that depend on the clock or on interruptions.
			if !slices.Contains([]string{rundir.ConfigFile, rundir.MetricsFile, rundir.ReportFile, rundir.ResultFile, rundir.CheckpointFile, rundir.CheckpointFile + ".previous"}, name) {
				files = append(files, strings.TrimSpace(line))
			}
		}
		return files
	}
	if a, b := list(got), list(want); !slices.Equal(a, b) {
		t.Errorf("%s holds other files than %s:\n%s\n\n%s", got, want, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	if a, b := metrics(t, got), metrics(t, want); !reflect.DeepEqual(a, b) {
		t.Errorf("metrics of %s differ from those of %s:\n%v\n%v", got, want, a, b)
	}
}

// result reads what -json printed, without times and paths.
func result(t *testing.T, out string) jsonResult {
	t.Helper()
	var r jsonResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	for i, w := range r.Warnings {
		r.Warnings[i] = strings.ReplaceAll(w, r.Folder+string(filepath.Separator), "")
	}
	r.Seconds, r.StepsPerSecond, r.SecondsInAll, r.Folder, r.Model = 0, 0, 0, "", ""
	return r
}

var everyKind = flag.Bool("long", false, "interrupt and kill runs of every kind of estimator, not of half of them")

// TestResume checks, for every estimator and with everything that has state, that a run
// that was interrupted, interrupted twice, or killed has the same model, snapshots,
// pictures, metrics and result as an uninterrupted one.
func TestResume(t *testing.T) {
	for _, kind := range append(negphase.Kinds(), "pins:tau=auto", "pt:tau=auto/6:order=evenodd:path=uniform", "pt:gibbs=1:im", "ins:tau=auto:sardonics", "sardonics:moves=40",
		" -objective discriminative", "pcd -objective hybrid -alpha 0.2") {
		t.Run(kind, func(t *testing.T) {
			if testing.Short() && kind != "pins:tau=auto" && kind != "ptt" {
				t.Skip("two kinds with everything that keeps state")
			}
			if !*everyKind && !slices.Contains([]string{"cd", "ptt", "pins:tau=auto", "sardonics:moves=40", "pcd -objective hybrid -alpha 0.2"}, kind) {
				t.Skip("half of the kinds are enough for what they share; all with -long")
			}
			clitest.Isolate(t)
			undrawn(t)
			pictures = kind == "pins:tau=auto"
			whole := result(t, rbmtrain.OK(t, demanding(kind, "-out", "whole", "-json")...))
			if whole.Steps != 120 || whole.BestStep == nil {
				t.Fatalf("the whole run comes to %+v: got %v, want 120", whole, whole.Steps)
			}

			r := interrupt(50, demanding(kind, "-out", "twice")...)
			first := stoppedAt(t, r, "twice")
			r = interrupt(50, "-resume", "twice")
			if second := stoppedAt(t, r, "twice"); second <= first {
				t.Errorf("stopped at step %d, then at step %d", first, second)
			}
			if got := result(t, rbmtrain.OK(t, "-resume", "twice", "-json")); !reflect.DeepEqual(got, whole) {
				t.Errorf("interrupted twice: the result is\n%+v, want\n%+v", got, whole)
			}
			sameRuns(t, "twice", "whole")

			kill(80, demanding(kind, "-out", "killed", "-checkpoint-every", "7")...)
			if _, err := os.Stat(filepath.Join("killed", rundir.ModelFile)); err == nil {
				t.Fatal("a run that was killed has its model")
			}
			if got := result(t, rbmtrain.OK(t, "-resume", "killed", "-json")); !reflect.DeepEqual(got, whole) {
				t.Errorf("killed: the result is\n%+v, want\n%+v", got, whole)
			}
			sameRuns(t, "killed", "whole")
		})
	}
}

// stoppedAt returns the step at which the run was interrupted.
func stoppedAt(t *testing.T, r clitest.Result, dir string) int {
	t.Helper()
	var step, of int
	rbmtrain.OneLine(t, r.Stderr)
	if _, err := fmt.Sscanf(r.Stderr, "rbmtrain: stopped after step %d of %d; resume by: rbmtrain -resume "+dir, &step, &of); err != nil || r.Status != cli.Failed {
		t.Fatalf("exits with %d: %s, want %d", r.Status, r.Stderr, cli.Failed)
	}
	if step < 1 || step >= of {
		t.Fatalf("stopped after step %d of %d", step, of)
	}
	return step
}

// TestResumeAtStepZero checks a run that is stopped before its first step: the table has
// the measurement of step 0 once.
func TestResumeAtStepZero(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-holdout", "0.2", "-quiet", "-out", "whole")...)
	for n := 0; ; n++ {
		if err := os.RemoveAll("run"); err != nil {
			t.Fatal(err)
		}
		r := interrupt(n, small("-holdout", "0.2", "-out", "run")...)
		if strings.Contains(r.Stderr, "stopped after step 1 ") {
			break
		}
		if !strings.Contains(r.Stderr, "stopped after step 0 ") {
			if n > 100 {
				t.Fatalf("no run is stopped at its first step: %s, got %v, want at most 100", r.Stderr, n)
			}
			continue // stopped before the measurement
		}
		rbmtrain.OK(t, "-resume", "run", "-quiet")
		sameRuns(t, "run", "whole")
	}
}

// TestKilledProcess kills a real process and resumes its run.
func TestKilledProcess(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "4", "-negphase", "pcd", "-eval-every", "3", "-metrics", "none", "-snapshots", "0"}
	cmd := exec.Command(os.Args[0], append(args, "-steps", "1000000000", "-checkpoint-every", "7", "-out", "run")...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join("run", rundir.CheckpointFile)); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the process ended by itself: %v", err)
		case <-time.After(2 * time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
	rows := table(t, filepath.Join("run", rundir.MetricsFile))
	last, err := strconv.Atoi(rows[len(rows)-1][0])
	if err != nil {
		t.Fatal(err)
	}
	steps := strconv.Itoa(last + 20)
	rbmtrain.OK(t, "-resume", "run", "-steps", steps, "-quiet")
	rbmtrain.OK(t, append(args, "-steps", steps, "-quiet", "-out", "whole")...)
	sameRuns(t, "run", "whole")
}

// TestResumeFurther checks that -steps extends a finished run, and that a run so
// extended prints how to resume it when it is stopped.
func TestResumeFurther(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "4", "-eval-every", "10", "-snapshots", "0", "-momentum", "0.5"}
	rbmtrain.OK(t, append(args, "-steps", "120", "-quiet", "-out", "whole")...)
	rbmtrain.OK(t, append(args, "-steps", "60", "-quiet", "-out", "run")...)
	rbmtrain.Fails(t, cli.Usage, []string{"-resume", "run", "-steps", "40"}, "run has taken 60 steps already", "-steps from 60 up")
	r := interrupt(30, "-resume", "run", "-steps", "120")
	if !strings.HasSuffix(r.Stderr, "resume by: rbmtrain -resume run -steps 120\n") {
		t.Errorf("prints %q, want %q at its end", r.Stderr, "resume by: rbmtrain -resume run -steps 120\n")
	}
	stoppedAt(t, r, "run")
	out := rbmtrain.OK(t, "-resume", "run", "-steps", "120")
	if !strings.Contains(out, "\n120 steps in ") || !strings.Contains(out, "\nresults in run\n") {
		t.Errorf("prints %s", out)
	}
	sameRuns(t, "run", "whole")
	rbmtrain.Fails(t, cli.Usage, []string{"-resume", "run", "-steps", "0"}, "-steps is 0")
}

// TestResumeDamaged checks -resume with a damaged folder.
func TestResumeDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	undrawn(t)
	const checkpoint, previous = "run/" + rundir.CheckpointFile, "run/" + rundir.CheckpointFile + ".previous"
	damage := func(t *testing.T, path string) {
		b := []byte(clitest.Read(t, path))
		b[len(b)/2] ^= 1
		clitest.Write(t, path, string(b))
	}
	cut := func(t *testing.T, path string) {
		s := clitest.Read(t, path)
		clitest.Write(t, path, s[:len(s)/2])
	}
	clitest.Isolate(t)
	args := demanding("pcd", "-data", "rows.csv", "-checkpoint-every", "7")
	csv := rowsCSV(60)
	clitest.Write(t, "rows.csv", csv)
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	kill(90, append(args, "-out", "killed")...)
	for _, c := range []struct {
		name    string
		spoil   func(t *testing.T)
		warning []string // words of the warning with which the run resumes, or nil
		err     []string // words of the error if it does not resume
	}{
		{name: "whole", spoil: func(*testing.T) {}},
		{name: "checkpoint damaged", spoil: func(t *testing.T) { damage(t, checkpoint) },
			warning: []string{"warning: " + checkpoint, "checksum", "resuming from the previous checkpoint, of step "}},
		{name: "checkpoint cut", spoil: func(t *testing.T) { cut(t, checkpoint) },
			warning: []string{"warning: " + checkpoint, "cut short", "resuming from the previous checkpoint"}},
		{name: "checkpoint empty", spoil: func(t *testing.T) { clitest.Write(t, checkpoint, "") },
			warning: []string{"warning: " + checkpoint, "cut short", "resuming from the previous checkpoint"}},
		{name: "checkpoint missing", spoil: func(t *testing.T) { remove(t, checkpoint) },
			warning: []string{"warning: ", checkpoint, "resuming from the previous checkpoint"}},
		{name: "previous missing", spoil: func(t *testing.T) { remove(t, previous) }},
		{name: "both damaged", spoil: func(t *testing.T) { damage(t, checkpoint); damage(t, previous) },
			err: []string{"-resume", checkpoint, "checksum"}},
		{name: "damaged and none before", spoil: func(t *testing.T) { damage(t, checkpoint); remove(t, previous) },
			err: []string{"-resume", checkpoint, "checksum"}},
		{name: "both missing", spoil: func(t *testing.T) { remove(t, checkpoint); remove(t, previous) },
			err: []string{"-resume", "run has no checkpoint to resume from", "start a new run with the same flags, -out run and -force"}},
		{name: "no checkpoint at all", spoil: func(t *testing.T) { clitest.Write(t, checkpoint, "not a checkpoint"); remove(t, previous) },
			err: []string{"-resume", checkpoint}},
		{name: "config missing", spoil: func(t *testing.T) { remove(t, "run/"+rundir.ConfigFile) },
			err: []string{"-resume", "run is not the folder of a run"}},
		{name: "config damaged", spoil: func(t *testing.T) { cut(t, "run/"+rundir.ConfigFile) },
			err: []string{"-resume", rundir.ConfigFile, "damaged"}},
		{name: "config of an unknown flag", spoil: func(t *testing.T) {
			clitest.Write(t, "run/"+rundir.ConfigFile, strings.Replace(clitest.Read(t, "run/"+rundir.ConfigFile), `"momentum"`, `"momentun"`, 1))
		}, err: []string{"-resume", rundir.ConfigFile, "-momentun"}},
		{name: "config of other settings", spoil: func(t *testing.T) {
			clitest.Write(t, "run/"+rundir.ConfigFile, strings.Replace(clitest.Read(t, "run/"+rundir.ConfigFile), `"momentum": "0.5"`, `"momentum": "0.4"`, 1))
		}, err: []string{"-resume", "other settings"}},
		{name: "metrics missing", spoil: func(t *testing.T) { remove(t, "run/"+rundir.MetricsFile) },
			err: []string{rundir.MetricsFile, "cannot continue the metrics"}},
		{name: "metrics of other columns", spoil: func(t *testing.T) {
			clitest.Write(t, "run/"+rundir.MetricsFile, "step,seconds,error_train\n0,0,0\n")
		}, err: []string{rundir.MetricsFile, "columns"}},
		{name: "metrics of words", spoil: func(t *testing.T) {
			clitest.Write(t, "run/"+rundir.MetricsFile, strings.Replace(clitest.Read(t, "run/"+rundir.MetricsFile), "\n10,", "\nten,", 1))
		}, err: []string{rundir.MetricsFile, `"ten" is not a number`}},
		{name: "metrics with a torn line", spoil: func(t *testing.T) {
			clitest.Write(t, "run/"+rundir.MetricsFile, clitest.Read(t, "run/"+rundir.MetricsFile)+"100,0.3,-")
		}},
		{name: "metrics with a torn number", spoil: func(t *testing.T) {
			columns := strings.Count(strings.SplitN(clitest.Read(t, "run/"+rundir.MetricsFile), "\n", 2)[0], ",")
			clitest.Write(t, "run/"+rundir.MetricsFile, clitest.Read(t, "run/"+rundir.MetricsFile)+"10"+strings.Repeat(",1e-", columns))
		}},
		{name: "other rows", spoil: func(t *testing.T) { clitest.Write(t, "rows.csv", strings.Replace(csv, "\n0,", "\n1,", 1)) },
			err: []string{"-resume", "other data", "rows.csv", "its rows have changed"}},
		{name: "fewer rows", spoil: func(t *testing.T) { clitest.Write(t, "rows.csv", rowsCSV(55)) },
			err: []string{"-resume", "other data", "rows.csv"}},
		{name: "data missing", spoil: func(t *testing.T) { remove(t, "rows.csv") },
			err: []string{"rows.csv", "does not exist"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.Write(t, "rows.csv", csv)
			if err := os.RemoveAll("run"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS("run", os.DirFS("killed")); err != nil {
				t.Fatal(err)
			}
			c.spoil(t)
			if c.err != nil {
				rbmtrain.Fails(t, cli.Failed, []string{"-resume", "run"}, c.err...)
				return
			}
			r := rbmtrain.Call("-resume", "run", "-quiet")
			if r.Status != cli.OK || (c.warning == nil) != (r.Stderr == "") {
				t.Fatalf("exits with %d: %s, want %d", r.Status, r.Stderr, cli.OK)
			}
			if c.warning != nil {
				rbmtrain.OneLine(t, r.Stderr, c.warning...)
			}
			sameRuns(t, "run", "whole")
		})
	}
}

// rowsCSV returns a table of rows of six inputs and a label: three bits, repeated
// with some noise.
func rowsCSV(rows int) string {
	var b bytes.Buffer
	for r := range rows {
		noise := r * r % 11 % 3 % 2
		fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%d,%s\n", r&1, r>>1&1, r&1^1, r&1^noise, r>>1&1, r&1^1, []string{"even", "odd"}[r&1])
	}
	return "a,b,c,d,e,f,label\n" + b.String()
}

// TestResumeElsewhere checks that a run on a file can be resumed from another folder.
func TestResumeElsewhere(t *testing.T) {
	undrawn(t)
	at := clitest.Isolate(t)
	args := small("-data", "rows, all.csv", "-init", "start.safetensors", "-label-column", "last", "-eval-every", "10", "-snapshots", "0")
	clitest.Write(t, "rows, all.csv", rowsCSV(60))
	rbmtrain.OK(t, "-data", "rows, all.csv", "-hidden", "4", "-steps", "5", "-quiet", "-out", "first")
	clitest.Write(t, "start.safetensors", clitest.Read(t, "first/"+rundir.ModelFile))
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	stoppedAt(t, interrupt(40, append(args, "-out", "run")...), "run")
	t.Chdir(t.TempDir())
	rbmtrain.OK(t, "-resume", filepath.Join(at, "run"), "-quiet")
	if left := clitest.Tree(t, "."); left != "" {
		t.Errorf("-resume of another folder writes to this one: %s, want nothing", left)
	}
	t.Chdir(at)
	sameRuns(t, "run", "whole")
}

// TestResumePairElsewhere checks the same for a pair of files.
func TestResumePairElsewhere(t *testing.T) {
	undrawn(t)
	at := clitest.Isolate(t)
	var images, labels strings.Builder
	images.WriteString(idxHeader(30, 2, 2))
	labels.WriteString(idxHeader(30))
	for r := range byte(30) {
		images.Write([]byte{255 * (r & 1), 255 * (r >> 1 & 1), 255 * (r & 1), 0})
		labels.WriteByte(r & 1)
	}
	clitest.Write(t, "x.idx", images.String())
	clitest.Write(t, "y.idx", labels.String())
	args := small("-data", "x.idx,y.idx", "-snapshots", "0")
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	stoppedAt(t, interrupt(40, append(args, "-out", "run")...), "run")
	t.Chdir(t.TempDir())
	rbmtrain.OK(t, "-resume", filepath.Join(at, "run"), "-quiet", "-workers", "1")
	t.Chdir(at)
	sameRuns(t, "run", "whole")
}

// TestResumeUsage checks flags that -resume excludes.
func TestResumeUsage(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	stoppedAt(t, interrupt(40, small("-out", "run")...), "run")
	clitest.Write(t, "folder/notes.txt", "no run")
	clitest.Write(t, "file", "no folder")
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		{cli.Usage, "-resume run -batch 2", []string{"-batch cannot go with -resume", "-steps -rate -workers -progress -quiet -json"}},
		{cli.Usage, "-resume run -seed 2 -scale max", []string{"-scale -seed cannot go with -resume"}},
		{cli.Usage, "-resume run -out other", []string{"-out cannot go with -resume"}},
		{cli.Usage, "-resume run -dry-run", []string{"-dry-run cannot go with -resume"}},
		{cli.Usage, "-resume run -force", []string{"-force cannot go with -resume"}},
		{cli.Usage, "-resume run -epochs 4", []string{"-epochs cannot go with -resume"}},
		{cli.Usage, "-resume run -steps -1", []string{"-steps is -1"}},
		{cli.Usage, "-resume run -workers -1", []string{"-workers is -1"}},
		{cli.Usage, "-resume", []string{"needs an argument: -resume"}},
		{cli.Failed, "-resume nowhere", []string{"-resume", "nowhere is not the folder of a run"}},
		{cli.Failed, "-resume folder", []string{"-resume", "folder is not the folder of a run"}},
		{cli.Failed, "-resume file", []string{"-resume", "file is not the folder of a run"}},
	} {
		t.Run(c.args, func(t *testing.T) { rbmtrain.Fails(t, c.status, strings.Fields(c.args), c.want...) })
	}
	if got := rbmtrain.Call("-resume", "nowhere"); strings.Contains(got.Stderr, "-data FILE") {
		t.Errorf("a folder without a run advises -resume: %s", got.Stderr)
	}
}

// TestResumeEpochs checks that a run with -epochs resumes to its end.
func TestResumeEpochs(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := []string{"-data", clitest.Toy, "-hidden", "4", "-epochs", "3", "-schedule", "linear"}
	rbmtrain.OK(t, append(args, "-quiet", "-out", "whole")...)
	stoppedAt(t, interrupt(30, append(args, "-out", "run")...), "run")
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	sameRuns(t, "run", "whole")
	// -steps replaces -epochs; 60 steps were taken.
	if out := rbmtrain.OK(t, "-resume", "run", "-steps", "66"); !strings.Contains(out, "\n66 steps in ") {
		t.Errorf("prints %s, want %q in it", out, "\n66 steps in ")
	}
}

// A run with an estimator or a setting that this build does not have is refused in one line, which names the build
// that made the run.
func TestResumeOfAnotherBuild(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-negphase", "pcd", "-quiet", "-out", "run")...)
	config := filepath.Join("run", rundir.ConfigFile)
	text := strings.Replace(clitest.Read(t, config), cli.Version(), "v0.9", 1)
	for from, to := range map[string]string{
		`"pcd"`:         `"jar"`,
		`"negphase": "`: `"negative": "`,
	} {
		if err := os.WriteFile(config, []byte(strings.ReplaceAll(text, from, to)), 0o666); err != nil {
			t.Fatal(err)
		}
		r := rbmtrain.Call("-resume", "run", "-steps", "70")
		rbmtrain.OneLine(t, r.Stderr, strings.Trim(to, `": `), "; another build, v0.9, made the run in run and can resume it")
		if r.Status == cli.OK {
			t.Errorf("%s: exits with %d: %s", to, r.Status, r.Stderr)
		}
	}
}

// A run whose folder and data have moved resumes with -data, to the model of an uninterrupted run. Without -data, and with
// other rows, it is refused, and keeps its settings.
func TestResumeOfMovedData(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	const rows = "0,1,1\n1,0,1\n1,1,0\n0,0,1\n1,1,1\n"
	clitest.Write(t, "d.csv", strings.Repeat(rows, 8))
	args := strings.Fields("-data d.csv -hidden 3 -negphase pcd -batch 5 -checkpoint-every 10 -eval-every 10 -snapshots 0 -steps 60 -quiet -out")
	rbmtrain.OK(t, append(args, "whole")...)
	stoppedAt(t, interrupt(30, append(args, "run")...), "run")
	for from, to := range map[string]string{"d.csv": "there/moved.csv", "run": "there/run"} {
		if err := errors.Join(os.MkdirAll("there", 0o777), os.Rename(from, to)); err != nil {
			t.Fatal(err)
		}
	}
	clitest.Write(t, "other.csv", strings.Repeat(rows, 7)+rows[6:]+"0,1,0\n")
	rbmtrain.Fails(t, cli.Failed, []string{"-resume", "there/run"}, "d.csv", "-resume there/run -data FILE")
	rbmtrain.Fails(t, cli.Failed, []string{"-resume", "there/run", "-data", "other.csv"}, "trained on other data", "other.csv")
	rbmtrain.OK(t, "-resume", "there/run", "-data", "there/moved.csv", "-quiet")
	if !strings.Contains(clitest.Read(t, "there/run/"+rundir.ConfigFile), "moved.csv") {
		t.Error("config.json does not name the new file")
	}
	a, _, err := modelfile.Read("whole/" + rundir.ModelFile)
	b, _, err2 := modelfile.Read("there/run/" + rundir.ModelFile)
	if err != nil || err2 != nil || !a.Equal(b) {
		t.Errorf("%v, %v: the resumed run has another model than one without interruption", err, err2)
	}
	rbmtrain.OK(t, "-resume", "there/run", "-steps", "70", "-quiet")
}
