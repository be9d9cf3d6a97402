//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockExclusive locks an open file until it is closed or the process ends. It returns ErrHeld at once if
// another process has locked it. On a file system without locks it succeeds without a lock.
func lockExclusive(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrHeld
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOLCK):
			return nil
		}
		return err
	}
}
