//go:build !linux

package cli

import "time"

// ThreadTime returns the time since the program began, because the processor time of a thread is not available here.
func ThreadTime() time.Duration { return time.Since(start) }

var start = time.Now()
