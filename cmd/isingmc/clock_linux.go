package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the time that this thread has had a processor.
func threadTime() (time.Duration, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
