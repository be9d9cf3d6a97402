package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time that this thread has had a processor.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}
