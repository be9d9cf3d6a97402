//go:build !linux

package cli

import "time"

// ThreadTime returns the time since the program began: that of the thread alone is not known here.
func ThreadTime() time.Duration { return time.Since(start) }

var start = time.Now()
