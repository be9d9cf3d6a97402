package cli

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime returns the time that the calling thread has had a processor, which other programs on the machine do not
// use up. Callers lock themselves to a thread (runtime.LockOSThread) and take differences.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}

var start = time.Now()
