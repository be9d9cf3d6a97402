package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ourFiles are the names of all files of a run's folder.
func ourFiles() []string {
	all := append([]string{lockFile, "curves.svg", "curves.pdf", "ladder.svg", "ladder.pdf", SnapshotFile(7), EventsDir + "/" + eventsPrefix + "00000000000000000007.gorbm"}, files...)
	for i, name := range all {
		all[i] = filepath.FromSlash(name)
	}
	return all
}

// victim makes a file outside the run's folder, and a folder with files that have the names of those that a
// run removes.
func victim(t *testing.T) (dir string, state func() string) {
	dir = t.TempDir()
	put(t, filepath.Join(dir, "victim"), []byte("precious"))
	for _, name := range []string{"0000007.safetensors", eventsPrefix + "00000000000000000007.gorbm"} {
		put(t, filepath.Join(dir, name), []byte("precious"))
	}
	return dir, func() string {
		var all strings.Builder
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all.WriteString(e.Name() + ": " + string(content(t, filepath.Join(dir, e.Name()))) + "\n")
		}
		return all.String()
	}
}

// aRun makes a folder with a file for each name of a run.
func aRun(t *testing.T) *Folder {
	f := folder(t)
	for _, name := range ourFiles() {
		if name == lockFile {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.Path(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, f.Path(name), []byte("x"))
	}
	return f
}

// TestLinks puts a link of each kind in the place of each file and each folder. Resuming the run, replacing
// it and opening the link are refused with a line that names the link. The target of the link does not
// change.
func TestLinks(t *testing.T) {
	kinds := map[string]func(from, to string) error{"symbolic": os.Symlink}
	if names(mustStat(t, t.TempDir())) > 1 || runtime.GOOS == "linux" { // a folder has two hard links, where the number is known
		kinds["hard"] = os.Link
	}
	for kind, link := range kinds {
		for _, name := range append(ourFiles(), SnapshotsDir, EventsDir) {
			isDir := name == SnapshotsDir || name == EventsDir
			if isDir && kind == "hard" {
				continue
			}
			f := aRun(t)
			dir, state := victim(t)
			target := filepath.Join(dir, "victim")
			if isDir {
				target = dir
			}
			if err := errors.Join(os.RemoveAll(f.Path(name)), link(target, f.Path(name))); err != nil {
				t.Fatal(err)
			}
			before := state()
			refused := func(what string, err error) {
				t.Helper()
				if err == nil || !errors.Is(err, errLink) || !strings.Contains(err.Error(), f.Path(name)+" is a "+kind) ||
					!strings.Contains(err.Error(), "cp -rL") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s link %s: %s: %v", kind, name, what, err)
				}
			}
			g, err := Open(f.Dir)
			refused("Open", err)
			if g != nil {
				g.Close()
			}
			g, err = New(f.Dir, "", true)
			refused("New", err)
			if g != nil {
				g.Close()
			}
			_, err = Check(f.Dir, true)
			refused("Check", err)
			refused("Free", f.Free())
			if !isDir {
				for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_RDWR | os.O_CREATE} {
					file, err := f.openFile(name, flag)
					refused("openFile", err)
					if err == nil {
						file.Close()
					}
				}
			}
			if after := state(); after != before {
				t.Errorf("%s link %s: what it leads to was\n%s, and is\n%s", kind, name, before, after)
			}
			if info, err := os.Lstat(f.Path(name)); err != nil || isDir && info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s link %s is gone: %v", kind, name, err)
			}
		}
	}
	// The run's folder itself may be reached by a link that the user made, and links among other files are
	// ignored.
	f := aRun(t)
	dir, _ := victim(t)
	for _, name := range []string{"notes.txt", SnapshotsDir + "/notes.txt"} {
		if err := os.Symlink(filepath.Join(dir, "victim"), f.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	there := filepath.Join(t.TempDir(), "run")
	if err := os.Symlink(f.Dir, there); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func() (*Folder, error){func() (*Folder, error) { return Open(there) }, func() (*Folder, error) { return New(there, "", true) }} {
		g, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestLinkDangles checks that nothing is created at the target of a dangling link. openFile alone must
// prevent this too, because a link may be made after checkLinks.
func TestLinkDangles(t *testing.T) {
	f, target := folder(t), filepath.Join(t.TempDir(), "nothing")
	if err := os.Symlink(target, f.Path(lockFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(f.Dir, "", false); !errors.Is(err, errLink) {
		t.Errorf("New: %v, want %v", err, errLink)
	}
	for _, flag := range []int{os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		if _, err := f.openFile(lockFile, flag); !errors.Is(err, errLink) {
			t.Errorf("openFile: %v, want %v", err, errLink)
		}
		if runtime.GOOS == "linux" {
			if _, err := os.OpenFile(f.Path(lockFile), flag|noFollow, 0o666); err == nil {
				t.Error("noFollow follows")
			}
		}
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("a file was made outside")
	}
}

// TestNotAFile checks that a folder in the place of a file is not opened.
func TestNotAFile(t *testing.T) {
	f := folder(t)
	if err := os.Mkdir(f.Path(lockFile), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.Dir); err == nil || !strings.Contains(err.Error(), f.Path(lockFile)+" is not a regular file") {
		t.Error(err)
	}
}

// TestRead checks the bound on what is read.
func TestRead(t *testing.T) {
	f := folder(t)
	put(t, f.Path("x"), []byte("12345"))
	if b, err := f.Read("x", 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v, want %q", b, err, "12345")
	}
	if b, err := f.Read("x", 4); err == nil || b != nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("%q, %v, want %q in it", b, err, "more than 4 bytes")
	}
	if _, err := f.Read("y", 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
