package main

import (
	"os"
	"path/filepath"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

// The quick pictures are made where they are asked for, and each committed picture
// has a command.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a command")
	}
	command := clitest.Command{Name: "ising", Run: run}
	out := t.TempDir()
	command.OK(t, "-quick", "-out", out)
	committed, err := filepath.Glob("*.png")
	if err != nil || len(committed) == 0 {
		t.Fatalf("no pictures here: %v", err)
	}
	for _, name := range committed {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not made", name)
		}
	}
	command.Fails(t, cli.Usage, []string{"-figure", "none"}, "-figure")
}
