//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

// TestMemory checks that a run that needs more memory than the process may have is
// refused in one line, before it writes files.
func TestMemory(t *testing.T) {
	clitest.Isolate(t)
	dir := t.TempDir()
	// fontdigits has 144 inputs or more: 600 MB of weights, of which there are several
	// copies, under 3 GB of address space.
	cmd := process(dir, "-quiet", "-hidden", "1000000", "-steps", "2", "-out", "run")
	shell := exec.Command("sh", append([]string{"-c", `ulimit -v 3000000; exec "$@"`, "sh"}, cmd.Args...)...)
	shell.Env, shell.Dir = cmd.Env, dir
	out, _ := shell.CombinedOutput()
	if shell.ProcessState.ExitCode() != cli.Failed {
		t.Errorf("exits with %d, want %d", shell.ProcessState.ExitCode(), cli.Failed)
	}
	rbmtrain.OneLine(t, string(out), "training 1000000 hidden units", "GB of memory", "ulimit -v", "smaller -hidden")
	if tree := clitest.Tree(t, dir); strings.TrimSpace(tree) != "" {
		t.Errorf("left is %s", tree)
	}
}

// An endless pipe is refused in one line when its rows fill the memory.
func TestMemoryOfAPipe(t *testing.T) {
	dir := t.TempDir()
	cmd := process(dir, "-quiet", "-data", "-", "-out", "run")
	shell := exec.Command("sh", append([]string{"-c", `ulimit -v 2000000; seq 1 1000000000 | paste -d, - - - - - - - - - - | "$@"`, "sh"}, cmd.Args...)...)
	shell.Env, shell.Dir = cmd.Env, dir
	out, _ := shell.CombinedOutput()
	if shell.ProcessState.ExitCode() != cli.Failed {
		t.Errorf("exits with %d, want %d", shell.ProcessState.ExitCode(), cli.Failed)
	}
	rbmtrain.OneLine(t, string(out), "stdin", "of memory", "ulimit -v")
	if tree := clitest.Tree(t, dir); strings.TrimSpace(tree) != "" {
		t.Errorf("left is %s", tree)
	}
}
