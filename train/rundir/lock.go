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

// lockFile is the file that a run keeps locked while it writes its folder. It
// says who does. The lock ends with its process, however that ends; the file
// may then be left, and is no lock.
const lockFile = ".lock"

// errHeld is returned by lockExclusive if another process has the lock.
var errHeld = errors.New("locked")

// lock makes f the only writer of its folder until Close. The error names the
// process that writes it, if there is one.
func (f *Folder) lock() error {
	for {
		file, err := f.openFile(lockFile, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return fmt.Errorf("cannot lock the folder of the run: %w", err)
		}
		if err = lockExclusive(file); errors.Is(err, errHeld) {
			err = f.heldBy(file)
			file.Close()
			return err
		}
		if err != nil {
			file.Close()
			return fmt.Errorf("cannot lock %s: %w", f.Path(lockFile), err)
		}
		if !f.isLock(file) { // its holder removed it after it was opened here
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

// isLock reports whether file is what lies at the lock's path.
func (f *Folder) isLock(file *os.File) bool {
	ours, err1 := file.Stat()
	there, err2 := os.Lstat(f.Path(lockFile))
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

// heldBy returns the error that says who has the lock.
func (f *Folder) heldBy(file io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(file, 300))
	holder := strings.Join(strings.Fields(string(text)), " ")
	if holder == "" {
		holder = "another process"
	}
	return fmt.Errorf("%s is being written by %.200q; wait until it ends, stop it, or choose another folder by -out", f.Dir, holder)
}

// Free returns an error that names the process that writes the folder now, or a link among
// its files, which a run refuses; nil if there is neither. It changes nothing.
func (f *Folder) Free() error {
	if err := f.checkLinks(); errors.Is(err, errLink) {
		return err
	}
	file, err := f.openFile(lockFile, os.O_RDWR)
	if err != nil {
		return nil // no lock, or a folder that cannot be written: writing it will say so
	}
	defer file.Close() // which unlocks it
	if errors.Is(lockExclusive(file), errHeld) {
		return f.heldBy(file)
	}
	return nil
}

// Open opens the folder of an earlier run to resume it, as its only writer
// until Close. Temporary files that a killed process left are removed.
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

// Close ends the lock on the folder, if f has it.
func (f *Folder) Close() error {
	if f.held == nil {
		return nil
	}
	// The file is removed while it is locked: whoever opened it before finds that
	// it is no longer the lock.
	err := os.Remove(f.Path(lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, f.held.Close())
	f.held = nil
	return err
}
