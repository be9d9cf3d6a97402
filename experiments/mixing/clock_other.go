//go:build !linux

package main

import "time"

// now returns the time since the program began: that of the thread alone is not known
// here.
func now() time.Duration { return time.Since(start) }

var start = time.Now()
