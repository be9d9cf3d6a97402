//go:build darwin || dragonfly || freebsd || linux || netbsd

package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process returns the unused address space of the process, if ulimit -v limits it.
func process() []limit {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err != nil || uint64(r.Cur) >= 1<<62 {
		return nil
	}
	used := 0.0
	if text, err := os.ReadFile("/proc/self/statm"); err == nil { // in pages: all, resident, …
		if f := strings.Fields(string(text)); len(f) > 0 {
			pages, _ := strconv.ParseFloat(f[0], 64)
			used = pages * float64(os.Getpagesize())
		}
	}
	return []limit{{max(0, float64(r.Cur)-used), "the limit of the process (ulimit -v)"}}
}
