package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestLock checks that a folder has one writer at a time, that the error names it, and that no lock file is
// left.
func TestLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks nothing there")
	}
	dir := filepath.Join(t.TempDir(), "run")
	f, err := New(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f.Path(ConfigFile), []byte("{}"))
	holder := fmt.Sprintf("being written by \"process %d on ", os.Getpid())
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), holder) {
			t.Errorf("%s: %v, want %s", what, err, holder)
		}
	}
	_, err = Open(dir)
	refused("Open", err)
	_, err = New(dir, "", true)
	refused("New", err)
	_, err = Check(dir, true)
	refused("Check", err)
	refused("Free", f.Free())
	if content(t, f.Path(ConfigFile)) == nil {
		t.Error("a run that is refused changed the folder")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left are %v, %v, want 1 of them", entries, err)
	}
	// A lock file whose process has died is not locked.
	put(t, f.Path(lockFile), []byte("process 1 on moon\n"))
	if err := f.Free(); err != nil {
		t.Error(err)
	}
	g, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestLockRace opens a folder from many goroutines at once, repeatedly: there is never more than one
// writer.
func TestLockRace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks nothing there")
	}
	dir := t.TempDir()
	var writers sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				f, err := Open(dir)
				if err != nil {
					continue
				}
				if writers.TryLock() {
					runtime.Gosched()
					writers.Unlock()
				} else {
					t.Error("two writers")
				}
				f.Close()
			}
		})
	}
	all.Wait()
}

// TestLeftovers checks that temporary files of killed runs are removed and others are not. A folder with
// only such files may take a new run.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	left := []string{".checkpoint.new.123", ".model.safetensors.70001", SnapshotsDir + "/.0000007.safetensors.12"}
	keep := []string{".notes.12", ".model.safetensors", SnapshotsDir + "/0000007.safetensors"}
	if err := os.Mkdir(filepath.Join(dir, SnapshotsDir), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(left, keep...) {
		put(t, filepath.Join(dir, name), nil)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range left {
		if _, err := os.Stat(f.Path(name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range keep {
		if _, err := os.Stat(f.Path(name)); err != nil {
			t.Error(err)
		}
	}
	only := t.TempDir()
	put(t, filepath.Join(only, left[0]), nil)
	g, err := New(only, "", false)
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	if entries, _ := os.ReadDir(only); len(entries) > 0 {
		t.Errorf("left are %v, want none", entries)
	}
}
