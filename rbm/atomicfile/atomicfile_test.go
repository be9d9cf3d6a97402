package atomicfile

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Write removes temporary files of its path that a killed process has left: old ones of a process that has
// ended, and no others. Abandon removes those of this process.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npz")
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead, alive := strconv.Itoa(ended.Process.Pid), strconv.Itoa(os.Getpid())
	old := time.Now().Add(-2 * staleAfter)
	for name, when := range map[string]time.Time{
		".a.npz." + dead + "0000": old, ".a.npz." + dead + "0001": time.Now(), ".a.npz." + alive + "0007": old, ".b.npz." + dead + "0000": old,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if err := WriteBytes(path, []byte("x")); err != nil || count() != 4 {
		t.Errorf("%d files, %v, want the new one and 3 of 4 temporary files", count(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".a.npz."+dead+"0000")); err == nil {
		t.Error("the file of a process that has ended stays")
	}
	err := Write(path, func(w io.Writer) error {
		if n := count(); n != 5 {
			t.Errorf("%d files while it writes, want 5", n)
		}
		Abandon()
		if n := count(); n != 4 {
			t.Errorf("%d files after Abandon, want 4", n)
		}
		return nil
	})
	if err == nil {
		t.Error("a file that was abandoned is written")
	}
}
