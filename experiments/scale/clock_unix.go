//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the time that this process has had a processor.
func processorTime() (t time.Duration, known bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
