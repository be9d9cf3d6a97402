//go:build unix

package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gorbm/train/rundir"
)

// If a program without MPI is started as several ranks, one error explains how to build it
// with MPI.
func TestWithoutMPI(t *testing.T) {
	for _, names := range [][2]string{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}} {
		for rank, want := range []string{"rbmtrain: started as 2 ranks, but built without MPI; build by: CC=mpicc go build -tags mpi ./cmd/...\n", ""} {
			cmd := process(t.TempDir(), "-quiet", "-steps", "1")
			cmd.Env = append(cmd.Env, names[0]+"="+strconv.Itoa(rank), names[1]+"=2")
			out, err := cmd.CombinedOutput()
			if string(out) != want || (err == nil) != (rank == 1) {
				t.Errorf("rank %d prints %q: %v, want %q", rank, out, err, want)
			}
		}
	}
}

// An mpi is an MPI whose compiler and launcher are installed.
type mpi struct {
	dir            string
	compiler, name string
	launcher       []string
}

var underMPI = flag.Bool("mpi", false, "build the program with each MPI that is here, and run it")

// mpis returns the installed MPIs. It skips the test if there are none.
func mpis(t *testing.T) (found []mpi) {
	if !*underMPI {
		t.Skip("it builds the program with cgo and takes half a minute, with -mpi")
	}
	for _, m := range []mpi{
		{compiler: "mpicc.openmpi", launcher: []string{"mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"}, name: "Open MPI"},
		{compiler: "mpicc.mpich", launcher: []string{"mpirun.mpich"}, name: "MPICH"},
	} {
		_, err1 := exec.LookPath(m.compiler)
		_, err2 := exec.LookPath(m.launcher[0])
		if err1 == nil && err2 == nil {
			m.dir = t.TempDir()
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		t.Skip("there is no MPI; on Debian: apt install openmpi-bin libopenmpi-dev, or mpich libmpich-dev")
	}
	for _, m := range found {
		cmd := exec.Command("go", "build", "-tags", "mpi", "-o", m.binary(), ".")
		cmd.Env = append(os.Environ(), "CC="+m.compiler, "CGO_ENABLED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", m.name, err, out)
		}
	}
	return found
}

func (m mpi) binary() string { return filepath.Join(m.dir, "rbmtrain") }

// run returns the command that runs rbmtrain in n ranks in the folder dir.
func (m mpi) run(dir string, n int, args ...string) *exec.Cmd {
	all := append(m.launcher[1:len(m.launcher):len(m.launcher)], "-n", strconv.Itoa(n), m.binary())
	cmd := exec.Command(m.launcher[0], append(all, args...)...)
	cmd.Dir = dir
	return cmd
}

// Under mpirun any number of ranks writes the model of one process. If a rank is killed, the
// run ends, and can be resumed from its checkpoint.
func TestMPI(t *testing.T) {
	for _, m := range mpis(t) {
		dir := t.TempDir()
		model := func(cmd *exec.Cmd, out string) string {
			t.Helper()
			if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
				t.Fatalf("%s: %v: %s, want none", m.name, err, text)
			}
			b, err := os.ReadFile(filepath.Join(dir, out, rundir.ModelFile))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		args := func(out string, more ...string) []string {
			return append(small("-negphase", "pins:chains=5:tau=auto", "-metrics", "none", "-snapshots", "0", "-quiet", "-out", out), more...)
		}
		alone := exec.Command(m.binary(), args("alone")...)
		alone.Dir = dir
		want := model(alone, "alone")
		for _, n := range []int{1, 2, 3, 4} {
			out := strconv.Itoa(n)
			if model(m.run(dir, n, args(out)...), out) != want {
				t.Errorf("%s: %d ranks write another model", m.name, n)
			}
		}
		m.kill(t, dir, args("killed", "-steps", "100000000", "-checkpoint-every", "20"))
		early := exec.Command(m.binary(), "-resume", "killed", "-steps", "1", "-quiet")
		early.Dir = dir
		text, _ := early.CombinedOutput()
		taken := regexp.MustCompile(`has taken (\d+) steps already`).FindSubmatch(text)
		if taken == nil {
			t.Fatalf("%s: the checkpoint is lost: %s", m.name, text)
		}
		steps, _ := strconv.Atoi(string(taken[1]))
		longer := exec.Command(m.binary(), "-resume", "killed", "-steps", strconv.Itoa(steps+9), "-quiet")
		longer.Dir = dir
		model(longer, "killed")
	}
}

// kill starts a run of three ranks, kills one of them by SIGKILL when there is a checkpoint, and waits
// until the others end.
func (m mpi) kill(t *testing.T, dir string, args []string) {
	cmd := m.run(dir, 3, args...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for range 2000 {
		if _, err := os.Stat(filepath.Join(dir, "killed", rundir.CheckpointFile)); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	victim := 0
	processes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, p := range processes {
		pid, _ := strconv.Atoi(strings.Split(p, "/")[2])
		if file, err := os.Readlink(p); err == nil && file == m.binary() && pid > victim {
			victim = pid // the last rank
		}
	}
	if victim == 0 {
		t.Skip("the ranks cannot be found in /proc")
	}
	start := time.Now()
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Errorf("%s: ends well though a rank was killed: %s", m.name, &text)
		}
		t.Logf("%s ends %.1f s after a rank was killed", m.name, time.Since(start).Seconds())
	case <-time.After(20 * time.Second): // several times what either takes
		t.Fatalf("%s: goes on without a rank", m.name)
	}
	if n := strings.Count(text.String(), "rbmtrain: "); n > 1 {
		t.Errorf("%s: rbmtrain prints %d lines: %s, want at most 1", m.name, n, &text)
	}
}
