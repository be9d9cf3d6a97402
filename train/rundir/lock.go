package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// lockFile is the file that a run keeps locked while it writes its folder. Its content names the process.
// The lock ends with the process; a file that a killed process leaves is not locked.
const lockFile = ".lock"

// ErrHeld says that another process writes the folder.
var ErrHeld = errors.New("wait until it ends, stop it, or choose another folder by -out")

// lock makes f the only writer of its folder until Close. If another process writes it, the error names
// that process and wraps ErrHeld.
func (f *Folder) lock() error {
	for {
		file, err := f.openFile(lockFile, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return fmt.Errorf("cannot lock the folder of the run: %w", err)
		}
		if err = lockExclusive(file); errors.Is(err, ErrHeld) {
			err = f.heldBy(file)
			file.Close()
			return err
		}
		if err != nil {
			file.Close()
			return fmt.Errorf("cannot lock %s: %w", f.Path(lockFile), err)
		}
		if !f.isLock(file) { // another process removed the file after this process opened it
			file.Close()
			continue
		}
		host, _ := os.Hostname()
		text := fmt.Sprintf("process %d on %s\n", os.Getpid(), host)
		if err := errors.Join(file.Truncate(0), writeAt(file, text)); err != nil {
			file.Close()
			return fmt.Errorf("cannot lock the folder of the run: %w", err)
		}
		f.held = file
		return nil
	}
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// isLock reports whether file is still the file at the path of the lock.
func (f *Folder) isLock(file *os.File) bool {
	ours, err1 := file.Stat()
	there, err2 := os.Lstat(f.Path(lockFile))
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

// heldBy returns the error that another process has the lock. The content of file names that process.
func (f *Folder) heldBy(file io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(file, 300))
	holder := strings.Join(strings.Fields(string(text)), " ")
	if holder == "" {
		holder = "another process"
	}
	return fmt.Errorf("%s is being written by %.200q; %w", f.Dir, holder, ErrHeld)
}

// Free returns an error that wraps ErrHeld if another process writes the folder, or another error if one of the folder's files is a link,
// which a run refuses. It changes nothing.
func (f *Folder) Free() error {
	if err := f.checkLinks(); errors.Is(err, errLink) {
		return err
	}
	file, err := f.openFile(lockFile, os.O_RDWR)
	if err != nil {
		return nil // there is no lock, or the folder cannot be written, which the first write reports
	}
	defer file.Close() // this also unlocks it
	if errors.Is(lockExclusive(file), ErrHeld) {
		return f.heldBy(file)
	}
	return nil
}

// Open opens the folder of an earlier run to resume it. The caller is its only writer until Close.
// Temporary files of a killed process are removed.
func Open(dir string) (*Folder, error) {
	f := &Folder{Dir: dir}
	if err := f.lock(); err != nil {
		return nil, err
	}
	if err := cmp.Or(f.checkLinks(), f.removeTemporary()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close releases the lock on the folder, if f has it.
func (f *Folder) Close() error {
	if f.held == nil {
		return nil
	}
	// The file is removed while it is locked. A process that opened the file earlier then finds that it is
	// no longer at the path of the lock.
	err := os.Remove(f.Path(lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, f.held.Close())
	f.held = nil
	return err
}
