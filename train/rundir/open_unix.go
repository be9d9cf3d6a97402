//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package rundir

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow makes opening a symbolic link an error.
const noFollow = unix.O_NOFOLLOW

// names returns the number of hard links to a file, or 1 if it is unknown.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
