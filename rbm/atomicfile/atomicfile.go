// Package atomicfile replaces files in one step.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes a file in one step: its content goes to a temporary file
// beside it, which is synced and renamed, so that a crash leaves the old file
// or the new one. Its permissions are those that the umask leaves. The error names
// the path.
func Write(path string, write func(w io.Writer) error) (err error) {
	f, err := create(path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("cannot write %s: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// maxTemporary bounds the search for the free name of a temporary file.
const maxTemporary = 10000

// create makes a new temporary file for path. os.CreateTemp would ignore the umask.
func create(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for n := 0; ; n++ {
		name := dir + "." + base + "." + strconv.Itoa(os.Getpid()) + fmt.Sprintf("%04d", n)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || n+1 == maxTemporary {
			return f, err
		}
	}
}

// Temporary returns the name of the file that a temporary file of this name was
// to become, and whether it is a temporary file's name.
func Temporary(name string) (base string, ok bool) {
	rest, dot := strings.CutPrefix(name, ".")
	at := strings.LastIndexByte(rest, '.')
	if !dot || at < 1 {
		return "", false
	}
	_, err := strconv.ParseUint(rest[at+1:], 10, 64)
	return rest[:at], err == nil
}
