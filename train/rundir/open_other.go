//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package rundir

import "io/fs"

// noFollow is 0 because these systems have no flag like O_NOFOLLOW. Symbolic links are refused by a check
// before the file is opened.
const noFollow = 0

// names returns 1, because these systems do not report the number of hard links.
func names(fs.FileInfo) uint64 { return 1 }
