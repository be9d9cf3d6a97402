// Package atomicfile replaces files atomically, and reads regular files.
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
	"sync"
	"syscall"
	"time"
)

// Write writes a file atomically. It writes a temporary file in the same folder, syncs it and renames
// it, so a crash leaves the old file or the new one. The permissions follow the umask. The error names
// the path. Write removes temporary files of the same path that killed processes have left.
func Write(path string, write func(w io.Writer) error) (err error) {
	removeStale(path)
	f, err := create(path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	writing.Store(f.Name(), true)
	defer func() {
		writing.Delete(f.Name())
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

// writing has the names of the temporary files of this process.
var writing sync.Map

// Abandon removes the temporary files of this process, which must exit at once.
func Abandon() {
	for name := range writing.Range {
		os.Remove(name.(string))
	}
}

// staleAfter is the time without a change after which the temporary file of a process that does not exist is
// removed. The process may run on another machine that has the same folder.
const staleAfter = 10 * time.Minute

// removeStale removes the temporary files for path of processes that were killed.
func removeStale(path string) {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir + ".")) // if the folder cannot be read, create says why
	for _, e := range entries {
		if of, ok := Temporary(e.Name()); !ok || of != base || len(e.Name()) < len(base)+7 {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		digits := e.Name()[len(base)+2:]
		pid, err := strconv.Atoi(digits[:len(digits)-4])
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			os.Remove(dir + e.Name())
		}
	}
}

// WriteBytes is like Write, for given contents.
func WriteBytes(path string, b []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// maxTemporary limits the search for a free name of a temporary file.
const maxTemporary = 10000

// create creates a temporary file for path. os.CreateTemp would ignore the umask.
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

// Temporary reports whether name is that of a temporary file of Write, and returns the name of the
// file to be written.
func Temporary(name string) (base string, ok bool) {
	rest, dot := strings.CutPrefix(name, ".")
	at := strings.LastIndexByte(rest, '.')
	if !dot || at < 1 {
		return "", false
	}
	_, err := strconv.ParseUint(rest[at+1:], 10, 64)
	return rest[:at], err == nil
}

// ErrNotRegular says that a path is a folder, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file for reading, and returns its size in bytes. The error wraps ErrNotRegular
// for a folder, a pipe or a device, because a program might wait for these forever.
func Open(path string) (f *os.File, size int64, err error) {
	info, err := os.Stat(path) // opening a pipe would wait for a writer
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is %w", path, ErrNotRegular)
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Read returns the content of a regular file. most limits its number of bytes.
func Read(path string, most int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", path, size, most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
