//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// process starts rbmtrain as a process of its own in the folder dir.
func process(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Dir = dir
	return cmd
}

// long returns the arguments of a run that does not end by itself.
func long(more ...string) []string {
	return append([]string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "4", "-negphase", "cd", "-metrics", "none", "-steps", "1000000000", "-eval-every", "50", "-snapshots", "0", "-out", "run"}, more...)
}

// signalled starts cmd, sends it signals when the run is under way, with a pause
// before each further one, and returns its exit status and standard error.
func signalled(t *testing.T, cmd *exec.Cmd, started string, pause time.Duration, signals ...syscall.Signal) (status int, stderr string) {
	t.Helper()
	var b bytes.Buffer
	cmd.Stderr = &b
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	for range 10000 {
		if _, err := os.Stat(filepath.Join(cmd.Dir, started)); err == nil {
			break
		}
		select {
		case <-ended:
			t.Fatalf("it ended before %s was there: %s", started, &b)
		case <-time.After(5 * time.Millisecond):
		}
	}
	time.Sleep(50 * time.Millisecond)
	for i, s := range signals {
		if i > 0 {
			time.Sleep(pause)
		}
		if err := cmd.Process.Signal(s); err != nil && (i == 0 || !errors.Is(err, os.ErrProcessDone)) {
			t.Errorf("%v: %v", s, err)
		}
	}
	stuck := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	<-ended
	return cmd.ProcessState.ExitCode(), b.String()
}

// TestHangUp checks that SIGHUP saves, and is ignored under nohup.
func TestHangUp(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests themselves run under nohup")
	}
	clitest.Isolate(t)
	dir := t.TempDir()
	status, stderr := signalled(t, process(dir, long()...), "run/"+rundir.MetricsFile, 0, syscall.SIGHUP)
	if status != cli.HungUp || !strings.Contains(stderr, "; resume by: rbmtrain -resume run") {
		t.Errorf("SIGHUP: status %d, %q", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", rundir.CheckpointFile)); err != nil {
		t.Error(err)
	}
	dir = t.TempDir()
	cmd := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh", os.Args[0]}, long()...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), asCommand+"=1"), dir
	status, stderr = signalled(t, cmd, "run/"+rundir.MetricsFile, 300*time.Millisecond, syscall.SIGHUP, syscall.SIGTERM)
	if status != cli.Terminated {
		t.Errorf("SIGHUP under nohup, then SIGTERM: status %d, %q, want %d", status, stderr, cli.Terminated)
	}
}

// SIGQUIT is Go's: the process ends at once, and says where it was.
func TestQuit(t *testing.T) {
	clitest.Isolate(t)
	status, stderr := signalled(t, process(t.TempDir(), long()...), "run/"+rundir.MetricsFile, 0, syscall.SIGQUIT)
	if status != 2 || !strings.Contains(stderr, "SIGQUIT: quit") || !strings.Contains(stderr, "goroutine ") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// A after is a context that calls then when it has been asked n times whether it is done.
type after struct {
	context.Context
	n    int
	then func()
}

func (a *after) Err() error {
	if a.n--; a.n == 0 {
		a.then()
	}
	return nil
}

// A run whose folder was removed says so, and advises nobody to go on with it.
func TestFolderGone(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	var stderr bytes.Buffer
	args := small("-out", "run", "-quiet", "-snapshots", "0", "-checkpoint-every", "10")
	status := cli.Run(&after{context.Background(), 25, func() {
		if err := os.RemoveAll("run"); err != nil {
			t.Error(err)
		}
	}}, "rbmtrain", clitest.Alone(runRanks), args, io.Discard, &stderr)
	if text := stderr.String(); status != cli.Failed || strings.Contains(text, "-resume") || strings.Contains(text, "make room") || strings.Count(text, "the folder run was removed or renamed during the run") < 2 {
		t.Errorf("exits with %d and says %s", status, text)
	}
}

// TestTwoSignals checks that a second signal right after the first, as of a key pressed
// twice, saves as if there were one. The second is of another kind, as equal ones that
// wait for the process count once.
func TestTwoSignals(t *testing.T) {
	clitest.Isolate(t)
	for range 5 {
		dir := t.TempDir()
		status, stderr := signalled(t, process(dir, long()...), "run/"+rundir.MetricsFile, time.Millisecond, syscall.SIGINT, syscall.SIGTERM)
		// Threads of a busy machine may see the second signal first.
		if status != cli.Interrupted && status != 128+int(syscall.SIGTERM) || !strings.Contains(stderr, "; resume by: rbmtrain -resume run") {
			t.Errorf("status %d, %q", status, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "run", rundir.CheckpointFile)); err != nil {
			t.Error(err)
		}
	}
}

// TestSlowStep checks that a signal within a long step ends the run within that step, and that the
// checkpoint is of the step before.
func TestSlowStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	dir := t.TempDir()
	args := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "400", "-negphase", "cd", "-k", "1000000", "-batch", "1", "-metrics", "none", "-steps", "1000", "-checkpoint-every", "1", "-eval-every", "50", "-snapshots", "0", "-out", "run"}
	status, stderr := signalled(t, process(dir, args...), "run/"+rundir.CheckpointFile, 0, syscall.SIGINT)
	said := regexp.MustCompile(`(?:^|\n)rbmtrain: interrupted; stopped within step (\d+); resume from the checkpoint, of step (\d+), by: rbmtrain -resume run\n$`)
	m := said.FindStringSubmatch(stderr)
	if status != cli.Interrupted || m == nil {
		t.Errorf("status %d, %q, want %d", status, stderr, cli.Interrupted)
	}
}

// TestClosedPipe checks that warnings into a pipe that nobody reads do not end
// training.
func TestClosedPipe(t *testing.T) {
	clitest.Isolate(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	dir := t.TempDir()
	clitest.Write(t, filepath.Join(dir, "rows.csv"), rowsCSV(60))
	// One that warns: the ladder does not exchange.
	args := []string{"-data", clitest.Toy, "-hidden", "30", "-steps", "400", "-rate", "1", "-negphase", "pt:tau=1/1000", "-quiet", "-out", "run", "-snapshots", "0"}
	cmd := process(dir, args...)
	cmd.Stderr = w
	if err := cmd.Run(); err != nil {
		t.Errorf("a closed stderr: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", rundir.ModelFile)); err != nil {
		t.Error(err)
	}
	var stderr bytes.Buffer
	cmd = process(dir, append(args[:len(args)-4], "-out", "second", "-snapshots", "0", "-json", "-quiet")...)
	cmd.Stdout, cmd.Stderr = w, &stderr
	_ = cmd.Run()
	if cmd.ProcessState.ExitCode() != cli.Failed || !strings.Contains(stderr.String(), "rbmtrain: not all output could be written: ") {
		t.Errorf("a closed stdout: status %d, %s", cmd.ProcessState.ExitCode(), &stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "second", rundir.ModelFile)); err != nil {
		t.Error(err)
	}
	w.Close()
}
