//go:build unix

package rundir

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUmask checks that the files of a run have the permissions that the umask allows.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o007))
	f, err := New(filepath.Join(t.TempDir(), "run"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteJSON(ConfigFile, 1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{ConfigFile: 0o660, ".": os.ModeDir | 0o770} {
		if info, err := os.Stat(f.Path(name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}
