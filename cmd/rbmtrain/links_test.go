package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// -resume and -force follow no links in the folder of a run, which an archive may contain. Both end
// with one line that names the link.
func TestLinks(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	args := small("-negphase", "cd", "-tensorboard", "-out", "run", "-quiet")
	rbmtrain.OK(t, args...)
	for _, name := range []string{".lock", rundir.ConfigFile, rundir.MetricsFile, rundir.CheckpointFile, rundir.ReportFile, rundir.SnapshotsDir, rundir.EventsDir} {
		path, saved := filepath.Join("run", name), filepath.Join(t.TempDir(), "saved")
		there := os.Rename(path, saved) == nil
		target := filepath.Join(t.TempDir(), "victim")
		victim := target
		if name == rundir.SnapshotsDir || name == rundir.EventsDir {
			if err := os.Mkdir(target, 0o777); err != nil {
				t.Fatal(err)
			}
			victim = filepath.Join(target, map[string]string{rundir.SnapshotsDir: "0000001.safetensors", rundir.EventsDir: "events.out.tfevents.00000000000000000001.gorbm"}[name])
		}
		if err := os.WriteFile(victim, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-resume", "run", "-steps", "70", "-quiet"}, append(args, "-force")} {
			r := rbmtrain.Call(args...)
			if r.Status != 1 || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, path+" is a symbolic link; ") || r.Stdout != "" {
				t.Errorf("%s, %v: exits with %d: %s%s", name, args, r.Status, r.Stdout, r.Stderr)
			}
			if got := clitest.Read(t, victim); got != "precious" {
				t.Errorf("%s, %v: the victim is %q, want %q", name, args, got, "precious")
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if there {
			if err := os.Rename(saved, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	rbmtrain.OK(t, "-resume", "run", "-steps", "70", "-quiet") // without the link it works again
}
