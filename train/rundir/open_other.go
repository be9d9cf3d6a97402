//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package rundir

import "io/fs"

// noFollow has no counterpart: a symbolic link is found before it is opened.
const noFollow = 0

// names returns 1: the number of names of a file is not known.
func names(fs.FileInfo) uint64 { return 1 }
