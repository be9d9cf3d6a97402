//go:build !linux

package main

import "time"

// threadTime would return the time that this thread has had a processor. It is
// not known here.
func threadTime() (time.Duration, bool) { return 0, false }
